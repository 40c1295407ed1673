/* SPDX-License-Identifier: MIT */
/* Tests of commands: starting, waiting, killing, and fallbacks */
#include "filter.h"
#include "private.h"

enum { AT_ONCE = 0, SOON = 20 }; /* milliseconds */

TEST(a_command_runs_and_is_reaped)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_failure failure = { 5, 5, 5, 0, "x" };
	struct psys_rusage usage;
	int descriptors = count_descriptors(), status;

	for (int i = 0; i < 3; i++) {
		struct aspawn_child child = start_command(&pool, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), 0);
		CHECK_EQUAL(failure.step, ASPAWN_STEP_NONE);
		CHECK(failure.error == 0 && failure.kind == 0 && !*failure.subject);
		usage.ru_maxrss = -1;
		CHECK_EQUAL(aspawn_wait(&child, &status, &usage, -1), 0);
		CHECK(PSYS_WIFEXITED(status) && PSYS_WEXITSTATUS(status) == 7);
		CHECK(usage.ru_maxrss >= 0);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, 0), 0); /* may be repeated */
	}
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	CHECK_EQUAL(count_descriptors(), descriptors);
}

/* The start fails, and *child is no child, whatever it was before. */
static void check_refused(const struct aspawn_command *command, int error)
{
	struct aspawn_failure failure;
	struct aspawn_child child;

	psys_memset(&child, 0x55, sizeof child);
	CHECK_EQUAL(aspawn_start(&child, command), error);
	CHECK_EQUAL(aspawn_pid(&child), -PSYS_EINVAL);
	CHECK(child.ended_fd == -1 && child.started_fd == -1);
	CHECK(child.in_fd == -1 && child.out_fd == -1 && child.err_fd == -1);
	CHECK_EQUAL(aspawn_release(&child), 0);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(failure.error, error);
}

