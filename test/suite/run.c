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

TEST(more_is_fed_and_collected_than_pipes_hold)
{
	enum { size = 1 << 20 };
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "copies", NULL);
	char *in = big(size), *out = big(size);
	struct aspawn_run run = { .size = sizeof run,
				  .input = in,
				  .input_size = size,
				  .output = out,
				  .output_size = size };
	int descriptors = count_descriptors();

	for (size_t i = 0; i < size; i++)
		in[i] = (char)(i * 31 + (i >> 8));
	CHECK_EQUAL(aspawn_run(&run, &stack, &command), 0);
	CHECK_EQUAL(run.status, 0);
	CHECK_EQUAL(run.output_length, size);
	CHECK_EQUAL(psys_memcmp(in, out, size), 0);
	run.output_size = 1000; /* and now more than there is room for */
	CHECK_EQUAL(aspawn_run(&run, &stack, &command), -PSYS_ENOBUFS);
	CHECK_EQUAL(run.output_length, 1000);
	CHECK_EQUAL(psys_memcmp(in, out, 1000), 0);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK(!have_children());
}

TEST(nobody_reads_what_is_fed)
{
	enum { size = 1 << 20 };
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_run run = { .size = sizeof run, .input = big(size), .input_size = size };

	CHECK_EQUAL(aspawn_run(&run, &stack, &command), 0); /* SIGPIPE would kill this test */
	CHECK_EQUAL(run.status, 7 << 8);
}

/* A session is a group too. */
TEST(a_group_that_is_a_session)
{
	const struct aspawn_action session = ASPAWN_SETSID();
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_run run = { .size = sizeof run, .flags = ASPAWN_RUN_GROUP };

	command.actions = &session;
	command.action_count = 1;
	CHECK_EQUAL(aspawn_run(&run, &stack, &command), 0);
	CHECK_EQUAL(run.status, 7 << 8);
}

TEST(nobody_can_tell_how_a_run_ended)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_run run = { .size = sizeof run, .status = 5 };

	run.usage.ru_maxrss = -5;
	set_disposition(PSYS_SIGCHLD, PSYS_SIG_IGN);
	CHECK_EQUAL(aspawn_run(&run, &stack, &command), -PSYS_ECHILD);
	CHECK_EQUAL(run.status, 0);
	CHECK_EQUAL(run.usage.ru_maxrss, 0);
	CHECK_EQUAL(run.failure.step, ASPAWN_STEP_NONE);
}

static int64_t nanoseconds_of(struct aspawn_run *run, const char *role, int expected)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = command_in_role(&self, role, NULL);
	int64_t before = monotonic_ns();

	CHECK_EQUAL(aspawn_run(run, &stack, &command), expected);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
	return monotonic_ns() - before;
}

TEST_SECONDS(a_run_ends_in_time, 60)
{
	const struct psys_timespec timeout = { 0, 200000000 }, grace = { 0, 100000000 };
	char out[16];
	struct aspawn_run run = { .size = sizeof run,
				  .timeout = &timeout,
				  .grace = &grace,
				  .output = out,
				  .output_size = sizeof out };

	CHECK(nanoseconds_of(&run, "lingers", -PSYS_ETIMEDOUT) >= 200000000);
	CHECK_EQUAL(run.status, PSYS_SIGTERM);
	set_disposition(PSYS_SIGTERM, PSYS_SIG_IGN); /* and so it is in the program */
	CHECK(nanoseconds_of(&run, "lingers", -PSYS_ETIMEDOUT) >= 300000000);
	CHECK_EQUAL(run.status, PSYS_SIGKILL);
	CHECK(!have_children());
}

