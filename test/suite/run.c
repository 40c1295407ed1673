/* Whole lives of commands: fed, collected from, ended in time. */
#include "filter.h"
#include "observe.h"

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
		sleep_ms(60000);
	return 3;
}

static char *big(size_t size)
{
	char *text = psys_mmap(NULL, size, PSYS_PROT_READ | PSYS_PROT_WRITE,
			       PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);

	CHECK(!PSYS_IS_ERROR(text));
	return text;
}

static struct aspawn_command on_stack(struct Stack_t *stack, struct self *self, const char *role)
{
	struct aspawn_command command = command_in_role(self, role, NULL);

	command.stack = stack;
	return command;
}

TEST(more_is_fed_and_collected_than_pipes_hold)
{
	enum { size = 1 << 20 };
	struct Stack_t stack = { 0 };
	struct self self;
	const struct aspawn_command command = on_stack(&stack, &self, "copies");
	char *in = big(size), *out = big(size + 1);
	struct aspawn_io io = { .size = sizeof io,
				.input = in,
				.input_size = size,
				.out = { .data = out, .size = size + 1 } };
	int descriptors = count_descriptors();

	for (size_t i = 0; i < size; i++)
		in[i] = (char)(i * 31 + (i >> 8));
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.status, 0);
	CHECK_EQUAL(io.end, ASPAWN_END_RAN);
	CHECK_EQUAL(io.out.length, size);
	CHECK_EQUAL(psys_memcmp(in, out, size), 0);
	CHECK_EQUAL(out[size], 0);
	io.out.size = 1001; /* and now more than there is room for */
	CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ENOBUFS);
	CHECK_EQUAL(io.end, ASPAWN_END_FULL);
	CHECK_EQUAL(io.out.length, 1000);
	CHECK_EQUAL(psys_memcmp(in, out, 1000), 0);
	CHECK_EQUAL(out[1000], 0);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK(!have_children());
}

TEST(nobody_reads_what_is_fed)
{
	enum { size = 1 << 20 };
	struct Stack_t stack = { 0 };
	struct self self;
	const struct aspawn_command command = on_stack(&stack, &self, "exit_7");
	struct aspawn_io io = { .size = sizeof io, .input = big(size), .input_size = size };

	CHECK_EQUAL(aspawn_run(&command, &io), 0); /* SIGPIPE would kill this test */
	CHECK_EQUAL(io.status, 7 << 8);
}

/* A session is a group too. */
TEST(a_group_that_is_a_session)
{
	const struct aspawn_action session = ASPAWN_SETSID();
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = on_stack(&stack, &self, "exit_7");
	struct aspawn_io io = { .size = sizeof io, .flags = ASPAWN_IO_KILL_GROUP };

	command.actions = &session;
	command.action_count = 1;
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.status, 7 << 8);
}

TEST(nobody_can_tell_how_a_run_ended)
{
	struct Stack_t stack = { 0 };
	struct self self;
	const struct aspawn_command command = on_stack(&stack, &self, "exit_7");
	struct aspawn_io io = { .size = sizeof io, .status = 5, .end = ASPAWN_END_RAN };

	io.usage.ru_maxrss = -5;
	set_disposition(PSYS_SIGCHLD, PSYS_SIG_IGN);
	CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ECHILD);
	CHECK_EQUAL(io.end, ASPAWN_END_UNKNOWN);
	CHECK_EQUAL(io.status, -1);
	CHECK_EQUAL(io.usage.ru_maxrss, 0);
	CHECK_EQUAL(io.failure.step, ASPAWN_STEP_NONE);
	CHECK_EQUAL(io.failure.error, 0);
}

static int64_t milliseconds_of(struct aspawn_io *io, const char *role, int expected)
{
	struct Stack_t stack = { 0 };
	struct self self;
	const struct aspawn_command command = on_stack(&stack, &self, role);
	int64_t before = monotonic_ns();

	CHECK_EQUAL(aspawn_run(&command, io), expected);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
	return (monotonic_ns() - before) / 1000000;
}

