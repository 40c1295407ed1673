/* SPDX-License-Identifier: MIT */
/* Children that the kernel reaps, kills with their caller, or starts with no_new_privs; and the
 * fallbacks of Linux before 7.1. */
#include "filter.h"
#include "private.h"

static int try_with(uint64_t flags, struct Stack_t *stack, aspawn_fn fn, void *arg, int *pid,
		    int *pidfd)
{
	struct aspawn_options options = { .size = sizeof options,
					  .flags = flags | ASPAWN_NO_PIPE |
						   (pidfd ? ASPAWN_PIDFD : 0),
					  .pidfd = pidfd };

	return aspawn_with(&options, pid, stack, 16384, fn, arg, NULL, 0);
}

static int spawn_with(uint64_t flags, struct Stack_t *stack, aspawn_fn fn, void *arg, int *pidfd)
{
	int pid;
	int r = try_with(flags, stack, fn, arg, &pid, pidfd);

	if (r == -PSYS_EOPNOTSUPP && !memory_is_shared())
		skip("this emulator copies the memory");
	CHECK_EQUAL(r, 0);
	return pid;
}

/* True if this kernel reaps children by itself. */
static bool kernel_reaps(void)
{
	struct Stack_t stack = { 0 };
	int pidfd = -1;

	spawn_with(ASPAWN_AUTOREAP, &stack, child_returns, NULL, &pidfd);
	const int privacy = aspawn_privacy(&stack);
	CHECK(privacy != ASPAWN_NOT_PRIVATE);
	CHECK_EQUAL(end_of(&stack), 0);
	psys_close(pidfd);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
	return privacy == ASPAWN_PRIVATE_NO_HELPER;
}

static const struct {
	aspawn_fn fn;
	void *arg;
	int status;
} ends[] = {
	{ child_returns, (void *)255, 255 << 8 },
	{ child_execs_role, "exit_7", 7 << 8 },
	{ child_execs_role, "killed", PSYS_SIGTERM },
};

ROLE(killed)
{
	(void)argc, (void)argv;
	psys_kill(psys_getpid(), PSYS_SIGTERM);
	sleep_ms(10000);
	return 99;
}

/* Whatever the kernel is: status, no zombie and no signal. */
static void check_ends_unseen(uint64_t flags)
{
	struct Stack_t stack = { 0 };
	int pidfd, status;

	set_handler(PSYS_SIGCHLD, on_sigchld);
	unblock_sigchld();
	for (size_t i = 0; i < 3 * sizeof ends / sizeof *ends; i++) {
		const int expected = ends[i / 3].status;

		pidfd = -1;
		int pid = spawn_with(flags, &stack, ends[i / 3].fn, ends[i / 3].arg, &pidfd);
		CHECK(pid > 0);
		CHECK_EQUAL(end_of(&stack), expected);
		if (pidfd >= 0)
			psys_close(pidfd);
		CHECK_EQUAL(end_of(&stack), expected); /* the answer stays */
		check_unseen(pid);
		check_nothing_is_left();
	}
	CHECK_EQUAL(sigchlds, 0);
	spawn_with(flags, &stack, child_returns, NULL, NULL);
	CHECK(aspawn_privacy(&stack) != ASPAWN_PRIVATE_NO_HELPER); /* which needs a pidfd */
	CHECK_EQUAL(aspawn_private_wait(&stack, &status, NULL, NULL), 0);
	CHECK_EQUAL(status, 0);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

TEST(an_autoreaped_child_leaves_its_status_and_no_zombie)
{
	note("kernel reaps children:", kernel_reaps());
	check_ends_unseen(ASPAWN_AUTOREAP);
}

TEST(an_autokilled_child_leaves_its_status_and_no_zombie)
{
	check_ends_unseen(ASPAWN_AUTOKILL | ASPAWN_NNP);
	check_ends_unseen(ASPAWN_AUTOKILL | ASPAWN_PRIVATE);
}

TEST(a_helper_replaces_autoreap_where_clone3_is_missing)
{
	struct Stack_t stack = { 0 };
	int pidfd = -1;

	need_shared_memory();
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	spawn_with(ASPAWN_AUTOREAP, &stack, child_returns, (void *)5, &pidfd);
	CHECK_EQUAL(aspawn_privacy(&stack), ASPAWN_PRIVATE_HELPED);
	CHECK_EQUAL(end_of(&stack), 5 << 8);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
	check_nothing_is_left();
}

TEST(rejects_autoreap_and_autokill_with_vfork)
{
	struct Stack_t stack = { 0 };
	int pid = -5, pidfd = -5;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_child child;

	CHECK_EQUAL(
		try_with(ASPAWN_AUTOREAP | ASPAWN_VFORK, &stack, child_returns, NULL, &pid, &pidfd),
		-PSYS_EINVAL);
	CHECK_EQUAL(
		try_with(ASPAWN_AUTOKILL | ASPAWN_VFORK, &stack, child_returns, NULL, &pid, &pidfd),
		-PSYS_EINVAL);
	CHECK(pid == -5 && pidfd == -5);
	command.flags = ASPAWN_COMMAND_AUTOREAP | ASPAWN_COMMAND_VFORK;
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EINVAL);
	command.flags = ASPAWN_COMMAND_AUTOKILL | ASPAWN_COMMAND_VFORK;
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EINVAL);
}

