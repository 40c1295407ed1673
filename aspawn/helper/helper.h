/* SPDX-License-Identifier: MIT */
/*
 * helper_main.c runs in a helper, and helper.c in the helper's parent. The helper of a private
 * child is the child's parent, so only the library sees the child's end. The helper of a caller's
 * child is suspended in the caller's place until the child's exec.
 *
 * parent  clones the helper on shared memory, with exit signal 0, and on a small stack beside the
 *         state. The helper blocks all signals, SIGSYS first, for good. A detached helper has
 *         copies of the descriptors, and the parent goes on at once: later changes of the parent
 *         do not reach the child. Otherwise the descriptor table is shared, and the parent waits
 *         for the child.
 * helper  sets SIGCHLD to the default: nobody could wait for the child if SIGCHLD were ignored.
 *         For the caller's child SIGCHLD stays as it is.
 * helper  clones the child as the parent would, or for the parent (CLONE_PARENT), stores the
 *         child's pid or an error, and wakes the waiters. On a shared table the parent has the
 *         pidfd too.
 * helper  names itself after the clone: so the child has the name (comm) of the caller's thread,
 *         without a system call. From here on nobody waits for the helper.
 * helper  releases the descriptors and the directory: the child may run for long.
 * helper  waits for the end of the child, or of the parent's process, stores status and usage in
 *         the state, and ends. It announces the reaping of the child, as another process may have
 *         the number afterwards. It only watches a caller's child. It never execs: an exec would
 *         set its exit signal to SIGCHLD.
 * kernel  clears the state's word for the helper. Then the stack is free. The helper is a zombie,
 *         which wait(2) finds only with __WALL or __WCLONE, or is gone (CLONE_AUTOREAP).
 *
 * The helper of a caller's child reaps nothing, but stays until the child's end. The caller has
 * ended_fd before there is a child, so ended_fd is the helper's pidfd, which only the helper's end
 * makes readable. Alternatives are worse. The other end of a pipe would be a descriptor of the
 * program. A caller that already polls ended_fd would not see a descriptor in its place. An epoll
 * instance, to which the helper adds the child's pidfd, costs the caller a system call and a
 * descriptor more for each start, and stays silent for good if somebody kills the helper before.
 */
#ifndef HELPER_HELPER_H
#define HELPER_HELPER_H

#include "../spawn/spawn.h"
#include "../spawn/stack.h"

/* Makes a helper, which tries its ways. Returns what aspw_try_ways() returns; or -EOPNOTSUPP, or
 * another error of the clone, if there can be no helper. */
long aspw_clone_by_helper(struct control *control);

/* Returns the low bits of a pidfd's inode, or 0 if they are unknown. */
unsigned aspw_inode_of(int pidfd);

/* True if the OOM killer has ended a tree's program in the tree's own cgroup. The helper must have
 * stored the status. */
PSYS_INLINE bool aspw_helper_saw_oom(const struct stack_state *state)
{
	return state->oom_kills && (state->status & 0x7f) == PSYS_SIGKILL;
}

/* Opens a pidfd of the child, whose number is known. Fails with -ESRCH if the child is reaped, even
 * if another process now has the number. */
int aspw_helper_open_child(const struct Stack_t *stack);

/* True if the helper has reaped the child, or is about to: another process may have the number. */
bool aspw_helper_has_reaped(const struct Stack_t *stack);

/* Returns true if the helper has stored status and usage, either of which may be NULL. A helper
 * that has ended without a result was killed, or was refused the wait, or served a caller's
 * child. */
bool aspw_helper_result(const struct Stack_t *stack, int *status, struct psys_rusage *usage);

#endif
