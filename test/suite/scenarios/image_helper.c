/* SPDX-License-Identifier: MIT */
/* Tests of the caller's own child in the image, whose helper waits for the image in the caller's
 * place */
#include "held.h"
#include "private.h"

static const struct aspawn_action nothing = ASPAWN_RESUID(-1U, -1U, -1U);
static struct aspawn_pool pool;
static int reached, go;

static struct aspawn_command other_user(struct self *self, const char *role)
{
	struct aspawn_command command = command_in_role(self, role, NULL);

	command.actions = &nothing;
	command.action_count = 1;
	command.pool = &pool;
	return command;
}

static void check_trims(void)
{
	release_pool(&pool);
	check_nothing_is_left();
}

/* Skips the test where the caller itself waits for the image, or the image is missing. */
static void need_helper(void)
{
	struct self self;
	const struct aspawn_command command = other_user(&self, "lingers");

	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	const bool is_helped = aspawn_describe(&child, ASPAWN_FACT_MODE) == ASPAWN_MODE_IMAGE &&
			       aspawn_pool_release(&pool) == -PSYS_EBUSY;
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
	check_ends(&child, PSYS_SIGKILL);
	check_trims();
	if (!is_helped)
		skip("no helper for the image here");
}

static void need_helper_under_filters(void)
{
	need_helper();
	filter_refuse(PSYS_NR_sync, PSYS_EPERM);
	need_helper();
}

/* Starts a lingering command. Returns the helper. */
static int start_lingering(struct aspawn_child *child)
{
	struct self self;
	const struct aspawn_command command = other_user(&self, "lingers");

	*child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(child), 0);
	const int helper = first_child_of(psys_gettid());
	if (!helper) {
		kill_lingering(aspawn_pid(child));
		skip("no list of children in /proc");
	}
	CHECK(helper != aspawn_pid(child));
	return helper;
}

/* The helper is not reaped. */
static void await_end(int helper)
{
	CHECK_EQUAL(psys_waitid(PSYS_P_PID, helper, NULL,
				(int)(PSYS_WEXITED | PSYS_WNOWAIT | PSYS___WALL), NULL),
		    0);
}

TEST(the_caller_does_not_wait_for_the_image)
{
	struct self self;
	const struct aspawn_command command = other_user(&self, "exit_7");

	need_helper_under_filters();
	filter_hold(PSYS_NR_memfd_create, &reached, &go);
	struct aspawn_child child = start_command(NULL, &command);
	gate_wait(&reached);
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, 0), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 0), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(aspawn_ended(&child), 0);
	CHECK_EQUAL(aspawn_pid(&child), -PSYS_EAGAIN);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), -PSYS_EAGAIN);
	gate_open(&go);
	CHECK_EQUAL(why_not_started(&child), 0);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_MODE), ASPAWN_MODE_IMAGE);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_OWNER), ASPAWN_OWNER_CALLER);
	check_ends(&child, 7 << 8);
	check_trims();
}

/* The end belongs to the caller, as the end of any child. */
TEST(a_wait_of_the_callers_finds_a_child_of_a_helper)
{
	struct self self;
	const struct aspawn_command command = other_user(&self, "exit_7");
	const bool keeps = keeps_status();
	int status = 0;

	need_helper();
	sigchlds = 0;
	set_handler(PSYS_SIGCHLD, on_sigchld);
	unblock_sigchld();
	for (int i = 1; i <= 10; i++) {
		struct aspawn_child child = start_command(NULL, &command);
		pid_of(&child);
		while (psys_wait4(-1, &status, 0, NULL) == -PSYS_EINTR)
			continue;
		CHECK_EQUAL(status, 7 << 8);
		CHECK_EQUAL(sigchlds, i);
		status = -1;
		CHECK_EQUAL(aspawn_wait(&child, &status, NULL, 10000), keeps ? 0 : -PSYS_ECHILD);
		CHECK_EQUAL(status, keeps ? 7 << 8 : -1);
	}
	check_trims();
}

