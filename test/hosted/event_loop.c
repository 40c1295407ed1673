/* SPDX-License-Identifier: MIT */
/*
 * Uses the library as the maintainer of an event loop does: a single epoll, handles in a moving
 * array, no blocking call. Pidfds report ends, or without pidfds SIGCHLD does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <aspawn/command.h>

#include "../suite/filter.h"
#include "../suite/queues.h"

enum { CHILDREN = 200, GRACE_MS = 200, BIG = 200000 };

enum source { ENDED, STARTED, OUTPUT, SIGNAL };

/* A job leaves this result. */
struct result {
	int returned, status; /* from aspawn_wait() */
	char text[256];
	size_t length;   /* bytes of output */
	char output[16]; /* the output's beginning */
	bool done;
};

struct job {
	struct aspawn_child child;
	uint32_t id;
	int64_t limit_ms, deadline; /* from the first output on, or 0 */
	int killed;                 /* the last signal, or 0 */
	bool asked, ended, reaped, ends_by_sigterm;
	struct aspawn_failure failure; /* from the first answer, which has the whole subject */
};

struct loop {
	struct job *jobs;
	size_t count;
	uint32_t next_id;
	int epoll, signals;
	struct result results[CHILDREN];
};

static struct aspawn_pool pool; /* may not move: children run in the pool */

static void check_text(const char *text, const char *expected)
{
	if (strcmp(text, expected))
		dprintf(1, "# is %s, not %s\n", text, expected);
	CHECK(!strcmp(text, expected));
}

static int64_t now_ms(void)
{
	return monotonic_ns() / 1000000;
}

static void watch(const struct loop *loop, enum source source, uint32_t id, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = (uint64_t)id << 2 | source };

	CHECK_EQUAL(epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event), 0);
}

static void unwatch(const struct loop *loop, int fd)
{
	if (fd >= 0)
		epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, NULL);
}

/* SIGCHLD reports the ends of children without a pidfd. */
static void loop_open(struct loop *loop)
{
	struct rlimit limit;
	sigset_t set;

	memset(loop, 0, sizeof *loop);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	loop->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	CHECK(loop->epoll >= 0 && loop->signals >= 0);
	watch(loop, SIGNAL, 0, loop->signals);
}

static void loop_close(struct loop *loop)
{
	CHECK_EQUAL(loop->count, 0);
	free(loop->jobs);
	close(loop->epoll);
	close(loop->signals);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	CHECK(!have_children());
}

/* Makes an array of the new size, always elsewhere, and leaves garbage at the old place. */
static void move_jobs(struct loop *loop, size_t count)
{
	struct job *moved = calloc(count + 1, sizeof *moved);
	size_t kept = count < loop->count ? count : loop->count;

	CHECK(moved);
	if (kept)
		memcpy(moved, loop->jobs, kept * sizeof *moved);
	if (loop->jobs)
		memset(loop->jobs, 0xa5, loop->count * sizeof *moved);
	free(loop->jobs);
	loop->jobs = moved;
	loop->count = count;
}

static uint32_t loop_start(struct loop *loop, struct aspawn_command command, int64_t limit_ms)
{
	struct job *job;

	move_jobs(loop, loop->count + 1);
	job = &loop->jobs[loop->count - 1];
	job->id = loop->next_id++;
	job->limit_ms = limit_ms;
	command.size = sizeof command;
	command.flags |= ASPAWN_COMMAND_NONBLOCK;
	command.std_out = ASPAWN_STREAM_PIPE;
	command.pool = &pool;
	CHECK_EQUAL(aspawn_start(&job->child, &command), 0);
	CHECK(fcntl(job->child.out_fd, F_GETFL) & O_NONBLOCK);
	watch(loop, OUTPUT, job->id, job->child.out_fd);
	if (job->child.ended_fd >= 0)
		watch(loop, ENDED, job->id, job->child.ended_fd);
	if (job->child.started_fd >= 0)
		watch(loop, STARTED, job->id, job->child.started_fd);
	return job->id;
}

