/* A command's whole life: fed, collected from, and terminated when its time is up. */
#include "../aspawn/deadline.h"
#include "prepared.h"

enum { INPUT, OUTPUT, ERROR, END, POLLED };

struct communication {
	struct aspawn_run *run;
	struct aspawn_child child;
	struct psys_pollfd polled[POLLED]; /* fd -1: done with */
	size_t fed;
	bool too_much;
};

/* ppoll(2) of those in use: there may be fewer than RLIMIT_NOFILE allows to be polled. */
static int poll_used(struct communication *communication, struct psys_timespec timeout)
{
	struct psys_pollfd used[POLLED];
	int from[POLLED];
	unsigned count = 0;

	for (int i = 0; i < POLLED; i++) {
		communication->polled[i].revents = 0;
		if (communication->polled[i].fd < 0)
			continue;
		used[count] = communication->polled[i];
		from[count++] = i;
	}
	int r = psys_ppoll(used, count, &timeout, NULL, 0);
	for (unsigned i = 0; i < count && r > 0; i++)
		communication->polled[from[i]].revents = used[i].revents;
	return r;
}

static void done_with(struct communication *communication, int which)
{
	psys_close(communication->polled[which].fd);
	communication->polled[which].fd = -1;
}

static void feed(struct communication *communication)
{
	const struct aspawn_run *run = communication->run;
	long r = psys_write(communication->polled[INPUT].fd, (const char *)run->input + communication->fed,
			    run->input_size - communication->fed);

	if (r > 0)
		communication->fed += (size_t)r;
	if ((r < 0 && r != -PSYS_EAGAIN && r != -PSYS_EINTR) || communication->fed == run->input_size)
		done_with(communication, INPUT);
}

/* What does not fit is read all the same, and lost: to know that it was there. */
static void collect(struct communication *communication, int which, char *to, size_t size, size_t *length)
{
	char lost[512];
	bool full = *length == size;
	long r = psys_read(communication->polled[which].fd, full ? lost : to + *length,
			   full ? sizeof lost : size - *length);

	if (r > 0 && full)
		communication->too_much = true;
	else if (r > 0)
		*length += (size_t)r;
	else if (r != -PSYS_EAGAIN && r != -PSYS_EINTR)
		done_with(communication, which);
}

static void transfer(struct communication *communication)
{
	struct aspawn_run *run = communication->run;

	if (communication->polled[INPUT].revents)
		feed(communication);
	if (communication->polled[OUTPUT].revents)
		collect(communication, OUTPUT, run->output, run->output_size, &run->output_length);
	if (communication->polled[ERROR].revents)
		collect(communication, ERROR, run->error, run->error_size, &run->error_length);
}

/* 1, 0, or why that cannot be known. */
static int has_ended(const struct communication *communication)
{
	struct psys_siginfo info;

	if (communication->polled[END].fd >= 0)
		return communication->polled[END].revents != 0;
	info.u.child.pid = 0;
	int r = psys_waitid(PSYS_P_PID, communication->child.pid, &info,
			    PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT, NULL);
	return r == -PSYS_ECHILD ? 1 : r < 0 ? r : info.u.child.pid != 0;
}

static void terminate(struct communication *communication, int signal)
{
	/* It may lead no group yet, or have gone to another. */
	if (!(communication->run->flags & ASPAWN_RUN_GROUP) ||
	    aspawn_kill_group(&communication->child, signal) < 0 || signal == PSYS_SIGKILL)
		aspawn_kill(&communication->child, signal);
}

/* 0, -ETIMEDOUT, -ENOBUFS, or why it cannot be waited for: then it is killed. */
static int event_loop(struct communication *communication)
{
	const struct psys_timespec second = { 1, 0 }, tick = { 0, 10000000 };
	const struct psys_timespec grace = communication->run->grace ? *communication->run->grace : second;
	struct psys_timespec deadline = deadline_after(communication->run->timeout);
	bool ended = false;
	int result = 0, signal = 0;

	while (!ended || communication->polled[OUTPUT].fd >= 0 || communication->polled[ERROR].fd >= 0) {
		struct psys_timespec left = deadline_left(deadline);
		if (!ended && communication->polled[END].fd < 0)
			left = deadline_sooner(left, tick);
		int r = poll_used(communication, left);
		if (r > 0)
			transfer(communication);
		if (!ended && r >= 0)
			r = has_ended(communication);
		if (r < 0 && r != -PSYS_EINTR) {
			terminate(communication, PSYS_SIGKILL);
			return r;
		}
		if (!ended && r > 0) {
			ended = true;
			communication->polled[END].fd = -1;
			deadline = deadline_after(&grace);
			continue;
		}
		bool is_late = deadline_has_passed(deadline);
		if (ended && is_late)
			break; /* a grandchild has the pipe still */
		if (ended || !(is_late || (communication->too_much && !signal)))
			continue;
		if (!signal)
			result = is_late ? -PSYS_ETIMEDOUT : -PSYS_ENOBUFS;
		deadline = signal ? DEADLINE_NEVER : deadline_after(&grace);
		signal = signal ? PSYS_SIGKILL : PSYS_SIGTERM;
		terminate(communication, signal);
	}
	if (result && communication->run->flags & ASPAWN_RUN_GROUP)
		terminate(communication, PSYS_SIGKILL); /* whoever is left of it */
	return result ? result : communication->too_much ? -PSYS_ENOBUFS : 0;
}

