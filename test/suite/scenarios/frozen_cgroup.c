/* SPDX-License-Identifier: MIT */
/*
 * A child that begins in a frozen control group does not run, and its parent is suspended until the
 * child's exec. The parent is a helper, never the caller or the server of a queue.
 */
#include "../filter.h"
#include "../queues.h"
#include "../tree.h"

static void set_frozen(const struct cgroup *group, bool frozen)
{
	int r = write_to_cgroup(group->fd, "cgroup.freeze", frozen ? "1" : "0");

	if (r < 0) /* version 1 */
		r = write_to_cgroup(group->fd, "freezer.state", frozen ? "FROZEN" : "THAWED");
	CHECK_EQUAL(r, 0);
}

/* The group is frozen already. */
static void make_frozen(struct cgroup *group, const char *controller)
{
	need_lists();
	make_cgroup_of(group, controller);
	if (!controller && psys_faccessat(group->fd, "cgroup.freeze", PSYS_F_OK) < 0) {
		remove_cgroup(group);
		skip("this kernel has no cgroup.freeze");
	}
	set_frozen(group, true);
}

static ASPAWN_CHILD int does_nothing(void *arg)
{
	(void)arg;
	return 0;
}

static const struct aspawn_action and_nothing = ASPAWN_UMASK(022),
				  and_calls = ASPAWN_CALL(does_nothing, NULL),
				  and_becomes = ASPAWN_RESUID(-1U, -1U, -1U);

/* Starts a command that joins the group, in a frozen state, then runs another. */
static struct aspawn_child start_frozen(struct self *self, const struct cgroup *group, int owner,
					const struct aspawn_action *more)
{
	const struct aspawn_action actions[] = { ASPAWN_JOIN_CGROUP(group->fd), *more };
	struct aspawn_command command = command_in_role(self, "reports_cgroup", NULL);

	command.owner = owner;
	command.actions = actions;
	command.action_count = 2;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 0), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(observe(NULL, 0, "").result, 0);
	return child;
}

static void check_goes_on(struct cgroup *group)
{
	static const struct aspawn_action *const all[] = { &and_nothing, &and_calls, &and_becomes };
	const int descriptors = count_descriptors();
	struct self self;

	for (int i = 0; i < 9; i++) { /* enum aspawn_owner */
		struct aspawn_child child = start_frozen(&self, group, i % 3, all[i / 3]);
		set_frozen(group, false);
		check_ends(&child, 0);
		set_frozen(group, true);
	}
	CHECK_EQUAL(count_descriptors(), descriptors);
	check_nothing_is_left();
	remove_cgroup(group);
}

TEST(a_frozen_cgroup_stops_no_caller)
{
	struct cgroup group;

	make_frozen(&group, NULL);
	check_goes_on(&group);
}

TEST(a_frozen_cgroup_of_version_1_stops_no_caller)
{
	struct cgroup group;

	make_frozen(&group, "freezer");
	check_goes_on(&group);
}

static void check_is_killed(int owner, const struct aspawn_action *more)
{
	struct cgroup group;
	struct self self;

	make_frozen(&group, NULL);
	struct aspawn_child child = start_frozen(&self, &group, owner, more);
	pid_of(&child);
	if (owner == ASPAWN_OWNER_TREE)
		CHECK_EQUAL(aspawn_kill_tree(&child, LONG), 0);
	else
		CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
	check_ends(&child, PSYS_SIGKILL);
	check_nothing_is_left();
	remove_cgroup(&group);
}

TEST(a_command_is_killed_in_a_frozen_cgroup)
{
	check_is_killed(ASPAWN_OWNER_CALLER, &and_nothing);
}

TEST(a_command_of_another_user_is_killed_in_a_frozen_cgroup)
{
	check_is_killed(ASPAWN_OWNER_PRIVATE, &and_becomes);
}

TEST(a_tree_is_killed_in_a_frozen_cgroup)
{
	check_is_killed(ASPAWN_OWNER_TREE, &and_nothing);
}

TEST(a_time_limit_ends_a_command_in_a_frozen_cgroup)
{
	struct aspawn_io io = { .size = sizeof io,
				.flags = ASPAWN_IO_KILL_GROUP,
				.time_limit_ms = 1,
				.grace_ms = ASPAWN_GRACE_NONE };
	struct cgroup group;
	struct self self;

	make_frozen(&group, NULL);
	const struct aspawn_action join = ASPAWN_JOIN_CGROUP(group.fd);
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	command.owner = ASPAWN_OWNER_PRIVATE;
	command.actions = &join;
	command.action_count = 1;
	CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_TIMED_OUT);
	CHECK_EQUAL(io.status, PSYS_SIGKILL);
	remove_cgroup(&group);
}

TEST(a_frozen_cgroup_stops_no_server)
{
	struct cgroup group;
	struct self self, other;

	make_frozen(&group, NULL);
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 2 });
	const struct aspawn_action join = ASPAWN_JOIN_CGROUP(group.fd);
	struct aspawn_command command = command_in_role(&self, "reports_cgroup", NULL);
	const struct aspawn_command seven = command_in_role(&other, "exit_7", NULL);

	command.actions = &join;
	command.action_count = 1;
	CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
	for (int i = 0; i < 2; i++) {
		if (!i)
			CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &seven) > 0);
		else
			set_frozen(&group, false);
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
		CHECK_EQUAL(result->status, i ? 0 : 7 << 8);
		give_back(queue, result);
	}
	close_queue(queue);
	remove_cgroup(&group);
}

TEST(a_time_limit_ends_a_job_in_a_group_below_a_frozen_one)
{
	struct cgroup group;
	struct self self;

	need_lists();
	make_frozen(&group, NULL);
	for (int i = 0; i < 2; i++) {
		struct aspawn_queue *queue = open_queue(
			&(struct aspawn_queue_options){ .flags = i ? ASPAWN_QUEUE_LOCAL : 0 });
		const struct aspawn_job job = { .time_limit_ms = 1, .grace_ms = ASPAWN_GRACE_NONE };
		const struct aspawn_action makes = ASPAWN_NEW_CGROUP(group.fd, 0, 0, 0);
		struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

		command.owner = ASPAWN_OWNER_TREE;
		command.actions = &makes;
		command.action_count = 1;
		CHECK(submit_command(queue, job, &command) > 0);
		if (i) /* what has only a number is killed too */
			filter_refuse(PSYS_NR_pidfd_send_signal, PSYS_EPERM);
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_TIMED_OUT);
		CHECK_EQUAL(result->status, PSYS_SIGKILL);
		give_back(queue, result);
		close_queue(queue);
	}
	remove_cgroup(&group);
}
