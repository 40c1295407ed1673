/* SPDX-License-Identifier: MIT */
/* Tests of aspawn_run() and aspawn_communicate(): input, output, timeouts */
#include "filter.h"
#include "private.h"

ROLE(copies)
{
	char text[1000];
	long length;

	(void)argc, (void)argv;
	while ((length = psys_read(0, text, sizeof text)) > 0)
		for (long at = 0, r; at < length; at += r)
			if ((r = psys_write(1, text + at, (size_t)(length - at))) < 0)
				return 1;
	return 0;
}

ROLE(leaves_a_grandchild)
{
	(void)argc, (void)argv;
	psys_write(1, "text", 4);
	if (psys_fork() == 0)
		sleep_ms(600000);
	return 3;
}

static char *big(size_t size)
{
	char *text = psys_mmap(NULL, size, PSYS_PROT_READ | PSYS_PROT_WRITE,
			       PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);

	CHECK(!PSYS_IS_ERROR(text));
	return text;
}

static struct aspawn_command on_pool(struct aspawn_pool *pool, struct self *self, const char *role)
{
	struct aspawn_command command = command_in_role(self, role, NULL);

	command.pool = pool;
	return command;
}

ROLE(writes_a_lot)
{
	static const char zeros[1000];
	int64_t left = 60000;

	(void)argc, (void)argv;
	for (long r; left > 0; left -= r)
		if ((r = psys_write(1, zeros, sizeof zeros)) < 0)
			return 1;
	return 0;
}

TEST(run_feeds_and_collects_more_than_a_pipe_holds)
{
	enum { size = 1 << 20 };
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	const struct aspawn_command command = on_pool(&pool, &self, "copies");
	char *in = big(size), *out = big(size + 1);
	struct aspawn_io io = {
		.size = sizeof io, .input = in, .input_size = size, .out = out, .out_size = size + 1
	};
	int descriptors = count_descriptors();

	for (size_t i = 0; i < size; i++)
		in[i] = (char)(i * 31 + (i >> 8));
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.status, 0);
	CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_RAN);
	CHECK_EQUAL(io.out_length, size);
	CHECK_EQUAL(psys_memcmp(in, out, size), 0);
	CHECK_EQUAL(out[size], 0);
	io.out_size = 1001; /* now the output does not fit */
	CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ENOBUFS);
	CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_FULL);
	CHECK_EQUAL(io.out_length, 1000);
	CHECK_EQUAL(psys_memcmp(in, out, 1000), 0);
	CHECK_EQUAL(out[1000], 0);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK(!have_children());
}

TEST(unread_input_raises_no_sigpipe)
{
	enum { size = 1 << 20 };
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	const struct aspawn_command command = on_pool(&pool, &self, "exit_7");
	struct aspawn_io io = { .size = sizeof io, .input = big(size), .input_size = size };

	CHECK_EQUAL(aspawn_run(&command, &io), 0); /* SIGPIPE would kill this test */
	CHECK_EQUAL(io.status, 7 << 8);
}

static int check_mask(void *arg, int stream, const void *bytes, size_t count)
{
	struct psys_sigset mask;

	(void)stream, (void)bytes;
	psys_sigemptyset(&mask);
	CHECK_EQUAL(psys_rt_sigprocmask(0, NULL, &mask, PSYS_SIGSET_SIZE), 0);
	CHECK(!psys_sigismember(&mask, PSYS_SIGPIPE));
	*(size_t *)arg += count;
	return 0;
}

/* Otherwise a program that the sink starts would not end by a SIGPIPE. */
TEST(a_sink_runs_without_sigpipe_blocked)
{
	enum { size = 1 << 20 };
	struct self self;
	const struct aspawn_command command = command_in_role(&self, "copies", NULL);
	size_t got = 0;
	struct aspawn_io io = { .size = sizeof io,
				.input = big(size),
				.input_size = size,
				.sink = check_mask,
				.arg = &got };

	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(got, size);
}

TEST(kill_group_accepts_setsid_as_its_group)
{
	const struct aspawn_action session = ASPAWN_SETSID();
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = on_pool(&pool, &self, "exit_7");
	struct aspawn_io io = { .size = sizeof io, .flags = ASPAWN_IO_KILL_GROUP };

	command.actions = &session;
	command.action_count = 1;
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.status, 7 << 8);
}