/* Without clone3 the helper has a pidfd only when the child may have ended,
 * which nobody waits for. */
TEST(the_status_of_a_helpers_child_survives_an_ignored_sigchld)
{
	struct self self;
	const struct aspawn_command command = other_user(&self, "exit_7");
	const bool keeps = keeps_status();
	int status = -1;

	need_helper();
	need_call(psys_clone3(NULL, 0), "no clone3");
	set_disposition(PSYS_SIGCHLD, PSYS_SIG_IGN);
	for (int i = 0; i < 20; i++) {
		struct aspawn_child child = start_command(NULL, &command);
		const int r = aspawn_wait(&child, &status, NULL, i % 2 ? 10000 : -1);
		CHECK(keeps ? r == 0 && status == 7 << 8 : r == -PSYS_ECHILD);
	}
	check_trims();
}

/* Somebody kills the helper: the child is the caller's, and goes on. */
TEST(a_child_outlives_its_killed_helper)
{
	struct aspawn_child child;

	need_helper();
	const int helper = start_lingering(&child);
	CHECK_EQUAL(psys_kill(helper, PSYS_SIGKILL), 0);
	await_end(helper);
	CHECK_EQUAL(aspawn_ended(&child), 0);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 20), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
	check_ends(&child, PSYS_SIGKILL);
	check_trims();
}

/* Suspended for the image, the helper is killed at once all the same. */
TEST(a_child_outlives_a_helper_killed_before_the_image)
{
	struct self self;
	const struct aspawn_command command = other_user(&self, "exit_7");
	struct thread thread;
	int killed = 0;

	need_helper_under_filters();
	hold_until_child_is_killed(PSYS_NR_memfd_create, &thread, &killed);
	struct aspawn_child child = start_command(NULL, &command);
	thread_join(&thread);
	CHECK_EQUAL(why_not_started(&child), 0);
	check_ends(&child, 7 << 8);
	if (!killed)
		skip("no list of children in /proc");
	check_trims();
}

TEST(a_helper_killed_before_its_clone_is_a_failure)
{
	struct self self;
	const struct aspawn_command command = other_user(&self, "exit_7");
	struct aspawn_failure failure;
	struct thread thread;
	int killed = 0;

	need_helper_under_filters();
	hold_until_child_is_killed(PSYS_NR_getppid, &thread, &killed);
	struct aspawn_child child = start_command(NULL, &command);
	thread_join(&thread);
	if (!killed) {
		check_ends(&child, 7 << 8);
		skip("no list of children in /proc");
	}
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(failure.step, ASPAWN_STEP_CLONE);
	CHECK_EQUAL(failure.error, -PSYS_ECHILD);
	check_ends(&child, PSYS_SIGKILL);
	check_trims();
}

TEST(a_stopped_helper_delays_no_wait)
{
	struct aspawn_child child;

	need_helper();
	const int helper = start_lingering(&child);
	CHECK_EQUAL(psys_kill(helper, PSYS_SIGSTOP), 0);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
	check_ends(&child, PSYS_SIGKILL);
	check_trims(); /* this continues the helper */
}

/* The first child of another pid namespace is its init: not to be a helper, whose end kills all. */
TEST(no_helper_begins_a_pid_namespace)
{
	struct self self;
	const struct aspawn_command command = other_user(&self, "exit_7");

	need_helper();
	if (psys_unshare(PSYS_CLONE_NEWPID) < 0)
		skip("no pid namespace");
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	check_ends(&child, 7 << 8);
	check_trims();
}

