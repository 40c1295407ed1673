/* SPDX-License-Identifier: MIT */
/* Waits for the end of a child, by the kernel or by the helper of a private child. */
#include "wait.h"

#include <syscall/string.h>

#include "../marks.h"
#include "../helper/helper.h"
#include "../helper/tree.h"
#include "../spawn/deadline.h"
#include "../spawn/descriptor_table.h"
#include "../spawn/pidfd.h"
#include "handle.h"

enum {
	LONGEST_ORPHANED = 2000, /* naps of 5 ms, until another process reaps the child */
	MOMENT = 1000,           /* milliseconds */
	SOON = 100,              /* milliseconds, if a tree was ordered to end at once */
	MOST_RINGS = 100,        /* ten seconds, in tenths of a second */
};

IN_SERVER void aspw_signal_helper(struct aspawn_child *child, int signal)
{
	aspw_stack_signal_helper(&child_state(child)->stack, child->ended_fd, signal);
}

static IN_SERVER bool is_readable(int fd)
{
	return aspw_deadline_poll(fd, PSYS_POLLIN, 0) >= 0; /* of a negative fd: -ETIMEDOUT */
}

/* True also if ppoll(2) fails: the next call tells whether the kernel has a status. */
static bool may_be_readable(int fd)
{
	return fd >= 0 && aspw_deadline_poll(fd, PSYS_POLLIN, 0) != -PSYS_ETIMEDOUT;
}

static IN_SERVER bool is_to_be_killed(const struct child_state *state)
{
	return state->owner == OWNER_TREE && __atomic_load_n(&stack_state(&state->stack)->order,
							     __ATOMIC_RELAXED) == KILL_AT_ONCE;
}

IN_SERVER int aspw_until_tending(struct aspawn_child *child)
{
	return aspw_has_stack(child) && is_to_be_killed(child_state(child)) ? SOON : MOMENT;
}

/* True if this thread traced the child, which had stopped, and has detached. */
static IN_SERVER bool let_go_on(struct aspawn_child *child)
{
	struct psys_siginfo info;
	const int pid = child_state(child)->pid;

	info.u.child.pid = 0;
	return pid > 0 && psys_waitid(PSYS_P_PID, pid, &info, LOOK_AT_ANY, NULL) == 0 &&
	       info.u.child.pid && !is_exit(&info) && aspw_detach_stopped(&info) == 0;
}

IN_SERVER bool aspw_tend_child(struct aspawn_child *child, bool hurries)
{
	struct child_state *state = child_state(child);

	if (!state->owner)
		let_go_on(child);
	if (!state->helped || !aspw_has_stack(child))
		return false;
	const struct stack_state *made = stack_state(&state->stack);
	const unsigned char beat = (unsigned char)__atomic_load_n(&made->beat, __ATOMIC_RELAXED);
	const bool kills = is_to_be_killed(state);
	const bool is_due =
		kills || (state->owner != OWNER_TREE && aspw_learn_child(child, 0) == 0 &&
			  is_readable(aspw_child_pidfd(child)));
	const bool is_orphan = state->owner && !aspw_stack_has(&state->stack, STACK_HELPER) &&
			       !aspw_helper_result(&state->stack, NULL, NULL);

	const int rings = state->rings + (kills ? 1 : MOMENT / SOON);

	state->rings = (unsigned char)(is_due && beat == state->beat ? rings : 0);
	state->beat = beat;
	aspw_signal_helper(child, state->rings < MOST_RINGS ? PSYS_SIGCONT : PSYS_SIGKILL);
	if (kills && aspw_stack_has(&state->stack, STACK_HELPER))
		aspw_tree_kill_below(made->helper_pid);
	return is_due && is_orphan && (hurries || state->rings >= MOST_RINGS);
}

/* Reaps a helper that is about to end. If another process traces the helper, only the tracer can
 * reap the zombie: then a later use of the stack reaps it. */