TEST(run_has_the_status_if_sigchld_is_ignored_and_the_kernel_keeps_it)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	const struct aspawn_command command = on_pool(&pool, &self, "exit_7");
	struct aspawn_io io = { .size = sizeof io, .status = 5, .outcome = ASPAWN_OUTCOME_RAN };

	io.usage.ru_maxrss = -5;
	const bool known = keeps_status();
	set_disposition(PSYS_SIGCHLD, PSYS_SIG_IGN);
	CHECK_EQUAL(aspawn_run(&command, &io), known ? 0 : -PSYS_ECHILD);
	CHECK_EQUAL(io.outcome, known ? ASPAWN_OUTCOME_RAN : ASPAWN_OUTCOME_LOST);
	CHECK_EQUAL(io.status, known ? 7 << 8 : -1);
	CHECK_EQUAL(io.usage.ru_maxrss, 0);
	CHECK_EQUAL(io.failure.step, ASPAWN_STEP_NONE);
	CHECK_EQUAL(io.failure.error, 0);
}

static int64_t nanoseconds_of(struct aspawn_io *io, const char *role, int expected)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = on_pool(&pool, &self, role);
	int64_t before = monotonic_ns();

	command.flags = ASPAWN_COMMAND_INHERIT_SIGNALS;
	CHECK_EQUAL(aspawn_run(&command, io), expected);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	return monotonic_ns() - before;
}

TEST(run_ends_the_command_after_its_timeout)
{
	char out[16];
	struct aspawn_io io = { .size = sizeof io,
				.time_limit_ms = 50,
				.grace_ms = LONG,
				.out = out,
				.out_size = sizeof out };

	CHECK(nanoseconds_of(&io, "lingers", -PSYS_ETIMEDOUT) >= 50000000);
	CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_TIMED_OUT);
	CHECK_EQUAL(io.status, PSYS_SIGTERM);
	set_disposition(PSYS_SIGTERM, PSYS_SIG_IGN); /* the program inherits it */
	io.grace_ms = 50;
	CHECK(nanoseconds_of(&io, "lingers", -PSYS_ETIMEDOUT) >= 100000000);
	CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_TIMED_OUT);
	CHECK_EQUAL(io.status, PSYS_SIGKILL);
	CHECK(!have_children());
}

/* golang/go#23019. The grandchild lives for longer than the test's time limit. */
TEST_SECONDS(a_grandchild_that_holds_the_pipe_delays_run_by_its_grace, 100)
{
	char out[16];
	struct aspawn_io io = { .size = sizeof io,
				.time_limit_ms = LONG,
				.grace_ms = 50,
				.out = out,
				.out_size = sizeof out };

	io.cut = 7;
	nanoseconds_of(&io, "leaves_a_grandchild", 0);
	CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_RAN);
	CHECK_EQUAL(io.cut, 1);
	CHECK_EQUAL(io.status, 3 << 8);
	CHECK_EQUAL(io.out_length, 4);
	CHECK_EQUAL(psys_strcmp(out, "text"), 0);
}

ROLE(leads_a_group)
{
	(void)argc, (void)argv;
	if (psys_fork() == 0)
		set_disposition(PSYS_SIGTERM, PSYS_SIG_IGN);
	psys_write(1, "x", 1);
	sleep_ms(600000);
	return 0;
}