TEST(rejects_an_invalid_command)
{
	struct aspawn_pool pool = { { 0 } }, unused = pool;
	struct self self;
	struct aspawn_command good = command_in_role(&self, "exit_7", NULL);
	struct aspawn_child child;
	const struct psys_sigset mask = get_mask();
	static const struct aspawn_action wrong[] = {
		ASPAWN_DUP2(-1, 0),
		ASPAWN_DUP2(0, -1),
		ASPAWN_CLOSE(-1),
		ASPAWN_CLOSEFROM(-1),
		ASPAWN_ONLY_BELOW(-1),
		ASPAWN_SETENV(NULL, "a"),
		ASPAWN_SETENV("", "a"),
		ASPAWN_SETENV("A=B", "a"),
		ASPAWN_SETENV("A", NULL),
		ASPAWN_UNSETENV(NULL),
		ASPAWN_UNSETENV(""),
		ASPAWN_UNSETENV("A="),
		ASPAWN_CHDIR(NULL),
		ASPAWN_OPEN(0, NULL, 0, 0),
		ASPAWN_OPENAT(0, -5, "", 0, 0),
		ASPAWN_OUTPUT_PIPE(1, NULL),
		ASPAWN_INPUT_PIPE(0, NULL),
		ASPAWN_CALL(NULL, NULL),
		ASPAWN_WRITE("/dev/null", NULL),
		ASPAWN_PIVOT_ROOT("/", NULL),
		ASPAWN_SIGMASK(NULL),
		ASPAWN_PDEATHSIG(PSYS_NSIG + 1),
		ASPAWN_SIGNAL_DEFAULT(0),
		ASPAWN_SIGNAL_IGNORE(PSYS_NSIG + 1),
		ASPAWN_NEW_CGROUP(-1, 0, 0, 0),
		ASPAWN_AFFINITY(NULL, 8),
		ASPAWN_AFFINITY("12345678", 0),
		ASPAWN_AFFINITY("12345678", 3),
		ASPAWN_GROUPS(NULL, 3),
		ASPAWN_SECCOMP(NULL, 1),
		ASPAWN_USER(-1U, 5, NULL, 0),
		ASPAWN_USER(5, -1U, NULL, 0),
		{ .kind = 0 },
		{ .kind = LAST_ACTION + 1 },
		{ .kind = 9999 },
		{ .kind = UINT32_MAX },
		{ .kind = ASPAWN_ACTION_CLEARENV, .flags = 1 },
	};
	static const int streams[] = { 1, 2, -6, -100, INT32_MIN };
	struct aspawn_command bad;

	good.pool = &pool;
	CHECK_EQUAL(aspawn_start(NULL, &good), -PSYS_EINVAL);
	check_refused(NULL, -PSYS_EINVAL);
	bad = good, bad.file = NULL, bad.argv = NULL;
	check_refused(&bad, -PSYS_EINVAL);
	char *const no_arguments[] = { NULL };
	bad = good, bad.file = NULL, bad.argv = no_arguments;
	check_refused(&bad, -PSYS_EINVAL);
	for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
		bad = good, bad.std_in = streams[i];
		check_refused(&bad, -PSYS_EINVAL);
		bad = good, bad.std_out = streams[i];
		if (streams[i] != 1)
			check_refused(&bad, -PSYS_EINVAL);
		bad = good, bad.std_err = streams[i];
		if (streams[i] != 2)
			check_refused(&bad, -PSYS_EINVAL);
	}
	bad = good, bad.std_in = ASPAWN_STREAM_STDOUT;
	check_refused(&bad, -PSYS_EINVAL);
	bad = good, bad.std_out = ASPAWN_STREAM_STDOUT;
	check_refused(&bad, -PSYS_EINVAL);
	bad = good, bad.size = sizeof bad - 1;
	check_refused(&bad, -PSYS_EINVAL);
	for (int bit = 6; bit < 64; bit++) { /* from _TREE_OR_GROUP on, which is of trees alone */
		bad = good, bad.flags = UINT64_C(1) << bit;
		if (bad.flags != ASPAWN_COMMAND_INHERIT_SIGNALS)
			check_refused(&bad, -PSYS_EINVAL);
	}
	bad = good, bad.size = 0;
	check_refused(&bad, -PSYS_EINVAL);
	bad = good, bad.action_count = 1;
	check_refused(&bad, -PSYS_EINVAL);
	bad = good, bad.action_count = SIZE_MAX, bad.actions = wrong;
	check_refused(&bad, -PSYS_E2BIG);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		bad = good, bad.actions = &wrong[i], bad.action_count = 1;
		check_refused(&bad, -PSYS_EINVAL);
	}
	struct {
		struct aspawn_command command;
		uint64_t more;
	} larger = { good, 1 };
	larger.command.size = sizeof larger;
	check_refused(&larger.command, -PSYS_E2BIG);
	CHECK(!psys_memcmp(&pool, &unused, sizeof pool) && same_mask(get_mask(), mask));
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	larger.more = 0;
	CHECK_EQUAL(aspawn_start(&child, &larger.command), 0);
	check_ends(&child, 7 << 8);
}

/* No bytes follow the structures. */
TEST(a_size_that_is_far_too_large_is_not_read)
{
	enum { UNIT = 65536 };
	static const uint64_t sizes[] = { 4097, 1 << 20, UINT64_C(1) << 33, UINT64_MAX };
	char *const pages = psys_mmap(NULL, 2 * UNIT, PSYS_PROT_READ | PSYS_PROT_WRITE,
				      PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);
	struct aspawn_command *const command = (void *)(pages + UNIT - 512);
	struct aspawn_io *const io = (void *)(pages + UNIT - 512);
	struct aspawn_child child;
	struct self self;

	CHECK(!PSYS_IS_ERROR(pages));
	CHECK_EQUAL(psys_munmap(pages + UNIT, UNIT), 0);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		*command = command_in_role(&self, "exit_7", NULL);
		command->size = sizes[i];
		CHECK_EQUAL(aspawn_start(&child, command), -PSYS_E2BIG);
		const struct aspawn_command good = command_in_role(&self, "exit_7", NULL);
		psys_memset(io, 0, sizeof *io);
		io->size = sizes[i];
		CHECK_EQUAL(aspawn_run(&good, io), -PSYS_E2BIG);
		psys_memset(io, 0, sizeof *io);
	}
	CHECK_EQUAL(psys_munmap(pages, UNIT), 0);
}