static void reap_ended_helper(struct aspawn_child *child)
{
	const struct psys_timespec nap = { 0, 1000000 };
	const struct Stack_t *stack = &child_state(child)->stack;

	if (child->ended_fd >= 0)
		aspw_deadline_poll(child->ended_fd, PSYS_POLLIN, aspw_deadline_in(MOMENT));
	for (int naps = 0; aspw_stack_take_back(stack, PSYS_WNOHANG) < 0 && naps < MOMENT / 10;
	     naps++)
		psys_nanosleep(&nap, NULL);
}

/* Ends the helper of a child of this process, for which nobody has any more use. */
static void end_helper(struct aspawn_child *child)
{
	const struct Stack_t *stack = &child_state(child)->stack;

	aspw_signal_helper(child, PSYS_SIGKILL);
	if (aspw_stack_await_free(stack, STACK_HELPER, aspw_deadline_in(MOMENT)) == 0)
		reap_ended_helper(child);
}

/* True if the child is in its cgroup, on shared memory. The OOM killer spares the child as long as
 * the helper is suspended. */
static bool is_protected(const struct Stack_t *stack)
{
	return __atomic_load_n(&stack_state(stack)->helper, __ATOMIC_ACQUIRE) == CLONING &&
	       aspw_stack_has(stack, STACK_CHILD);
}

void aspw_give_up_child(struct aspawn_child *child)
{
	const struct child_state *state = child_state(child);

	if (state->helped && !state->pool && aspw_has_stack(child))
		end_helper(child);
	aspawn_release(child);
}

