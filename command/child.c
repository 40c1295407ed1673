/* SPDX-License-Identifier: MIT */
/* The handle of a child: waits for its exec and its end, and sends signals. */
#include "child.h"

#include <syscall/string.h>

#include "../aspawn/deadline.h"
#include "../aspawn/private.h"
#include "../aspawn/watch.h"
#include "pool.h"
#include "prepared.h"

enum { LONGEST_ORPHANED = 2000 }; /* naps of 5 ms, until another reaps it */

static bool is_child(const struct aspawn_child *child)
{
	return child && child->pid > 0;
}

static int poll_until(int fd, struct psys_timespec deadline)
{
	struct psys_pollfd poll = { fd, PSYS_POLLIN, 0 };
	int r;

	do {
		struct psys_timespec left = deadline_left(deadline);
		r = psys_ppoll(&poll, 1, &left, NULL, 0);
	} while (r == -PSYS_EINTR);
	return r == 0 ? -PSYS_ETIMEDOUT : r < 0 ? r : 0;
}

/* --- the start --------------------------------------------------------------- */

static const struct Stack_t *stack_of(const struct child_state *state)
{
	return state->callers ? state->callers : &state->stack;
}

/* True if this child was the last on its stack. False in a forked process, whose copy of the
 * stack's state is zero. */
static bool has_stack(struct aspawn_child *child)
{
	const struct Stack_t *stack = stack_of(child_state(child));

	return stack->addr && stack_state(stack)->pid == child->pid;
}

void aspawn_give_stack(struct child_state *state)
{
	const struct Stack_t stack = state->stack;

	state->stack.addr = NULL;
	if (state->pool)
		aspawn_pool_give(state->pool, stack);
	else if (stack.addr)
		while (aspawn_stack_free((struct Stack_t *)&stack) == -PSYS_EBUSY)
			aspawn_stack_wait(&stack, NULL);
	state->pool = NULL;
}

static void set_failure(struct child_state *state, const struct aspawn_failure *failure)
{
	const size_t length = psys_strlen(failure->subject), most = sizeof state->subject - 1;

	state->known = KNOWN;
	state->step = failure->step;
	state->error = failure->error;
	state->kind = failure->kind;
	psys_strlcpy(state->subject,
		     length > most ? failure->subject + length - most : failure->subject, most + 1);
}

static void get_failure(struct aspawn_failure *failure, const struct child_state *state)
{
	*failure = (struct aspawn_failure){ state->step, state->error, state->kind, 0, "" };
	psys_strlcpy(failure->subject, state->subject, sizeof failure->subject);
}

/* Reads the child's reports until a failure, which is stored, or the end of the pipe. Returns 0,
 * -ETIMEDOUT or an error of read(2). A sibling that inherited the pipe may delay its end. */
static int read_reports(struct child_state *state, struct aspawn_failure *failure,
			struct psys_timespec deadline)
{
	struct aspawn_failure report;

	while (state->known != KNOWN) {
		int r = poll_until(state->report, deadline);
		if (r < 0)
			return r;
		long length = psys_read(state->report, &report, sizeof report);
		if (length == sizeof report && report.error) {
			*failure = report;
			set_failure(state, failure);
		} else if (length == sizeof report) {
			state->known = EXECUTING;
		} else if (length < 0 && length != -PSYS_EINTR) {
			return (int)length;
		} else if (length >= 0) {
			break;
		}
	}
	return 0;
}

/* Waits until the child has execed or ended. */
static int wait_for_exec(struct aspawn_child *child, struct aspawn_failure *failure,
			 const struct psys_timespec *timeout)
{
	struct child_state *state = child_state(child);
	int r = -PSYS_ENOSYS;

	if (!state->copied)
		return has_stack(child) ? aspawn_stack_wait_child(stack_of(state), timeout) : 0;
	const struct psys_timespec deadline = deadline_after(timeout);
	if (state->watch)
		r = aspawn_watch_wait(state->watch, child->pid, timeout);
	return r == -PSYS_ENOSYS ? read_reports(state, failure, deadline) : r;
}