/* Each text says EINVAL, whatever was wrong. */
static void check_named(const struct aspawn_command *command, const char *expected)
{
	struct aspawn_io io = { .size = sizeof io };
	struct aspawn_failure failure;
	struct aspawn_child child;
	char text[320];

	int r = aspawn_start(&child, command);
	CHECK(r == -PSYS_EINVAL || r == -PSYS_E2BIG);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, 0), -PSYS_ECANCELED);
	aspawn_failure_text(text, sizeof text, &failure);
	if (psys_strcmp(text, expected))
		check_failed(__FILE__, __LINE__, text);
	CHECK_EQUAL(aspawn_run(command, &io), r);
	CHECK(io.failure.step == failure.step && io.failure.error == r);
	aspawn_io_text(text, sizeof text, r, &io);
	CHECK_EQUAL(psys_strcmp(text, expected), 0);
}

TEST(an_invalid_argument_of_a_command_is_named)
{
	const struct aspawn_action wrong[] = { ASPAWN_SETSID(), ASPAWN_DUP2(-1, 0),
					       ASPAWN_SETSID() },
				   unknown = { .kind = 9999 },
				   many = ASPAWN_GROUPS((unsigned[]){ 0 }, 1 << 20),
				   groups[] = { ASPAWN_JOIN_CGROUP(0),
						ASPAWN_NEW_CGROUP(0, 0, 0, 0) };
	char *const argv[] = { (char *)"true", NULL };
	const struct aspawn_command good = { .size = sizeof good, .argv = argv };
	struct aspawn_command bad;

	check_named(NULL, "argument \"command\": EINVAL");
	bad = good, bad.size = 0;
	check_named(&bad, "argument \"size\": EINVAL");
	bad = good, bad.flags = UINT64_C(1) << 63;
	check_named(&bad, "argument \"flags\": EINVAL");
	const int stop_signals[] = { -1, PSYS_SIGKILL, PSYS_SIGSTOP, PSYS_NSIG + 1, INT32_MIN };
	for (size_t i = 0; i < sizeof stop_signals / sizeof *stop_signals; i++) {
		bad = good, bad.stop_signal = stop_signals[i];
		check_named(&bad, "argument \"stop_signal\": EINVAL");
	}
	for (int owner = -1; owner <= ASPAWN_OWNER_TREE + 1; owner += ASPAWN_OWNER_TREE + 2) {
		bad = good, bad.owner = owner;
		check_named(&bad, "argument \"owner\": EINVAL");
		bad.flags = ASPAWN_COMMAND_DIES_WITH_CALLER;
		check_named(&bad, "argument \"owner\": EINVAL");
	}
	for (int memory = -1; memory <= ASPAWN_MEMORY_COPIED + 1; memory++) {
		bad = good, bad.memory = memory;
		bad.owner = memory % 2 ? ASPAWN_OWNER_PRIVATE : ASPAWN_OWNER_TREE;
		if (memory != ASPAWN_MEMORY_SHARED && memory != ASPAWN_MEMORY_COPIED)
			check_named(&bad, "argument \"memory\": EINVAL");
		bad.owner = ASPAWN_OWNER_CALLER;
		if (memory < 0 || memory > ASPAWN_MEMORY_COPIED)
			check_named(&bad, "argument \"memory\": EINVAL");
	}
	bad = good, bad.flags = ASPAWN_COMMAND_DIES_WITH_CALLER;
	bad.memory = ASPAWN_MEMORY_SUSPENDED;
	check_named(&bad, "argument \"memory\": EINVAL");
	bad = good, bad.argv = NULL;
	check_named(&bad, "argument \"argv\": EINVAL");
	bad = good, bad.std_in = -6;
	check_named(&bad, "argument \"std_in\": EINVAL");
	bad = good, bad.std_out = ASPAWN_STREAM_STDOUT;
	check_named(&bad, "argument \"std_out\": EINVAL");
	bad = good, bad.std_err = 1;
	check_named(&bad, "argument \"std_err\": EINVAL");
	bad = good, bad.pty_rows = 65536;
	check_named(&bad, "argument \"pty_rows\": EINVAL");
	bad = good, bad.reserved = 1;
	check_named(&bad, "argument \"reserved\": EINVAL");
	bad = good, bad.pty_columns = 65536;
	check_named(&bad, "argument \"pty_columns\": EINVAL");
	bad = good, bad.action_count = 1;
	check_named(&bad, "argument \"actions\": EINVAL");
	bad.actions = wrong, bad.action_count = SIZE_MAX;
	check_named(&bad, "argument \"action_count\": E2BIG");
	bad.action_count = 3;
	check_named(&bad, "action 1, dup2: EINVAL");
	bad.actions = &unknown, bad.action_count = 1;
	check_named(&bad, "action 0: EINVAL");
	bad.actions = &many;
	check_named(&bad, "action 0, groups: E2BIG");
	bad.actions = groups, bad.action_count = 2, bad.owner = ASPAWN_OWNER_TREE;
	check_named(&bad, "action 1, new_cgroup another group: EINVAL");
	bad.actions = groups + 1, bad.action_count = 1, bad.owner = ASPAWN_OWNER_PRIVATE;
	check_named(&bad, "action 0, new_cgroup owner: EINVAL");
}

