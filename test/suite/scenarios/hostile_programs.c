/* SPDX-License-Identifier: MIT */
/* A program stops, traces, limits and kills its parent or its helper. */
#include "filter.h"
#include "held.h"
#include "queues.h"
#include "tree.h"

enum { TRACEME = 0 }; /* ptrace(2) */

/* --- stopped ------------------------------------------------------------------------ */

static void stops_a_helper(enum aspawn_owner owner, bool runs)
{
	struct self self;
	char signal[PSYS_DECIMAL_SIZE];
	int status = -1;

	signal[psys_i64_to_decimal(signal, PSYS_SIGSTOP)] = '\0';
	struct aspawn_command command = private_command(&self, "signals_helper", signal);
	command.owner = owner;
	command.std_out = ASPAWN_STREAM_NULL;
	if (runs) {
		struct aspawn_io io = { .size = sizeof io };
		CHECK_EQUAL(aspawn_run(&command, &io), 0);
		status = io.status;
	} else {
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_wait(&child, &status, NULL, -1), 0);
	}
	CHECK_EQUAL(status, 7 << 8);
	psys_exit_group(0);
}

/* All run at the same time, as each wait takes a second to notice the stop. */
TEST(run_and_wait_continue_a_helper_that_its_program_has_stopped)
{
	int hosts[4];

	need_lists();
	set_disposition(PSYS_SIGHUP, PSYS_SIG_IGN); /* as in a_tree_cannot_stop_its_helper */
	for (int i = 0; i < 4; i++) {
		hosts[i] = fork_child();
		if (hosts[i] == 0)
			stops_a_helper(i & 1 ? ASPAWN_OWNER_TREE : ASPAWN_OWNER_PRIVATE, i & 2);
	}
	for (int i = 0; i < 4; i++)
		CHECK_EQUAL(reap(hosts[i]), 0);
}

ROLE(stops_helper_for_ever)
{
	const int helper = psys_getppid();

	(void)argc, (void)argv;
	set_disposition(PSYS_SIGTERM, PSYS_SIG_IGN);
	for (int i = 0; i < 3 && fork_child(); i++)
		continue;
	while (psys_kill(helper, PSYS_SIGSTOP) == 0)
		continue;
	return 0;
}

TEST(run_ends_a_tree_that_stops_its_helper_again_and_again)
{
	struct self self;
	struct aspawn_command command = private_command(&self, "stops_helper_for_ever", NULL);
	struct aspawn_io io = { .size = sizeof io, .time_limit_ms = 50, .grace_ms = 50 };

	need_lists();
	command.owner = ASPAWN_OWNER_TREE;
	CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ETIMEDOUT);
	check_nothing_is_left();
}

/* --- traced ------------------------------------------------------------------------- */

/* Some programs call PTRACE_TRACEME to notice a debugger. */
ROLE(is_traced_by_its_parent)
{
	(void)argc, (void)argv;
	if (psys_ptrace(TRACEME, 0, NULL, NULL) < 0)
		return 9;
	psys_kill(psys_getpid(), PSYS_SIGUSR1);
	return 1;
}

TEST(a_stop_for_a_tracer_is_no_end)
{
	const int owners[] = { ASPAWN_OWNER_CALLER, ASPAWN_OWNER_PRIVATE, ASPAWN_OWNER_TREE };
	struct self self;

	need_lists();
	for (int i = 0; i < 3; i++) {
		struct aspawn_command command =
			private_command(&self, "is_traced_by_its_parent", NULL);
		int status = -1;

		command.owner = owners[i];
		struct aspawn_child child = start_command(NULL, &command);
		if (i == 0) {
			struct psys_siginfo info;

			info.code = 0;
			psys_waitid(PSYS_P_PID, aspawn_pid(&child), &info,
				    PSYS_WEXITED | PSYS_WNOWAIT, NULL);
			if (info.code != PSYS_CLD_TRAPPED)
				skip("no ptrace");
			CHECK_EQUAL(aspawn_ended(&child), 0);
			CHECK_EQUAL(aspawn_wait(&child, &status, NULL, 0), -PSYS_ETIMEDOUT);
		}
		CHECK_EQUAL(aspawn_wait(&child, &status, NULL, -1), 0);
		CHECK_EQUAL(status, PSYS_SIGUSR1);
	}
	check_nothing_is_left();
}

/* The tracer would be a helper, or a server. */
TEST(rejects_an_action_that_makes_a_helper_the_tracer)
{
	const struct aspawn_action action =
		ASPAWN_SYSCALL(PSYS_NR_ptrace, TRACEME, 0, 0, 0, 0, 0, 0U, 0);
	struct self self;
	struct aspawn_command command = private_command(&self, "exit_7", NULL);
	struct aspawn_failure failure;
	struct aspawn_child child;

	command.actions = &action;
	command.action_count = 1;
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EOPNOTSUPP);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(failure.step, 0);
	CHECK_EQUAL(psys_strcmp(failure.subject, "PTRACE_TRACEME with a helper"), 0);
	struct aspawn_queue *queue = open_queue(
		&(struct aspawn_queue_options){ .size = sizeof(struct aspawn_queue_options) });
	command.owner = ASPAWN_OWNER_CALLER;
	CHECK_EQUAL(submit_command(queue, (struct aspawn_job){ 0 }, &command), -PSYS_EINVAL);
	close_queue(queue);
}