static struct job *find(struct loop *loop, uint32_t id)
{
	for (size_t i = 0; i < loop->count; i++)
		if (loop->jobs[i].id == id)
			return &loop->jobs[i];
	return NULL;
}

static void remove_if_done(struct loop *loop, struct job *job)
{
	if (!job->reaped || job->child.out_fd >= 0)
		return;
	loop->results[job->id].done = true;
	if (job != &loop->jobs[loop->count - 1])
		*job = loop->jobs[loop->count - 1];
	move_jobs(loop, loop->count - 1);
}

static void ask_started(struct loop *loop, struct job *job)
{
	if (job->asked || aspawn_wait_started(&job->child, &job->failure, 0) == -PSYS_ETIMEDOUT)
		return;
	job->asked = true;
	unwatch(loop, job->child.started_fd);
}

static void reap_job(struct loop *loop, struct job *job)
{
	struct result *result = &loop->results[job->id];

	ask_started(loop, job);
	unwatch(loop, job->child.ended_fd);
	result->returned = aspawn_wait(&job->child, &result->status, NULL, 0);
	CHECK_EQUAL(result->returned, job->failure.error ? -PSYS_ECANCELED : 0);
	if (job->failure.error)
		aspawn_failure_text(result->text, sizeof result->text, &job->failure);
	else
		aspawn_status_text(result->text, sizeof result->text, result->status);
	job->reaped = true;
	remove_if_done(loop, job);
}

/* Until the group has ended, an ended child is not reaped: the group keeps its number. */
static void job_ended(struct loop *loop, struct job *job)
{
	job->ended = true;
	unwatch(loop, job->child.ended_fd);
	if (job->killed != SIGTERM)
		reap_job(loop, job);
}

static void sweep(struct loop *loop)
{
	struct signalfd_siginfo info;

	while (read(loop->signals, &info, sizeof info) > 0)
		;
	for (size_t i = loop->count; i-- > 0;) {
		struct job *job = &loop->jobs[i];

		if (aspawn_pid(&job->child) > 0 && job->child.ended_fd < 0 && !job->ended &&
		    aspawn_ended(&job->child) == 1)
			job_ended(loop, job);
	}
}

static void read_output(struct loop *loop, struct job *job)
{
	struct result *result = &loop->results[job->id];
	char buffer[4096];

	ssize_t length = read(job->child.out_fd, buffer, sizeof buffer);
	if (length > 0) {
		if (result->length == 0)
			memcpy(result->output, buffer,
			       (size_t)length < sizeof result->output ? (size_t)length :
									sizeof result->output - 1);
		result->length += (size_t)length;
		if (job->limit_ms)
			job->deadline = now_ms() + job->limit_ms;
	} else if (length == 0) {
		unwatch(loop, job->child.out_fd);
		close(job->child.out_fd);
		job->child.out_fd = -1;
		remove_if_done(loop, job);
	} else {
		CHECK_EQUAL(errno, EAGAIN);
	}
}

/* Sends SIGTERM to the tree, and after the grace SIGKILL. */
static void check_deadline(struct loop *loop, struct job *job)
{
	if (!job->deadline || now_ms() < job->deadline)
		return;
	if (job->killed && job->ends_by_sigterm && !job->ended)
		return; /* a busy machine may take longer than the grace */
	job->killed = job->killed ? SIGKILL : SIGTERM;
	job->deadline = job->killed == SIGTERM ? now_ms() + GRACE_MS : 0;
	CHECK_EQUAL(aspawn_kill_group(&job->child, job->killed), 0);
	if (job->killed == SIGKILL && job->ended)
		reap_job(loop, job);
}

static void loop_cancel(struct loop *loop, uint32_t id)
{
	struct job *job = find(loop, id);

	job->killed = SIGKILL;
	CHECK_EQUAL(aspawn_kill(&job->child, SIGKILL), 0);
}