/* The array happens to have no action. */
TEST(a_command_without_actions_may_have_an_array_of_them)
{
	const struct aspawn_action unused[] = { ASPAWN_CHDIR("/no such directory") };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_io io = { .size = sizeof io };
	struct aspawn_child child;

	command.actions = unused;
	CHECK_EQUAL(aspawn_start(&child, &command), 0);
	check_ends(&child, 7 << 8);
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.status, 7 << 8);
}

TEST(rejects_an_invalid_child)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_child none = { 0 }, child = start_command(&pool, &command);
	struct aspawn_failure failure;

	for (int i = 0; i < 2; i++) {
		struct aspawn_child *invalid = i ? &none : NULL;

		CHECK_EQUAL(aspawn_wait(invalid, NULL, NULL, -1), -PSYS_EINVAL);
		CHECK_EQUAL(aspawn_wait(invalid, NULL, NULL, 0), -PSYS_EINVAL);
		CHECK_EQUAL(aspawn_ended(invalid), -PSYS_EINVAL);
		CHECK_EQUAL(aspawn_kill(invalid, 0), -PSYS_EINVAL);
		CHECK_EQUAL(aspawn_kill_group(invalid, 0), -PSYS_EINVAL);
		CHECK_EQUAL(aspawn_wait_started(invalid, NULL, -1), -PSYS_EINVAL);
		CHECK_EQUAL(aspawn_wait_started(invalid, &failure, -1), -PSYS_EINVAL);
		CHECK_EQUAL(failure.step, ASPAWN_STEP_NONE);
		CHECK_EQUAL(failure.error, 0);
	}
	CHECK_EQUAL(aspawn_kill(&child, -1), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_NSIG + 1), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_kill_group(&child, -1), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_kill_group(&child, PSYS_NSIG + 1), -PSYS_EINVAL);
	check_ends(&child, 7 << 8);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_ended(&child), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_kill_group(&child, PSYS_SIGKILL), -PSYS_EINVAL);
}

static void check_waits_and_kills(void)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	struct aspawn_child child = start_command(&pool, &command);
	int status;

	CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
	CHECK_EQUAL(aspawn_wait(&child, &status, NULL, AT_ONCE), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(aspawn_wait(&child, &status, NULL, SOON), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(aspawn_ended(&child), 0);
	CHECK_EQUAL(aspawn_kill(&child, 0), 0);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
	check_ends(&child, PSYS_SIGKILL);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

TEST(a_child_is_waited_for_and_killed)
{
	check_waits_and_kills();
}

TEST(a_child_without_a_pidfd_is_waited_for_and_killed)
{
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_PIDFD, PSYS_EINVAL);
	filter_refuse(PSYS_NR_pidfd_open, PSYS_ENOSYS);
	check_waits_and_kills();
}

/* The status comes from the pidfd, since Linux 6.15; the usage is lost. */
TEST(wait_tells_of_a_child_that_another_wait_reaped_if_the_kernel_does)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int descriptors = count_descriptors(), status = 77;
	struct psys_rusage usage = { .ru_maxrss = -1 };
	struct aspawn_child child = start_command(&pool, &command);
	const bool known = child.ended_fd >= 0 && keeps_status();

	note("kernel keeps statuses:", known);
	CHECK_EQUAL(reap(aspawn_pid(&child)), 7);
	CHECK_EQUAL(aspawn_ended(&child), known ? 1 : -PSYS_ECHILD);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), -PSYS_ESRCH);
	CHECK_EQUAL(aspawn_kill_group(&child, PSYS_SIGKILL), -PSYS_ESRCH);
	CHECK_EQUAL(aspawn_wait(&child, &status, &usage, -1), known ? 0 : -PSYS_ECHILD);
	CHECK_EQUAL(status, known ? 7 << 8 : 77);
	CHECK_EQUAL(usage.ru_maxrss, known ? 0 : -1);
	CHECK_EQUAL(aspawn_pid(&child), -PSYS_EINVAL);
	set_disposition(PSYS_SIGCHLD, PSYS_SIG_IGN);
	for (int i = 0; i < 100; i++) {
		child = start_command(&pool, &command);
		CHECK_EQUAL(aspawn_wait(&child, &status, NULL, -1), known ? 0 : -PSYS_ECHILD);
		CHECK_EQUAL(status, known ? 7 << 8 : 77);
	}
	CHECK_EQUAL(count_descriptors(), descriptors);
}

