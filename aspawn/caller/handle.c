/* SPDX-License-Identifier: MIT */
/* Waits for the exec of a child, and tells what failed before it. */
#include "handle.h"

#include <syscall/string.h>

#include "../marks.h"
#include "../action/action_info.h"
#include "../action/prepared.h"
#include "../helper/helper.h"
#include "../helper/pidfd_channel.h"
#include "../spawn/deadline.h"
#include "../spawn/exec_watch.h"
#include "../spawn/pidfd.h"
#include "pool.h"

_Static_assert((int)MODE_CLONE3 == (int)ASPAWN_MODE_CLONE3 &&
		       (int)MODE_IMAGE == (int)ASPAWN_MODE_IMAGE,
	       "and those between");
_Static_assert((int)OWNER_TREE == (int)ASPAWN_OWNER_TREE &&
		       (int)AUTOREAPED == (int)ASPAWN_HELPER_AUTOREAPED,
	       "and those before");

IN_SERVER bool aspw_has_stack(struct aspawn_child *child)
{
	const struct child_state *state = child_state(child);
	const struct Stack_t *stack = &state->stack;

	return stack->addr && (state->pid < 0 ? stack_state(stack)->helper_pid == -state->pid :
						stack_state(stack)->begun.pid == state->pid);
}

IN_SERVER void aspw_give_stack(struct child_state *state)
{
	const struct Stack_t stack = state->stack;

	state->stack.addr = NULL;
	if (state->pool)
		aspw_pool_give(state->pool, stack);
	else if (stack.addr && !state->is_jobs)
		while (aspawn_stack_release((struct Stack_t *)&stack) == -PSYS_EBUSY)
			aspawn_stack_wait(&stack, -1);
	state->pool = NULL;
}

IN_SERVER void aspw_set_failure(struct child_state *state, struct aspawn_failure *failure)
{
	failure->subject[sizeof failure->subject - 1] = '\0';
	const size_t length = psys_strlen(failure->subject), most = sizeof state->subject - 1;

	state->answer = KNOWN;
	state->step = failure->step;
	state->error = failure->error;
	state->kind = (unsigned short)failure->kind;
	psys_strlcpy(state->subject,
		     length > most ? failure->subject + length - most : failure->subject, most + 1);
}

/* --- the child of a helper ----------------------------------------------------- */

/*
 * The number of such a child, or its pidfd, is asked for downward in this order only:
 *
 *   aspawn_kill(), aspawn_pidfd(), waits    the calls of the user
 *     aspw_child_pidfd()                      the pidfd that the library has, or opens
 *       aspawn_pid()                        waits for the number, for a second at most
 *         aspw_learn_child()                waits until the helper has cloned, or has failed
 *         take_suspended()                  the helper waits for the exec: there is a number
 *           take_number()                   notes what the helper has stored
 *             open_child_pidfd()              opens the pidfd once
 */

IN_SERVER void aspw_note_clone(struct child_state *state, const struct Stack_t *stack)
{
	const struct stack_state *made = stack_state(stack);
	const struct control *control = stack_control(stack);
	const bool executed = control->memory == MEMORY_EXECUTED;
	const int mode = made->begun.mode;

	state->mode = (unsigned char)mode;
	state->reason = mode == MODE_FORK ?
				((const struct prepared *)control->request.user_data)->reason :
				ASPAWN_REASON_NONE;
	state->watch = control->watch;
	state->by_process_group = made->by_process_group;
	/* A killed helper has not stored the mode, but memory and flags tell the same. */
	state->copied = mode >= MODE_FORK || executed || !(control->flags & PSYS_CLONE_VM);
	state->unforked = executed && made->is_wiped_by_fork;
}

/* True if a child of the caller has raised SIGCHLD. No other signal will tell of this end, so the
 * child must not seem to run because the helper has had no turn since the exec. */
