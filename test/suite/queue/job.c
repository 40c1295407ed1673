/* SPDX-License-Identifier: MIT */
/* Tests of an input that is too large; of a traced program; and of what a job's pipe holds when the
 * program ends, and the queue may not wait longer */
#include "../../../aspawn/queue/queue.h"
#include "filter.h"
#include "queues.h"

enum { UNIT = 255, MOST_UNITS = 192, SPLICED = 131072, PIECE = 128 };

/* --- input ------------------------------------------------------------------------------ */

enum { LARGEST_FILE = 1000, INPUT = 3000 };

/* The suite's output may be a file too: for a moment only. */
static void limit_files(bool limits)
{
	static struct psys_rlimit64 limit, before;

	if (!before.rlim_max)
		CHECK_EQUAL(psys_getrlimit(PSYS_RLIMIT_FSIZE, &before), 0);
	limit = before;
	if (limits)
		limit.rlim_cur = LARGEST_FILE;
	CHECK_EQUAL(psys_setrlimit(PSYS_RLIMIT_FSIZE, &limit), 0);
}

static bool is_pending(int signal)
{
	struct psys_sigset pending;

	psys_sigemptyset(&pending);
	CHECK(psys_rt_sigpending(&pending, PSYS_SIGSET_SIZE) >= 0);
	return psys_sigismember(&pending, signal);
}

static void fail_for_its_input(struct aspawn_queue *queue)
{
	static const char input[INPUT];

	CHECK(submit(queue, (struct aspawn_job){ .input = input, .input_size = INPUT }, "exit_7",
		     NULL) > 0);
	limit_files(true);
	const struct aspawn_result *result = next_result(queue);
	limit_files(false);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_NOT_STARTED);
	CHECK_EQUAL(result->failure.error, -PSYS_EFBIG);
	CHECK_EQUAL(result->started_ns, 0);
	give_back(queue, result);
}

/* A signal that was pending before is the caller's. */
TEST(local_queue_takes_the_sigxfsz_of_an_input_that_is_too_large)
{
	const struct psys_timespec at_once = { 0, 0 };
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .flags = ASPAWN_QUEUE_LOCAL });
	struct psys_sigset xfsz, mask;

	psys_sigemptyset(&xfsz);
	psys_sigaddset(&xfsz, PSYS_SIGXFSZ);
	CHECK_EQUAL(psys_rt_sigprocmask(PSYS_SIG_BLOCK, &xfsz, &mask, PSYS_SIGSET_SIZE), 0);
	const int file = psys_memfd_create("beyond", PSYS_MFD_CLOEXEC);
	limit_files(true);
	psys_pwrite64(file, "x", 1, LARGEST_FILE);
	limit_files(false);
	if (psys_rt_sigtimedwait(&xfsz, NULL, &at_once, PSYS_SIGSET_SIZE) != PSYS_SIGXFSZ)
		skip("no files in memory, or an emulator that does not keep the signal");
	CHECK_EQUAL(psys_rt_sigprocmask(PSYS_SIG_SETMASK, &mask, NULL, PSYS_SIGSET_SIZE), 0);
	fail_for_its_input(queue); /* SIGXFSZ would kill this test */
	CHECK_EQUAL(psys_rt_sigprocmask(PSYS_SIG_BLOCK, &xfsz, NULL, PSYS_SIGSET_SIZE), 0);
	fail_for_its_input(queue);
	CHECK(!is_pending(PSYS_SIGXFSZ));
	CHECK_EQUAL(psys_tgkill(psys_getpid(), psys_gettid(), PSYS_SIGXFSZ), 0);
	fail_for_its_input(queue);
	CHECK(is_pending(PSYS_SIGXFSZ));
	close_queue(queue);
}