TEST(a_closed_standard_stream_fails_at_step_streams)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_failure failure;

	command.std_err = 900;
	for (int i = 0; i < 3; i++) {
		command.flags = i == 1 ? ASPAWN_COMMAND_STARTED_FD : 0;
		command.memory = i == 2 ? ASPAWN_MEMORY_COPIED : ASPAWN_MEMORY_SHARED;
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
		CHECK_EQUAL(failure.step, ASPAWN_STEP_STREAMS);
		CHECK_EQUAL(failure.error, -PSYS_EBADF);
		CHECK_EQUAL(failure.kind, 0);
		check_ends(&child, 127 << 8);
	}
}

static int reached, gate;

static ASPAWN_CHILD int waits_at_gate(void *arg)
{
	(void)arg;
	gate_open(&reached);
	gate_wait(&gate);
	return 0;
}

TEST(start_copies_the_command)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "shows", "directory");
	char text[16] = "", *envp[] = { (char[]){ "A=B" }, NULL };
	char file[PSYS_PATH_MAX], directory[] = "/dev";
	int fd;
	struct aspawn_action actions[] = { ASPAWN_CALL(waits_at_gate, NULL),
					   ASPAWN_OUTPUT_PIPE(1, &fd), ASPAWN_CHDIR(directory) };

	if (!memory_is_shared())
		skip("memory is a copy");
	psys_strlcpy(file, command.file, sizeof file);
	command.file = file;
	command.envp = envp;
	command.actions = actions;
	command.action_count = 3;
	gate = 0;
	struct aspawn_child child = start_command(&pool, &command);
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, AT_ONCE), -PSYS_ETIMEDOUT);
	psys_memset(file, '#', sizeof file);
	psys_memset(directory, '#', sizeof directory);
	psys_memset(actions, 0xff, sizeof actions);
	psys_memset(envp[0], '#', 3);
	psys_memset(&self, '#', sizeof self);
	psys_memset(&command, 0xff, sizeof command);
	gate_open(&gate);
	CHECK_EQUAL(psys_read(fd, text, sizeof text - 1), 4);
	CHECK_EQUAL(psys_strcmp(text, "/dev"), 0);
	check_ends(&child, 0);
}

/* The wait works with and without started_fd. */
TEST(wait_started_times_out_then_reports_exec_or_kill)
{
	static const struct aspawn_action actions[] = { ASPAWN_UMASK(0),
							ASPAWN_CALL(waits_at_gate, NULL) };
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	struct aspawn_failure failure;

	if (!memory_is_shared())
		skip("memory is a copy");
	command.actions = actions;
	command.action_count = 2;
	for (int i = 0; i < 4; i++) {
		command.flags = i & 1 ? ASPAWN_COMMAND_STARTED_FD : 0;
		reached = gate = 0;
		struct aspawn_child child = start_command(&pool, &command);
		CHECK_EQUAL(child.started_fd >= 0, i & 1);
		gate_wait(&reached);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, SOON), -PSYS_ETIMEDOUT);
		CHECK_EQUAL(failure.step, ASPAWN_STEP_NONE);
		CHECK_EQUAL(failure.error, 0);
		if (i & 2) {
			CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
			CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
			CHECK_EQUAL(failure.error, -PSYS_ECHILD);
			CHECK_EQUAL(failure.step, 1);
			CHECK_EQUAL(failure.kind, ASPAWN_ACTION_CALL);
		} else {
			gate_open(&gate);
			CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), 0);
			CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, SOON), -PSYS_ETIMEDOUT);
			CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
		}
		check_ends(&child, PSYS_SIGKILL);
	}
}

