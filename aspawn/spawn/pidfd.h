/* SPDX-License-Identifier: MIT */
/* What a process asks about a child of its own, and sends to it. */
#ifndef SPAWN_PIDFD_H
#define SPAWN_PIDFD_H

#include <stdbool.h>

#include <syscall/process.h>
#include <syscall/signal.h>
#include <syscall/time.h>

/* Options of waitid(2), which does not wait with them: for any child, or one without an exit signal. */
enum {
	REAP_ANY = PSYS_WEXITED | PSYS_WNOHANG | PSYS___WALL,
	LOOK_AT_ANY = REAP_ANY | PSYS_WNOWAIT,
	LOOK_AT_CLONE = (int)(PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT | PSYS___WCLONE),
};

/* True if the child has ended. waitid(2) also reports the stop of a tracee, although nobody has
 * asked for stops. */
PSYS_INLINE bool is_exit(const struct psys_siginfo *info)
{
	return info->code == PSYS_CLD_EXITED || info->code == PSYS_CLD_KILLED ||
	       info->code == PSYS_CLD_DUMPED;
}

/* Returns the status of wait4(2) for a result of waitid(2). */
PSYS_INLINE int aspw_wait_status(const struct psys_siginfo *info)
{
	const int status = info->u.child.status;

	if (info->code == PSYS_CLD_EXITED)
		return (status & 0xff) << 8;
	return info->code == PSYS_CLD_DUMPED ? status | 0x80 : status;
}

/*
 * Looks for the end of a child, which another process may trace, without reaping it. The number is
 * used if the pidfd is negative, and before Linux 5.4. Returns its number if it has ended, 0 if it
 * has not, -ECHILD if the number is not that of an unreaped child, or another error of waitid(2).
 */
int aspw_child_has_ended(int pidfd, int pid);

/*
 * Sends a signal by the pidfd. Fails with -ENOSYS if there is no pidfd, or the kernel or a filter
 * refuses the call: the caller may try kill(2). An -EPERM is the kernel's. Fails with -EINVAL for
 * flags before Linux 6.9.
 */
int aspw_signal_by_pidfd(int pidfd, int signal, unsigned flags);

/*
 * Sends a signal to a child, by its pidfd, or else by its number if that is still the child's;
 * to_process_group: to the process group that it leads. Returns 0, -ESRCH if the child is reaped or leads
 * no group, -EPERM if the kernel does not permit it, or an error of waitid(2).
 */
int aspw_send_signal(int pidfd, int pid, int signal, bool to_process_group);

/*
 * Detaches from the process whose stop waitid(2) has reported, and passes on the signal of this
 * stop. A program that calls ptrace(2) with PTRACE_TRACEME, as some do to notice a debugger, is
 * traced by its parent: a helper, or the thread of the caller that has started it. At its next
 * signal it stops, and nobody else can continue it. Fails with -ESRCH if the calling thread is not
 * its tracer.
 */
int aspw_detach_stopped(const struct psys_siginfo *stop);

/* Waits until somebody has reaped the process of the pidfd: only then has the kernel its exit code.
 * Returns 0, -ETIMEDOUT, or -EBADF if the pidfd is invalid. */
int aspw_await_reaped(int pidfd, int64_t deadline);

/* Stores the status of the process of the pidfd, if it is reaped. Returns 0, -EAGAIN if it is not,
 * or -ECHILD if the kernel does not have the status (PIDFD_GET_INFO, Linux 6.15). */
int aspw_reaped_status(int pidfd, int *status);

#endif