/* Reads the report from the child's stack, after the child has left the stack. */
static void read_memory(struct aspawn_child *child, struct aspawn_failure *failure)
{
	const struct prepared *prepared = stack_control(stack_of(child_state(child)))->user_data;

	*failure = prepared->report;
	if (!failure->error && failure->step == ASPAWN_STEP_EXEC)
		failure->step = ASPAWN_STEP_NONE;
	else if (!failure->error)
		failure->error = -PSYS_ECHILD;
}

/* For a child in a copy of the memory: true if its last report says that its exec is next. */
static bool is_executing(const struct child_state *state)
{
	return state->watch ? aspawn_watch_is_executing(state->watch) : state->known == EXECUTING;
}

static int find_out(struct aspawn_child *child, struct aspawn_failure *failure,
		    const struct psys_timespec *timeout)
{
	const struct psys_timespec at_once = { 0, 0 };
	struct child_state *state = child_state(child);
	int r = wait_for_exec(child, failure, timeout);

	if (state->report >= 0) {
		int read = read_reports(state, failure, deadline_after(&at_once));
		/* If memory has the answer too, a failed read does not matter. */
		const bool in_memory = state->copied ? state->watch != NULL : has_stack(child);
		r = r == 0 && read < 0 && read != -PSYS_ETIMEDOUT && !in_memory ? read : r;
	}
	if (state->known == KNOWN)
		return 0;
	if (r < 0)
		return r;
	if (!state->copied && has_stack(child)) {
		read_memory(child, failure);
	} else if (state->report < 0) {
		state->known = OVERWRITTEN;
		return 0;
	} else if (!is_executing(state)) {
		failure->error = -PSYS_ECHILD;
	}
	set_failure(state, failure);
	return 0;
}

/* Keeps started_fd open: the caller may still poll it. */
static void release_reports(struct aspawn_child *child)
{
	struct child_state *state = child_state(child);

	aspawn_watch_free(state->watch);
	state->watch = NULL;
	if (state->report >= 0 && state->report != child->started_fd)
		psys_close(state->report);
	if (state->report != child->started_fd)
		state->report = -1;
}

/* Works also after aspawn_wait(). */
static int wait_started(struct aspawn_child *child, struct aspawn_failure *failure,
			const struct psys_timespec *timeout)
{
	struct child_state *state = child_state(child);

	*failure = (struct aspawn_failure){ ASPAWN_STEP_NONE, 0, 0, 0, "" };
	if (state->known <= EXECUTING) {
		int r = find_out(child, failure, timeout);
		if (r < 0)
			return r;
		release_reports(child);
		if (!state->private)
			aspawn_give_stack(state);
	} else if (state->known == KNOWN) {
		get_failure(failure, state);
	}
	return state->known == OVERWRITTEN ? -PSYS_ESTALE : failure->error ? -PSYS_ECANCELED : 0;
}

int aspawn_wait_started(struct aspawn_child *child, struct aspawn_failure *failure,
			int64_t timeout_ms)
{
	struct aspawn_failure unwanted, *to = failure ? failure : &unwanted;
	struct psys_timespec timeout;

	*to = (struct aspawn_failure){ ASPAWN_STEP_NONE, 0, 0, 0, "" };
	if (!child || (child->pid <= 0 && child_state(child)->known <= EXECUTING))
		return -PSYS_EINVAL;
	return wait_started(child, to, deadline_from_ms(&timeout, timeout_ms));
}

/* --- the end ------------------------------------------------------------------ */

int aspawn_release(struct aspawn_child *child)
{
	if (!child)
		return -PSYS_EINVAL;
	if (child->pid <= 0) /* waited for, or never started: nothing is open */
		return 0;

	struct child_state *state = child_state(child);
	if (state->known <= EXECUTING)
		state->known = OVERWRITTEN;
	release_reports(child);
	/* The helper of a private child may run for long: a pool takes a stack in use. */
	if (!state->private || state->pool || !aspawn_stack_busy(&state->stack))
		aspawn_give_stack(state);
	if (child->pidfd >= 0)
		psys_close(child->pidfd);
	if (child->started_fd >= 0)
		psys_close(child->started_fd);
	child->pidfd = child->started_fd = state->report = -1;
	return 0;
}

/* waitid(2) for this child. Returns its pid, 0 if it still runs, or a negative error number. */
static int wait_by_kernel(const struct aspawn_child *child, int *status, int options,
			  struct psys_rusage *usage)
{
	struct psys_siginfo info;
	int r = -PSYS_EINVAL;