static IN_SERVER bool has_raised_sigchld(const struct child_state *state)
{
	const int pid = __atomic_load_n(&stack_state(&state->stack)->begun.pid, __ATOMIC_ACQUIRE);
	struct psys_siginfo info;

	info.u.child.pid = 0;
	if (pid && !state->owner)
		psys_waitid(PSYS_P_PID, pid, &info, PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT,
			    NULL);
	return info.u.child.pid && is_exit(&info);
}

/* Requires that the child's number is known. */
static IN_SERVER int open_child_pidfd(struct aspawn_child *child)
{
	struct child_state *state = child_state(child);

	if (state->is_channel)
		state->child_pidfd = aspw_channel_receive(state->child_pidfd);
	state->is_channel = false;
	if (state->child_pidfd >= 0)
		return state->child_pidfd;
	const int fd = aspw_has_stack(child) ? aspw_helper_open_child(&state->stack) : -PSYS_ESRCH;
	state->child_pidfd = fd < 0 ? -1 : fd;
	return fd;
}

static IN_SERVER void take_number(struct aspawn_child *child)
{
	struct child_state *state = child_state(child);

	state->pid = stack_state(&state->stack)->begun.pid;
	aspw_note_clone(state, &state->stack);
	/* Any wait of the caller may reap the child soon. */
	if (!state->owner && child->ended_fd >= 0)
		(void)open_child_pidfd(child);
}

/* Takes the number of a child that keeps the helper suspended, in a cgroup that is frozen or gets
 * no processor: then no other child follows. Returns false if there is no such child. */