/* The group's members do not hold the pipe for the grace. */
TEST(run_ends_the_whole_group)
{
	int status;
	char out[16];
	struct aspawn_io io = { .size = sizeof io,
				.flags = ASPAWN_IO_KILL_GROUP,
				.time_limit_ms = 50,
				.grace_ms = LONG,
				.out = out,
				.out_size = sizeof out };

	if (psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		skip("no subreaper");
	for (;; io.time_limit_ms *= 2) {
		nanoseconds_of(&io, "leads_a_group", -PSYS_ETIMEDOUT);
		int reaped = psys_wait4(-1, &status, 0, NULL);
		if (io.out_length < 2) /* they did not come so far in this time */
			continue;
		CHECK(reaped > 0); /* the grandchild */
		CHECK_EQUAL(status, PSYS_SIGKILL);
		return;
	}
}

/* The group's leader is gone then, and another process may have its number. */
TEST(run_ends_the_whole_group_if_sigchld_is_ignored)
{
	char out[16];
	struct aspawn_io io = { .size = sizeof io,
				.flags = ASPAWN_IO_KILL_GROUP,
				.time_limit_ms = 50,
				.grace_ms = LONG,
				.out = out,
				.out_size = sizeof out };

	if (!pidfd_knows_groups())
		skip("no pidfd of a group");
	if (psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		skip("no subreaper");
	set_disposition(PSYS_SIGCHLD, PSYS_SIG_IGN);
	for (; io.out_length < 2; io.time_limit_ms *= 2)
		nanoseconds_of(&io, "leads_a_group", -PSYS_ETIMEDOUT);
	CHECK_EQUAL(psys_wait4(-1, NULL, 0, NULL), -PSYS_ECHILD); /* when all have ended */
}

/* A pidfd of the child was opened twice, and a duplicate was lost. */
TEST(kill_group_of_a_copied_command_leaks_no_descriptor)
{
	const struct aspawn_action action = ASPAWN_OOM_SCORE_ADJ(100);
	struct aspawn_io io = { .size = sizeof io, .flags = ASPAWN_IO_KILL_GROUP };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	need_shared_memory();
	command.actions = &action;
	command.action_count = 1;
	for (int owner = ASPAWN_OWNER_CALLER; owner <= ASPAWN_OWNER_TREE; owner++) {
		const int descriptors = count_descriptors();

		command.owner = owner;
		const int r = aspawn_run(&command, &io);
		if (r < 0 && r != -PSYS_ECANCELED)
			CHECK_EQUAL(r, 0);
		CHECK_EQUAL(count_descriptors(), descriptors);
	}
}

ROLE(leaves_a_writer)
{
	int parent = psys_getpid();

	(void)argc, (void)argv;
	if (psys_fork()) {
		sleep_ms(600000);
		return 0;
	}
	set_disposition(PSYS_SIGTERM, PSYS_SIG_IGN);
	psys_write(1, "1", 1);
	while (psys_getppid() == parent)
		sleep_ms(1);
	for (int i = 0; i < 5; i++, sleep_ms(20))
		psys_write(1, "2", 1);
	return 0;
}

/* The run reads on after the first byte that the program leaves. */
TEST(run_reads_for_the_grace_after_a_timeout)
{
	char out[16];
	struct aspawn_io io = { .size = sizeof io,
				.time_limit_ms = 50,
				.grace_ms = LONG,
				.out = out,
				.out_size = sizeof out };

	for (; io.out_length == 0; io.time_limit_ms *= 2)
		nanoseconds_of(&io, "leaves_a_writer", -PSYS_ETIMEDOUT);
	CHECK_EQUAL(psys_strcmp(out, "122222"), 0);
}

/* At the timeout the child has not made its group yet, or has left the group. */
TEST_SECONDS(a_timeout_ends_a_child_outside_its_group, 100)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = on_pool(&pool, &self, "lingers");
	const struct aspawn_action leave = ASPAWN_SETPGID(psys_getpgid(0));

	for (int i = 0; i < 20; i++) {
		struct aspawn_io io = { .size = sizeof io,
					.flags = ASPAWN_IO_KILL_GROUP,
					.time_limit_ms = 1,
					.grace_ms = i & 2 ? 1 : -1 };
		command.actions = i & 1 ? &leave : NULL;
		command.action_count = i & 1;
		CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ETIMEDOUT);
		CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_TIMED_OUT);
		CHECK_EQUAL(io.failure.error, 0);
	}
}

/* Results of the last run do not remain, nor its output. */
static void check_invalid(const struct aspawn_command *command, const struct aspawn_io *io,
			  const char *named)
{
	const bool is_stored = io->size >= sizeof *io;
	struct aspawn_io bad = *io;
	char text[64];

	bad.status = 12345;
	bad.outcome = ASPAWN_OUTCOME_RAN;
	bad.out_length = bad.err_total = 77;
	if (bad.out)
		*(char *)bad.out = '#';
	if (bad.err)
		*(char *)bad.err = '#';
	CHECK_EQUAL(aspawn_run(command, &bad), -PSYS_EINVAL);
	CHECK_EQUAL(bad.status, is_stored ? -1 : 12345);
	CHECK_EQUAL(bad.outcome, is_stored ? ASPAWN_OUTCOME_NONE : ASPAWN_OUTCOME_RAN);
	CHECK_EQUAL(bad.out_length, is_stored ? 0 : 77);
	CHECK_EQUAL(bad.err_total, is_stored ? 0 : 77);
	CHECK(!bad.out || *(char *)bad.out == (is_stored && bad.out_size ? '\0' : '#'));
	CHECK(!bad.err || *(char *)bad.err == (is_stored && bad.err_size ? '\0' : '#'));
	CHECK(!have_children());
	aspawn_io_text(text, sizeof text, -PSYS_EINVAL, &bad);
	if (psys_strcmp(text, named))
		check_failed(__FILE__, __LINE__, text);
}