static ASPAWN_CHILD int dies(void *arg)
{
	(void)arg;
	psys_kill(psys_getpid(), PSYS_SIGKILL);
	return 0;
}

/* A child in a copy of the memory, where only the pipe reports, is checked too. */
TEST(wait_started_reports_a_child_killed_by_a_signal)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_action actions[] = { ASPAWN_CALL(dies, NULL),
						 ASPAWN_RESUID(-1U, -1U, -1U) };
	struct aspawn_failure failure;

	command.actions = actions;
	for (int i = 0; i < 4; i++) {
		command.action_count = i & 1 ? 1 : 2;
		command.flags = i & 2 ? ASPAWN_COMMAND_STARTED_FD : 0;
		struct aspawn_child child = start_command(&pool, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
		CHECK_EQUAL(failure.error, -PSYS_ECHILD);
		CHECK(failure.step == (aspawn_describe(&child, ASPAWN_FACT_MODE) == ASPAWN_MODE_FORK ?
					       ASPAWN_STEP_NONE :
					       0));
		check_ends(&child, PSYS_SIGKILL);
	}
}

/* The environment grows while it is copied: the start fails or succeeds, and overflows nothing. */
static char growing[100000];

static int grow(void *arg)
{
	int *stop = arg;

	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		__atomic_store_n(&growing[20], 'x', __ATOMIC_RELAXED);
		__atomic_store_n(&growing[20], '\0', __ATOMIC_RELAXED);
	}
	return 0;
}

TEST(start_tolerates_a_concurrent_change_of_the_environment)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct thread thread;
	char *envp[] = { growing, growing, growing, growing, NULL };
	int stop = 0, status, refused = 0;

	psys_memset(growing, 'x', sizeof growing - 1);
	command.envp = envp;
	command.pool = &pool;
	if (is_emulated())
		skip("the emulator needs its environment");
	thread_start(&thread, grow, &stop);
	for (int i = 0; i < scaled(400); i++) {
		struct aspawn_child child;
		int r = aspawn_start(&child, &command);
		CHECK(r == 0 || r == -PSYS_EAGAIN);
		refused += r != 0;
		if (r == 0) {
			CHECK_EQUAL(aspawn_wait(&child, &status, NULL, -1), 0);
			CHECK_EQUAL(status, 7 << 8);
		}
	}
	stop = 1;
	thread_join(&thread);
	note("refused:", refused);
}

TEST(pipe_actions_connect_caller_and_program)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "copies", NULL);
	int descriptors = count_descriptors(), in = -1, out = -1;
	const struct aspawn_action actions[] = { ASPAWN_CLOSEFROM(3), ASPAWN_INPUT_PIPE(0, &in),
						 ASPAWN_OUTPUT_PIPE(1, &out) };
	char text[8] = "";

	command.actions = actions;
	command.action_count = 3;
	struct aspawn_child child = start_command(&pool, &command);
	CHECK(in >= 0 && out >= 0);
	CHECK_EQUAL(psys_fcntl(in, PSYS_F_GETFD, 0), PSYS_FD_CLOEXEC);
	CHECK_EQUAL(psys_fcntl(out, PSYS_F_GETFD, 0), PSYS_FD_CLOEXEC);
	CHECK_EQUAL(psys_write(in, "text", 4), 4);
	psys_close(in);
	CHECK_EQUAL(psys_read(out, text, sizeof text), 4);
	CHECK_EQUAL(psys_strcmp(text, "text"), 0);
	CHECK_EQUAL(psys_read(out, text, sizeof text), 0);
	psys_close(out);
	check_ends(&child, 0);
	CHECK_EQUAL(count_descriptors(), descriptors);
}

static ASPAWN_CHILD int waits_for_an_orphans_life(void *parent)
{
	while (psys_getppid() == *(int *)parent)
		psys_sched_yield();
	return 0;
}

