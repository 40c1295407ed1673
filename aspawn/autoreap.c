/* SPDX-License-Identifier: MIT */
/* Children that the kernel reaps by itself (CLONE_AUTOREAP, Linux 7.1), and the status of children
 * that somebody else has reaped (PIDFD_GET_INFO, Linux 6.15). */
#include <syscall/string.h>
#include <syscall/syscall.h>

#include "clone.h"
#include "deadline.h"
#include "private.h"

long aspawn_autoreap_clone(struct control *control, const struct request *request,
			   const struct Stack_t *stack)
{
	struct stack_state *state = stack_state(stack);
	struct request attempt;

	if (!request->wants_pidfd || state->no_autoreap)
		return aspawn_private_clone(control, request, stack);
	psys_memcpy(&attempt, request, sizeof attempt);
	attempt.clone3_flags = PSYS_CLONE_PIDFD | PSYS_CLONE_AUTOREAP |
			       (request->autokill ? PSYS_CLONE_PIDFD_AUTOKILL : 0);
	state->ended = 0;
	long pid = aspawn_clone_child(control, &attempt, stack);
	if (pid > 0)
		state->privacy = ASPAWN_PRIVATE_NO_HELPER;
	return pid < 0 && aspawn_clone_is_refused(pid) ?
		       aspawn_private_clone(control, request, stack) :
		       pid;
}

int aspawn_await_reaped(int pidfd, struct psys_timespec deadline)
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

int aspawn_reaped_status(int pidfd, int *status)
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