TEST(run_rejects_an_invalid_io)
{
	char out[8], err[8];
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = on_pool(&pool, &self, "exit_7");
	struct aspawn_io bad, good = { .size = sizeof good,
				       .out = out,
				       .out_size = sizeof out,
				       .err = err,
				       .err_size = sizeof err };

	CHECK_EQUAL(aspawn_run(&command, NULL), -PSYS_EINVAL);
	check_invalid(NULL, &good, "argument \"command\": EINVAL");
	bad = good, bad.size = 0;
	check_invalid(&command, &bad, "argument \"io.size\": EINVAL");
	bad = good, bad.size = sizeof bad - 1;
	check_invalid(&command, &bad, "argument \"io.size\": EINVAL");
	bad = good, bad.flags = ASPAWN_IO_DROP_EXCESS << 1;
	check_invalid(&command, &bad, "argument \"io.flags\": EINVAL");
	bad = good, bad.flags = ASPAWN_COMMAND_STARTED_FD;
	check_invalid(&command, &bad, "argument \"io.flags\": EINVAL");
	bad = good, bad.input_size = 1;
	check_invalid(&command, &bad, "argument \"io.input\": EINVAL");
	bad = good, bad.out = NULL;
	check_invalid(&command, &bad, "argument \"io.out\": EINVAL");
	bad = good, bad.err = NULL;
	check_invalid(&command, &bad, "argument \"io.err\": EINVAL");
	bad = good, bad.time_limit_ms = -1;
	check_invalid(&command, &bad, "argument \"io.time_limit_ms\": EINVAL");
	bad = good, bad.grace_ms = ASPAWN_GRACE_NONE - 1;
	check_invalid(&command, &bad, "argument \"io.grace_ms\": EINVAL");
	bad.out_size = bad.err_size = 0;
	check_invalid(&command, &bad, "argument \"io.grace_ms\": EINVAL");
	CHECK_EQUAL(aspawn_run(&command, &good), 0);
	CHECK_EQUAL(good.status, 7 << 8);
	CHECK_EQUAL(good.outcome, ASPAWN_OUTCOME_RAN);
	command.file = "/no such program";
	CHECK_EQUAL(aspawn_run(&command, &good), -PSYS_ECANCELED);
	CHECK_EQUAL(good.outcome, ASPAWN_OUTCOME_NOT_STARTED);
	CHECK_EQUAL(good.failure.step, ASPAWN_STEP_EXEC);
	CHECK_EQUAL(good.failure.error, -PSYS_ENOENT);
	CHECK_EQUAL(psys_strcmp(good.failure.subject, "/no such program"), 0);
	CHECK_EQUAL(good.status, 127 << 8);
	command.file = "/no such directory of a program/with a name that the handle has to cut";
	CHECK_EQUAL(aspawn_run(&command, &good), -PSYS_ECANCELED);
	CHECK_EQUAL(psys_strcmp(good.failure.subject, command.file), 0);
}

TEST(run_rejects_streams_that_the_command_sends_elsewhere)
{
	char out[8];
	struct self self;
	const struct aspawn_command good = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_io feeds = { .size = sizeof feeds, .input = "x", .input_size = 1 },
			       collects = { .size = sizeof collects,
					    .out = out,
					    .out_size = sizeof out },
			       collects_errors = { .size = sizeof collects,
						   .err = out,
						   .err_size = sizeof out };
	struct aspawn_command bad;
	static const int elsewhere[] = { ASPAWN_STREAM_NULL, ASPAWN_STREAM_INHERIT, 3, 1000 };

	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
		bad = good, bad.std_in = elsewhere[i];
		check_invalid(&bad, &feeds, "argument \"io.input\": EINVAL");
		bad = good, bad.std_out = elsewhere[i];
		check_invalid(&bad, &collects, "argument \"io.out\": EINVAL");
		bad = good, bad.std_err = elsewhere[i];
		check_invalid(&bad, &collects_errors, "argument \"io.err\": EINVAL");
	}
	bad = good, bad.std_err = ASPAWN_STREAM_STDOUT;
	check_invalid(&bad, &collects_errors, "argument \"io.err\": EINVAL");
	/* The other streams are inherited, and ASPAWN_STREAM_PIPE is valid. */
	struct aspawn_command command = good;
	struct aspawn_io io = collects;
	command.std_in = command.std_err = ASPAWN_STREAM_NULL;
	command.std_out = ASPAWN_STREAM_PIPE;
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.status, 7 << 8);
}

TEST(communicate_rejects_an_invalid_io)
{
	char out[8];
	struct self self;
	const struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_io good = { .size = sizeof good };
	struct aspawn_io bad[5] = { good, good, good, good, good };
	static const char *const named[] = { "child", "io.flags", "io.input", "io.out", "io.err" };
	struct aspawn_child none = { 0 }, child;

	bad[1].flags = ASPAWN_IO_DROP_EXCESS << 1;
	bad[2].input = out;
	bad[3].out = bad[4].err = out;
	bad[3].out_size = bad[4].err_size = sizeof out;
	CHECK_EQUAL(aspawn_start(&child, &command), 0);
	CHECK_EQUAL(aspawn_communicate(&child, NULL), -PSYS_EINVAL);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		out[0] = '#';
		CHECK_EQUAL(aspawn_communicate(i ? &child : &none, &bad[i]), -PSYS_EINVAL);
		CHECK_EQUAL(bad[i].outcome, ASPAWN_OUTCOME_NONE);
		CHECK_EQUAL(psys_strcmp(bad[i].failure.subject, named[i]), 0);
		CHECK_EQUAL(out[0], bad[i].out_size || bad[i].err_size ? '\0' : '#');
	}
	bad[0] = good; /* nothing has changed */
	CHECK_EQUAL(aspawn_communicate(&child, &bad[0]), 0);
	CHECK_EQUAL(bad[0].status, 7 << 8);
}

