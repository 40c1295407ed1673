/* SPDX-License-Identifier: MIT */
/* The child's own descriptor table, and pipes. */
#include "own_descriptors.h"

#include <syscall/syscall.h>

/* --- pipes ------------------------------------------------------------------ */

PSYS_UNINSTRUMENTED struct spawn_pipe *aspawn_descriptors_next(const struct control *control,
							       const struct spawn_pipe *pipe)
{
	struct spawn_pipe *report = (struct spawn_pipe *)(uintptr_t)&control->report;

	if (pipe == report)
		return NULL;
	pipe = pipe ? pipe + 1 : control->pipes;
	if (control->pipe_count && pipe < control->pipes + control->pipe_count)
		return (struct spawn_pipe *)(uintptr_t)pipe;
	return control->reports ? report : NULL;
}

PSYS_UNINSTRUMENTED int aspawn_descriptors_avoid_streams(int fd)
{
	if (fd < 0 || fd > 2)
		return fd;
	int other = (int)psys_fcntl(fd, PSYS_F_DUPFD_CLOEXEC, 3);
	psys_close(fd);
	return other;
}

PSYS_UNINSTRUMENTED int aspawn_descriptors_avoid_streams_by_both(int ends[2])
{
	ends[0] = aspawn_descriptors_avoid_streams(ends[0]);
	ends[1] = aspawn_descriptors_avoid_streams(ends[1]);
	if (ends[0] >= 0 && ends[1] >= 0)
		return 0;
	int r = ends[0] < 0 ? ends[0] : ends[1];
	psys_close(ends[0]); /* of a negative one: no effect */
	psys_close(ends[1]);
	return r;
}

PSYS_UNINSTRUMENTED int aspawn_descriptors_pipe(int ends[2])
{
	int r = psys_pipe2(ends, PSYS_O_CLOEXEC);

	return r < 0 ? r : aspawn_descriptors_avoid_streams_by_both(ends);
}

PSYS_UNINSTRUMENTED int aspawn_descriptors_make(struct spawn_pipe *pipe)
{
	int ends[2] = { -1, -1 };
	int r = aspawn_descriptors_pipe(ends);

	if (r < 0)
		return r;
	pipe->parents_end = ends[!pipe->child_writes];
	pipe->childs_end = ends[pipe->child_writes];
	if (pipe->nonblock)
		r = (int)psys_fcntl(pipe->parents_end, PSYS_F_SETFL, PSYS_O_NONBLOCK);
	return r < 0 ? r : 0;
}

PSYS_UNINSTRUMENTED int aspawn_descriptors_make_pipes(struct control *control)
{
	for (struct spawn_pipe *pipe = NULL; (pipe = aspawn_descriptors_next(control, pipe));) {
		int r = pipe->parents_end < 0 ? aspawn_descriptors_make(pipe) : 0;
		if (r < 0)
			return r;
		pipe->taken = pipe->parents_end;
		if (control->keep_below <= (unsigned)pipe->childs_end)
			control->keep_below = (unsigned)pipe->childs_end + 1;
	}
	return 0;
}

PSYS_UNINSTRUMENTED int aspawn_descriptors_open_thread(int tid)
{
	int fd = psys_pidfd_open(tid, PSYS_PIDFD_THREAD);

	return fd == -PSYS_EINVAL ? psys_pidfd_open(tid, 0) : fd;
}

/* --- the child ------------------------------------------------------------------ */

/* The table of a child that is killed meanwhile is only closed: neither the parent nor its threads
 * notice. */
PSYS_UNINSTRUMENTED int aspawn_descriptors_unshare_table(const struct control *control)
{
	int r = psys_close_range(control->keep_below, ~0U, PSYS_CLOSE_RANGE_UNSHARE);

	if (r < 0) /* before Linux 5.9: copy all */
		r = psys_unshare(PSYS_CLONE_FILES);
	/* These are the parent's, but may be among the copied descriptors. */
	if (r >= 0 && control->pidfd >= 0)
		psys_close(control->pidfd);
	if (r >= 0 && control->helper_pidfd >= 0)
		psys_close(control->helper_pidfd);
	if (r >= 0 && control->caller_pidfd >= 0)
		psys_close(control->caller_pidfd);
	return r < 0 ? r : 0;
}

PSYS_UNINSTRUMENTED void aspawn_descriptors_set_use(struct stack_state *state, int use)
{
	if (__atomic_exchange_n(&state->use, use, __ATOMIC_ACQ_REL) == FILES_AWAITED)
		psys_futex(&state->use, PSYS_FUTEX_WAKE, 1, NULL, NULL, 0);
}

PSYS_UNINSTRUMENTED int aspawn_descriptors_unshare(struct control *control)
{
	if (control->unshare)
		return control->unshare(control);
	int r = aspawn_descriptors_unshare_table(control);
	if (r == 0)
		aspawn_descriptors_set_use(control->state, RUNNING);
	return r;
}

/* --- the parent ------------------------------------------------------------------- */

PSYS_UNINSTRUMENTED void aspawn_descriptors_close(const struct control *control, bool also_parents)
{
	for (struct spawn_pipe *pipe = NULL; (pipe = aspawn_descriptors_next(control, pipe));) {
		if (!control->takes_pipes) /* of negative ones: no effect */
			psys_close(pipe->childs_end);
		if (also_parents)
			psys_close(control->takes_pipes ? pipe->taken : pipe->parents_end);
	}
}

PSYS_UNINSTRUMENTED int aspawn_descriptors_settle(const struct Stack_t *stack,
						  const struct request *request)
{
	struct control *control = stack_control(stack);
	int r = 0;

	if (control->makes_pipes)
		r = request->settle(stack, control, request);
	else if (control->shares_files && (request->await_files || request->far_count ||
					   aspawn_descriptors_next(control, NULL)))
		aspawn_stack_await_files(stack, &request->mask);
	aspawn_descriptors_close(control, r < 0);
	return r;
}