/* The child's report then raises SIGPIPE. */
TEST(no_sigpipe_if_the_parent_ends_before_the_exec)
{
	static const uint64_t flags[] = { 0, ASPAWN_COMMAND_STARTED_FD, WAY_COPIED };
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_child child;
	int launcher, status;

	if (psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		skip("no orphans here");
	for (int i = 0; i < 3; i++) {
		const struct aspawn_action action =
			ASPAWN_CALL(waits_for_an_orphans_life, &launcher);
		command.pool = &pool;
		set_way(&command, flags[i]);
		command.actions = &action;
		command.action_count = 1;
		int pid = psys_fork();
		if (pid == 0) {
			launcher = psys_getpid();
			psys_exit_group(aspawn_start(&child, &command) < 0);
		}
		CHECK_EQUAL(reap(pid), 0);
		CHECK(psys_wait4(-1, &status, 0, NULL) > 0);
		CHECK_EQUAL(status, 7 << 8);
	}
}

TEST(a_pipe_is_relocated_if_an_action_takes_its_number)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "copies", NULL);
	int in = -1, out = -1;
	struct aspawn_action actions[40];
	size_t count = 0;
	char text[8] = "";

	for (int fd = 3; fd < 30; fd++)
		actions[count++] = (struct aspawn_action)ASPAWN_DEV_NULL(fd);
	actions[count++] = (struct aspawn_action)ASPAWN_INPUT_PIPE(0, &in);
	actions[count++] = (struct aspawn_action)ASPAWN_OUTPUT_PIPE(1, &out);
	command.actions = actions;
	command.action_count = count;
	struct aspawn_child child = start_command(&pool, &command);
	CHECK_EQUAL(psys_write(in, "text", 4), 4);
	psys_close(in);
	CHECK_EQUAL(psys_read(out, text, sizeof text), 4);
	check_ends(&child, 0);
}

/* Starts a command with VFORK and NO_PIDFD. */
static void check_suspended(void)
{
	const struct aspawn_action actions[] = { ASPAWN_CHDIR("/no such directory") };
	struct aspawn_pool pool = { { 0 } };
	struct aspawn_child child;
	struct self self;

	for (int i = 0; i < 3; i++) {
		struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
		command.flags = ASPAWN_COMMAND_NO_PIDFD;
		command.memory = ASPAWN_MEMORY_SUSPENDED;
		if (i == 1)
			command.file = "/no such file";
		command.actions = i == 2 ? actions : NULL;
		command.action_count = i == 2;
		command.pool = &pool;
		CHECK_EQUAL(aspawn_start(&child, &command), 0);
		CHECK_EQUAL(child.ended_fd, -1);
		CHECK_EQUAL(aspawn_stack_busy(stack_of(&child)), 0);
		CHECK_EQUAL(why_not_started(&child), i ? -PSYS_ENOENT : 0);
		CHECK_EQUAL(reap(aspawn_pid(&child)), i ? 127 : 7);
	}
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

TEST(the_caller_is_suspended_until_the_exec)
{
	check_suspended();
}

/* Arguments may have megabytes. */
TEST(a_suspended_caller_lends_the_arguments)
{
	static char longest[100 * 1024];
	struct self self;

	psys_memset(longest, 'x', sizeof longest - 1);
	struct aspawn_command command = command_in_role(&self, "exit_7", longest);
	struct aspawn_child child = start_command(NULL, &command);
	const size_t copied = stack_of(&child)->size;
	check_ends(&child, 7 << 8);
	command.memory = ASPAWN_MEMORY_SUSPENDED;
	child = start_command(NULL, &command);
	const size_t lent = stack_of(&child)->size;
	check_ends(&child, 7 << 8);
	CHECK(copied > sizeof longest);
	CHECK(lent + sizeof longest / 2 < copied);
}

static ASPAWN_CHILD int store(void *arg)
{
	*(int *)arg = 1;
	return 0;
}

TEST(a_copy_of_the_memory_keeps_what_actions_store)
{
	int stored = 0;
	const struct aspawn_action actions[] = { ASPAWN_CALL(store, &stored),
						 ASPAWN_CHDIR("/no such directory") };
	struct aspawn_pool pool = { { 0 } };
	struct self self;

	for (size_t count = 1; count <= 2; count++) {
		struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
		struct aspawn_child child;
		command.memory = ASPAWN_MEMORY_COPIED;
		command.actions = actions;
		command.action_count = count;
		command.pool = &pool;
		CHECK_EQUAL(aspawn_start(&child, &command), 0);
		CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_MODE), ASPAWN_MODE_FORK);
		CHECK_EQUAL(why_not_started(&child), count == 1 ? 0 : -PSYS_ENOENT);
		CHECK_EQUAL(reap(aspawn_pid(&child)), count == 1 ? 7 : 127);
		CHECK_EQUAL(stored, 0);
		aspawn_release(&child);
	}
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