/* This run once went on for ever, despite the timeout. */
static void check_run_without_poll(int expected)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	const struct aspawn_command command = on_pool(&pool, &self, "lingers");
	char output[10];
	struct aspawn_io io = {
		.size = sizeof io, .time_limit_ms = 1000, .out = output, .out_size = sizeof output
	};
	int descriptors = count_descriptors();

	CHECK_EQUAL(aspawn_run(&command, &io), expected);
	CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_NONE);
	CHECK_EQUAL(io.failure.step, ASPAWN_STEP_NONE);
	CHECK_EQUAL(io.failure.error, 0);
	CHECK_EQUAL(output[0], 0);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK(!have_children());
}

TEST(run_ends_the_command_if_poll_fails)
{
	filter_refuse(PSYS_NR_ppoll, PSYS_EPERM);
	check_run_without_poll(-PSYS_EPERM);
}

/* RLIMIT_NOFILE allows a poll of two entries, but not of four. */
TEST(run_polls_only_used_descriptors)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = on_pool(&pool, &self, "exit_7");
	struct psys_rlimit64 limit;
	struct aspawn_io io = { .size = sizeof io };

	if (!memory_is_shared())
		skip("a copy of the memory needs a pipe more");
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, NULL, &limit), 0);
	const struct aspawn_action usual =
		ASPAWN_RLIMIT(PSYS_RLIMIT_NOFILE, limit.rlim_cur, limit.rlim_max);
	command.std_in = ASPAWN_STREAM_INHERIT;
	command.actions = &usual;
	command.action_count = 1;
	limit.rlim_cur = 3;
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL), 0);
	psys_close(0);
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.status, 7 << 8);
}

/* --- outputs ------------------------------------------------------------------- */

/* Writes as many letters as the number says: "1000" to standard output, "1000e" to standard error,
 * "1000b" to both in turn. */
ROLE(writes_letters)
{
	const char *text = argc > 1 ? argv[1] : "";
	int count = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		count = count * 10 + (*text - '0');
	for (int fd = 1; fd <= 2; fd++) {
		if (fd == 1 ? *text == 'e' : !*text)
			continue;
		for (int i = 0; i < count; i += 1000) {
			char letters[1000];
			for (int j = 0; j < 1000; j++)
				letters[j] = (char)('a' + (i + j) % 26);
			const int length = count - i < 1000 ? count - i : 1000;
			if (psys_write(fd, letters, (size_t)length) != length)
				return 1;
		}
	}
	return 5;
}

struct sink {
	size_t calls, bytes, most; /* most of one call */
	size_t calls_until_error;  /* 0: none */
	int returns, error;
	bool is_wrong;
};

/* arg points to the sinks of both streams. */
static int take_letters(void *arg, int stream, const void *bytes, size_t count)
{
	struct sink *sink = (struct sink *)arg + stream - 1;

	CHECK(stream == 1 || stream == 2);
	sink->calls++;
	if (!count || count > 4096)
		sink->is_wrong = true;
	for (size_t i = 0; i < count; i++)
		if (((const char *)bytes)[i] != (char)('a' + (sink->bytes + i) % 26))
			sink->is_wrong = true;
	sink->bytes += count;
	if (count > sink->most)
		sink->most = count;
	return sink->calls_until_error && sink->calls >= sink->calls_until_error ? sink->error :
										   sink->returns;
}

static struct aspawn_command letters_command(struct self *self, const char *letters)
{
	return command_in_role(self, "writes_letters", letters);
}

TEST(a_sink_gets_all_output_in_pieces)
{
	struct self self;
	struct aspawn_command command = letters_command(&self, "100000b");
	struct sink sinks[2] = { { 0 }, { .returns = 17 } }; /* positive: go on */
	struct aspawn_io io = { .size = sizeof io, .sink = take_letters, .arg = sinks };

	command.std_err = ASPAWN_STREAM_PIPE;
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_RAN);
	CHECK_EQUAL(io.status, 5 << 8);
	for (int i = 0; i < 2; i++) {
		CHECK(!sinks[i].is_wrong);
		CHECK_EQUAL(sinks[i].bytes, 100000);
		CHECK(sinks[i].calls > 1);
	}
	CHECK(io.out_total == 100000 && io.err_total == 100000);
	CHECK(io.out_length == 0 && io.err_length == 0);
}