TEST(a_pool_is_busy_while_a_helper_uses_its_memory)
{
	struct self self;
	const struct aspawn_command command = other_user(&self, "lingers");

	need_helper();
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	const int pid = aspawn_pid(&child);
	CHECK_EQUAL(aspawn_pool_release(&pool), -PSYS_EBUSY);
	CHECK_EQUAL(aspawn_release(&child), 0);
	CHECK_EQUAL(aspawn_pool_release(&pool), -PSYS_EBUSY);
	kill_lingering(pid);
	check_trims(); /* nobody has waited for the child by its handle */
}

/* Otherwise a caller that starts and forgets would collect helpers. */
TEST(a_released_command_without_a_pool_leaves_no_helper)
{
	struct self self;
	struct aspawn_command command = other_user(&self, "exit_7");

	need_helper();
	command.pool = NULL;
	const int mappings = count_mappings();
	for (int i = 0; i < 20; i++) {
		command.flags = i % 2 ? ASPAWN_COMMAND_NO_PIDFD : 0;
		struct aspawn_child child = start_command(NULL, &command);
		const int pid = pid_of(&child);
		CHECK_EQUAL(aspawn_release(&child), 0);
		CHECK_EQUAL(reap(pid), 7);
	}
	CHECK_EQUAL(count_mappings(), mappings);
	check_nothing_is_left();
}

static struct aspawn_child seen;
static volatile int running, signalled;

/* Asks only when SIGCHLD has come. */
static void ask(int signal)
{
	(void)signal;
	running += aspawn_ended(&seen) != 1;
	signalled = 1;
}

TEST(a_child_whose_sigchld_has_come_has_ended)
{
	struct self self;
	const struct aspawn_command command = other_user(&self, "exit_7");
	struct psys_sigset sigchld, old;

	need_helper();
	psys_sigemptyset(&sigchld);
	psys_sigaddset(&sigchld, PSYS_SIGCHLD);
	set_handler(PSYS_SIGCHLD, ask);
	for (int i = 0; i < scaled(200); i++) {
		psys_rt_sigprocmask(PSYS_SIG_BLOCK, &sigchld, &old, PSYS_SIGSET_SIZE);
		signalled = 0;
		seen = start_command(NULL, &command);
		unblock_sigchld();
		while (!signalled)
			sleep_ms(1);
		check_ends(&seen, 7 << 8);
	}
	CHECK_EQUAL(running, 0);
	check_trims();
}

/* The forked process knows nothing of its host's child. */
TEST(a_forked_process_has_no_child_of_a_helper)
{
	struct self self;
	const struct aspawn_command command = other_user(&self, "lingers");

	need_helper();
	struct aspawn_child child = start_command(NULL, &command);
	const int pid = fork_child();
	if (!pid) {
		int status = -1;
		CHECK_EQUAL(aspawn_ended(&child), -PSYS_ECHILD);
		CHECK_EQUAL(aspawn_wait(&child, &status, NULL, -1), -PSYS_ECHILD);
		CHECK_EQUAL(status, -1);
		psys_exit_group(0);
	}
	CHECK_EQUAL(reap(pid), 0);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
	check_ends(&child, PSYS_SIGKILL);
	check_trims();
}

ROLE(ends_with)
{
	int number = 0;

	if (argc != 2)
		return 255;
	for (const char *at = argv[1]; *at; at++)
		number = number * 10 + (*at - '0');
	return number;
}

TEST(a_hundred_children_of_helpers_have_their_own_arguments)
{
	enum { COUNT = 100 };
	static struct aspawn_child children[COUNT];
	struct self self;
	char argument[PSYS_DECIMAL_SIZE];

	need_helper();
	for (int i = 0; i < COUNT; i++) {
		psys_i64_to_decimal(argument, i);
		struct aspawn_command command = command_in_role(&self, "ends_with", argument);
		command.actions = &nothing;
		command.action_count = 1;
		command.pool = &pool;
		CHECK_EQUAL(aspawn_start(&children[i], &command), 0);
	}
	for (int i = COUNT; i--;)
		check_ends(&children[i], i << 8);
	check_trims();
}