/* golang/go#23019: the grandchild lives for a minute, and this test for less. */
TEST_SECONDS(a_grandchild_holds_the_pipe, 40)
{
	const struct psys_timespec timeout = { 20, 0 }, grace = { 0, 300000000 };
	char out[16];
	struct aspawn_run run = { .size = sizeof run,
				  .timeout = &timeout,
				  .grace = &grace,
				  .output = out,
				  .output_size = sizeof out };

	nanoseconds_of(&run, "leaves_a_grandchild", 0);
	CHECK_EQUAL(run.status, 3 << 8);
	CHECK_EQUAL(run.output_length, 4);
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
	const struct psys_timespec timeout = { 1, 0 }, grace = { 0, 300000000 };
	int status;
	char out[16];
	struct aspawn_run run = { .size = sizeof run,
				  .flags = ASPAWN_RUN_GROUP,
				  .timeout = &timeout,
				  .grace = &grace,
				  .output = out,
				  .output_size = sizeof out };

	if (psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		skip("no subreaper");
	nanoseconds_of(&run, "leads_a_group", -PSYS_ETIMEDOUT);
	CHECK_EQUAL(run.output_length, 2);
	CHECK(psys_wait4(-1, &status, 0, NULL) > 0); /* the grandchild */
	CHECK_EQUAL(status, PSYS_SIGKILL);
}

/* The group is not there yet when its time is up, or the child has left it. */
TEST_SECONDS(a_group_that_is_not_there, 40)
{
	const struct psys_timespec timeout = { 0, 0 }, grace = { 0, 0 };
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	const struct aspawn_action leave = ASPAWN_SETPGID(psys_getpgid(0));
	struct aspawn_run run = {
		.size = sizeof run, .flags = ASPAWN_RUN_GROUP, .timeout = &timeout, .grace = &grace
	};

	command.actions = &leave;
	for (int i = 0; i < 20; i++) {
		command.action_count = i & 1;
		CHECK_EQUAL(aspawn_run(&run, &stack, &command), -PSYS_ETIMEDOUT);
	}
}

TEST(a_run_that_is_none)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_run bad, good = { .size = sizeof good };
	const struct psys_timespec never = { 0, -1 };

	CHECK_EQUAL(aspawn_run(NULL, &stack, &command), -PSYS_EINVAL);
	bad = good, bad.size--;
	CHECK_EQUAL(aspawn_run(&bad, &stack, &command), -PSYS_EINVAL);
	bad = good, bad.flags = 1 << 9;
	CHECK_EQUAL(aspawn_run(&bad, &stack, &command), -PSYS_EINVAL);
	bad = good, bad.output_size = 1;
	CHECK_EQUAL(aspawn_run(&bad, &stack, &command), -PSYS_EINVAL);
	bad = good, bad.grace = &never;
	CHECK_EQUAL(aspawn_run(&bad, &stack, &command), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_run(&good, &stack, NULL), -PSYS_EINVAL);
	CHECK_EQUAL(good.failure.step, ASPAWN_STEP_CLONE);
	CHECK_EQUAL(aspawn_run(&good, &stack, &command), 0);
	CHECK_EQUAL(good.status, 7 << 8);
	command.file = "/no such program";
	CHECK_EQUAL(aspawn_run(&good, &stack, &command), -PSYS_ENOENT);
	CHECK_EQUAL(good.failure.step, ASPAWN_STEP_EXEC);
}

/* It went on for ever, its timeout notwithstanding. */
static void check_run_without_poll(int expected)
{
	struct Stack_t stack = { 0 };
	struct self self;
	const struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	const struct psys_timespec second = { 1, 0 };
	char output[10];
	struct aspawn_run run = { .size = sizeof run, .timeout = &second, .output = output, .output_size = sizeof output };
	int descriptors = count_descriptors();

	CHECK_EQUAL(aspawn_run(&run, &stack, &command), expected);
	CHECK_EQUAL(run.failure.step, ASPAWN_STEP_NONE);
	CHECK_EQUAL(run.failure.error, -expected);
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
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct psys_rlimit64 limit;
	struct aspawn_run run = { .size = sizeof run };

	if (!memory_is_shared())
		skip("a copy of the memory needs a pipe more");
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, NULL, &limit), 0);
	const struct aspawn_action usual = ASPAWN_RLIMIT(PSYS_RLIMIT_NOFILE, limit.rlim_cur, limit.rlim_max);
	command.actions = &usual;
	command.action_count = 1;
	limit.rlim_cur = 3;
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL), 0);
	psys_close(0);
	CHECK_EQUAL(aspawn_run(&run, &stack, &command), 0);
	CHECK_EQUAL(run.status, 7 << 8);
}