int aspawn_release(struct aspawn_child *child)
{
	if (!child)
		return -PSYS_EINVAL;
	if (!is_child(child)) /* waited for, or never started: nothing is open */
		return 0;

	struct child_state *state = child_state(child);
	int order = NO_ORDER;
	if (state->owner == OWNER_TREE && aspw_has_stack(child)) /* unless its end is ordered */
		__atomic_compare_exchange_n(&stack_state(&state->stack)->order, &order, LET_GO,
					    false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	if (state->pid < 0) /* its helper may have made a page for its reports */
		aspw_learn_child(child, aspw_deadline_in(MOMENT));
	if (state->answer <= EXECUTING)
		state->answer = OVERWRITTEN;
	aspw_release_reports(child);
	if (state->helped && !state->owner && !state->pool && aspw_has_stack(child) &&
	    (state->pid > 0 || state->answer == KNOWN) && !is_protected(&state->stack))
		end_helper(child);
	/* A helper may run for long. A pool accepts a stack in use. */
	if (!state->helped || state->pool || aspw_stack_take_back(&state->stack, PSYS_WNOHANG) == 0)
		aspw_give_stack(state);
	if (child->ended_fd >= 0)
		psys_close(child->ended_fd);
	if (child->started_fd >= 0)
		psys_close(child->started_fd);
	if (state->child_pidfd >= 0)
		psys_close(state->child_pidfd);
	child->ended_fd = child->started_fd = state->child_pidfd = state->report = -1;
	state->is_channel = false;
	return 0;
}

/* Calls waitid(2) for this child. Returns the pid, 0 while the child runs, or a negative error
 * number. Before a child executes the image it has no exit signal (wait(2), __WALL). */
static int wait_by_kernel(struct aspawn_child *child, int *status, int options,
			  struct psys_rusage *usage)
{
	const int pidfd = aspw_child_pidfd(child), pid = child_state(child)->pid;
	struct psys_siginfo info;
	int r = -PSYS_EINVAL;

	options |= (int)(PSYS_WEXITED | PSYS___WALL);
	info.u.child.pid = 0;
	if (pidfd == -PSYS_ESRCH) /* its number is another process's, or free */
		return -PSYS_ECHILD;
	if (pidfd >= 0)
		r = psys_waitid(PSYS_P_PIDFD, pidfd, &info, options, usage);
	if (r == -PSYS_EINVAL) /* before Linux 5.4 */
		r = psys_waitid(PSYS_P_PID, pid, &info, options, usage);
	if (r < 0 || !info.u.child.pid || !is_exit(&info)) /* a tracee may have stopped */
		return r;
	*status = aspw_wait_status(&info);
	return info.u.child.pid;
}

/* The kernel keeps the status of a reaped child for its pidfd, but not the usage. */
static int status_of_reaped(struct aspawn_child *child, int *status, struct psys_rusage *usage)
{
	int r = aspw_reaped_status(aspw_child_pidfd(child), status);

	if (r < 0)
		return r;
	if (usage)
		psys_memset(usage, 0, sizeof *usage);
	return 1;
}

/* Does what wait_by_kernel() does, if another wait may have reaped this process's child. While
 * SIGCHLD is ignored, waitid(2) fails some microseconds before the child is reaped. */
static int wait_for_ordinary(struct aspawn_child *child, int *status, int options,
			     struct psys_rusage *usage)
{
	int r = wait_by_kernel(child, status, options, usage);

	if (r == -PSYS_ECHILD && may_be_readable(aspw_child_pidfd(child)))
		r = status_of_reaped(child, status, usage);
	if (r == -PSYS_EAGAIN) {
		aspw_await_reaped(aspw_child_pidfd(child), aspw_deadline_in(MOMENT));
		r = status_of_reaped(child, status, usage);
	}
	return r == -PSYS_EAGAIN ? -PSYS_ECHILD : r;
}

/* The child never existed: the helper could not clone it, or was killed before. */
static int wait_for_unborn(struct aspawn_child *child, int *status, struct psys_rusage *usage)
{
	if (aspw_has_stack(child) && aspw_helper_result(&child_state(child)->stack, status, usage))
		return 1;
	*status = aspw_has_stack(child) ?
			  aspw_stack_helper_status(&child_state(child)->stack, child->ended_fd) :
			  PSYS_SIGKILL;
	if (usage)
		psys_memset(usage, 0, sizeof *usage);
	return 1;
}

/* Does what wait_for_ordinary() does, for a child of this process cloned by a helper. */
static int wait_for_helped(struct aspawn_child *child, int *status, int options,
			   struct psys_rusage *usage)
{
	const struct child_state *state = child_state(child);

	if (state->pid < 0 &&
	    aspw_learn_child(child, options & PSYS_WNOHANG ? 0 : DEADLINE_NEVER) < 0)
		return 0;
	if (state->pid < 0) /* a forked process does not know the child */
		return state->answer == KNOWN ? wait_for_unborn(child, status, usage) : -PSYS_ECHILD;
	return wait_for_ordinary(child, status, options, usage);
}

/*
 * Waits for a private child whose helper was killed. If this process is a subreaper or init, it has
 * inherited the child. Otherwise the kernel has the status after another process has reaped the
 * child (Linux 6.15), and the result is 0 until then. Without a child yet, the status is the
 * helper's. Nobody knows what is left of a tree.
 */
static int wait_for_orphan(struct aspawn_child *child, int *status, int options,
			   struct psys_rusage *usage)
{
	if (aspawn_pid(child) == -PSYS_ECANCELED)
		return wait_for_unborn(child, status, usage);
	if (child_state(child)->owner == OWNER_TREE)
		return -PSYS_EOWNERDEAD;
	const int pidfd = aspw_child_pidfd(child);
	int r = wait_by_kernel(child, status, options, usage);
	if (r != -PSYS_ECHILD || pidfd < 0)
		return r;
	if (!may_be_readable(pidfd))
		return 0;
	r = status_of_reaped(child, status, usage);
	return r == -PSYS_EAGAIN ? 0 : r;
}

/* Does what wait_by_kernel() does, for a private child: only the helper reaps it. */
static int wait_for_private(struct aspawn_child *child, int *status, int options,
			    struct psys_rusage *usage)
{
	const struct Stack_t *stack = &child_state(child)->stack;

	if (!aspw_has_stack(child))
		return -PSYS_ECHILD;
	if (!(options & PSYS_WNOHANG))
		aspw_stack_await_free(stack, STACK_HELPER, DEADLINE_NEVER);
	/* Look at the helper before its result. */
	const bool helped = aspw_stack_has(stack, STACK_HELPER);
	if (aspw_helper_result(stack, status, usage))
		return 1;
	return helped ? 0 : wait_for_orphan(child, status, options, usage);
}

static int wait_for(struct aspawn_child *child, int *status, int options, struct psys_rusage *usage)
{
	const struct child_state *state = child_state(child);

	if (state->owner)
		return wait_for_private(child, status, options, usage);
	return state->helped ? wait_for_helped(child, status, options, usage) :
			       wait_for_ordinary(child, status, options, usage);
}

int aspw_is_unreaped(struct aspawn_child *child)
{
	int status, r = -PSYS_ECHILD;

	if (child_state(child)->owner) {
		if (aspw_has_stack(child) && aspw_helper_has_reaped(&child_state(child)->stack))
			return -PSYS_ESRCH;
		r = wait_for_private(child, &status, PSYS_WNOHANG | PSYS_WNOWAIT, NULL);
		if (r > 0) /* the helper has reaped it, or is about to */
			r = -PSYS_ECHILD;
	} else {
		r = wait_by_kernel(child, &status, PSYS_WNOHANG | PSYS_WNOWAIT, NULL);
	}
	if (r == -PSYS_ECHILD)
		return -PSYS_ESRCH;
	return r < 0 ? r : 0;
}

int aspawn_pidfd(struct aspawn_child *child)
{
	int r = aspawn_pid(child);

	if (r < 0)
		return r;
	const int fd = aspw_child_pidfd(child);
	if (fd >= 0)
		return (int)psys_fcntl(fd, PSYS_F_DUPFD_CLOEXEC, 3);
	if (fd != -PSYS_ENOSYS)
		return fd;
	const int opened = aspw_descriptors_avoid_streams(psys_pidfd_open(r, 0));
	r = aspw_is_unreaped(child);
	if (r == 0 || opened < 0)
		return opened;
	psys_close(opened);
	return r;
}

int aspawn_ended(struct aspawn_child *child)
{
	int status;

	if (!is_child(child))
		return -PSYS_EINVAL;
	int r = wait_for(child, &status, PSYS_WNOHANG | PSYS_WNOWAIT, NULL);
	return r < 0 ? r : r != 0;
}

/* Waits for the end of the helper of a private child. */
static int await_helper(struct aspawn_child *child, int64_t deadline)
{
	const struct child_state *state = child_state(child);

	for (;;) {
		const int64_t soon = aspw_deadline_in(aspw_until_tending(child));
		const int64_t until = soon && soon < deadline ? soon : deadline;
		const int r = child->ended_fd >= 0 ?
				      aspw_deadline_poll(child->ended_fd, PSYS_POLLIN, until) :
				      aspw_stack_await_free(&state->stack, STACK_HELPER, until);
		if (r == -PSYS_ETIMEDOUT && until == deadline)
			aspw_signal_helper(child, PSYS_SIGCONT);
		if (r != -PSYS_ETIMEDOUT || until == deadline)
			return r;
		aspw_tend_child(child, false);
	}
}

/* Waits until the child has ended, without reaping it. */
static int wait_for_exit(struct aspawn_child *child, int64_t deadline)
{
	const struct psys_timespec nap = { 0, 5000000 };
	const struct child_state *state = child_state(child);
	const bool private = state->owner && aspw_has_stack(child);
	const struct Stack_t *stack = &state->stack;
	int fd = child->ended_fd, r = 0;

	/* If the child is known to have ended, the limit does not apply to the helper's end. */
	if (private && aspw_helper_result(stack, NULL, NULL))
		deadline = aspw_deadline_in(MOMENT);
	if (state->helped && !state->owner) {
		r = aspw_learn_child(child, deadline);
		fd = r < 0 ? -1 : aspw_child_pidfd(child);
	}
	if (private)
		r = await_helper(child, deadline);
	else if (fd >= 0)
		r = aspw_deadline_poll(fd, PSYS_POLLIN, deadline);
	if (r < 0 || (private && aspw_helper_result(stack, NULL, NULL)))
		return r < 0 ? r : 0;
	if (private && state->owner != OWNER_TREE &&
	    aspw_child_pidfd(child) >= 0) /* somebody has killed the helper */
		r = aspw_deadline_poll(state->child_pidfd, PSYS_POLLIN, deadline);
	if (r < 0)
		return r;
	for (int naps = 0;; naps++) {
		r = aspawn_ended(child);
		if (r)
			return r < 0 ? r : 0;
		if (aspw_deadline_is_past(deadline))
			return -PSYS_ETIMEDOUT;
		if (private && state->child_pidfd >= 0 && naps == LONGEST_ORPHANED)
			return -PSYS_ECHILD;
		psys_nanosleep(&nap, NULL);
	}
}

/* The helper of a child of this process is about to end too. Nobody waits for this end: a pool
 * takes the stack earlier, and reuses it later. */
static void leave_helper(const struct Stack_t *stack)
{
	__atomic_store_n(&stack_state(stack)->ended, ENDED, __ATOMIC_RELEASE);
	(void)aspw_stack_take_back(stack, PSYS_WNOHANG);
}

/* True if the error is permanent. */
static bool is_final(int error)
{
	return error == -PSYS_ECHILD || error == -PSYS_EOWNERDEAD;
}

/* Keeps the results of a tree in the handle. The helper may have been killed before the child has
 * left the stack. */
static void leave_tree(struct child_state *state)
{
	const struct stack_state *made = stack_state(&state->stack);

	state->survivors = made->survivors;
	if (made->is_cancelled)
		state->outcome = ASPAWN_OUTCOME_CANCELLED;
	else if (aspw_helper_saw_oom(made))
		state->outcome = ASPAWN_OUTCOME_OUT_OF_MEMORY;
	state->by_process_group = made->by_process_group;
	if (!aspw_helper_result(&state->stack, NULL, NULL))
		aspw_stack_await_free(&state->stack, STACK_CHILD, aspw_deadline_in(MOMENT));
}

int aspw_wait_child(struct aspawn_child *child, int *status, struct psys_rusage *usage,
		    uint64_t *memory_peak, int64_t timeout_ms)
{
	struct aspawn_failure failure;
	int ended, r = 0;

	if (!is_child(child))
		return -PSYS_EINVAL;
	if (timeout_ms < 0 && !child_state(child)->owner)
		do
			r = wait_for(child, &ended, PSYS_WNOWAIT, NULL);
		while (r == -PSYS_EINTR || (r == 0 && let_go_on(child)));
	if (r == 0) /* another thread may trace the child */
		r = wait_for_exit(child, aspw_deadline_in(timeout_ms));
	if (r < 0 && !is_final(r))
		return r;
	int started = aspw_wait_started(child, &failure, 0);
	while (r >= 0 && (r = wait_for(child, &ended, 0, usage)) == -PSYS_EINTR)
		r = 0;
	if (r == 0) /* a second look has failed, and the status is unknown */
		return -PSYS_ETIMEDOUT;
	if (r < 0 && !is_final(r))
		return r;
	/* -ECHILD: another wait, or an ignored SIGCHLD, has reaped the child. -EOWNERDEAD: the
	 * helper of a tree was killed. Release the handle in these cases too. */
	struct child_state *state = child_state(child);
	const struct Stack_t *stack = &state->stack;
	state->outcome = ASPAWN_OUTCOME_RAN;
	if (state->owner == OWNER_TREE && aspw_has_stack(child))
		leave_tree(state);
	if (memory_peak && state->owner == OWNER_TREE && aspw_has_stack(child))
		*memory_peak = stack_state(stack)->memory_peak;
	if (r < 0 || started == -PSYS_ECANCELED)
		state->outcome = r < 0 ? ASPAWN_OUTCOME_LOST : ASPAWN_OUTCOME_NOT_STARTED;
	if (aspw_has_stack(child)) {
		if (r != -PSYS_EOWNERDEAD) /* the kernel may not have cleared the word */
			stack_is_left(stack_state(stack));
		if (state->owner)
			reap_ended_helper(child);
		else if (state->helped)
			leave_helper(stack);
	}
	aspawn_release(child);
	state->pid = 0;
	if (r < 0)
		return r;
	if (status)
		*status = ended;
	if (state->survivors)
		return -PSYS_ENOTEMPTY;
	return started == -PSYS_ECANCELED ? started : 0;
}

int aspawn_wait(struct aspawn_child *child, int *status, struct psys_rusage *usage,
		int64_t timeout_ms)
{
	return aspw_wait_child(child, status, usage, NULL, timeout_ms);
}
