/* SPDX-License-Identifier: MIT */
#include "pidfd.h"

#include <syscall/string.h>
#include <syscall/syscall.h>

#include "../marks.h"
#include "deadline.h"

/* See linux/ptrace.h. The status has an event above the signal. */
enum { DETACH = 17, GETSIGINFO = 0x4202, EVENT = 8 };

IN_ANY int aspw_child_has_ended(int pidfd, int pid)
{
	struct psys_siginfo info;
	int r = -PSYS_EINVAL;

	info.u.child.pid = 0;
	if (pidfd >= 0)
		r = psys_waitid(PSYS_P_PIDFD, pidfd, &info, LOOK_AT_ANY, NULL);
	if (r == -PSYS_EINVAL)
		r = psys_waitid(PSYS_P_PID, pid, &info, LOOK_AT_ANY, NULL);
	return r < 0 || !info.u.child.pid || !is_exit(&info) ? r : info.u.child.pid;
}

/* True if a filter refuses the call. The kernel itself answers EBADF for this descriptor. */
static IN_ANY bool is_filtered(void)
{
	return psys_pidfd_send_signal(-1, 0, NULL, 0) != -PSYS_EBADF;
}

IN_ANY int aspw_signal_by_pidfd(int pidfd, int signal, unsigned flags)
{
	const int r = pidfd < 0 ? -PSYS_ENOSYS : psys_pidfd_send_signal(pidfd, signal, NULL, flags);

	return r == -PSYS_EPERM && is_filtered() ? -PSYS_ENOSYS : r;
}

/* A filter's refusal hides a reaped child's ESRCH. So waitid(2) must find the child's number. */
IN_ANY int aspw_send_signal(int pidfd, int pid, int signal, bool to_process_group)
{
	const unsigned flags = to_process_group ? PSYS_PIDFD_SIGNAL_PROCESS_GROUP : 0;
	int r = aspw_signal_by_pidfd(pidfd, signal, flags);

	if (r != -PSYS_ENOSYS && r != -PSYS_EINVAL)
		return r;
	r = aspw_child_has_ended(pidfd, pid);
	if (r >= 0)
		r = psys_kill(to_process_group ? -pid : pid, signal);
	return r == -PSYS_ECHILD ? -PSYS_ESRCH : r;
}

/* True for the SIGTRAP that the kernel sends to a tracee after each exec, in the tracee's own name.
 * It is meant for the tracer. The SIGTRAP of a breakpoint or of raise(3) has another code. */
static IN_ANY bool is_of_exec(int pid, int signal)
{
	struct psys_siginfo cause;

	return signal == PSYS_SIGTRAP &&
	       (psys_ptrace(GETSIGINFO, pid, NULL, &cause) < 0 || cause.code == 0 /* SI_USER */);
}

IN_ANY int aspw_detach_stopped(const struct psys_siginfo *stop)
{
	const int pid = stop->u.child.pid, status = stop->u.child.status;
	const bool is_for_tracer = status >> EVENT || is_of_exec(pid, status);

	return (int)psys_ptrace(DETACH, pid, NULL,
				(void *)(uintptr_t)(is_for_tracer ? 0 : (unsigned)status));
}

IN_SERVER int aspw_await_reaped(int pidfd, int64_t deadline)
{
	/* POLLHUP is always reported. */
	const int r = pidfd < 0 ? -PSYS_EBADF : aspw_deadline_poll(pidfd, 0, deadline);

	if (r < 0)
		return r;
	return r & PSYS_POLLHUP ? 0 : -PSYS_EBADF;
}

IN_SERVER int aspw_reaped_status(int pidfd, int *status)
{
	struct psys_pidfd_info info;
	int r = -PSYS_ESRCH;

	/* ESRCH means that the process was reaped between the two looks of the call. The second
	 * call finds the status. */
	for (int tries = 0; tries < 2 && r == -PSYS_ESRCH; tries++) {
		psys_memset(&info, 0, sizeof info);
		info.mask = PSYS_PIDFD_INFO_EXIT;
		r = (int)psys_ioctl(pidfd, PSYS_PIDFD_GET_INFO, (uintptr_t)&info);
	}
	if (r < 0 || !(info.mask & PSYS_PIDFD_INFO_EXIT))
		return r < 0 ? -PSYS_ECHILD : -PSYS_EAGAIN;
	*status = info.exit_code;
	return 0;
}
