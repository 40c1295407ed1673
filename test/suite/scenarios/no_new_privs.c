/* SPDX-License-Identifier: MIT */
/* Tests of children that begin with no_new_privs */
#include "filter.h"
#include "private.h"

TEST(no_child_runs_without_the_no_new_privs_that_a_filter_forbids)
{
	const struct aspawn_action action = ASPAWN_NO_NEW_PRIVS();
	struct Stack_t stack = { 0 };
	struct aspawn_failure failure;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	filter_refuse(PSYS_NR_prctl, PSYS_EPERM);
	command.actions = &action;
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(failure.error, -PSYS_EPERM);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
}

static ASPAWN_CHILD int stores_no_new_privs(void *to)
{
	*(int *)to = psys_prctl(PSYS_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	return 0;
}

TEST(no_new_privs_is_set_in_its_turn)
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
	CHECK_EQUAL(psys_prctl(PSYS_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
}
