/* SPDX-License-Identifier: MIT */
/* The image that a pool keeps: where its slots could be lost, or be another's. */
#include "filter.h"
#include "observe.h"

static struct aspawn_pool pool;

static struct aspawn_child start_in_image(const struct aspawn_command *command)
{
	static const struct aspawn_action nothing = ASPAWN_RESUID(-1U, -1U, -1U);
	struct aspawn_command other = *command;
	struct aspawn_child child;

	other.pool = &pool;
	other.actions = &nothing;
	other.action_count = 1;
	CHECK_EQUAL(aspawn_start(&child, &other), 0);
	return child;
}

static int run_in_image(void)
{
	struct self self;
	const struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_child child = start_in_image(&command);
	const int mode = aspawn_child_mode(&child);

	CHECK_EQUAL(why_not_started(&child), 0);
	check_ends(&child, 7 << 8);
	return mode;
}

static void needs_image(void)
{
	if (run_in_image() != ASPAWN_MODE_IMAGE)
		skip("no image here");
}

TEST(a_pool_under_a_filter_of_robust_futexes_makes_a_copy)
{
	needs_image();
	filter_refuse(PSYS_NR_set_robust_list, PSYS_ENOSYS);
	CHECK_EQUAL(run_in_image(), ASPAWN_MODE_FORK);
}

/* Such a child would map the page of its watch for itself alone. */
TEST(without_shared_memory_no_child_is_in_the_image)
{
	static const struct aspawn_action nothing = ASPAWN_RESUID(-1U, -1U, -1U);
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	struct aspawn_child child;

	needs_image();
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_VM, PSYS_EINVAL);
	CHECK_EQUAL(run_in_image(), ASPAWN_MODE_FORK);
	command.actions = &nothing;
	command.action_count = 1;
	child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	CHECK_EQUAL(aspawn_child_mode(&child), ASPAWN_MODE_FORK);
	kill_lingering(child.pid);
	CHECK_EQUAL(aspawn_release(&child), 0);
}