/* The limit is the server's from its creation on. */
TEST(job_whose_input_is_larger_than_files_may_be_names_the_input)
{
	static const char input[INPUT];
	char text[320];

	for (int i = 0; i < 2; i++) {
		limit_files(true);
		struct aspawn_queue *queue = open_queue(
			&(struct aspawn_queue_options){ .flags = i ? ASPAWN_QUEUE_LOCAL : 0 });
		CHECK(submit(queue, (struct aspawn_job){ .input = input, .input_size = INPUT },
			     "exit_7", NULL) > 0);
		const struct aspawn_result *result = next_result(queue);
		limit_files(false);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_NOT_STARTED);
		CHECK_EQUAL(result->failure.step, ASPAWN_STEP_STREAMS);
		aspawn_result_text(text, sizeof text, result);
		CHECK(!psys_strcmp(text, "not started: streams input: EFBIG"));
		give_back(queue, result);
		close_queue(queue);
	}
}

/* As a helper that somebody has killed, whose child is not dead yet. */
TEST(job_waits_until_a_killed_child_has_left_its_stack)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 1 });
	struct stack_state *state = stack_state(&queue->stacks[0].stack);
	const struct aspawn_result *result;

	state->begun.pid = psys_getpid();
	stack_lend(state, false);
	CHECK(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0);
	CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, 200), 0);
	stack_is_left(state);
	result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
	CHECK_EQUAL(result->status, 7 << 8);
	close_queue(queue);
}

/* --- a traced program -------------------------------------------------------------------- */

enum { PTRACE_TRACEME = 0, PTRACE_DETACH = 17 }; /* ptrace(2) */

ROLE(stops_for_its_tracer)
{
	(void)argc, (void)argv;
	if (psys_ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		return 77;
	psys_kill(psys_getpid(), PSYS_SIGUSR1);
	return 7;
}

/* The kernel tells the tracer of a stop by waits for ends too. epoll tells of no end:
 * the queue looks. */
static const struct aspawn_result *result_of_traced(struct aspawn_queue *queue, bool cancels)
{
	const struct aspawn_result *result = NULL;
	const int64_t ticket = submit(queue, (struct aspawn_job){ .grace_ms = LONG },
				      "stops_for_its_tracer", NULL);
	const struct job *job = queue_find(queue, ticket);

	CHECK(ticket > 0);
	while (state_of(job->result.pid) != 't')
		if (aspawn_queue_wait(queue, &result, 1, 1) > 0 && result->status == 77 << 8)
			skip("no ptrace");
		else
			CHECK(!result);
	if (cancels)
		CHECK_EQUAL(aspawn_queue_cancel(queue, ticket), 0);
	CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, 50), 0);
	CHECK_EQUAL(psys_ptrace(PTRACE_DETACH, job->result.pid, NULL, NULL), 0);
	return next_result(queue);
}

static struct aspawn_queue *queue_that_looks(void)
{
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .flags = ASPAWN_QUEUE_LOCAL });

	if (!have_proc())
		skip("no /proc");
	filter_refuse(PSYS_NR_epoll_ctl, PSYS_ENOSPC);
	return queue;
}

TEST(stop_of_a_traced_job_is_taken_for_no_end)
{
	struct aspawn_queue *queue = queue_that_looks();
	const struct aspawn_result *result = result_of_traced(queue, false);

	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
	CHECK_EQUAL(result->status, 7 << 8);
	close_queue(queue);
}

/* The rest of a group is killed at the program's end, not before. */
TEST(stop_of_a_traced_job_that_is_cancelled_ends_no_grace)
{
	struct aspawn_queue *queue = queue_that_looks();
	const struct aspawn_result *result = result_of_traced(queue, true);

	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_CANCELLED);
	CHECK_EQUAL(result->status, PSYS_SIGTERM);
	close_queue(queue);
}

/* --- output ----------------------------------------------------------------------------- */

static int writer; /* pid of the job's program */

static ASPAWN_CHILD int notes_its_pid(void *unused)
{
	(void)unused;
	__atomic_store_n(&writer, psys_getpid(), __ATOMIC_RELEASE);
	return 0;
}

/* The server reads nothing until it is continued. */
static ASPAWN_CHILD int stops_its_server(void *unused)
{
	notes_its_pid(unused);
	return psys_kill(psys_getppid(), PSYS_SIGSTOP);
}

/* Writes most of what the pipe can hold, and returns the number of units. The pipe is small if its
 * user has many pipes (fs.pipe-user-pages-soft). */
