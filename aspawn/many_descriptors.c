/* SPDX-License-Identifier: MIT */
/* The child makes the pipes: many_descriptors.h says who makes and takes what. */
#include "many_descriptors.h"

#include <syscall/syscall.h>

#include "own_descriptors.h"

enum { LONGEST_WAIT = 1200 }; /* in naps of 50 ms: a child waits for its parent's answer */
static const struct psys_timespec answer_nap = { 0, 50000000 };

static PSYS_UNINSTRUMENTED void tell(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	psys_futex(word, PSYS_FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* --- the child ------------------------------------------------------------------ */

/* At most for a nap. */
static PSYS_UNINSTRUMENTED void sleep_on(int *word, int value)
{
	int r = psys_futex(word, PSYS_FUTEX_WAIT, value, &answer_nap, NULL, 0);

	if (r < 0 && r != -PSYS_EAGAIN && r != -PSYS_EINTR && r != -PSYS_ETIMEDOUT)
		psys_nanosleep(&answer_nap, NULL); /* a filter forbids futex(2) */
}

/*
 * Sleeps until the answer is another. Ends the child if the start has failed, or if nobody will
 * ever answer: the parent is dead, or has executed a program, which shows only in that it says
 * nothing. A parent that is stopped makes its start fail if that takes a minute.
 */
static PSYS_UNINSTRUMENTED int next_answer(struct control *control, int answer)
{
	int seen, naps = 0;

	while ((seen = __atomic_load_n(&control->answer, __ATOMIC_ACQUIRE)) == answer) {
		const int parent = psys_getppid(); /* 0: it is in another pid namespace */
		if (naps++ == LONGEST_WAIT || (parent && parent != control->host))
			psys_exit_group(127);
		sleep_on(&control->answer, answer);
	}
	if (seen == START_FAILED)
		psys_exit_group(127);
	return seen;
}

/* In its own table. */
static PSYS_UNINSTRUMENTED int make_own_pipes(struct control *control)
{
	int r = 0;

	for (struct spawn_pipe *pipe = NULL;
	     r == 0 && (pipe = aspawn_descriptors_next(control, pipe));)
		r = aspawn_descriptors_make(pipe);
	return r;
}

/* In the parent's table, which the child cannot leave: for the report. */
static PSYS_UNINSTRUMENTED void make_shared_pipes(struct control *control)
{
	control->takes_pipes = false;
	control->pipes_error = aspawn_descriptors_make_pipes(control);
	if (control->pipes_error)
		psys_exit_group(127);
}

static PSYS_UNINSTRUMENTED void close_parents_ends(struct control *control)
{
	for (struct spawn_pipe *pipe = NULL; (pipe = aspawn_descriptors_next(control, pipe));) {
		psys_close(pipe->parents_end);
		pipe->parents_end = -1;
	}
}

/* Asks the kernel while the child can still copy the far descriptors. In another pid namespace the
 * caller has no number. */
static PSYS_UNINSTRUMENTED bool may_fetch(const struct control *control)
{
	return control->caller_pidfd >= 0 && current_parent() != 0 &&
	       psys_pidfd_getfd(control->caller_pidfd, -1, 0) == -PSYS_EBADF;
}

static PSYS_UNINSTRUMENTED void keep_far(struct control *control)
{
	for (size_t i = 0; i < control->far_count; i++)
		if (control->keep_below <= (unsigned)control->far[i].fd)
			control->keep_below = (unsigned)control->far[i].fd + 1;
}

static PSYS_UNINSTRUMENTED int fetch_far(struct control *control)
{
	const int pidfd = aspawn_descriptors_open_thread(control->caller);
	int r = pidfd < 0 ? pidfd : 0;

	for (size_t i = 0; i < control->far_count && r == 0; i++) {
		const int far = control->far[i].fd;
		if (far == control->pidfd || far == control->caller_pidfd) /* none of the caller's */
			continue;
		int fd = aspawn_descriptors_avoid_streams(psys_pidfd_getfd(pidfd, far, 0));
		if (fd >= 0)
			control->far[i].near = fd;
		else if (fd != -PSYS_EBADF) /* not open: the action says so */
			r = fd;
	}
	if (pidfd >= 0)
		psys_close(pidfd);
	return r;
}

PSYS_UNINSTRUMENTED int aspawn_many_unshare(struct control *control)
{
	const bool makes = control->makes_pipes && next_answer(control, NO_ANSWER) == TAKE_PIPES;
	const bool fetches = control->far_count && may_fetch(control);

	if (!fetches)
		keep_far(control);
	int r = aspawn_descriptors_unshare_table(control);
	if (r < 0) {
		if (makes)
			make_shared_pipes(control);
		return r;
	}
	if (makes)
		control->pipes_error = make_own_pipes(control);
	if (fetches)
		r = fetch_far(control);
	aspawn_descriptors_set_use(control->state, RUNNING);
	if (control->pipes_error)
		psys_exit_group(127);
	if (makes) {
		next_answer(control, TAKE_PIPES);
		close_parents_ends(control);
	}
	return r;
}

/* --- the parent ------------------------------------------------------------------- */

/* EBADF: descriptors of the child may be taken, but -1 is none. */
static PSYS_UNINSTRUMENTED bool may_take(int pidfd)
{
	return pidfd >= 0 && psys_pidfd_getfd(pidfd, -1, 0) == -PSYS_EBADF;
}

/* The child was killed before it had made the pipe, or before the parent had its end. */
static PSYS_UNINSTRUMENTED int take_from_dead(struct spawn_pipe *pipe)
{
	struct spawn_pipe other = { pipe->child_writes, pipe->nonblock, -1, -1, -1 };
	int r = aspawn_descriptors_make(&other);

	psys_close(other.childs_end); /* of a negative one: no effect */
	if (r < 0)
		psys_close(other.parents_end);
	else
		pipe->taken = other.parents_end;
	return r;
}

/* Those that the parent has not made. */
static PSYS_UNINSTRUMENTED int take_pipes(struct control *control)
{
	for (struct spawn_pipe *pipe = NULL; (pipe = aspawn_descriptors_next(control, pipe));) {
		if (pipe->taken >= 0)
			continue;
		int fd = aspawn_descriptors_avoid_streams(
			psys_pidfd_getfd(control->pidfd, pipe->parents_end, 0));
		/* A child that lives waits now. */
		const bool dead = fd == -PSYS_EBADF || fd == -PSYS_ESRCH ||
				  __atomic_load_n(&control->state->use, __ATOMIC_ACQUIRE) == FREE;
		int r = fd >= 0 ? 0 : dead ? take_from_dead(pipe) : fd;
		if (r < 0)
			return r;
		if (fd >= 0)
			pipe->taken = fd;
	}
	return 0;
}

/* The start has failed: nobody is to hear of the child. */
static PSYS_UNINSTRUMENTED void end_failed_child(const struct Stack_t *stack,
						 struct control *control,
						 const struct request *request)
{
	struct stack_state *state = stack_state(stack);
	struct psys_siginfo info;
	int use;

	tell(&control->answer, START_FAILED);
	if (control->pidfd < 0 ||
	    psys_pidfd_send_signal(control->pidfd, PSYS_SIGKILL, NULL, 0) == -PSYS_ENOSYS)
		psys_kill(state->pid, PSYS_SIGKILL);
	while ((use = __atomic_load_n(&state->use, __ATOMIC_ACQUIRE)) != FREE &&
	       aspawn_stack_busy(stack))
		aspawn_stack_await(stack, &state->use, use, use, &request->mask);
	if (state->helped) { /* its helper reaps it */
		aspawn_stack_await(stack, &state->helper, HELPING, HELPING, &request->mask);
		aspawn_stack_reap_helper(stack);
		state->helped = NOT_HELPED;
	} else {
		while (psys_waitid(PSYS_P_PID, state->pid, &info, PSYS_WEXITED, NULL) == -PSYS_EINTR)
			continue;
	}
	if (control->pidfd >= 0)
		psys_close(control->pidfd);
	control->pidfd = -1;
}

/* The child waits for an answer, with the parent's table yet. */
static PSYS_UNINSTRUMENTED int get_pipes(const struct Stack_t *stack, struct control *control,
					 const struct request *request)
{
	control->takes_pipes = may_take(control->pidfd);
	int r = control->takes_pipes ? 0 : aspawn_descriptors_make_pipes(control);
	if (r < 0)
		return r;
	tell(&control->answer, control->takes_pipes ? TAKE_PIPES : PIPES_MADE);
	aspawn_stack_await_files(stack, &request->mask);
	r = control->pipes_error;
	if (r == 0)
		r = take_pipes(control);
	if (r == 0)
		tell(&control->answer, PIPES_TAKEN);
	return r;
}

PSYS_UNINSTRUMENTED int aspawn_many_settle(const struct Stack_t *stack, struct control *control,
					   const struct request *request)
{
	int r = get_pipes(stack, control, request);

	if (r < 0)
		end_failed_child(stack, control, request);
	if (r == 0 && !request->wants_pidfd && control->pidfd >= 0) {
		psys_close(control->pidfd);
		control->pidfd = -1;
	}
	return r;
}
