/* SPDX-License-Identifier: MIT */
/* Tests of private commands, and of what their handles can do */
#include "private.h"

/* Checks each way to begin, in each kind of memory. */
TEST(private_commands_are_hidden_with_every_flag_and_memory)
{
	static const uint64_t flags[] = { 0, ASPAWN_COMMAND_STARTED_FD, WAY_COPIED,
					  WAY_COPIED | ASPAWN_COMMAND_STARTED_FD,
					  ASPAWN_COMMAND_NO_PIDFD };
	static const struct aspawn_action closes[] = { ASPAWN_ONLY_BELOW(3) };
	static struct aspawn_pool pool;
	struct self self;
	struct aspawn_command command = private_command(&self, "exit_7", NULL);
	struct aspawn_failure failure;
	int descriptors, mappings = -1;

	set_handler(PSYS_SIGCHLD, on_sigchld);
	unblock_sigchld();
	descriptors = count_descriptors();
	for (int i = 0; i < 2 * 2 * (int)(sizeof flags / sizeof *flags); i++) {
		set_way(&command, WAY_PRIVATE | flags[i / 4]);
		command.pool = i % 2 ? &pool : NULL;
		command.actions = i / 2 % 2 ? closes : NULL;
		command.action_count = i / 2 % 2;
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(psys_wait4(-1, NULL, 0, NULL), -PSYS_ECHILD);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), 0);
		check_ends(&child, 7 << 8);
		CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), -PSYS_EINVAL);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, 0), 0);
		check_nothing_is_left();
		CHECK_EQUAL(sigchlds, 0);
		CHECK_EQUAL(count_descriptors(), descriptors);
		if (i == 1)
			mappings = count_mappings();
		else if (i > 1)
			CHECK_EQUAL(count_mappings(), mappings);
	}
	release_pool(&pool);
}

TEST(a_private_command_reports_why_it_was_not_executed)
{
	struct self self;
	struct aspawn_command command = private_command(&self, "exit_7", NULL);
	struct aspawn_action action = ASPAWN_CHDIR("/no such directory");
	struct aspawn_failure failure;

	for (int i = 0; i < 4; i++) {
		set_way(&command, WAY_PRIVATE | (i & 1 ? WAY_COPIED : 0));
		command.actions = i & 2 ? &action : NULL;
		command.action_count = i / 2;
		command.file = i & 2 ? self.file : "/no such file";
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
		CHECK_EQUAL(failure.error, -PSYS_ENOENT);
		CHECK_EQUAL(failure.step, i & 2 ? 0 : ASPAWN_STEP_EXEC);
		CHECK_EQUAL(psys_strcmp(failure.subject,
					i & 2 ? "/no such directory" : "/no such file"),
			    0);
		check_ends(&child, 127 << 8);
		check_nothing_is_left();
	}
}

TEST(rejects_a_private_command_that_suspends_the_caller)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_child child;

	set_way(&command, WAY_PRIVATE | WAY_SUSPENDED);
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EINVAL);
	command.memory = ASPAWN_MEMORY_SHARED;
	if (!memory_is_shared()) {
		CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EOPNOTSUPP);
		CHECK_EQUAL(aspawn_pid(&child), -PSYS_EINVAL);
		check_nothing_is_left();
	}
}

/* Polled, asked and killed as an ordinary child is. */
static void check_handle(uint64_t flags)
{
	struct self self;
	struct aspawn_command command = private_command(&self, "lingers", NULL);

	command.flags |= flags;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	CHECK_EQUAL(aspawn_ended(&child), 0);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 0), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 20), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(aspawn_kill(&child, 0), 0);
	CHECK_EQUAL(aspawn_kill_group(&child, 0), 0);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGSTOP), 0);
	sleep_ms(20);
	CHECK_EQUAL(aspawn_ended(&child), 0);
	CHECK_EQUAL(psys_wait4(-1, NULL, PSYS_WUNTRACED, NULL), -PSYS_ECHILD);
	CHECK_EQUAL(aspawn_kill_group(&child, PSYS_SIGKILL), 0);
	if (child.ended_fd >= 0) {
		struct psys_pollfd poll = { child.ended_fd, PSYS_POLLIN, 0 };
		CHECK_EQUAL(psys_ppoll(&poll, 1, NULL, NULL, 0), 1);
	} else {
		while (aspawn_ended(&child) == 0)
			sleep_ms(1);
	}
	CHECK_EQUAL(aspawn_ended(&child), 1);
	check_wait_at_once(&child, PSYS_SIGKILL);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), -PSYS_EINVAL);
	check_nothing_is_left();
}

TEST(a_private_child_is_polled_waited_for_and_killed)
{
	for (int i = 0; i < 5; i++)
		check_handle(0);
}

TEST(a_private_child_without_a_pidfd_is_waited_for_and_killed)
{
	for (int i = 0; i < 5; i++)
		check_handle(ASPAWN_COMMAND_NO_PIDFD);
}

