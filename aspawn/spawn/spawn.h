/* SPDX-License-Identifier: MIT */
/*
 * aspawn() and the commands call this spawn primitive, whose steps have an order and reasons:
 *
 * parent  blocks all signals but SIGSYS before it checks the stack. Otherwise a handler could spawn
 *         on the same stack, or run in the child on the parent's memory. Blocked signals also keep
 *         thread cancellation out. SIGSYS stays as it is: block_signals().
 * parent  reserves the stack, copies user_data to it and fills the control block, which holds all
 *         that the child needs: the child cannot use the parent's frame, which goes on changing.
 * parent  makes the pipes that are requested, and clones. It tries one clone method after another
 *         until the kernel accepts one.
 * child   blocks SIGSYS first: no handler of the parent may run here.
 * child   then unshares the descriptor table, if it began on the parent's (descriptor_table.h):
 *         before that, a descriptor that the child closes is closed in the parent.
 * child   closes the read end. If the parent then dies, the child's write fails at once.
 * child   resets caught signals to SIG_DFL if the kernel did not, and leaves ignored signals
 *         ignored, as execve(2) does. All signals stay blocked until fn sets the mask, right
 *         before its exec.
 * child   runs fn, and ends by exit_group: no destructor of the parent runs.
 * parent  is suspended until then if a program of the library is to be executed first, which runs
 *         the actions in memory of its own. If that fails, it clones again.
 * helper  of a private child is cloned by the parent, and clones the child in its place: it is the
 *         child's parent until the child's end (helper.h).
 * kernel  clears the stack's word and wakes its waiters when the child's exec or exit has released
 *         the memory. Only then is the stack free; the pipe's end may come earlier or later.
 * parent  meanwhile waits until the child has unshared the descriptor table, as the caller may
 *         change descriptors afterwards. It closes its copy of the write end, so that the pipe
 *         ends with the child. It stores the results and restores the mask last, so that a
 *         SIGCHLD handler finds *pid.
 */
#ifndef SPAWN_SPAWN_H
#define SPAWN_SPAWN_H

#include <stdbool.h>

#include <aspawn/aspawn.h>
#include <syscall/errno.h>
#include <syscall/signal.h>
#include <syscall/syscall.h>

/* Copying so many descriptors costs less than fetching one. */
enum { FEW_DESCRIPTORS = 128 };

enum report_pipe { NO_PIPE, PIPE_IF_COPIED, PIPE };

struct child_fd;
struct control;

/* The request for a child */
struct request {
	enum report_pipe pipe;
	bool wants_pidfd;
	struct psys_sigset mask; /* the caller's */
	aspawn_fn fn;
	void *arg, *user_data; /* user_data lies on the stack; the child's frames begin below it */
	size_t user_data_len;
};

/*
 * Blocks all signals, SIGSYS only with also_sigsys. The caller does not block SIGSYS: a filter
 * (SECCOMP_RET_TRAP) raises it for a handler to answer a system call, and the kernel kills the
 * process if SIGSYS is blocked. A process with the caller's memory first blocks SIGSYS too, as no
 * handler of the caller may run there. Stores the previous mask. Returns 0 or a negative error
 * number.
 */
PSYS_INLINE int block_signals(struct psys_sigset *before, bool also_sigsys)
{
	struct psys_sigset set;

	psys_sigfillset(&set);
	if (!also_sigsys)
		psys_sigdelset(&set, PSYS_SIGSYS);
	return psys_rt_sigprocmask(PSYS_SIG_BLOCK, &set, before, PSYS_SIGSET_SIZE);
}

#endif