TEST(the_wait_for_an_autoreaped_child_needs_its_pidfd)
{
	struct Stack_t stack = { 0 };
	int gate = 0, pidfd = -1;

	if (!kernel_reaps())
		skip("no CLONE_AUTOREAP");
	spawn_with(ASPAWN_AUTOREAP, &stack, child_waits, &gate, &pidfd);
	CHECK_EQUAL(aspawn_private_wait(&stack, NULL, NULL, &at_once), -PSYS_ETIMEDOUT);
	psys_close(pidfd);
	CHECK_EQUAL(aspawn_private_wait(&stack, NULL, NULL, &ten_seconds), -PSYS_ECHILD);
	gate_open(&gate);
	CHECK_EQUAL(aspawn_stack_wait(&stack, NULL), 0);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

/* --- commands ----------------------------------------------------------------------- */

static struct aspawn_command hidden_command(struct self *self, uint64_t flags, const char *role)
{
	struct aspawn_command command = private_command(self, role, NULL);

	command.flags = flags;
	return command;
}

TEST_SECONDS(autoreaped_commands_work_with_every_flag_and_memory, 60)
{
	static const uint64_t flags[] = { ASPAWN_COMMAND_AUTOREAP,
					  ASPAWN_COMMAND_AUTOREAP | ASPAWN_COMMAND_STARTED_FD,
					  ASPAWN_COMMAND_AUTOREAP | ASPAWN_COMMAND_FORK,
					  ASPAWN_COMMAND_AUTOREAP | ASPAWN_COMMAND_NO_PIDFD,
					  ASPAWN_COMMAND_AUTOKILL,
					  ASPAWN_COMMAND_AUTOKILL | ASPAWN_COMMAND_FORK };
	static const struct aspawn_action actions[] = { ASPAWN_NO_NEW_PRIVS(), ASPAWN_CLOSEFROM(3) };
	static struct aspawn_pool pool;
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_failure failure;

	const bool reaps = kernel_reaps();
	set_handler(PSYS_SIGCHLD, on_sigchld);
	unblock_sigchld();
	const int descriptors = count_descriptors();
	for (int i = 0; i < 2 * 3 * (int)(sizeof flags / sizeof *flags); i++) {
		struct aspawn_command command = hidden_command(&self, flags[i / 6], "exit_7");
		const int memory = i % 3;

		command.pool = memory == 1 ? &pool : NULL;
		command.stack = memory == 2 ? &stack : NULL;
		command.actions = i / 3 % 2 ? actions : NULL;
		command.action_count = i / 3 % 2 * 2;
		struct aspawn_child child = start_command(NULL, &command);
		if (flags[i / 6] & ASPAWN_COMMAND_NO_PIDFD)
			CHECK(aspawn_child_privacy(&child) != ASPAWN_PRIVATE_NO_HELPER);
		else if (reaps && (flags[i / 6] & ASPAWN_COMMAND_AUTOREAP || command.actions))
			CHECK_EQUAL(aspawn_child_privacy(&child), ASPAWN_PRIVATE_NO_HELPER);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), 0);
		check_ends(&child, 7 << 8);
		CHECK(aspawn_child_privacy(&child) != ASPAWN_NOT_PRIVATE);
		check_nothing_is_left();
		CHECK_EQUAL(count_descriptors(), descriptors);
	}
	CHECK_EQUAL(sigchlds, 0);
	CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
	CHECK_EQUAL(aspawn_child_privacy(NULL), ASPAWN_NOT_PRIVATE);
}

