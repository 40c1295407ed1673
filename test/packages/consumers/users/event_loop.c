/* SPDX-License-Identifier: MIT */
/*
 * 200 children at once in a single epoll loop. Each child has a pipe for output, and a time limit.
 * The loop keeps the first KiB of the output. After the time limit the child is ended with all
 * processes started by the child.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <aspawn/command.h>

enum { COUNT = 200, KEPT = 1024, LIMIT_MS = 5000, GRACE_MS = 5000 };
enum { OUTPUT, END };

enum stage { NONE, RUNS, TERMINATED };

struct task {
	struct aspawn_child child;
	enum stage stage;
	int64_t next;  /* when the stage ends; milliseconds */
	int is_polled; /* by ended_fd; otherwise by the timer */
	size_t length;
	char output[KEPT];
};

static struct task tasks[COUNT];
static struct aspawn_pool pool;
static int loop, left;

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void watch(int fd, size_t index, int what)
{
	struct epoll_event event = { .events = EPOLLIN };

	event.data.u64 = (uint64_t)index << 2 | (unsigned)what;
	if (epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event) < 0)
		abort();
}

static int start(size_t index)
{
	static const struct aspawn_action actions[] = {
		ASPAWN_RESET_SIGNALS(),
		ASPAWN_SETPGID(0), /* for aspawn_kill_group() */
		ASPAWN_CLOSEFROM(3),
	};
	struct task *task = &tasks[index];
	char number[24];
	const struct aspawn_command command = {
		.size = sizeof command,
		.flags = ASPAWN_COMMAND_NONBLOCK,
		.argv = ASPAWN_ARGV("sh", "-c", "echo $1; sleep $(($1 % 2 * 60))", "sh", number),
		.std_in = ASPAWN_STREAM_NULL,
		.std_out = ASPAWN_STREAM_PIPE,
		.std_err = ASPAWN_STREAM_STDOUT,
		.actions = actions,
		.action_count = sizeof actions / sizeof *actions,
		.pool = &pool,
	};

	snprintf(number, sizeof number, "%zu", index);
	int r = aspawn_start(&task->child, &command);
	if (r < 0)
		return r;
	task->stage = RUNS;
	task->next = now() + LIMIT_MS;
	watch(task->child.out_fd, index, OUTPUT);
	task->is_polled = task->child.ended_fd >= 0;
	if (task->is_polled)
		watch(task->child.ended_fd, index, END);
	left++;
	return 0;
}

static void close_output(struct task *task)
{
	epoll_ctl(loop, EPOLL_CTL_DEL, task->child.out_fd, NULL);
	close(task->child.out_fd);
	task->child.out_fd = -1;
}

static void read_output(struct task *task)
{
	char dropped[4096];

	for (;;) {
		const size_t room = KEPT - task->length;
		const ssize_t r =
			read(task->child.out_fd, room ? task->output + task->length : dropped,
			     room ? room : sizeof dropped);
		if (r > 0 && room)
			task->length += (size_t)r;
		if (r < 0 && errno == EINTR)
			continue;
		if (r == 0 || (r < 0 && errno != EAGAIN))
			close_output(task);
		if (r <= 0)
			return;
	}
}

static void reap(struct task *task)
{
	struct aspawn_failure failure;
	char text[256];
	int status = -1;

	if (task->child.out_fd >= 0) /* what a process that the command has left holds */
		close_output(task);
	int r = aspawn_wait(&task->child, &status, NULL, -1);
	if (r == -ECANCELED && aspawn_wait_started(&task->child, &failure, 0) == -ECANCELED)
		aspawn_failure_text(text, sizeof text, &failure);
	else if (r < 0)
		snprintf(text, sizeof text, "%s", strerror(-r));
	else
		aspawn_status_text(text, sizeof text, status);
	printf("%td: %.*s[%s]\n", task - tasks, (int)task->length, task->output, text);
	task->stage = NONE;
	left--;
}

static void stop_polling(struct task *task)
{
	if (task->is_polled) /* before the library closes it */
		epoll_ctl(loop, EPOLL_CTL_DEL, task->child.ended_fd, NULL);
	task->is_polled = 0;
}

/* While a group is being ended, the child is not reaped: others of the group may be left. */
static void see_end(struct task *task)
{
	const int r = aspawn_ended(&task->child);

	stop_polling(task); /* also if it was readable too early */
	if (r && task->stage == RUNS)
		reap(task);
}

static void see_time(struct task *task, int64_t time)
{
	if (task->stage == RUNS && !task->is_polled)
		see_end(task);
	if (task->stage == NONE || task->next > time)
		return;
	if (task->stage == RUNS) {
		aspawn_kill_group(&task->child, PSYS_SIGTERM);
		task->stage = TERMINATED;
		task->next = time + GRACE_MS;
		return;
	}
	stop_polling(task);
	aspawn_kill_group(&task->child, PSYS_SIGKILL);
	reap(task); /* SIGKILL ends it in a moment */
}

int main(void)
{
	struct epoll_event events[64];

	loop = epoll_create1(EPOLL_CLOEXEC);
	if (loop < 0)
		return 1;
	for (size_t i = 0; i < COUNT; i++) {
		const int r = start(i);
		if (r < 0)
			fprintf(stderr, "%zu: %s\n", i, strerror(-r));
	}
	while (left) {
		const int ready = epoll_wait(loop, events, 64, 50);

		for (int i = 0; i < ready; i++) {
			struct task *task = &tasks[events[i].data.u64 >> 2];

			/* An event of the batch may be of a child gone by now. */
			if ((events[i].data.u64 & 3) == END && task->is_polled)
				see_end(task);
			else if ((events[i].data.u64 & 3) == OUTPUT && task->stage != NONE &&
				 task->child.out_fd >= 0)
				read_output(task);
		}
		for (size_t i = 0; i < COUNT; i++)
			see_time(&tasks[i], now());
	}
	return aspawn_pool_release(&pool) != 0;
}