	info.u.child.pid = 0;
	if (child->pidfd >= 0)
		r = psys_waitid(PSYS_P_PIDFD, child->pidfd, &info, options | PSYS_WEXITED, usage);
	if (r == -PSYS_EINVAL) /* before Linux 5.4 */
		r = psys_waitid(PSYS_P_PID, child->pid, &info, options | PSYS_WEXITED, usage);
	if (r < 0 || !info.u.child.pid)
		return r;
	*status = aspawn_wait_status(&info);
	return info.u.child.pid;
}

static bool is_readable(int fd)
{
	return fd >= 0 && poll_until(fd, (struct psys_timespec){ 0, 0 }) == 0;
}

/*
 * A private child whose helper somebody has killed: it is this process's child if that is a
 * subreaper or init. Of another's child the kernel has the status from when that has reaped it
 * (Linux 6.15); 0 until then.
 */
static int wait_for_orphan(const struct aspawn_child *child, int *status, int options,
			   struct psys_rusage *usage)
{
	struct psys_pidfd_info info;
	int r = wait_by_kernel(child, status, options, usage);

	if (r != -PSYS_ECHILD || child->pidfd < 0)
		return r;
	if (!is_readable(child->pidfd))
		return 0;
	/* ESRCH: the child was reaped between the two looks of the call. The second call finds
	 * its status. */
	for (int tries = 0; tries < 2 && (tries == 0 || r == -PSYS_ESRCH); tries++) {
		psys_memset(&info, 0, sizeof info);
		info.mask = PSYS_PIDFD_INFO_EXIT;
		r = (int)psys_ioctl(child->pidfd, PSYS_PIDFD_GET_INFO, (uintptr_t)&info);
	}
	if (r < 0 || !(info.mask & PSYS_PIDFD_INFO_EXIT))
		return r < 0 ? -PSYS_ECHILD : 0;
	*status = info.exit_code;
	if (usage)
		psys_memset(usage, 0, sizeof *usage);
	return child->pid;
}

/* As wait_by_kernel(), of a private child: nothing reaps it but its helper. */
static int wait_for_private(struct aspawn_child *child, int *status, int options,
			    struct psys_rusage *usage)
{
	const struct Stack_t *stack = stack_of(child_state(child));

	if (!has_stack(child))
		return -PSYS_ECHILD;
	if (!(options & PSYS_WNOHANG))
		aspawn_private_await_end(stack, DEADLINE_NEVER);
	else if (aspawn_private_is_helped(stack) && !aspawn_private_end(stack, status, usage))
		return is_readable(child->pidfd) ? child->pid : 0;
	return aspawn_private_end(stack, status, usage) ?
		       child->pid :
		       wait_for_orphan(child, status, options, usage);
}

static int wait_for(struct aspawn_child *child, int *status, int options, struct psys_rusage *usage)
{
	return child_state(child)->private ? wait_for_private(child, status, options, usage) :
					     wait_by_kernel(child, status, options, usage);
}

int aspawn_ended(struct aspawn_child *child)
{
	int status;

	if (!is_child(child))
		return -PSYS_EINVAL;
	int r = wait_for(child, &status, PSYS_WNOHANG | PSYS_WNOWAIT, NULL);
	return r < 0 ? r : r != 0;
}

/* Waits until the child has ended, without reaping it. */
static int wait_for_end(struct aspawn_child *child, struct psys_timespec deadline)
{
	const struct psys_timespec nap = { 0, 5000000 }, moment = { 1, 0 };
	const bool private = child_state(child)->private && has_stack(child);
	const struct Stack_t *stack = stack_of(child_state(child));
	int r = child->pidfd >= 0 ? poll_until(child->pidfd, deadline) : 0;

	if (r < 0 || (child->pidfd >= 0 && !private))
		return r;
	if (private) {
		/* It may be known to have ended: then the helper's end is not for the limit. */
		const struct psys_timespec soon = deadline_after(&moment);
		if ((child->pidfd >= 0 || aspawn_private_end(stack, NULL, NULL)) &&
		    deadline_is_before(deadline, soon))
			deadline = soon;
		r = aspawn_private_await_end(stack, deadline);
		if (r < 0 || aspawn_private_end(stack, NULL, NULL))
			return r;
	}
	for (int naps = 0;; naps++) {
		r = aspawn_ended(child);
		if (r)
			return r < 0 ? r : 0;
		if (deadline_has_passed(deadline))
			return -PSYS_ETIMEDOUT;
		if (private && child->pidfd >= 0 && naps == LONGEST_ORPHANED)
			return -PSYS_ECHILD;
		psys_nanosleep(&nap, NULL);
	}
}