TEST(an_autoreaped_command_reports_why_it_was_not_executed)
{
	struct self self;
	struct aspawn_command command = hidden_command(&self, ASPAWN_COMMAND_AUTOREAP, "exit_7");
	struct aspawn_failure failure;

	command.file = "/no such file";
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(failure.error, -PSYS_ENOENT);
	check_ends(&child, 127 << 8);
	check_nothing_is_left();
}

TEST(an_autoreaped_child_is_polled_waited_for_and_killed)
{
	struct self self;

	for (int i = 0; i < 20; i++) {
		struct aspawn_command command =
			hidden_command(&self, ASPAWN_COMMAND_AUTOREAP, "lingers");
		struct aspawn_child child = start_command(NULL, &command);
		int status = -1;

		CHECK_EQUAL(why_not_started(&child), 0);
		CHECK_EQUAL(aspawn_ended(&child), 0);
		CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 0), -PSYS_ETIMEDOUT);
		CHECK_EQUAL(aspawn_kill(&child, 0), 0);
		CHECK_EQUAL(aspawn_kill_group(&child, PSYS_SIGKILL), 0);
		while (aspawn_ended(&child) == 0)
			sleep_ms(1);
		CHECK_EQUAL(aspawn_ended(&child), 1);
		/* At once: it is known that it has ended. */
		CHECK_EQUAL(aspawn_wait(&child, &status, NULL, 0), 0);
		CHECK_EQUAL(status, PSYS_SIGKILL);
		check_nothing_is_left();
	}
}

TEST(aspawn_run_works_with_autoreaped_commands)
{
	static const uint64_t flags[] = { ASPAWN_COMMAND_AUTOREAP, ASPAWN_COMMAND_AUTOKILL };
	struct self self;

	for (size_t i = 0; i < 2; i++) {
		struct aspawn_command command = hidden_command(&self, flags[i], "lingers");
		struct aspawn_io io = { .size = sizeof io,
					.flags = ASPAWN_IO_KILL_GROUP,
					.timeout_ms = 50 };

		CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ETIMEDOUT);
		CHECK_EQUAL(io.status, PSYS_SIGTERM);
		check_nothing_is_left();
	}
}

/* --- killed with the caller ------------------------------------------------------------- */

struct fate {
	uint64_t flags;
	bool no_new_privs, by_thread, without_pidfds, other_user;
	int *shared; /* the child's pid and how it is hidden; then a gate */
};

static int starts_and_stays(void *arg)
{
	const struct fate *fate = arg;
	struct self self;
	const struct aspawn_action actions[] = { ASPAWN_NO_NEW_PRIVS(),
						 ASPAWN_USER(65534, 65534, NULL, 0) };
	struct aspawn_command command = hidden_command(&self, fate->flags, "lingers");

	command.action_count = fate->no_new_privs || fate->other_user;
	command.actions = command.action_count ? actions + fate->other_user : NULL;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	fate->shared[0] = child.pid;
	fate->shared[1] = aspawn_child_privacy(&child);
	return 0;
}

