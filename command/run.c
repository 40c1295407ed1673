/* A command's whole life: fed, collected from, and ended when its time is up. */
#include "../aspawn/deadline.h"
#include "prepared.h"

enum { INPUT, OUTPUT, ERROR, END, POLLED };

struct collector {
	struct aspawn_run *run;
	struct aspawn_child child;
	struct psys_pollfd polled[POLLED]; /* fd -1: done with */
	size_t fed;
	bool too_much;
};

static void done_with(struct collector *collector, int which)
{
	psys_close(collector->polled[which].fd);
	collector->polled[which].fd = -1;
}

static void feed(struct collector *collector)
{
	const struct aspawn_run *run = collector->run;
	long r = psys_write(collector->polled[INPUT].fd, (const char *)run->input + collector->fed,
			    run->input_size - collector->fed);

	if (r > 0)
		collector->fed += (size_t)r;
	if ((r < 0 && r != -PSYS_EAGAIN && r != -PSYS_EINTR) || collector->fed == run->input_size)
		done_with(collector, INPUT);
}

/* What does not fit is read all the same, and lost: to know that it was there. */
static void collect(struct collector *collector, int which, char *to, size_t size, size_t *length)
{
	char lost[512];
	bool full = *length == size;
	long r = psys_read(collector->polled[which].fd, full ? lost : to + *length,
			   full ? sizeof lost : size - *length);

	if (r > 0 && full)
		collector->too_much = true;
	else if (r > 0)
		*length += (size_t)r;
	else if (r != -PSYS_EAGAIN && r != -PSYS_EINTR)
		done_with(collector, which);
}

static void transfer(struct collector *collector)
{
	struct aspawn_run *run = collector->run;

	if (collector->polled[INPUT].revents)
		feed(collector);
	if (collector->polled[OUTPUT].revents)
		collect(collector, OUTPUT, run->output, run->output_size, &run->output_length);
	if (collector->polled[ERROR].revents)
		collect(collector, ERROR, run->error, run->error_size, &run->error_length);
}

static bool has_ended(const struct collector *collector)
{
	struct psys_siginfo info;

	if (collector->polled[END].fd >= 0)
		return collector->polled[END].revents;
	info.u.child.pid = 0;
	int r = psys_waitid(PSYS_P_PID, collector->child.pid, &info,
			    PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT, NULL);
	return r == -PSYS_ECHILD || info.u.child.pid;
}

static void end(struct collector *collector, int signal)
{
	/* It may lead no group yet, or have gone to another. */
	if (!(collector->run->flags & ASPAWN_RUN_GROUP) ||
	    aspawn_kill_group(&collector->child, signal) < 0 || signal == PSYS_SIGKILL)
		aspawn_kill(&collector->child, signal);
}

/* 0, -ETIMEDOUT or -ENOBUFS. */
static int live(struct collector *collector)
{
	const struct psys_timespec second = { 1, 0 }, tick = { 0, 10000000 };
	const struct psys_timespec grace = collector->run->grace ? *collector->run->grace : second;
	struct psys_timespec deadline = deadline_after(collector->run->timeout);
	bool ended = false;
	int result = 0, signal = 0;

	while (!ended || collector->polled[OUTPUT].fd >= 0 || collector->polled[ERROR].fd >= 0) {
		struct psys_timespec left = deadline_left(deadline);
		if (!ended && collector->polled[END].fd < 0)
			left = deadline_sooner(left, tick);
		int ready = psys_ppoll(collector->polled, POLLED, &left, NULL, 0);
		if (ready > 0)
			transfer(collector);
		if (!ended && ready >= 0 && has_ended(collector)) {
			ended = true;
			collector->polled[END].fd = -1;
			deadline = deadline_after(&grace);
			continue;
		}
		bool is_late = deadline_has_passed(deadline);
		if (ended && is_late)
			break; /* a grandchild has the pipe still */
		if (ended || !(is_late || (collector->too_much && !signal)))
			continue;
		if (!signal)
			result = is_late ? -PSYS_ETIMEDOUT : -PSYS_ENOBUFS;
		deadline = signal ? DEADLINE_NEVER : deadline_after(&grace);
		signal = signal ? PSYS_SIGKILL : PSYS_SIGTERM;
		end(collector, signal);
	}
	if (result && collector->run->flags & ASPAWN_RUN_GROUP)
		end(collector, PSYS_SIGKILL); /* whoever is left of it */
	return result ? result : collector->too_much ? -PSYS_ENOBUFS : 0;
}

/* Writing to a pipe that nobody reads must not raise the caller's SIGPIPE. */
static int live_without_sigpipe(struct collector *collector)
{
	const struct psys_timespec at_once = { 0, 0 };
	struct psys_sigset pipe, mask, pending;

	psys_sigemptyset(&pipe);
	psys_sigaddset(&pipe, PSYS_SIGPIPE);
	psys_sigemptyset(&pending);
	psys_rt_sigpending(&pending, PSYS_SIGSET_SIZE);
	psys_rt_sigprocmask(PSYS_SIG_BLOCK, &pipe, &mask, PSYS_SIGSET_SIZE);
	int r = live(collector);
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
	struct collector collector = { .run = run, .polled = { { -1, PSYS_POLLOUT, 0 },
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
		actions[count++] = (struct aspawn_action)ASPAWN_PIPE_TO(0, &collector.polled[INPUT].fd);
	else
		actions[count++] = (struct aspawn_action)ASPAWN_OPEN(0, "/dev/null", PSYS_O_RDONLY, 0);
	if (run->output)
		actions[count++] = (struct aspawn_action)ASPAWN_PIPE_FROM(1, &collector.polled[OUTPUT].fd);
	if (run->error)
		actions[count++] = (struct aspawn_action)ASPAWN_PIPE_FROM(2, &collector.polled[ERROR].fd);
	/* A session of its own is a group too; and who leads a group can make none. */
	if (run->flags & ASPAWN_RUN_GROUP && !aspawn_has_action(command, ASPAWN_ACTION_SETSID))
		actions[count++] = (struct aspawn_action)ASPAWN_SETPGID(0);

	r = aspawn_command_with(&collector.child, stack, command, actions, count);
	if (r < 0) {
		run->failure = (struct aspawn_failure){ ASPAWN_STEP_CLONE, -r };
		return r;
	}
	collector.polled[END].fd = collector.child.pidfd;
	for (int i = INPUT; i <= ERROR; i++)
		if (collector.polled[i].fd >= 0)
			psys_fcntl(collector.polled[i].fd, PSYS_F_SETFL, PSYS_O_NONBLOCK);
	r = live_without_sigpipe(&collector);
	for (int i = INPUT; i <= ERROR; i++)
		if (collector.polled[i].fd >= 0)
			done_with(&collector, i);
	int waited = aspawn_wait(&collector.child, &run->status, &run->usage, NULL);
	int started = aspawn_started(&collector.child, &run->failure, NULL);
	if (r < 0 && run->failure.error == PSYS_ECHILD) /* it was ended before it ran */
		return r;
	return started < 0 && run->failure.error ? started : r < 0 ? r : waited;
}
