/* SPDX-License-Identifier: MIT */
#include "reaped.h"

#include <syscall/string.h>
#include <syscall/syscall.h>

#include "deadline.h"

PSYS_UNINSTRUMENTED int aspw_await_reaped(int pidfd, int64_t deadline)
{
	/* POLLHUP is always reported. */
	const int r = pidfd < 0 ? -PSYS_EBADF : aspw_deadline_poll(pidfd, 0, deadline);

	return r < 0 ? r : r & PSYS_POLLHUP ? 0 : -PSYS_EBADF;
}

PSYS_UNINSTRUMENTED int aspw_reaped_status(int pidfd, int *status)
{
	struct psys_pidfd_info info;
	int r = -PSYS_ESRCH;

	/* ESRCH: the process was reaped between the two looks of the call. The second call finds
	 * its status. */
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