TEST(an_action_may_make_other_ptrace_calls)
{
	const struct aspawn_action action =
		ASPAWN_SYSCALL(PSYS_NR_ptrace, 17 /* PTRACE_DETACH */, 1, 0, 0, 0, 0, 0U, 0);
	struct self self;
	struct aspawn_command command = private_command(&self, "exit_7", NULL);
	struct aspawn_failure failure;

	command.actions = &action;
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(failure.error, -PSYS_ESRCH);
	end_of(&child);
}

/* --- limited, killed ---------------------------------------------------------------- */

ROLE(takes_descriptors_of_its_helper)
{
	const struct psys_rlimit64 none = { 0, 0 };
	int *ready = shared_page();

	(void)argc, (void)argv;
	if (psys_prlimit64(psys_getppid(), PSYS_RLIMIT_NOFILE, &none, NULL) < 0)
		return 9;
	if (fork_child() == 0) {
		psys_setsid();
		gate_open(ready);
		psys_write(1, "x", 1);
		sleep_ms(600000);
	}
	gate_wait(ready);
	return 7;
}

TEST(a_tree_ends_whose_helper_may_open_nothing_more)
{
	struct self self;
	struct aspawn_command command = tree_command(&self, "takes_descriptors_of_its_helper", NULL);

	need_lists();
	struct aspawn_child child = start_command(NULL, &command);
	check_ends(&child, 7 << 8);
	check_all_have_ended(child.out_fd, LONG);
}

/* CI runners end a job in this way. The tree does not have ASPAWN_COMMAND_DIES_WITH_CALLER. */
TEST(a_tree_ends_whose_callers_group_is_killed)
{
	struct self self;
	struct aspawn_command command = tree_command(&self, "has_a_daemon", NULL);
	int ends[2];

	need_lists();
	CHECK_EQUAL(psys_pipe2(ends, 0), 0);
	const int host = fork_child();
	if (host == 0) {
		psys_setpgid(0, 0);
		psys_close(ends[0]);
		command.std_out = ends[1];
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(why_not_started(&child), 0);
		sleep_ms(600000);
	}
	psys_close(ends[1]);
	await_bytes(ends[0], 2);
	CHECK_EQUAL(psys_kill(-host, PSYS_SIGKILL), 0);
	CHECK_EQUAL(reap(host), 128 + PSYS_SIGKILL);
	check_all_have_ended(ends[0], LONG);
}

ROLE(kills_helper)
{
	(void)argc, (void)argv;
	psys_kill(psys_getppid(), PSYS_SIGKILL);
	return 7;
}

/* This process does not reap orphans, as the first process of many containers does not. */
TEST(run_returns_although_nobody_reaps_its_program)
{
	struct self self;
	struct aspawn_command command = private_command(&self, "kills_helper", NULL);
	struct aspawn_io io = { .size = sizeof io, .time_limit_ms = 200, .grace_ms = 10 };

	need_shared_memory();
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	const int host = fork_child();
	if (host == 0) {
		const int r = aspawn_run(&command, &io);
		/* The kernel may have given the program to another subreaper. */
		CHECK(r == -PSYS_ECHILD || r == -PSYS_ETIMEDOUT || r == 0);
		psys_exit_group(0);
	}
	CHECK_EQUAL(reap(host), 0);
	while (psys_wait4(-1, NULL, (int)PSYS___WALL, NULL) > 0)
		continue;
}

/* --- not to be signalled ------------------------------------------------------------ */

static const struct aspawn_action another_user[] = { ASPAWN_USER(65534, 65534, NULL, 0) };

static void may_not_end_it(enum aspawn_owner owner)
{
	struct self self;
	struct aspawn_command command = private_command(&self, "lingers_a_moment", NULL);
	struct aspawn_io io = {
		.size = sizeof io, .status = -1, .time_limit_ms = 10, .grace_ms = ASPAWN_GRACE_NONE
	};
	int r = 0;

	command.owner = owner;
	command.actions = another_user;
	command.action_count = 1;
	may_not_kill();
	for (; io.status == -1 || io.status == PSYS_SIGKILL; io.time_limit_ms *= 2)
		r = aspawn_run(&command, &io); /* until it has changed its user it may be killed */
	CHECK(r == -PSYS_ETIMEDOUT || io.time_limit_ms > 2000);
	CHECK_EQUAL(io.status, 7 << 8);
	check_nothing_is_left();
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	io.time_limit_ms = 10;
	CHECK_EQUAL(aspawn_communicate(&child, &io), -PSYS_EPERM);
	CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_LOST);
	check_ends(&child, 7 << 8); /* the handle is as good as before */
	check_nothing_is_left();
	psys_exit_group(0);
}

ROLE(lingers_a_moment)
{
	(void)argc, (void)argv;
	sleep_ms(1500);
	return 7;
}

TEST(a_program_that_may_not_be_killed_leaves_nothing_when_it_ends)
{
	need_lists();
	if (psys_geteuid())
		skip("not root");
	need_others_to_reach_program();
	int hosts[2];
	for (int i = 0; i < 2; i++) {
		hosts[i] = fork_child();
		if (hosts[i] == 0)
			may_not_end_it(i ? ASPAWN_OWNER_PRIVATE : ASPAWN_OWNER_CALLER);
	}
	for (int i = 0; i < 2; i++)
		CHECK_EQUAL(reap(hosts[i]), 0);
}
