/* SPDX-License-Identifier: MIT */
/*
 * Helpers: helper_main.c runs in them, helper.c in their parent. The helper of a private child is
 * its parent, so that only the library sees the child's end. That of a child of the caller's is
 * suspended in the caller's place until the child's exec.
 *
 * parent  clones the helper: the memory is shared, its exit signal is 0, and it runs on a small
 *         stack beside the state. It blocks all signals, SIGSYS first, for good. If it is detached,
 *         it has copies of the descriptors, and the parent goes on at once: what the parent changes
 *         from then on does not reach the child. Otherwise the descriptor table is shared, and the
 *         parent waits for the child.
 * helper  sets SIGCHLD to its default: if it were ignored, the child could not be waited for. Not
 *         if the child is the caller's.
 * helper  clones the child as the parent would, or for the parent (CLONE_PARENT), stores the child's
 *         pid or an error, and wakes who waits for that. On a shared table a pidfd is the parent's
 *         too.
 * helper  names itself: a child that it has cloned before has the name (comm) of the caller's thread,
 *         without a system call. From here on nobody waits for the helper.
 * helper  releases the descriptors and the directory: the child may run for long.
 * helper  waits for the child, or for the end of the parent's process, stores status and usage
 *         in the state, and ends. Before it reaps the child it says so, as afterwards the number
 *         may be another's. The caller's child it only sees end. It never execs: that would set its
 *         exit signal to SIGCHLD.
 * kernel  clears the state's word for the helper. Then the stack is free, and the helper a
 *         zombie that only a wait for __WALL or __WCLONE finds; or nothing (CLONE_AUTOREAP).
 *
 * The helper of a child of the caller reaps nothing, and yet stays until the child's end: the caller has
 * ended_fd before there is a child, so that this is the helper's pidfd, which only the helper's end makes
 * readable. Instead of it the other end of a pipe would be a descriptor of the program; who polls ended_fd
 * already would not see another descriptor in its place; and an epoll instance, to which the helper adds
 * the child's pidfd, costs the caller a call and a descriptor more for each start, and stays silent for good
 * if somebody kills the helper before.
 */
#ifndef HELPER_HELPER_H
#define HELPER_HELPER_H

#include "../spawn/spawn.h"
#include "../spawn/stack.h"

/* Makes a helper, which tries its ways. Returns as aspw_try_ways(); -EOPNOTSUPP, or another error of its clone, if
 * there can be no helper. */
long aspw_clone_by_helper(struct control *control);

/* The low bits of a pidfd's inode; 0: not known. */
unsigned aspw_inode_of(int pidfd);

/* True if the OOM killer has ended the program of a tree, whose helper has stored the status, in the
 * tree's own group. */
PSYS_INLINE bool aspw_helper_saw_oom(const struct stack_state *state)
{
	return state->oom_kills && (state->status & 0x7f) == PSYS_SIGKILL;
}

/* Opens a pidfd of the child, whose number is known. -ESRCH if the child is reaped; another process
 * that has the number now is not taken for it. */
int aspw_helper_open_child(const struct Stack_t *stack);

/* True if the helper has reaped the child, or is about to: the number may be another's. */
bool aspw_helper_has_reaped(const struct Stack_t *stack);

/* Returns true, with status and usage (which may be NULL), if the helper has stored them. A helper
 * that has ended without storing them was killed, or its wait was refused, or the child is the
 * caller's. */
bool aspw_helper_result(const struct Stack_t *stack, int *status, struct psys_rusage *usage);

#endif
