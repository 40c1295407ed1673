/* The handle of a child: whether it started, its end, signals to it. */
#include <syscall/string.h>

#include "../aspawn/deadline.h"
#include "../aspawn/watch.h"
#include "prepared.h"

/* What is known of the start. EXECUTING: the child has reported that its exec is next. */
enum state { UNKNOWN, EXECUTING, KNOWN, OVERWRITTEN };

static bool is_running(const struct aspawn_child *child)
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

/* True if no other child has been on the stack since. After a fork it knows of none. */
static bool has_stack(const struct aspawn_child *child)
{
	return child->stack->addr && stack_state(child->stack)->pid == child->pid;
}

/* What the child wrote to the pipe, up to its failure or the pipe's end: 0, or
 * -ETIMEDOUT. A sibling that inherited the pipe may hold its end back. */
static int read_reports(struct aspawn_child *child, struct psys_timespec deadline)
{
	struct aspawn_failure report;

	while (child->state != KNOWN) {
		long length = psys_read(child->report, &report, sizeof report);
		if (length == -PSYS_EAGAIN) {
			int r = poll_until(child->report, deadline);
			if (r < 0)
				return r;
		} else if (length == sizeof report) {
			if (report.error)
				child->failure = report;
			child->state = report.error ? KNOWN : EXECUTING;
		} else if (length != -PSYS_EINTR) {
			break;
		}
	}
	return 0;
}

/* Waits until the child has execed or ended. */
static int wait_for_exec(struct aspawn_child *child, const struct psys_timespec *timeout)
{
	const struct psys_timespec deadline = deadline_after(timeout);
	int r = -PSYS_ENOSYS;

	if (!child->copied)
		return has_stack(child) ? aspawn_stack_wait(child->stack, timeout) : 0;
	if (child->watch)
		r = aspawn_watch_wait(child->watch, child->pid, timeout);
	return r == -PSYS_ENOSYS ? read_reports(child, deadline) : r;
}

static void set_failure(struct aspawn_child *child, int step, int error)
{
	child->failure = (struct aspawn_failure){ step, error };
	child->state = KNOWN;
}

/* What the child stored in the memory that it shared, after it has let go of it. */
static void read_memory(struct aspawn_child *child)
{
	const struct prepared *prepared = stack_control(child->stack)->user_data;

	if (prepared->error)
		set_failure(child, prepared->step, prepared->error);
	else if (prepared->step == ASPAWN_STEP_EXEC)
		set_failure(child, ASPAWN_STEP_NONE, 0);
	else
		set_failure(child, prepared->step, PSYS_ECHILD);
}

static int find_out(struct aspawn_child *child, const struct psys_timespec *timeout)
{
	const struct psys_timespec at_once = { 0, 0 };
	int r = wait_for_exec(child, timeout);

	if (child->report >= 0)
		read_reports(child, deadline_after(&at_once));
	if (child->state == KNOWN)
		return 0;
	if (r < 0)
		return r;
	if (!child->copied && has_stack(child))
		read_memory(child);
	else if (child->report < 0)
		child->state = OVERWRITTEN;
	else
		set_failure(child, ASPAWN_STEP_NONE, child->state == EXECUTING ? 0 : PSYS_ECHILD);
	return 0;
}

/* Not the descriptor that the caller polls: it is the caller's to take out of its loop. */
static void release_reports(struct aspawn_child *child)
{
	aspawn_watch_free(child->watch);
	child->watch = NULL;
	if (child->report >= 0 && child->report != child->fd)
		psys_close(child->report);
	if (child->report != child->fd)
		child->report = -1;
}

int aspawn_started(struct aspawn_child *child, struct aspawn_failure *failure,
		   const struct psys_timespec *timeout)
{
	int r = 0;

	if (!child || !deadline_is_valid(timeout) || (child->pid <= 0 && child->state <= EXECUTING))
		r = -PSYS_EINVAL;
	else if (child->state <= EXECUTING)
		r = find_out(child, timeout);
	if (r == 0)
		release_reports(child);
	if (r == 0 && child->state == OVERWRITTEN)
		r = -PSYS_ESTALE;
	if (failure)
		*failure = r < 0 ? (struct aspawn_failure){ ASPAWN_STEP_NONE, -r } : child->failure;
	return r < 0 ? r : -child->failure.error;
}