static IN_SERVER bool take_suspended(struct aspawn_child *child)
{
	const struct Stack_t *stack = &child_state(child)->stack;
	int in_cgroup = SUSPENDS;

	if (!aspw_has_stack(child) || !stack_state(stack)->begun.pid ||
	    !__atomic_compare_exchange_n(&stack_state(stack)->in_cgroup, &in_cgroup, IS_TAKEN,
					 false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return false;
	take_number(child);
	return true;
}

IN_SERVER bool aspw_kill_suspended(struct aspawn_child *child)
{
	const struct child_state *state = child_state(child);
	const struct stack_state *made = stack_state(&state->stack);

	if (__atomic_load_n(&made->helper, __ATOMIC_ACQUIRE) != CLONING)
		return true;
	if (state->pid < 0 && !take_suspended(child))
		return false;
	const int fd = aspw_helper_open_child(&state->stack);
	if (aspw_signal_by_pidfd(fd, PSYS_SIGKILL, 0) == -PSYS_ENOSYS &&
	    !aspw_helper_has_reaped(&state->stack))
		psys_kill(state->pid, PSYS_SIGKILL);
	psys_close(fd); /* close(-1) is harmless */
	return true;
}

IN_SERVER int aspw_learn_child(struct aspawn_child *child, int64_t deadline)
{
	struct child_state *state = child_state(child);
	const struct Stack_t *stack = &state->stack;
	struct aspawn_failure failure;

	if (state->pid >= 0 || state->answer == KNOWN || !aspw_has_stack(child))
		return 0;
	struct stack_state *made = stack_state(stack);
	int r = aspw_stack_await(stack, STACK_HELPER, CLONING, deadline);
	if (r < 0 && has_raised_sigchld(state))
		r = aspw_stack_await(stack, STACK_HELPER, CLONING, aspw_deadline_in(1000));
	if (r < 0) { /* somebody may have stopped the helper */
		aspw_stack_signal_helper(stack, child->ended_fd, PSYS_SIGCONT);
		return r;
	}
	aspw_stack_reap_abandoned(stack);
	if (made->begun.pid) {
		take_number(child);
		return 0;
	}
	stack_has_no_child(made); /* the helper may be killed in its clone */
	aspw_watch_free(&stack_control(stack)->watch, state->is_jobs);
	const struct prepared *prepared = stack_control(stack)->request.user_data;
	const int error = made->begun.error;
	if (made->refused && error)
		aspw_store_failure(&failure,
				   (int)(prepared->joined - prepared->actions) -
					   prepared->library_count,
				   error, ASPAWN_ACTION_NEW_CGROUP, made->refused);
	else
		aspw_store_failure(&failure, ASPAWN_STEP_CLONE, error ? error : -PSYS_ECHILD, 0, "");
	aspw_set_failure(state, &failure);
	return 0;
}

IN_SERVER int aspawn_pid(struct aspawn_child *child)
{
	if (!is_child(child))
		return -PSYS_EINVAL;
	if (child_state(child)->pid < 0 && aspw_learn_child(child, aspw_deadline_in(1000)) < 0 &&
	    !take_suspended(child))
		return -PSYS_EAGAIN;
	const struct child_state *state = child_state(child);
	if (state->pid > 0)
		return state->pid;
	return state->answer == KNOWN ? -PSYS_ECANCELED : -PSYS_ESRCH;
}

IN_SERVER int aspw_child_pidfd(struct aspawn_child *child)
{
	const struct child_state *state = child_state(child);

	if (child->ended_fd < 0) /* unwanted, unsupported or released */
		return -PSYS_ENOSYS;
	if (!state->helped)
		return child->ended_fd;
	if (state->child_pidfd >= 0 && !state->is_channel)
		return state->child_pidfd;
	const int r = aspawn_pid(child);
	return r < 0 ? r : open_child_pidfd(child);
}

/* --- its reports ----------------------------------------------------------------- */

/* Reads the child's reports until a failure, which is stored, or the end of the pipe. Returns 0,
 * -ETIMEDOUT or an error of read(2). A sibling that inherited the pipe may delay the end. */
static IN_SERVER int read_reports(struct child_state *state, struct aspawn_failure *failure,
				  int64_t deadline)
{
	struct aspawn_failure report;

	while (state->answer != KNOWN) {
		int r = aspw_deadline_poll(state->report, PSYS_POLLIN, deadline);
		if (r < 0)
			return r;
		long length = psys_read(state->report, &report, sizeof report);
		if (length == sizeof report && report.error) {
			psys_memcpy(failure, &report, sizeof report);
			aspw_set_failure(state, failure);
		} else if (length == sizeof report) {
			state->answer = EXECUTING;
		} else if (length < 0 && length != -PSYS_EINTR) {
			return (int)length;
		} else if (length >= 0) {
			break;
		}
	}
	return 0;
}

/* Waits until the child has execed or ended. */
static IN_SERVER int wait_for_exec(struct aspawn_child *child, struct aspawn_failure *failure,
				   int64_t deadline)
{
	struct child_state *state = child_state(child);
	int r = -PSYS_ENOSYS;

	if (!state->copied)
		return aspw_has_stack(child) ?
			       aspw_stack_await_free(&state->stack, STACK_CHILD, deadline) :
			       0;
	if (state->watch)
		r = aspw_watch_wait(state->watch, state->pid, deadline);
	if (r != -PSYS_ENOSYS)
		return r;
	return state->report >= 0 ? read_reports(state, failure, deadline) : 0;
}

/* Reads the report after the child's exec or end: from the shared page if memory is a copy,
 * otherwise from the child's stack. */
static IN_SERVER void read_memory(const struct child_state *state, struct aspawn_failure *failure)
{
	const struct prepared *prepared =
		state->watch ? NULL : stack_control(&state->stack)->request.user_data;

	psys_memcpy(failure, prepared ? (void *)&prepared->in_memory : state->watch->report,
		    sizeof *failure);
	if (failure->error)
		return;
	failure->error = failure->step == ASPAWN_STEP_EXEC ? 0 : -PSYS_ECHILD;
	if (!failure->error || state->watch) /* a page of zeros has no step */
		failure->step = ASPAWN_STEP_NONE;
}

static IN_SERVER int find_out(struct aspawn_child *child, struct aspawn_failure *failure,
			      int64_t deadline)
{
	struct child_state *state = child_state(child);
	int r = wait_for_exec(child, failure, deadline);
	const bool in_memory = state->watch || (!state->copied && aspw_has_stack(child));

	if (state->report >= 0) {
		int read = read_reports(state, failure, 0);
		/* If memory has the answer too, a failed read does not matter. */
		r = r == 0 && read < 0 && read != -PSYS_ETIMEDOUT && !in_memory ? read : r;
	}
	if (state->answer == KNOWN)
		return 0;
	if (r < 0)
		return r;
	if (in_memory) {
		read_memory(state, failure);
	} else if (state->report < 0) {
		state->answer = OVERWRITTEN;
		return 0;
	} else if (state->answer != EXECUTING) {
		failure->error = -PSYS_ECHILD;
	}
	aspw_set_failure(state, failure);
	return 0;
}

/* A forked process does not have the page that a child in the image shares with the caller. */
static IN_SERVER void forget_watch_after_fork(struct child_state *state)
{
	const struct Stack_t *stack = &state->stack;

	if (state->watch && state->unforked && stack->addr && !stack_state(stack)->is_wiped_by_fork)
		state->watch = NULL;
}

IN_SERVER void aspw_release_reports(struct aspawn_child *child)
{
	struct child_state *state = child_state(child);

	forget_watch_after_fork(state);
	/* If the helper was killed, the child may be about to map the page: then the page stays. */
	if (!state->watch || watch_has_begun(state->watch) || !aspw_has_stack(child) ||
	    !stack_is_lent(stack_state(&state->stack)))
		aspw_watch_free(&state->watch, state->is_jobs);
	state->watch = NULL;
	if (state->report >= 0 && state->report != child->started_fd)
		psys_close(state->report);
	if (state->report != child->started_fd)
		state->report = -1;
}

IN_SERVER int aspw_wait_started(struct aspawn_child *child, struct aspawn_failure *failure,
				int64_t deadline)
{
	struct child_state *state = child_state(child);

	aspw_store_failure(failure, ASPAWN_STEP_NONE, 0, 0, "");
	forget_watch_after_fork(state);
	if (state->pid < 0) {
		int r = aspw_learn_child(child, deadline);
		if (r < 0)
			return r;
	}
	if (state->answer <= EXECUTING) {
		int r = find_out(child, failure, deadline);
		if (r < 0)
			return r;
		aspw_release_reports(child);
		if (!state->helped)
			aspw_give_stack(state);
	} else if (state->answer == KNOWN) {
		aspw_store_failure(failure, state->step, state->error, state->kind, state->subject);
	}
	if (state->answer == OVERWRITTEN)
		return -PSYS_ESTALE;
	return failure->error ? -PSYS_ECANCELED : 0;
}

int aspawn_describe(const struct aspawn_child *child, int fact)
{
	if (!child)
		return -PSYS_EINVAL;
	const struct child_state *state = child_state((struct aspawn_child *)(uintptr_t)child);
	if (!state->pid && !state->mode && !state->helped) /* never started */
		return -PSYS_EINVAL;
	switch (fact) {
	case ASPAWN_FACT_PID:
		return state->pid > 0 ? state->pid : 0;
	case ASPAWN_FACT_MODE:
		return state->mode;
	case ASPAWN_FACT_OWNER:
		return state->by_process_group ? ASPAWN_OWNER_PRIVATE : state->owner;
	case ASPAWN_FACT_HELPER:
		return state->helped;
	case ASPAWN_FACT_REASON:
		return state->reason;
	case ASPAWN_FACT_SURVIVORS:
		return state->survivors;
	case ASPAWN_FACT_OUTCOME:
		return state->outcome;
	default:
		return -PSYS_EINVAL;
	}
}

int aspawn_wait_started(struct aspawn_child *child, struct aspawn_failure *failure,
			int64_t timeout_ms)
{
	struct aspawn_failure unwanted, *to = failure ? failure : &unwanted;

	aspw_store_failure(to, ASPAWN_STEP_NONE, 0, 0, "");
	if (!child || (!is_child(child) && child_state(child)->answer <= EXECUTING))
		return -PSYS_EINVAL;
	return aspw_wait_started(child, to, aspw_deadline_in(timeout_ms));
}