static int doze(void *data)
{
	(void)data;
	sleep_ms(50);
	return 0;
}

/* An error of gettid(2) once read as the end of the child. */
TEST(a_copy_whose_filter_forbids_gettid_is_waited_for)
{
	const struct aspawn_action action = ASPAWN_CALL(doze, NULL);
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	filter_refuse(PSYS_NR_gettid, PSYS_EPERM);
	command.memory = ASPAWN_MEMORY_COPIED;
	command.actions = &action;
	command.action_count = 1;
	for (int i = 0; i < 2; i++) {
		struct aspawn_child child = start_command(&pool, &command);
		CHECK_EQUAL(why_not_started(&child), 0);
		check_ends(&child, 7 << 8);
		command.owner = ASPAWN_OWNER_PRIVATE;
	}
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

TEST(no_pidfd_needs_no_descriptor)
{
	struct psys_rlimit64 limit;
	struct aspawn_pool pool = { { 0 } };
	struct aspawn_child child;
	struct self self;

	if (!memory_is_shared())
		skip("memory is not shared here");
	need_call(psys_clone3(NULL, 0), "no clone3");
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, NULL, &limit), 0);
	/* Restore the limit: the program's loader opens libraries. */
	const struct aspawn_action as_before =
		ASPAWN_RLIMIT(PSYS_RLIMIT_NOFILE, limit.rlim_cur, limit.rlim_max);
	command.actions = &as_before;
	command.action_count = 1;
	command.pool = &pool;
	limit.rlim_cur = 0;
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL), 0);
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EMFILE);
	for (int suspended = 0; suspended < 2; suspended++) {
		command.flags = ASPAWN_COMMAND_NO_PIDFD;
		command.memory = suspended ? ASPAWN_MEMORY_SUSPENDED : ASPAWN_MEMORY_SHARED;
		CHECK_EQUAL(aspawn_start(&child, &command), 0);
		CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
		CHECK_EQUAL(reap(aspawn_pid(&child)), 7);
	}
}

static void check_commands(enum aspawn_clone_mode mode)
{
	const struct aspawn_action action = ASPAWN_ONLY_BELOW(3);
	struct observation seen = observe(&action, 1, "directory");

	if (mode != ASPAWN_MODE_NONE && !is_emulated())
		CHECK_EQUAL(seen.mode, mode);
	check_suspended();
	CHECK_SHOWS("/dev", "directory", ASPAWN_ONLY_BELOW(3), ASPAWN_CHDIR("/dev"));
	CHECK_FAILS(1, PSYS_ENOENT, ASPAWN_ONLY_BELOW(3), ASPAWN_CHDIR("/no such directory"));
	if (psys_geteuid() == 0)
		CHECK_FAILS(ASPAWN_STEP_EXEC, PSYS_ENOENT, ASPAWN_ONLY_BELOW(3),
			    ASPAWN_CHROOT("/dev"));
}

TEST(commands_fall_back_to_clone)
{
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	check_commands(ASPAWN_MODE_CLONE);
}

TEST(commands_fall_back_to_clone_vfork)
{
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags_without(PSYS_NR_clone, clone_flags, PSYS_CLONE_VM, PSYS_CLONE_VFORK,
				    PSYS_EINVAL);
	check_commands(ASPAWN_MODE_VFORK);
}

TEST(commands_fall_back_to_fork)
{
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_VM, PSYS_EINVAL);
	check_commands(ASPAWN_MODE_FORK);
}

TEST(commands_work_without_close_range)
{
	need_call(psys_unshare(0), "no unshare");
	filter_refuse(PSYS_NR_close_range, PSYS_ENOSYS);
	check_commands(ASPAWN_MODE_NONE);
}