int aspawn_release(struct aspawn_child *child)
{
	if (!child || child->pid < 0)
		return -PSYS_EINVAL;
	if (child->pid == 0) /* waited for: nothing is open any more */
		return 0;
	if (child->state <= EXECUTING && child->copied)
		child->state = OVERWRITTEN;
	release_reports(child);
	if (child->pidfd >= 0)
		psys_close(child->pidfd);
	if (child->fd >= 0)
		psys_close(child->fd);
	child->pidfd = child->fd = child->report = -1;
	return 0;
}

/* waitid(2) for this child alone. The pid of it, 0 if it runs still, or an error. */
static int wait_for(const struct aspawn_child *child, struct psys_siginfo *info, int options,
		    struct psys_rusage *usage)
{
	int r = -PSYS_EINVAL;

	info->u.child.pid = 0;
	if (child->pidfd >= 0)
		r = psys_waitid(PSYS_P_PIDFD, child->pidfd, info, options | PSYS_WEXITED, usage);
	if (r == -PSYS_EINVAL) /* before Linux 5.4 */
		r = psys_waitid(PSYS_P_PID, child->pid, info, options | PSYS_WEXITED, usage);
	return r < 0 ? r : info->u.child.pid;
}

/* Until it has ended; it is not reaped. */
static int wait_for_end(const struct aspawn_child *child, struct psys_timespec deadline)
{
	const struct psys_timespec nap = { 0, 5000000 };
	struct psys_siginfo info;

	if (child->pidfd >= 0)
		return poll_until(child->pidfd, deadline);
	for (;;) {
		int r = wait_for(child, &info, PSYS_WNOHANG | PSYS_WNOWAIT, NULL);
		if (r)
			return r < 0 ? r : 0;
		if (deadline_has_passed(deadline))
			return -PSYS_ETIMEDOUT;
		psys_nanosleep(&nap, NULL);
	}
}

int aspawn_wait(struct aspawn_child *child, int *status, struct psys_rusage *usage,
		const struct psys_timespec *timeout)
{
	const struct psys_timespec at_once = { 0, 0 };
	struct psys_siginfo info;
	int r = 0;

	if (!is_running(child) || !deadline_is_valid(timeout))
		return -PSYS_EINVAL;
	if (timeout || child->pidfd < 0)
		r = wait_for_end(child, deadline_after(timeout));
	if (r == 0)
		do
			r = wait_for(child, &info, PSYS_WNOWAIT, NULL);
		while (r == -PSYS_EINTR);
	if (r < 0 && r != -PSYS_ECHILD)
		return r;
	aspawn_started(child, NULL, &at_once);
	if (r >= 0)
		do
			r = wait_for(child, &info, 0, usage);
		while (r == -PSYS_EINTR);
	if (r < 0 && r != -PSYS_ECHILD)
		return r;
	/* Another's wait, or SIGCHLD ignored, may have taken it: then there is nothing to
	 * hold on to any more. */
	aspawn_release(child);
	child->pid = 0;
	if (r < 0)
		return r;
	if (status)
		*status = info.code == PSYS_CLD_EXITED ? (info.u.child.status & 0xff) << 8 :
			  info.code == PSYS_CLD_DUMPED ? info.u.child.status | 0x80 :
							 info.u.child.status;
	return 0;
}

/* While it is not reaped its number is nobody else's. */
static int kill_unreaped(const struct aspawn_child *child, int pid, int signal)
{
	struct psys_siginfo info;
	int r = wait_for(child, &info, PSYS_WNOHANG | PSYS_WNOWAIT, NULL);

	return r == -PSYS_ECHILD ? -PSYS_ESRCH : r < 0 ? r : psys_kill(pid, signal);
}

int aspawn_kill(struct aspawn_child *child, int signal)
{
	int r = -PSYS_ENOSYS;

	if (!is_running(child) || signal < 0 || signal > PSYS_NSIG)
		return -PSYS_EINVAL;
	if (child->pidfd >= 0)
		r = psys_pidfd_send_signal(child->pidfd, signal, NULL, 0);
	return r == -PSYS_ENOSYS ? kill_unreaped(child, child->pid, signal) : r;
}

int aspawn_kill_group(struct aspawn_child *child, int signal)
{
	return kill_unreaped(child, -child->pid, signal);
}