int aspawn_wait(struct aspawn_child *child, int *status, struct psys_rusage *usage,
		int64_t timeout_ms)
{
	const struct psys_timespec at_once = { 0, 0 };
	struct psys_timespec timeout;
	const struct psys_timespec *limit = deadline_from_ms(&timeout, timeout_ms);
	struct aspawn_failure failure;
	int ended, r = 0;

	if (!is_child(child))
		return -PSYS_EINVAL;
	if (limit || child_state(child)->private)
		r = wait_for_end(child, deadline_after(limit));
	while (r >= 0 && (r = wait_for(child, &ended, PSYS_WNOWAIT, NULL)) == -PSYS_EINTR)
		r = 0;
	if (r < 0 && r != -PSYS_ECHILD)
		return r;
	int started = wait_started(child, &failure, &at_once);
	while (r >= 0 && (r = wait_for(child, &ended, 0, usage)) == -PSYS_EINTR)
		r = 0;
	if (r < 0 && r != -PSYS_ECHILD)
		return r;
	/* -ECHILD: another wait, or an ignored SIGCHLD, has reaped the child. Release the handle
	 * in that case too. */
	if (has_stack(child)) { /* the kernel may not have cleared the stack's word */
		__atomic_store_n(&stack_state(stack_of(child_state(child)))->use, FREE,
				 __ATOMIC_RELEASE);
		if (child_state(child)->private)
			aspawn_stack_reap_helper(stack_of(child_state(child)));
	}
	aspawn_release(child);
	child->pid = 0;
	if (r < 0)
		return r;
	if (status)
		*status = ended;
	return started == -PSYS_ECANCELED ? started : 0;
}

/* --- signals ------------------------------------------------------------------ */

/* As long as the child is not reaped, no other process can get its number. */
static int kill_unreaped(struct aspawn_child *child, int pid, int signal)
{
	int status;
	int r = wait_for(child, &status, PSYS_WNOHANG | PSYS_WNOWAIT, NULL);

	if (r > 0 && child_state(child)->private) /* its helper has reaped it, or is about to */
		r = -PSYS_ECHILD;
	return r == -PSYS_ECHILD ? -PSYS_ESRCH : r < 0 ? r : psys_kill(pid, signal);
}

int aspawn_kill(struct aspawn_child *child, int signal)
{
	int r = -PSYS_ENOSYS;

	if (!is_child(child) || signal < 0 || signal > PSYS_NSIG)
		return -PSYS_EINVAL;
	if (child->pidfd >= 0)
		r = psys_pidfd_send_signal(child->pidfd, signal, NULL, 0);
	return r == -PSYS_ENOSYS ? kill_unreaped(child, child->pid, signal) : r;
}

int aspawn_kill_group(struct aspawn_child *child, int signal)
{
	int r = -PSYS_EINVAL;

	if (!is_child(child) || signal < 0 || signal > PSYS_NSIG)
		return -PSYS_EINVAL;
	/* The number of a private child may be another's: its pidfd still knows the group. */
	if (child_state(child)->private && child->pidfd >= 0)
		r = psys_pidfd_send_signal(child->pidfd, signal, NULL,
					   PSYS_PIDFD_SIGNAL_PROCESS_GROUP);
	if (r == -PSYS_EINVAL || r == -PSYS_ENOSYS)
		r = kill_unreaped(child, -child->pid, signal);
	/* The child may not lead a group yet, or may have left it. */
	return r == -PSYS_ESRCH ? aspawn_kill(child, signal) : r;
}

int aspawn_kill_cgroup(int cgroup_fd)
{
	int fd = psys_openat(cgroup_fd, "cgroup.kill", PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0);

	if (fd < 0)
		return fd;
	long r = psys_write(fd, "1", 1);
	psys_close(fd);
	return r < 0 ? (int)r : 0;
}