TEST(a_sink_gets_only_outputs_without_a_buffer)
{
	struct self self;
	struct aspawn_command command = letters_command(&self, "1000b");
	char text[1001];

	command.std_err = ASPAWN_STREAM_PIPE;
	for (int other = 0; other < 2; other++) { /* the stream of the sink */
		struct sink sinks[2] = { { 0 } };
		struct aspawn_io io = { .size = sizeof io, .sink = take_letters, .arg = sinks };

		*(other ? &io.out : &io.err) = text;
		*(other ? &io.out_size : &io.err_size) = sizeof text;
		CHECK_EQUAL(aspawn_run(&command, &io), 0);
		CHECK_EQUAL(sinks[!other].calls, 0);
		CHECK_EQUAL(sinks[other].bytes, 1000);
		CHECK_EQUAL(other ? io.out_length : io.err_length, 1000);
		CHECK_EQUAL(other ? io.err_length : io.out_length, 0);
		CHECK(io.out_total == 1000 && io.err_total == 1000);
		CHECK_EQUAL(text[0], 'a');
		CHECK_EQUAL(psys_strlen(text), 1000);
		/* The sink does not get what is too much. */
		*(other ? &io.out_size : &io.err_size) = 500;
		CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ENOBUFS);
		CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_FULL);
		CHECK_EQUAL(sinks[!other].calls, 0);
	}
}

/* A sink alone does not change standard error, nor a stream that the command names. */
TEST(a_sink_makes_no_pipe_but_for_standard_output)
{
	struct self self;
	struct aspawn_command command = letters_command(&self, "1000b");
	struct sink sinks[2] = { { 0 } };
	struct aspawn_io io = { .size = sizeof io, .sink = take_letters, .arg = sinks };

	CHECK_EQUAL(psys_dup3(psys_open("/dev/null", PSYS_O_WRONLY, 0), 2, 0), 2);
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK(sinks[0].bytes == 1000 && sinks[1].calls == 0);
	CHECK(io.out_total == 1000 && io.err_total == 0);
	command.std_out = ASPAWN_STREAM_NULL;
	command.std_err = ASPAWN_STREAM_PIPE;
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK(sinks[0].bytes == 1000 && sinks[1].bytes == 1000);
	CHECK(io.out_total == 0 && io.err_total == 1000);
}

TEST(a_buffer_of_no_size_is_none)
{
	struct self self;
	const struct aspawn_command command = letters_command(&self, "1000");
	char unused[1] = "#";
	struct sink sink = { 0 };
	struct aspawn_io io = {
		.size = sizeof io, .out = unused, .sink = take_letters, .arg = &sink
	};

	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(sink.bytes, 1000);
	CHECK_EQUAL(unused[0], '#');
}

TEST(a_sinks_error_ends_the_command)
{
	struct self self;
	const struct aspawn_command command = letters_command(&self, "10000000");
	int descriptors = count_descriptors();

	for (size_t calls = 1; calls < 4; calls++) {
		struct sink sink = { .calls_until_error = calls, .error = -777 };
		struct aspawn_io io = { .size = sizeof io, .sink = take_letters, .arg = &sink };
		CHECK_EQUAL(aspawn_run(&command, &io), -777);
		CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_CANCELLED);
		CHECK_EQUAL(io.status, PSYS_SIGTERM);
		CHECK_EQUAL(io.failure.error, 0);
		CHECK_EQUAL(io.out_length, 0);
		CHECK(io.out_total >= sink.bytes); /* and what was dropped then */
		CHECK(!have_children());
		CHECK_EQUAL(count_descriptors(), descriptors);
	}
}

TEST(a_sink_is_not_called_after_its_error)
{
	struct self self;
	struct aspawn_command command = letters_command(&self, "10000000");

	command.flags = ASPAWN_COMMAND_INHERIT_SIGNALS;
	set_disposition(PSYS_SIGTERM, PSYS_SIG_IGN); /* inherited: the program goes on */
	for (int round = 0; round < 10; round++) {
		struct sink sink = { .calls_until_error = 1, .error = -777 };
		struct aspawn_io io = {
			.size = sizeof io, .grace_ms = 50, .sink = take_letters, .arg = &sink
		};
		CHECK_EQUAL(aspawn_run(&command, &io), -777);
		CHECK_EQUAL(sink.calls, 1);
	}
}

static int take_letters_late(void *arg, int stream, const void *bytes, size_t count)
{
	struct sink *sink = arg;

	if (sink->calls == 0)
		sleep_ms(100);
	return take_letters(arg, stream, bytes, count);
}

/* Where the time limit came first. */
TEST(a_sink_is_not_called_after_its_error_in_the_grace)
{
	struct self self;
	struct aspawn_command command = letters_command(&self, "10000000");
	struct sink sink = { .calls_until_error = 2, .error = -777 };
	struct aspawn_io io = { .size = sizeof io,
				.time_limit_ms = 20,
				.grace_ms = LONG,
				.sink = take_letters_late,
				.arg = &sink };

	command.flags = ASPAWN_COMMAND_INHERIT_SIGNALS;
	set_disposition(PSYS_SIGTERM, PSYS_SIG_IGN); /* inherited: the program runs on */
	CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(sink.calls, 2);
}