ROLE(fills_its_pipe)
{
	const int fitting = psys_fcntl(1, PSYS_F_GETPIPE_SZ, 0) / 4 * 3 / UNIT;
	const int units = fitting < MOST_UNITS ? fitting : MOST_UNITS;
	char letters[UNIT];

	(void)argc, (void)argv;
	for (int i = 0; i < units; i++) {
		for (int j = 0; j < UNIT; j++)
			letters[j] = (char)('a' + (i * UNIT + j) % 26);
		if (psys_write(1, letters, UNIT) != UNIT)
			return 0;
	}
	return units;
}

static void check_total(uint64_t total, int status, bool is_spliced)
{
	if (status != 5 << 8 && is_spliced)
		skip("this kernel's pipe holds no more than its capacity");
	CHECK(PSYS_WIFEXITED(status));
	CHECK_EQUAL(total, is_spliced ? SPLICED : PSYS_WEXITSTATUS(status) * UNIT);
	CHECK(total > PIECE);
}

/* Returns the next result, of a program that has ended before its output is read. */
static const struct aspawn_result *result_of_unread(struct aspawn_queue *queue, uint64_t flags,
						    struct aspawn_job job, bool is_spliced)
{
	const bool is_local = flags & ASPAWN_QUEUE_LOCAL;
	const int server = is_local ? 0 : server_of(queue);
	const struct aspawn_action action =
		ASPAWN_CALL(is_local ? notes_its_pid : stops_its_server, NULL);
	const struct aspawn_result *result;
	struct self self;
	struct aspawn_command command =
		command_in_role(&self, is_spliced ? "splices" : "fills_its_pipe", NULL);
	int status;

	command.actions = &action;
	command.action_count = 1;
	CHECK(submit_command(queue, job, &command) > 0);
	if (is_local)
		CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, 0), 0);
	else
		CHECK_EQUAL(psys_wait4(server, &status, PSYS_WUNTRACED | PSYS___WALL, NULL), server);
	while (!__atomic_load_n(&writer, __ATOMIC_ACQUIRE))
		sleep_ms(1);
	CHECK(ends_soon(writer));
	writer = 0;
	if (!is_local)
		CHECK_EQUAL(psys_kill(server, PSYS_SIGCONT), 0);
	result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
	check_total(result->out_total, result->status, is_spliced);
	return result;
}

static void check_unread(uint64_t flags)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .flags = flags });
	struct aspawn_job job = { .grace_ms = ASPAWN_GRACE_NONE, .out_size = PIECE + 1 };
	const struct aspawn_result *result;

	for (int tail = 0; tail < 2; tail++) {
		job.flags |= tail ? ASPAWN_JOB_TAIL : 0;
		result = result_of_unread(queue, flags, job, false);
		CHECK_EQUAL(result->out_length, PIECE);
		for (int i = 0; i < PIECE; i++)
			CHECK_EQUAL(result->out[i],
				    'a' + (tail * (int)(result->out_total - PIECE) + i) % 26);
		give_back(queue, result);
	}
	close_queue(queue);
}

TEST(queue_reads_what_the_pipe_holds_without_a_grace)
{
	if (!have_proc())
		skip("no /proc");
	check_unread(0);
}

TEST(local_queue_reads_what_the_pipe_holds_without_a_grace)
{
	if (!have_proc())
		skip("no /proc");
	if (!memory_is_shared())
		skip("this emulator copies the memory");
	check_unread(ASPAWN_QUEUE_LOCAL);
}

/* Of a socket's memory a pipe of 64 KiB may hold several times as much. */
TEST(queue_reads_more_than_the_capacity_of_the_pipe)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 1 });

	if (!have_proc())
		skip("no /proc");
	give_back(queue, result_of_unread(queue, 0,
					  (struct aspawn_job){ .grace_ms = ASPAWN_GRACE_NONE,
							       .flags = ASPAWN_JOB_TAIL,
							       .out_size = PIECE + 1 },
					  true));
	close_queue(queue);
}

