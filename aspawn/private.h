/* SPDX-License-Identifier: MIT */
/*
 * Private children: a helper process is the child's parent, so that only the library sees the
 * child's end.
 *
 * parent  clones the helper: memory and descriptor table are shared, its exit signal is 0, and it
 *         runs on a small stack beside the state. All signals are blocked in it for good.
 * helper  sets SIGCHLD to its default: if it were ignored, the child could not be waited for.
 * helper  clones the child as the parent would, from the same descriptor table and directory,
 *         so that a pidfd and a pipe are the parent's too; stores the child's pid or an error,
 *         and wakes the parent.
 * helper  releases the descriptors and the directory: the child may run for long.
 * helper  waits for the child, or for the end of the parent's process, stores status and usage
 *         in the state, and ends. It never execs: that would set its exit signal to SIGCHLD.
 * kernel  clears the state's word for the helper. Then the stack is free, and the helper a
 *         zombie that only a wait for __WALL or __WCLONE finds; or nothing (CLONE_AUTOREAP).
 */
#ifndef ASPAWN_PRIVATE_H
#define ASPAWN_PRIVATE_H

#include "spawn.h"
#include "stack.h"

/*
 * As aspawn_clone_child(), by a helper. Also fails with -EOPNOTSUPP if a helper cannot share the
 * memory, and with -EAGAIN if somebody killed the helper.
 */
long aspawn_private_clone(struct control *control, const struct request *request,
			  const struct Stack_t *stack);

/* As aspawn_clone_child(), with CLONE_AUTOREAP, for a child that has a pidfd. Otherwise, and where
 * the kernel rejects that, as aspawn_private_clone(). */
long aspawn_autoreap_clone(struct control *control, const struct request *request,
			   const struct Stack_t *stack);

/* Waits until somebody has reaped the process of the pidfd, or the kernel has: only then has the
 * kernel its exit code. Returns 0, -ETIMEDOUT, or -EBADF if it is no descriptor. */
int aspawn_await_reaped(int pidfd, struct psys_timespec deadline);

/* Stores the status of the process of the pidfd, if it is reaped. Returns 0, -EAGAIN if it is not,
 * or -ECHILD if the kernel does not have the status (Linux before 6.15). */
int aspawn_reaped_status(int pidfd, int *status);

/* Returns the status of wait4(2) for a result of waitid(2). */
PSYS_INLINE int aspawn_wait_status(const struct psys_siginfo *info)
{
	const int status = info->u.child.status;

	return info->code == PSYS_CLD_EXITED ? (status & 0xff) << 8 :
	       info->code == PSYS_CLD_DUMPED ? status | 0x80 :
					       status;
}

/* True while the helper of the stack's child runs, and so uses the stack. */
bool aspawn_private_is_helped(const struct Stack_t *stack);

/* Sleeps until the helper has ended: 0 or -ETIMEDOUT. */
int aspawn_private_await_end(const struct Stack_t *stack, struct psys_timespec deadline);

/* Returns true, with status and usage (which may be NULL), if the helper has stored them. A helper
 * that has ended without storing them was killed, or its wait was refused. */
bool aspawn_private_end(const struct Stack_t *stack, int *status, struct psys_rusage *usage);

#endif
