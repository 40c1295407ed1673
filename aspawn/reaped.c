/* SPDX-License-Identifier: MIT */
#include "reaped.h"

#include <syscall/string.h>
#include <syscall/syscall.h>

#include "deadline.h"

PSYS_UNINSTRUMENTED int aspawn_await_reaped(int pidfd, struct psys_timespec deadline)
{
	struct psys_pollfd poll = { pidfd, 0, 0 }; /* POLLHUP is always reported */
	int r;

	if (pidfd < 0)
		return -PSYS_EBADF;
	do {
		struct psys_timespec left = deadline_left(deadline);
		r = psys_ppoll(&poll, 1, &left, NULL, 0);
	} while (r == -PSYS_EINTR);
	return r == 0 ? -PSYS_ETIMEDOUT : r < 0 ? r : poll.revents & PSYS_POLLHUP ? 0 : -PSYS_EBADF;
}

PSYS_UNINSTRUMENTED int aspawn_reaped_status(int pidfd, int *status)
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
