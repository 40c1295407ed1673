/* The handle of a child: whether it started, its end, signals to it. */
#include <syscall/string.h>

#include "deadline.h"
#include "plan.h"

/* EXECUTING: it has said so, and may fail yet. */
enum state { UNKNOWN, EXECUTING, KNOWN, LOST };

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

/* What the child wrote to the memory that it shared, after it has let go of it. */
static void look_at_memory(struct aspawn_child *child)
{
	struct control *control;

	child->state = LOST;
	if (!child->stack->addr)
		return;
	control = stack_control(child->stack);
	if (control->pid != child->pid || control->mode == ASPAWN_MODE_FORK)
		return;
	child->state = KNOWN;
	child->failure.error = __atomic_load_n(&control->error, __ATOMIC_ACQUIRE);
	child->failure.step = control->step;
	if (child->failure.error)
		return;
	if (control->step == ASPAWN_STEP_EXEC)
		child->failure.step = ASPAWN_STEP_NONE;
	else
		child->failure.error = PSYS_ECHILD;
}

static int find_out(struct aspawn_child *child, const struct psys_timespec *timeout)
{
	struct aspawn_failure failure = { ASPAWN_STEP_NONE, 0 };
	int r;

	if (child->fd < 0) {
		const struct Stack_t *stack = child->stack;
		r = stack->addr && stack_control(stack)->pid == child->pid ?
			    aspawn_stack_wait(stack, timeout) : 0;
		if (r < 0)
			return r;
		look_at_memory(child);
		return 0;
	}
	const struct psys_timespec deadline = deadline_after(timeout);
	for (;;) {
		r = poll_until(child->fd, deadline);
		if (r < 0)
			return r;
		long length = psys_read(child->fd, &failure, sizeof failure);
		if (length == -PSYS_EINTR)
			continue;
		if (length != sizeof failure)
			break;
		child->state = failure.error ? KNOWN : EXECUTING;
		if (failure.error) {
			child->failure = failure;
			return 0;
		}
	}
	/* The end of file comes with the exec, or because the child was killed before. */
	if (child->state != EXECUTING) {
		if (child->stack->addr && stack_control(child->stack)->pid == child->pid)
			aspawn_stack_wait(child->stack, timeout);
		look_at_memory(child);
		if (!child->failure.error)
			child->failure.error = PSYS_ECHILD;
	}
	child->state = KNOWN;
	return 0;
}

int aspawn_started(struct aspawn_child *child, struct aspawn_failure *failure,
		   const struct psys_timespec *timeout)
{
	int r = 0;

	if (!child || !deadline_is_valid(timeout) || (child->pid <= 0 && child->state <= EXECUTING))
		r = -PSYS_EINVAL;
	else if (child->state <= EXECUTING)
		r = find_out(child, timeout);
	if (r == 0 && child->state == LOST)
		r = -PSYS_ESTALE;
	if (failure)
		*failure = r < 0 ? (struct aspawn_failure){ ASPAWN_STEP_NONE, -r } : child->failure;
	return r < 0 ? r : -child->failure.error;
}

/* Another's wait, or SIGCHLD ignored, may have taken it: then there is nothing to
 * hold on to any more. */
static void release(struct aspawn_child *child)
{
	if (child->pidfd >= 0)
		psys_close(child->pidfd);
	if (child->fd >= 0)
		psys_close(child->fd);
	child->pid = 0;
	child->pidfd = child->fd = -1;
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
	if (child->state <= EXECUTING)
		child->state = LOST;
	if (r >= 0)
		r = wait_for(child, &info, PSYS_WNOHANG, usage);
	release(child);
	if (r <= 0)
		return r < 0 ? r : -PSYS_ECHILD;
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