/* Runs until at most left jobs are left. */
static void loop_run(struct loop *loop, size_t left)
{
	struct epoll_event events[64];

	while (loop->count > left) {
		int ready = epoll_wait(loop->epoll, events, 64, 20);

		for (int i = 0; i < ready; i++) {
			struct job *job = find(loop, (uint32_t)(events[i].data.u64 >> 2));
			enum source source = events[i].data.u64 & 3;

			if (source == SIGNAL)
				sweep(loop);
			else if (job && source == ENDED && !job->ended)
				job_ended(loop, job);
			else if (job && source == STARTED && !job->reaped)
				ask_started(loop, job);
			else if (job && source == OUTPUT && job->child.out_fd >= 0)
				read_output(loop, job);
		}
		for (size_t i = loop->count; i-- > 0;)
			check_deadline(loop, &loop->jobs[i]);
	}
}

/* Each child reads the gate: no child ends before the gate is opened. Of ten children one cannot
 * change its directory, one has no program, and one writes more than a pipe holds. */
static void start_children(struct loop *loop, int gate)
{
	for (int i = 0; i < CHILDREN; i++) {
		char number[16], directory[64], program[64];
		const struct aspawn_action actions[] = {
			ASPAWN_RESET_SIGNALS(),
			ASPAWN_CHDIR(i % 10 == 3 ? directory : "/"),
			ASPAWN_CLOSEFROM(3),
		};
		struct aspawn_command command = {
			.flags = i % 2 ? ASPAWN_COMMAND_STARTED_FD : 0,
			.argv = ASPAWN_ARGV(i % 10 == 7 ? program : "sh", "-c",
					    i % 10 == 9 ? "read go; head -c 200000 /dev/zero" :
							  "read go; echo $1; exit $(($1 % 50))",
					    "sh", number),
			/* An unsearchable directory of PATH would give EACCES. */
			.search_path = i % 10 == 7 ? "/" : NULL,
			.std_in = gate,
			.actions = actions,
			.action_count = sizeof actions / sizeof *actions,
		};

		snprintf(number, sizeof number, "%d", i);
		snprintf(directory, sizeof directory, "/no/such/directory/%040d", i);
		snprintf(program, sizeof program, "no-such-program-%d", i);
		CHECK_EQUAL(loop_start(loop, command, 0), i);
	}
}

static void check_result(const struct result *result, int i)
{
	char expected[128];

	if (i % 10 == 3)
		snprintf(expected, sizeof expected,
			 "action 1, chdir \"/no/such/directory/%040d\": ENOENT", i);
	else if (i % 10 == 7)
		snprintf(expected, sizeof expected, "search \"no-such-program-%d\": ENOENT", i);
	else
		snprintf(expected, sizeof expected, "exit %d", i % 10 == 9 ? 0 : i % 50);
	check_text(result->text, expected);
	if (i % 10 == 9) {
		CHECK_EQUAL(result->length, BIG);
	} else {
		snprintf(expected, sizeof expected, "%d\n", i);
		check_text(result->output, result->returned ? "" : expected);
	}
}

static void run_many(void)
{
	struct loop loop;
	int gate[2];

	CHECK_EQUAL(pipe2(gate, O_CLOEXEC), 0);
	loop_open(&loop);
	start_children(&loop, gate[0]);
	CHECK_EQUAL(loop.count, CHILDREN);
	loop_run(&loop, CHILDREN - CHILDREN / 5); /* the children that fail */
	for (size_t i = 0; i < loop.count; i++)
		CHECK_EQUAL(aspawn_ended(&loop.jobs[i].child), 0);
	close(gate[0]);
	close(gate[1]);
	loop_run(&loop, 0);
	for (int i = 0; i < CHILDREN; i++)
		check_result(&loop.results[i], i);
	loop_close(&loop);
}