ROLE(splices)
{
	static const char zeros[SPLICED / 2];
	int sockets[2], left = SPLICED;

	(void)argc, (void)argv;
	if (psys_socketpair(PSYS_AF_UNIX, PSYS_SOCK_STREAM | PSYS_SOCK_NONBLOCK, 0, sockets) < 0)
		return 1;
	for (long r = 1; left > 0 && r > 0; left -= (int)r) {
		psys_write(sockets[0], zeros, left < SPLICED / 2 ? (size_t)left : sizeof zeros);
		r = psys_splice(sockets[1], NULL, 1, NULL, (size_t)left, PSYS_SPLICE_F_NONBLOCK);
	}
	return left ? 1 : 5;
}

/* --- aspawn_communicate() --------------------------------------------------------------- */

struct late_reader {
	int pid;
	size_t bytes;
};

/* Returns from its first call when the program has ended. */
static int reads_late(void *arg, int stream, const void *bytes, size_t count)
{
	struct late_reader *reader = arg;

	(void)stream, (void)bytes;
	reader->bytes += count;
	return reader->bytes == count && !ends_soon(reader->pid) ? -PSYS_EIO : 0;
}

static void check_communicate(const char *role, bool times_out, bool is_spliced)
{
	struct late_reader reader = { 0 };
	struct aspawn_io io = { .size = sizeof io,
				.time_limit_ms = times_out,
				.grace_ms = times_out ? 60000 : ASPAWN_GRACE_NONE,
				.sink = reads_late,
				.arg = &reader };
	struct aspawn_child child;
	struct self self;
	struct aspawn_command command = command_in_role(&self, role, NULL);

	if (!have_proc())
		skip("no /proc");
	command.flags = ASPAWN_COMMAND_INHERIT_SIGNALS;
	command.std_out = ASPAWN_STREAM_PIPE;
	CHECK_EQUAL(aspawn_start(&child, &command), 0);
	reader.pid = aspawn_pid(&child);
	CHECK_EQUAL(aspawn_communicate(&child, &io), times_out ? -PSYS_ETIMEDOUT : 0);
	check_total(io.out_total, io.status, is_spliced);
	CHECK_EQUAL(reader.bytes, io.out_total);
}

TEST(communicate_reads_what_the_pipe_holds_without_a_grace)
{
	check_communicate("fills_its_pipe", false, false);
}

TEST(communicate_reads_what_the_pipe_holds_after_a_timeout)
{
	struct psys_sigset term;

	psys_sigemptyset(&term);
	psys_sigaddset(&term, PSYS_SIGTERM); /* the program waits for it, and inherits the mask */
	CHECK_EQUAL(psys_rt_sigprocmask(PSYS_SIG_BLOCK, &term, NULL, PSYS_SIGSET_SIZE), 0);
	check_communicate("fills_its_pipe_at_sigterm", true, false);
}

ROLE(fills_its_pipe_at_sigterm)
{
	struct psys_sigset term;

	(void)argc, (void)argv;
	psys_sigemptyset(&term);
	psys_sigaddset(&term, PSYS_SIGTERM);
	psys_rt_sigtimedwait(&term, NULL, NULL, PSYS_SIGSET_SIZE);
	return -exec_role("fills_its_pipe", NULL);
}

TEST(communicate_reads_more_than_the_capacity_of_the_pipe)
{
	check_communicate("splices", false, true);
}

TEST(queue_does_not_read_for_ever_from_a_process_that_goes_on_to_write)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 1 });

	for (int i = 0; i < 4; i++) {
		CHECK(submit(queue,
			     (struct aspawn_job){ .grace_ms = ASPAWN_GRACE_NONE, .out_size = KEPT },
			     "leaves_a_child_that_writes", NULL) > 0);
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
		CHECK_EQUAL(result->status, 7 << 8);
		give_back(queue, result);
	}
	close_queue(queue);
}

ROLE(leaves_a_child_that_writes)
{
	static const char zeros[1000];

	(void)argc, (void)argv;
	if (psys_fork() == 0)
		while (psys_write(1, zeros, sizeof zeros) > 0)
			continue;
	return 7;
}
