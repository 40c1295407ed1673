/* SPDX-License-Identifier: MIT */
/* Tests of private children that die with the caller's process */
#include "filter.h"
#include "private.h"

ROLE(killed)
{
	(void)argc, (void)argv;
	psys_kill(psys_getpid(), PSYS_SIGTERM);
	sleep_ms(600000);
	return 99;
}

TEST(a_command_that_dies_with_its_caller_is_private)
{
	struct self self;

	need_shared_memory();
	set_handler(PSYS_SIGCHLD, on_sigchld);
	unblock_sigchld();
	for (int i = 0; i < 4; i++) {
		struct aspawn_command command =
			command_in_role(&self, i & 1 ? "killed" : "exit_7", NULL);
		command.flags = ASPAWN_COMMAND_DIES_WITH_CALLER;
		command.owner = i & 2 ? ASPAWN_OWNER_PRIVATE : ASPAWN_OWNER_CALLER;
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_OWNER), ASPAWN_OWNER_PRIVATE);
		check_unseen(pid_of(&child));
		CHECK_EQUAL(why_not_started(&child), 0);
		check_ends(&child, i & 1 ? PSYS_SIGTERM : 7 << 8);
		check_nothing_is_left();
	}
	CHECK_EQUAL(sigchlds, 0);
}

TEST(rejects_a_child_that_dies_with_its_caller_and_suspends_it)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_child child;

	command.flags = ASPAWN_COMMAND_DIES_WITH_CALLER;
	command.memory = ASPAWN_MEMORY_SUSPENDED;
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EINVAL);
}

/* --- who dies when ------------------------------------------------------------------ */

struct fate {
	uint64_t way;
	bool by_thread, without_pidfds, other_user;
	bool with_helper; /* a signal to the host's group ends both at once */
	int *shared;      /* the child's pid, then a gate */
};

static int starts_and_stays(void *arg)
{
	const struct fate *fate = arg;
	struct self self;
	const struct aspawn_action actions[] = { ASPAWN_SETPGID(0),
						 ASPAWN_USER(65534, 65534, NULL, 0) };
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);

	set_way(&command, ASPAWN_COMMAND_DIES_WITH_CALLER | fate->way);
	command.action_count = fate->other_user ? 2 : 1;
	command.actions = actions;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	fate->shared[0] = aspawn_pid(&child);
	return 0;
}

/* The host ends in some way, and the child must too. */
static void check_dies_with_its_host(struct fate fate)
{
	int status;

	need_shared_memory();
	fate.shared = shared_page();
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	int host = fork_child();
	if (host == 0) {
		psys_setpgid(0, 0);
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
		gate_open(&fate.shared[1]);
		sleep_ms(600000);
	}
	gate_wait(&fate.shared[1]);
	CHECK_EQUAL(psys_kill(fate.with_helper ? -host : host, PSYS_SIGKILL), 0);
	while (psys_wait4(-1, &status, 0, NULL) > 0)
		;
	sleep_until_gone(fate.shared[0]);
}

TEST(a_private_child_dies_with_its_caller)
{
	check_dies_with_its_host((struct fate){ 0 });
	check_dies_with_its_host((struct fate){ WAY_COPIED });
	check_dies_with_its_host((struct fate){ ASPAWN_COMMAND_NO_PIDFD });
}

/* A change of user clears the child's PDEATHSIG. */
TEST(a_private_child_of_another_user_dies_with_its_caller)
{
	if (psys_geteuid())
		skip("not root");
	need_others_to_reach_program();
	check_dies_with_its_host((struct fate){ .other_user = true });
	check_dies_with_its_host((struct fate){ WAY_COPIED, .other_user = true });
	check_dies_with_its_host((struct fate){ .other_user = true, .without_pidfds = true });
}

TEST(a_private_child_of_another_user_dies_with_its_caller_and_helper)
{
	if (psys_geteuid())
		skip("not root");
	need_others_to_reach_program();
	check_dies_with_its_host((struct fate){ .with_helper = true });
	check_dies_with_its_host((struct fate){ .with_helper = true, .other_user = true });
	check_dies_with_its_host(
		(struct fate){ WAY_COPIED, .with_helper = true, .other_user = true });
}

TEST(a_private_child_dies_with_its_callers_process_not_its_thread)
{
	const int pidfd = psys_pidfd_open(psys_getpid(), 0);

	if (pidfd < 0)
		skip("no pidfd");
	psys_close(pidfd);
	check_dies_with_its_host((struct fate){ .by_thread = true });
}

TEST(a_private_child_dies_with_its_caller_without_pidfds)
{
	check_dies_with_its_host((struct fate){ .without_pidfds = true });
}

TEST(a_private_child_that_dies_with_its_caller_dies_with_its_helper)
{
	struct aspawn_child child;
	int status = -1;

	need_shared_memory();
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	const int helper = start_helped(&child, ASPAWN_COMMAND_DIES_WITH_CALLER, NULL);
	const int pid = aspawn_pid(&child);
	CHECK_EQUAL(psys_kill(helper, PSYS_SIGKILL), 0);
	while (psys_wait4(pid, &status, 0, NULL) == -PSYS_ECHILD) /* not this process's yet */
		sleep_ms(1);
	CHECK_EQUAL(status, PSYS_SIGKILL);
}