/* The whole tree is gone at the end of output: each process of the tree holds the pipe. */
static void end_trees(void)
{
	static const char *const scripts[] = {
		"trap '' TERM; sleep 30 & echo ready; sleep 30; sleep 30",
		"(trap '' TERM; echo ready; exec sleep 30) & wait",
		"sleep 30 & echo ready; wait",
	};
	static const char *const texts[] = { "killed by SIGKILL", "killed by SIGTERM",
					     "killed by SIGTERM" };
	const struct aspawn_action actions[] = {
		ASPAWN_RESET_SIGNALS(),
		ASPAWN_SETPGID(0),
		ASPAWN_CLOSEFROM(3),
	};
	struct loop loop;

	loop_open(&loop);
	for (size_t i = 0; i < 3; i++) {
		struct aspawn_command command = {
			.argv = ASPAWN_ARGV("sh", "-c", scripts[i]),
			.actions = actions,
			.action_count = sizeof actions / sizeof *actions,
		};
		const uint32_t id = loop_start(&loop, command, 50);
		find(&loop, id)->ends_by_sigterm = i > 0;
	}
	loop_run(&loop, 0);
	for (size_t i = 0; i < 3; i++) {
		check_text(loop.results[i].output, "ready\n");
		check_text(loop.results[i].text, texts[i]);
	}
	loop_close(&loop);
}

/* The child's open of a FIFO without a writer blocks neither the loop nor other children. */
static void cancel_hung_start(void)
{
	char directory[] = "/tmp/aspawn-test-XXXXXX", fifo[64];
	struct loop loop;

	CHECK(mkdtemp(directory));
	snprintf(fifo, sizeof fifo, "%s/fifo", directory);
	CHECK_EQUAL(mkfifo(fifo, 0600), 0);
	const struct aspawn_action actions[] = {
		ASPAWN_CHDIR("/"),
		ASPAWN_OPEN(0, fifo, PSYS_O_RDONLY, 0),
		ASPAWN_CLOSEFROM(3),
	};
	struct aspawn_command command = {
		.argv = ASPAWN_ARGV("cat"),
		.actions = actions,
		.action_count = sizeof actions / sizeof *actions,
	};

	loop_open(&loop);
	uint32_t hung = loop_start(&loop, command, 0);
	command.argv = ASPAWN_ARGV("echo", "others");
	command.action_count = 1;
	for (int i = 0; i < 5; i++)
		loop_start(&loop, command, 0);
	loop_run(&loop, 1);
	CHECK_EQUAL(find(&loop, hung)->id, hung);
	while (state_of(aspawn_pid(&loop.jobs[0].child)) != 'S') /* the others may be faster */
		usleep(1000);
	CHECK_EQUAL(aspawn_wait_started(&loop.jobs[0].child, NULL, 0), -PSYS_ETIMEDOUT);
	loop_cancel(&loop, hung);
	loop_run(&loop, 0);

	check_text(loop.results[hung].text,
		   "action 1, open: killed by a signal before the exec"); /* it died there */
	CHECK_EQUAL(loop.results[hung].returned, -PSYS_ECANCELED);
	CHECK_EQUAL(loop.results[hung].status, SIGKILL);
	for (uint32_t i = hung + 1; i < 6; i++)
		check_text(loop.results[i].output, "others\n");
	loop_close(&loop);
	unlink(fifo);
	rmdir(directory);
}

static void refuse_pidfds(void)
{
	struct aspawn_child child;

	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_PIDFD, PSYS_EINVAL);
	filter_refuse(PSYS_NR_pidfd_open, PSYS_ENOSYS);
	filter_refuse(PSYS_NR_pidfd_send_signal, PSYS_ENOSYS);
	CHECK_EQUAL(aspawn_start(&child, ASPAWN_COMMAND("true")), 0);
	CHECK_EQUAL(child.ended_fd, -1);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), 0);
}

TEST_SECONDS(a_loop_of_two_hundred_children, 60)
{
	run_many();
}

TEST_SECONDS(a_loop_of_two_hundred_children_without_pidfds, 60)
{
	refuse_pidfds();
	run_many();
}

TEST(a_tree_is_ended_after_its_time)
{
	end_trees();
}

TEST(a_tree_is_ended_without_pidfds)
{
	refuse_pidfds();
	end_trees();
}

TEST(a_hung_start_is_cancelled)
{
	cancel_hung_start();
}

TEST(a_hung_start_is_cancelled_without_pidfds)
{
	refuse_pidfds();
	cancel_hung_start();
}