TEST_SECONDS(a_run_ends_in_time, 60)
{
	char out[16];
	struct aspawn_io io = { .size = sizeof io,
				.timeout_ms = 200,
				.grace_ms = 100,
				.out = { .data = out, .size = sizeof out } };

	CHECK(milliseconds_of(&io, "lingers", -PSYS_ETIMEDOUT) >= 200);
	CHECK_EQUAL(io.end, ASPAWN_END_TIMED_OUT);
	CHECK_EQUAL(io.status, PSYS_SIGTERM);
	set_disposition(PSYS_SIGTERM, PSYS_SIG_IGN); /* and so it is in the program */
	CHECK(milliseconds_of(&io, "lingers", -PSYS_ETIMEDOUT) >= 300);
	CHECK_EQUAL(io.end, ASPAWN_END_TIMED_OUT);
	CHECK_EQUAL(io.status, PSYS_SIGKILL);
	CHECK(!have_children());
}

/* golang/go#23019: the grandchild lives for a minute, and this test for less. */
TEST_SECONDS(a_grandchild_holds_the_pipe, 40)
{
	char out[16];
	struct aspawn_io io = { .size = sizeof io,
				.timeout_ms = 20000,
				.grace_ms = 300,
				.out = { .data = out, .size = sizeof out } };

	milliseconds_of(&io, "leaves_a_grandchild", 0);
	CHECK_EQUAL(io.end, ASPAWN_END_RAN);
	CHECK_EQUAL(io.status, 3 << 8);
	CHECK_EQUAL(io.out.length, 4);
	CHECK_EQUAL(psys_strcmp(out, "text"), 0);
}

ROLE(leads_a_group)
{
	(void)argc, (void)argv;
	if (psys_fork() == 0)
		set_disposition(PSYS_SIGTERM, PSYS_SIG_IGN);
	psys_write(1, "x", 1);
	sleep_ms(60000);
	return 0;
}

TEST_SECONDS(a_whole_group_is_ended, 60)
{
	int status;
	char out[16];
	struct aspawn_io io = { .size = sizeof io,
				.flags = ASPAWN_IO_KILL_GROUP,
				.timeout_ms = 1000,
				.grace_ms = 300,
				.out = { .data = out, .size = sizeof out } };

	if (psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		skip("no subreaper");
	milliseconds_of(&io, "leads_a_group", -PSYS_ETIMEDOUT);
	CHECK_EQUAL(io.out.length, 2);
	CHECK(psys_wait4(-1, &status, 0, NULL) > 0); /* the grandchild */
	CHECK_EQUAL(status, PSYS_SIGKILL);
}

/* The group is not there yet when its time is up, or the child has left it. */
TEST_SECONDS(a_group_that_is_not_there, 40)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = on_stack(&stack, &self, "lingers");
	const struct aspawn_action leave = ASPAWN_SETPGID(psys_getpgid(0));

	for (int i = 0; i < 20; i++) {
		struct aspawn_io io = {
			.size = sizeof io, .flags = ASPAWN_IO_KILL_GROUP, .timeout_ms = 1, .grace_ms = i & 2 ? 1 : -1
		};
		command.actions = i & 1 ? &leave : NULL;
		command.action_count = i & 1;
		CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ETIMEDOUT);
		CHECK_EQUAL(io.end, ASPAWN_END_TIMED_OUT);
		CHECK_EQUAL(io.failure.error, 0);
	}
}

static void check_invalid(const struct aspawn_command *command, const struct aspawn_io *io, int expected)
{
	struct aspawn_io bad = *io;

	bad.status = 12345;
	CHECK_EQUAL(aspawn_run(command, &bad), expected);
	CHECK_EQUAL(bad.status, 12345); /* nothing is stored */
	CHECK(!have_children());
}

