/* SPDX-License-Identifier: MIT */
#include "own_child.h"

#include <syscall/syscall.h>

PSYS_UNINSTRUMENTED int aspw_child_has_ended(int pidfd, int pid)
{
	const int options = (int)(PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT | PSYS___WALL);
	struct psys_siginfo info;
	int r = -PSYS_EINVAL;

	info.u.child.pid = 0;
	if (pidfd >= 0)
		r = psys_waitid(PSYS_P_PIDFD, pidfd, &info, options, NULL);
	if (r == -PSYS_EINVAL)
		r = psys_waitid(PSYS_P_PID, pid, &info, options, NULL);
	return r < 0 || !info.u.child.pid || !is_end(&info) ? r : info.u.child.pid;
}

/* A filter refuses any descriptor, the kernel would not know this one. */
static PSYS_UNINSTRUMENTED bool is_filtered(void)
{
	return psys_pidfd_send_signal(-1, 0, NULL, 0) != -PSYS_EBADF;
}

PSYS_UNINSTRUMENTED int aspw_signal_by_pidfd(int pidfd, int signal, unsigned flags)
{
	const int r = pidfd < 0 ? -PSYS_ENOSYS : psys_pidfd_send_signal(pidfd, signal, NULL, flags);

	return r == -PSYS_EPERM && is_filtered() ? -PSYS_ENOSYS : r;
}

/* A filter's refusal hides the ESRCH of a child that is reaped: the number must be proved. */
PSYS_UNINSTRUMENTED int aspw_send_signal(int pidfd, int pid, int signal, bool to_group)
{
	const unsigned flags = to_group ? PSYS_PIDFD_SIGNAL_PROCESS_GROUP : 0;
	int r = aspw_signal_by_pidfd(pidfd, signal, flags);

	if (r != -PSYS_ENOSYS && r != -PSYS_EINVAL)
		return r;
	r = aspw_child_has_ended(pidfd, pid);
	if (r >= 0)
		r = psys_kill(to_group ? -pid : pid, signal);
	return r == -PSYS_ECHILD ? -PSYS_ESRCH : r;
}