/* The host ends in one way or another, and the child with it. */
static void check_dies_with_its_host(struct fate fate)
{
	int status;

	need_shared_memory();
	fate.shared = shared_page();
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	int host = fork_child();
	if (host == 0) {
		if (fate.without_pidfds)
			filter_refuse(PSYS_NR_pidfd_open, PSYS_ENOSYS);
		if (fate.by_thread) {
			struct thread thread;

			thread_start(&thread, starts_and_stays, &fate);
			thread_join(&thread);
			sleep_ms(100);
			/* its end did not end the child */
			CHECK_EQUAL(psys_kill(fate.shared[0], 0), 0);
		} else {
			starts_and_stays(&fate);
		}
		gate_open(&fate.shared[2]);
		sleep_ms(60000);
	}
	gate_wait(&fate.shared[2]);
	note("privacy:", fate.shared[1]);
	CHECK_EQUAL(psys_kill(host, PSYS_SIGKILL), 0);
	while (psys_wait4(-1, &status, 0, NULL) > 0)
		;
	/* Shortly after no wait finds it, a child that the kernel reaps still has its pid. */
	sleep_until_gone(fate.shared[0]);
}

TEST(an_autokilled_child_dies_with_its_caller)
{
	check_dies_with_its_host((struct fate){ .flags = ASPAWN_COMMAND_AUTOKILL });
	check_dies_with_its_host((struct fate){ ASPAWN_COMMAND_AUTOKILL, .no_new_privs = true });
}

TEST(an_autokilled_private_child_dies_with_its_caller)
{
	check_dies_with_its_host((struct fate){ ASPAWN_COMMAND_AUTOKILL | ASPAWN_COMMAND_PRIVATE });
}

/* A change of user clears the child's PDEATHSIG. */
TEST(an_autokilled_child_of_another_user_dies_with_its_caller)
{
	if (psys_geteuid())
		skip("not root");
	need_others_to_reach_program();
	check_dies_with_its_host((struct fate){ ASPAWN_COMMAND_AUTOKILL, .other_user = true });
	check_dies_with_its_host((struct fate){ ASPAWN_COMMAND_AUTOKILL | ASPAWN_COMMAND_PRIVATE,
						.other_user = true });
}

TEST(an_autokilled_child_outlives_the_thread_that_started_it)
{
	struct Stack_t stack = { 0 };
	int pidfd = -1;

	spawn_with(ASPAWN_AUTOREAP, &stack, child_returns, NULL, &pidfd);
	if (pidfd < 0)
		skip("no pidfd");
	check_dies_with_its_host((struct fate){ ASPAWN_COMMAND_AUTOKILL | ASPAWN_COMMAND_PRIVATE,
						.by_thread = true });
	check_dies_with_its_host((struct fate){ ASPAWN_COMMAND_AUTOKILL, .by_thread = true });
}

TEST(an_autokilled_child_dies_with_its_caller_without_pidfds)
{
	check_dies_with_its_host((struct fate){ ASPAWN_COMMAND_AUTOKILL | ASPAWN_COMMAND_PRIVATE,
						.without_pidfds = true });
}

TEST(an_autokilled_child_dies_with_its_helper)
{
	struct Stack_t stack = { 0 };
	int numbers[3] = { 0 }, pid, pidfd = -1, status = -1;

	need_shared_memory();
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	pid = spawn_with(ASPAWN_AUTOKILL | ASPAWN_PRIVATE, &stack, child_tells_parent, numbers,
			 &pidfd);
	gate_wait(&numbers[2]);
	CHECK_EQUAL(psys_kill(numbers[1], PSYS_SIGKILL), 0);
	while (psys_wait4(pid, &status, 0, NULL) == -PSYS_ECHILD) /* not this process's yet */
		sleep_ms(1);
	CHECK_EQUAL(status, PSYS_SIGKILL);
}

/* The kernel kills when the last copy of the pidfd is closed. */
TEST(aspawn_release_kills_an_autokilled_child_if_the_kernel_does)
{
	struct self self;
	const struct aspawn_action action = ASPAWN_NO_NEW_PRIVS();
	struct aspawn_command command = hidden_command(&self, ASPAWN_COMMAND_AUTOKILL, "lingers");

	if (!kernel_reaps())
		skip("no CLONE_PIDFD_AUTOKILL");
	command.actions = &action;
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	const int pid = child.pid;
	CHECK_EQUAL(aspawn_child_privacy(&child), ASPAWN_PRIVATE_NO_HELPER);
	CHECK_EQUAL(why_not_started(&child), 0);
	CHECK_EQUAL(aspawn_release(&child), 0);
	sleep_until_gone(pid);
	check_nothing_is_left();
}