/* A text of size - 1 bytes fits, with a NUL behind. */
TEST(output_fits_or_ends_the_command)
{
	static const struct {
		const char *letters;
		size_t size;
		int r;
	} cases[] = { { "0", 1, 0 },
		      { "0", 10, 0 },
		      { "9", 10, 0 },
		      { "1", 1, -PSYS_ENOBUFS },
		      { "1", 2, 0 },
		      { "10", 10, -PSYS_ENOBUFS },
		      { "11", 10, -PSYS_ENOBUFS },
		      { "100000", 50, -PSYS_ENOBUFS },
		      { "100000", 100001, 0 },
		      { "100000", 100000, -PSYS_ENOBUFS } };
	static char data[100002];
	struct self self;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int drop = 0; drop < 2; drop++) {
			const size_t size = cases[i].size;
			const struct aspawn_command command =
				letters_command(&self, cases[i].letters);
			struct aspawn_io io = { .size = sizeof io,
						.flags = drop ? ASPAWN_IO_DROP_EXCESS : 0,
						.out = data,
						.out_size = size };
			int r = drop ? 0 : cases[i].r;
			size_t all = 0;

			for (const char *digit = cases[i].letters; *digit; digit++)
				all = all * 10 + (size_t)(*digit - '0');
			const size_t stored = all < size ? all : size - 1;
			psys_memset(data, '#', sizeof data);
			CHECK_EQUAL(aspawn_run(&command, &io), r);
			CHECK_EQUAL(io.outcome, r ? ASPAWN_OUTCOME_FULL : ASPAWN_OUTCOME_RAN);
			if (!r)
				CHECK_EQUAL(io.status, 5 << 8);
			CHECK_EQUAL(io.out_length, stored);
			CHECK(r ? io.out_total > stored && io.out_total <= all :
				  io.out_total == all);
			for (size_t j = 0; j < stored; j++)
				CHECK_EQUAL(data[j],
					    'a' + (char)(j % 1000 % 26 + j / 1000 * 1000 % 26) % 26);
			CHECK_EQUAL(data[stored], 0);
			CHECK_EQUAL(data[size], '#');
		}
}

TEST(standard_output_and_error_are_kept_apart)
{
	struct self self;
	const struct aspawn_command command = letters_command(&self, "100b");
	char out[200], err[50];
	struct aspawn_io io = { .size = sizeof io,
				.flags = ASPAWN_IO_DROP_EXCESS,
				.out = out,
				.out_size = sizeof out,
				.err = err,
				.err_size = sizeof err };

	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK(io.out_length == 100 && io.out_total == 100);
	CHECK_EQUAL(psys_strlen(out), 100);
	CHECK(io.err_length == 49 && io.err_total == 100);
	CHECK_EQUAL(psys_strlen(err), 49);
	io.flags = 0;
	CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ENOBUFS);
	CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_FULL);
	CHECK_EQUAL(psys_strlen(err), 49);
}

/* The command has a pipe, but *io has no output. */
TEST(output_that_is_not_requested_is_dropped)
{
	struct self self;
	struct aspawn_command command = letters_command(&self, "1000000b");
	char data[1] = "#";
	struct aspawn_io io = { .size = sizeof io };

	command.std_out = command.std_err = ASPAWN_STREAM_PIPE;
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.status, 5 << 8);
	CHECK(io.out_length == 0 && io.out_total == 1000000 && io.err_total == 1000000);
	io.out = data; /* without a size, out is not requested */
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.status, 5 << 8);
	CHECK_EQUAL(data[0], '#');
}

/* The buffer must not keep output of an earlier run. */
TEST(output_ends_with_nul_on_every_return)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	char out[4], err[4];
	struct aspawn_io io = { .size = sizeof io,
				.out = out,
				.out_size = sizeof out,
				.err = err,
				.err_size = sizeof err };
	struct psys_rlimit64 limit;

	for (int i = 0; i < 5; i++) {
		int r, end = ASPAWN_OUTCOME_RAN, expected = 0;
		command = command_in_role(&self, i == 2 ? "lingers" : "exit_7", NULL);
		io.time_limit_ms = i == 2 ? 1 : 0;
		psys_memset(out, '#', sizeof out);
		psys_memset(err, '#', sizeof err);
		io.out_length = io.err_length = io.out_total = io.err_total = 77;
		if (i == 1) {
			command.file = "/no such program";
			expected = -PSYS_ECANCELED, end = ASPAWN_OUTCOME_NOT_STARTED;
		} else if (i == 2) {
			expected = -PSYS_ETIMEDOUT, end = ASPAWN_OUTCOME_TIMED_OUT;
		} else if (i == 3) {
			command.std_in = -6;
			expected = -PSYS_EINVAL, end = ASPAWN_OUTCOME_NONE;
		} else if (i == 4) {
			CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, NULL, &limit), 0);
			limit.rlim_cur = 3;
			CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL), 0);
			expected = -PSYS_EMFILE, end = ASPAWN_OUTCOME_NONE;
		}
		r = aspawn_run(&command, &io);
		CHECK_EQUAL(r, expected);
		CHECK_EQUAL(io.outcome, end);
		CHECK(io.out_length == 0 && io.err_length == 0);
		CHECK(io.out_total == 0 && io.err_total == 0);
		CHECK(out[0] == 0 && err[0] == 0);
		if (end == ASPAWN_OUTCOME_NONE) {
			CHECK_EQUAL(io.status, -1);
			CHECK_EQUAL(io.failure.error, r == -PSYS_EINVAL ? r : 0);
		}
	}
}