TEST(aspawn_run_works_with_private_commands)
{
	static const uint64_t flags[] = { 0, ASPAWN_COMMAND_NO_PIDFD, WAY_COPIED };
	struct self self;
	struct aspawn_command command = private_command(&self, "copies", NULL);

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		char text[16];
		struct aspawn_io io = { .size = sizeof io,
					.input = "private",
					.input_size = 7,
					.out = text,
					.out_size = sizeof text };

		set_way(&command, WAY_PRIVATE | flags[i]);
		set_disposition(PSYS_SIGCHLD, PSYS_SIG_IGN);
		unblock_sigchld();
		CHECK_EQUAL(aspawn_run(&command, &io), 0);
		CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_RAN);
		CHECK_EQUAL(io.status, 0);
		CHECK(io.usage.ru_minflt > 0);
		CHECK_EQUAL(psys_strcmp(text, "private"), 0);
	}
	command = private_command(&self, "lingers", NULL);
	struct aspawn_io io = { .size = sizeof io,
				.flags = ASPAWN_IO_KILL_GROUP,
				.time_limit_ms = 50,
				.grace_ms = LONG };
	CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(io.status, PSYS_SIGTERM);
	check_nothing_is_left();
}

/* The run also ends what the leader, which may have ended before, has left. */
TEST(aspawn_run_ends_the_group_of_a_private_command)
{
	struct self self;
	struct aspawn_command command = private_command(&self, "leaves_a_grandchild", NULL);
	char text[2];
	int status;
	struct aspawn_io io = { .size = sizeof io,
				.flags = ASPAWN_IO_KILL_GROUP,
				.out = text,
				.out_size = sizeof text,
				.grace_ms = ASPAWN_GRACE_NONE };

	if (!pidfd_knows_groups())
		skip("no pidfd of a group");
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	for (int i = 0; i < 20; i++) {
		CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ENOBUFS);
		while (psys_wait4(-1, &status, 0, NULL) > 0)
			CHECK_EQUAL(status, PSYS_SIGKILL);
	}
}

/* Nobody owns a released child, and the pool uses the memory again after the child's end. */
TEST(released_private_children_free_their_memory_at_their_end)
{
	static struct aspawn_pool pool;
	struct self self;
	struct aspawn_command command = private_command(&self, "lingers", NULL);
	int mappings = count_mappings(), status = -1;

	for (int memory = 0; memory < 2; memory++) {
		command.pool = memory ? &pool : NULL;
		struct aspawn_child child = start_command(NULL, &command);
		const int pid = pid_of(&child);

		CHECK_EQUAL(why_not_started(&child), 0);
		CHECK_EQUAL(aspawn_release(&child), 0);
		CHECK_EQUAL(child.ended_fd, -1);
		CHECK_EQUAL(aspawn_release(&child), 0);
		if (memory) {
			CHECK_EQUAL(aspawn_pool_release(&pool), -PSYS_EBUSY);
			CHECK_EQUAL(aspawn_kill(&child, 0), -PSYS_ESRCH);
			CHECK_EQUAL(aspawn_wait(&child, &status, NULL, -1), -PSYS_ECHILD);
			CHECK_EQUAL(aspawn_pid(&child), -PSYS_EINVAL);
		} else { /* there is nowhere to put it */
			CHECK_EQUAL(aspawn_kill(&child, 0), 0);
			CHECK_EQUAL(aspawn_ended(&child), 0);
		}
		CHECK_EQUAL(psys_kill(pid, PSYS_SIGKILL), 0);
		if (!memory) {
			CHECK_EQUAL(aspawn_wait(&child, &status, NULL, -1), 0);
			CHECK_EQUAL(status, PSYS_SIGKILL);
		}
		sleep_until_gone(pid);
	}
	release_pool(&pool);
	CHECK_EQUAL(count_mappings(), mappings);
	check_nothing_is_left();
}

/* The leader of the group has been reaped, and its number may be another's. */
static void check_group(uint64_t flags)
{
	const struct aspawn_action group = ASPAWN_SETPGID(0);
	struct self self;
	struct aspawn_command command = private_command(&self, "leaves_a_grandchild", NULL);
	int status;
	char byte;

	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	command.flags |= flags;
	command.actions = &group;
	command.action_count = 1;
	command.std_out = ASPAWN_STREAM_PIPE;
	struct aspawn_child child = start_command(NULL, &command);
	const int alive = aspawn_kill_group(&child, 0); /* from now on the library has a pidfd */
	CHECK_EQUAL(psys_read(child.out_fd, &byte, 1), 1);
	while (aspawn_ended(&child) == 0)
		sleep_ms(1);
	sleep_until_gone(aspawn_pid(&child));
	const bool known = alive == 0 && child.ended_fd >= 0 && pidfd_knows_groups();
	note("the group is known:", known);
	CHECK_EQUAL(aspawn_kill_group(&child, PSYS_SIGKILL), known ? 0 : -PSYS_ESRCH);
	if (!known)
		CHECK_EQUAL(psys_kill(-aspawn_pid(&child), PSYS_SIGKILL), 0);
	CHECK(psys_wait4(-1, &status, 0, NULL) > 0);
	CHECK_EQUAL(status, PSYS_SIGKILL);
	psys_close(child.out_fd);
	check_ends(&child, 3 << 8);
	check_nothing_is_left();
}

TEST(the_group_of_a_private_child_is_killed_after_its_leader_ended)
{
	check_group(0);
}

TEST(the_group_of_a_reaped_child_is_not_killed_without_a_pidfd)
{
	check_group(ASPAWN_COMMAND_NO_PIDFD);
}