/* Writing to a pipe that nobody reads must not raise the caller's SIGPIPE. */
static int communicate(struct communication *communication)
{
	const struct psys_timespec at_once = { 0, 0 };
	struct psys_sigset pipe, mask, pending;

	psys_sigemptyset(&pipe);
	psys_sigaddset(&pipe, PSYS_SIGPIPE);
	psys_sigemptyset(&pending);
	psys_rt_sigpending(&pending, PSYS_SIGSET_SIZE);
	int r = psys_rt_sigprocmask(PSYS_SIG_BLOCK, &pipe, &mask, PSYS_SIGSET_SIZE);
	if (r < 0) {
		terminate(communication, PSYS_SIGKILL);
		return r;
	}
	r = event_loop(communication);
	if (!psys_sigismember(&pending, PSYS_SIGPIPE))
		psys_rt_sigtimedwait(&pipe, NULL, &at_once, PSYS_SIGSET_SIZE);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &mask, NULL, PSYS_SIGSET_SIZE);
	return r;
}

static int check(const struct aspawn_run *run)
{
	if (!run)
		return -PSYS_EINVAL;
	int r = aspawn_check_size(run, run->size, sizeof *run);
	if (r < 0)
		return r;
	if (run->flags & ~ASPAWN_RUN_GROUP || (!run->input && run->input_size) ||
	    (!run->output && run->output_size) || (!run->error && run->error_size) ||
	    !deadline_is_valid(run->timeout) || !deadline_is_valid(run->grace))
		return -PSYS_EINVAL;
	return 0;
}

int aspawn_run(struct aspawn_run *run, struct Stack_t *stack, const struct aspawn_command *command)
{
	struct communication communication = { .run = run, .polled = { { -1, PSYS_POLLOUT, 0 },
							       { -1, PSYS_POLLIN, 0 },
							       { -1, PSYS_POLLIN, 0 },
							       { -1, PSYS_POLLIN, 0 } } };
	struct aspawn_action actions[4];
	size_t count = 0;
	int r = check(run);

	if (r < 0)
		return r;
	run->output_length = run->error_length = 0;
	run->status = 0;
	run->usage = (struct psys_rusage){ 0 };
	run->failure = (struct aspawn_failure){ ASPAWN_STEP_NONE, 0 };
	if (run->input)
		actions[count++] = (struct aspawn_action)ASPAWN_PIPE_TO(0, &communication.polled[INPUT].fd);
	else
		actions[count++] = (struct aspawn_action)ASPAWN_OPEN(0, "/dev/null", PSYS_O_RDONLY, 0);
	if (run->output)
		actions[count++] = (struct aspawn_action)ASPAWN_PIPE_FROM(1, &communication.polled[OUTPUT].fd);
	if (run->error)
		actions[count++] = (struct aspawn_action)ASPAWN_PIPE_FROM(2, &communication.polled[ERROR].fd);
	/* A session of its own is a group too; and who leads a group can make none. */
	if (run->flags & ASPAWN_RUN_GROUP && !aspawn_has_action(command, ASPAWN_ACTION_SETSID))
		actions[count++] = (struct aspawn_action)ASPAWN_SETPGID(0);

	r = aspawn_command_with(&communication.child, stack, command, actions, count);
	if (r < 0) {
		run->failure = (struct aspawn_failure){ ASPAWN_STEP_CLONE, -r };
		return r;
	}
	communication.polled[END].fd = communication.child.pidfd;
	for (int i = INPUT; i <= ERROR; i++)
		if (communication.polled[i].fd >= 0)
			psys_fcntl(communication.polled[i].fd, PSYS_F_SETFL, PSYS_O_NONBLOCK);
	r = communicate(&communication);
	for (int i = INPUT; i <= ERROR; i++)
		if (communication.polled[i].fd >= 0)
			done_with(&communication, i);
	int waited = aspawn_wait(&communication.child, &run->status, &run->usage, NULL);
	int started = aspawn_started(&communication.child, &run->failure, NULL);
	aspawn_release(&communication.child); /* if the wait has failed */
	if (started < 0 && run->failure.error && (r == 0 || run->failure.error != PSYS_ECHILD))
		return started;
	if (r < 0) /* it ran, or was killed before it did */
		run->failure = (struct aspawn_failure){ ASPAWN_STEP_NONE, -r };
	return r < 0 ? r : waited;
}