static ASPAWN_CHILD int tells_no_new_privs(void *arg, int fd, void *mask, void *data, size_t length)
{
	(void)arg, (void)fd, (void)mask, (void)data, (void)length;
	return psys_prctl(PSYS_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
}

/* Without privileges AUTOKILL needs no_new_privs; otherwise there is a helper. */
TEST(an_unprivileged_autokill_needs_no_new_privs_or_a_helper)
{
	struct Stack_t stack = { 0 };
	const bool reaps = kernel_reaps();
	int pidfd = -1;

	if (psys_setresuid(65534, 65534, 65534) < 0)
		skip("may not change the user");
	spawn_with(ASPAWN_AUTOKILL, &stack, tells_no_new_privs, NULL, &pidfd);
	CHECK(aspawn_privacy(&stack) != ASPAWN_PRIVATE_NO_HELPER);
	CHECK_EQUAL(end_of(&stack), 0);
	psys_close(pidfd);
	spawn_with(ASPAWN_AUTOKILL | ASPAWN_NNP, &stack, tells_no_new_privs, NULL, &pidfd);
	note("kernel kills children with their caller:",
	     aspawn_privacy(&stack) == ASPAWN_PRIVATE_NO_HELPER);
	CHECK_EQUAL(aspawn_privacy(&stack) == ASPAWN_PRIVATE_NO_HELPER, reaps);
	CHECK_EQUAL(end_of(&stack), 1 << 8);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

/* --- no_new_privs ----------------------------------------------------------------------- */

/* The first refusal is remembered, so that the second child begins at once. */
static void check_no_new_privs(void)
{
	struct Stack_t stack = { 0 };
	int pid;

	for (int i = 0; i < 3; i++) {
		CHECK_EQUAL(try_with(i == 1 ? 0 : ASPAWN_NNP, &stack, tells_no_new_privs, NULL,
				     &pid, NULL),
			    0);
		CHECK_EQUAL(reap(pid), i != 1);
	}
	CHECK_EQUAL(psys_prctl(PSYS_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

TEST(nnp_sets_no_new_privs_of_the_child_alone)
{
	check_no_new_privs();
}

TEST(no_new_privs_is_set_by_the_clone_or_the_child)
{
	const struct aspawn_action action = ASPAWN_NO_NEW_PRIVS();
	struct Stack_t stack = { 0 };
	struct aspawn_failure failure;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const bool reaps = memory_is_shared() && kernel_reaps();
	int pid;

	filter_refuse(PSYS_NR_prctl, PSYS_EPERM);
	CHECK_EQUAL(try_with(ASPAWN_NNP, &stack, child_returns, NULL, &pid, NULL), 0);
	note("kernel sets no_new_privs by clone:", reaps);
	CHECK_EQUAL(reap(pid), reaps ? 0 : 127);
	command.actions = &action;
	command.action_count = 1;
	struct aspawn_child child = start_command(&stack, &command);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), reaps ? 0 : -PSYS_ECANCELED);
	CHECK_EQUAL(failure.error, reaps ? 0 : -PSYS_EPERM);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), reaps ? 0 : -PSYS_ECANCELED);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

static ASPAWN_CHILD int stores_no_new_privs(void *to)
{
	*(int *)to = psys_prctl(PSYS_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	return 0;
}

TEST(no_new_privs_is_not_set_before_actions_that_notice)
{
	int seen[2] = { -1, -1 };
	const struct aspawn_action actions[] = { ASPAWN_CALL(stores_no_new_privs, &seen[0]),
						 ASPAWN_NO_NEW_PRIVS(),
						 ASPAWN_CALL(stores_no_new_privs, &seen[1]) };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	need_shared_memory();
	command.actions = actions;
	command.action_count = 3;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	check_ends(&child, 7 << 8);
	CHECK_EQUAL(seen[0], 0);
	CHECK_EQUAL(seen[1], 1);
}