/* --- ends ---------------------------------------------------------------------- */

TEST(no_grace_sends_sigkill_at_once)
{
	struct aspawn_io io = { .size = sizeof io,
				.time_limit_ms = 1,
				.grace_ms = ASPAWN_GRACE_NONE };

	nanoseconds_of(&io, "lingers", -PSYS_ETIMEDOUT);
	CHECK_EQUAL(io.status, PSYS_SIGKILL);
}

TEST(limits_of_time_are_none_or_very_long)
{
	static const int64_t times[] = { 0, INT64_MAX };

	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		for (size_t j = 0; j < sizeof times / sizeof *times; j++) {
			struct aspawn_io io = { .size = sizeof io,
						.time_limit_ms = times[i],
						.grace_ms = times[j] };
			nanoseconds_of(&io, "exit_7", 0);
			CHECK_EQUAL(io.status, 7 << 8);
		}
}

/* --- versions ------------------------------------------------------------------ */

TEST(accepts_larger_structures_if_the_rest_is_zero)
{
	struct self self;
	const struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	union {
		struct aspawn_io io;
		unsigned char bytes[sizeof(struct aspawn_io) + 9];
	} larger = { .io = { .size = sizeof(struct aspawn_io) } };

	for (size_t size = sizeof larger.io; size <= sizeof larger.bytes; size++) {
		psys_memset(&larger, 0, sizeof larger);
		larger.io.size = size;
		CHECK_EQUAL(aspawn_run(&command, &larger.io), 0);
		CHECK_EQUAL(larger.io.status, 7 << 8);
		if (size == sizeof larger.io)
			continue;
		larger.bytes[size - 1] = 1;
		CHECK_EQUAL(aspawn_run(&command, &larger.io), -PSYS_E2BIG);
		larger.io.size--; /* bytes beyond size are not read */
		CHECK_EQUAL(aspawn_run(&command, &larger.io), 0);
	}
}

/* --- arguments ------------------------------------------------------------------- */

TEST(command_macro_runs_arguments)
{
	struct self self;
	char out[64];
	struct aspawn_io io = { .size = sizeof io,
				.flags = ASPAWN_IO_DROP_EXCESS,
				.out = out,
				.out_size = sizeof out };

	if (is_emulated())
		skip("the emulator is the file");
	self_in_role(&self, "exit_7", NULL);
	/* argv[0] is the file, so the program runs as the suite, with no matching test. */
	CHECK_EQUAL(aspawn_run(ASPAWN_COMMAND(self.file, "no such test"), &io), 0);
	CHECK_EQUAL(io.status, 0);
	CHECK_EQUAL(aspawn_run(ASPAWN_COMMAND("/no such program"), &io), -PSYS_ECANCELED);
	CHECK_EQUAL(psys_strcmp(io.failure.subject, "/no such program"), 0);
	const struct aspawn_command command = {
		.size = sizeof command,
		.file = self.file,
		.argv = ASPAWN_ARGV("@writes_letters", "42"),
	};
	CHECK(!command.argv[2]);
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.status, 5 << 8);
	CHECK_EQUAL(io.out_length, 42);
}

static int slow_sink(void *arg, int stream, const void *bytes, size_t count)
{
	(void)stream, (void)bytes;
	*(size_t *)arg += count;
	sleep_ms(5);
	return 0;
}

/* The grace period once passed while the sink slept, and the pipe's contents were lost. */
TEST(a_slow_sink_gets_all_that_the_pipe_holds)
{
	struct self self;
	const struct aspawn_command command = command_in_role(&self, "writes_a_lot", "60000");
	static const int64_t graces[] = { -1, 1, 20 };

	for (size_t i = 0; i < sizeof graces / sizeof *graces; i++) {
		size_t got = 0;
		struct aspawn_io io = {
			.size = sizeof io, .grace_ms = graces[i], .sink = slow_sink, .arg = &got
		};
		CHECK_EQUAL(aspawn_run(&command, &io), 0);
		CHECK_EQUAL(io.status, 0);
		CHECK_EQUAL(got, 60000);
	}
}
