/* SPDX-License-Identifier: MIT */
/* Asks about a process's own children, and signals them. */
#ifndef SPAWN_PIDFD_H
#define SPAWN_PIDFD_H

#include <stdbool.h>

#include <syscall/process.h>
#include <syscall/signal.h>
#include <syscall/time.h>

/* Options of waitid(2) without waiting: for any child, or for a child without an exit signal */
enum {
	REAP_ANY = PSYS_WEXITED | PSYS_WNOHANG | PSYS___WALL,
	LOOK_AT_ANY = REAP_ANY | PSYS_WNOWAIT,
	LOOK_AT_CLONE = (int)(PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT | PSYS___WCLONE),
};

/* True if the child has ended. waitid(2) also reports a tracee's stop, which nobody asked for. */
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
 * Looks for the end of a child, which another process may trace, without reaping. Uses the number
 * if the pidfd is negative, and before Linux 5.4. Returns the number if the child has ended, 0 if
 * not, -ECHILD if no unreaped child has the number, or another error of waitid(2).
 */
int aspw_child_has_ended(int pidfd, int pid);

/*
 * Sends a signal by the pidfd. Fails with -ENOSYS if there is no pidfd, or the kernel or a filter
 * refuses the call: then the caller may try kill(2). An -EPERM comes from the kernel. Fails with
 * -EINVAL for flags before Linux 6.9.
 */
int aspw_signal_by_pidfd(int pidfd, int signal, unsigned flags);

/*
 * Sends a signal to a child by the pidfd, or else by the number if the child is unreaped. With
 * to_process_group the signal goes to the group that the child leads. Returns 0, -ESRCH if the
 * child is reaped or leads no group, -EPERM from the kernel, or an error of waitid(2).
 */
int aspw_send_signal(int pidfd, int pid, int signal, bool to_process_group);

/*
 * Detaches from the process whose stop waitid(2) has reported, and passes on the stop's signal. A
 * program that calls ptrace(2) with PTRACE_TRACEME, for example to notice a debugger, is traced by
 * the parent: a helper, or the caller's thread that has started the program. The next signal stops
 * the program, and nobody else can continue it. Fails with -ESRCH if the calling thread is not the
 * tracer.
 */
int aspw_detach_stopped(const struct psys_siginfo *stop);

/* Waits until somebody has reaped the process of the pidfd: only then does the kernel have the exit
 * code. Returns 0, -ETIMEDOUT, or -EBADF if the pidfd is invalid. */
int aspw_await_reaped(int pidfd, int64_t deadline);

/* Stores the status of a reaped process by the pidfd. Returns 0, -EAGAIN if the process is
 * unreaped, or -ECHILD if the kernel does not have the status (PIDFD_GET_INFO, Linux 6.15). */
int aspw_reaped_status(int pidfd, int *status);

#endif