TEST(run_rejects_an_invalid_io)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = on_stack(&stack, &self, "exit_7");
	struct aspawn_io bad, good = { .size = sizeof good };

	CHECK_EQUAL(aspawn_run(&command, NULL), -PSYS_EINVAL);
	check_invalid(NULL, &good, -PSYS_EINVAL);
	bad = good, bad.size = 0;
	check_invalid(&command, &bad, -PSYS_EINVAL);
	bad = good, bad.size = ASPAWN_IO_SIZE_VER0 - 1;
	check_invalid(&command, &bad, -PSYS_EINVAL);
	bad = good, bad.flags = ASPAWN_IO_DROP_EXCESS << 1;
	check_invalid(&command, &bad, -PSYS_EINVAL);
	bad = good, bad.flags = UINT64_C(1) << 63;
	check_invalid(&command, &bad, -PSYS_EINVAL);
	bad = good, bad.input_size = 1;
	check_invalid(&command, &bad, -PSYS_EINVAL);
	bad = good, bad.out.size = 1;
	check_invalid(&command, &bad, -PSYS_EINVAL);
	bad = good, bad.err.size = 1;
	check_invalid(&command, &bad, -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_run(&command, &good), 0);
	CHECK_EQUAL(good.status, 7 << 8);
	CHECK_EQUAL(good.end, ASPAWN_END_RAN);
	command.file = "/no such program";
	CHECK_EQUAL(aspawn_run(&command, &good), -PSYS_ECANCELED);
	CHECK_EQUAL(good.end, ASPAWN_END_NOT_STARTED);
	CHECK_EQUAL(good.failure.step, ASPAWN_STEP_EXEC);
	CHECK_EQUAL(good.failure.error, -PSYS_ENOENT);
	CHECK_EQUAL(psys_strcmp(good.failure.subject, "/no such program"), 0);
	CHECK_EQUAL(good.status, 127 << 8);
}

/* What is wanted of a stream that the command sends elsewhere can never come. */
TEST(run_rejects_streams_that_the_command_sends_elsewhere)
{
	char out[8];
	struct self self;
	const struct aspawn_command good = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_io feeds = { .size = sizeof feeds, .input = "x", .input_size = 1 },
			       collects = { .size = sizeof collects, .out = { .data = out, .size = sizeof out } },
			       collects_errors = { .size = sizeof collects, .err = { .data = out, .size = sizeof out } };
	struct aspawn_command bad;
	static const int elsewhere[] = { ASPAWN_NULL, 3, 1000 };

	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
		bad = good, bad.std_in = elsewhere[i];
		check_invalid(&bad, &feeds, -PSYS_EINVAL);
		bad = good, bad.std_out = elsewhere[i];
		check_invalid(&bad, &collects, -PSYS_EINVAL);
		bad = good, bad.std_err = elsewhere[i];
		check_invalid(&bad, &collects_errors, -PSYS_EINVAL);
	}
	bad = good, bad.std_err = ASPAWN_TO_STDOUT;
	check_invalid(&bad, &collects_errors, -PSYS_EINVAL);
	/* The other streams are free, and ASPAWN_PIPE is what is wanted. */
	struct aspawn_command command = good;
	struct aspawn_io io = collects;
	command.std_in = command.std_err = ASPAWN_NULL;
	command.std_out = ASPAWN_PIPE;
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.status, 7 << 8);
}

/* It went on for ever, its timeout notwithstanding. */
static void check_run_without_poll(int expected)
{
	struct Stack_t stack = { 0 };
	struct self self;
	const struct aspawn_command command = on_stack(&stack, &self, "lingers");
	char output[10];
	struct aspawn_io io = { .size = sizeof io, .timeout_ms = 1000, .out = { .data = output, .size = sizeof output } };
	int descriptors = count_descriptors();

	CHECK_EQUAL(aspawn_run(&command, &io), expected);
	CHECK_EQUAL(io.end, ASPAWN_END_UNKNOWN);
	CHECK_EQUAL(io.failure.step, ASPAWN_STEP_NONE);
	CHECK_EQUAL(io.failure.error, 0);
	CHECK_EQUAL(output[0], 0);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK(!have_children());
}

TEST(a_run_whose_poll_fails_ends_the_command)
{
	filter_refuse(PSYS_NR_ppoll, PSYS_EPERM);
	check_run_without_poll(-PSYS_EPERM);
}

/* Four entries are more than RLIMIT_NOFILE lets poll, two are not. */
TEST(a_run_polls_what_it_uses)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = on_stack(&stack, &self, "exit_7");
	struct psys_rlimit64 limit;
	struct aspawn_io io = { .size = sizeof io, .flags = ASPAWN_IO_INHERIT_INPUT };

	if (!memory_is_shared())
		skip("a copy of the memory needs a pipe more");
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, NULL, &limit), 0);
	const struct aspawn_action usual = ASPAWN_RLIMIT(PSYS_RLIMIT_NOFILE, limit.rlim_cur, limit.rlim_max);
	command.actions = &usual;
	command.action_count = 1;
	limit.rlim_cur = 3;
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL), 0);
	psys_close(0);
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.status, 7 << 8);
}
