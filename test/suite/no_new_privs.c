/* SPDX-License-Identifier: MIT */
/* Children that begin with no_new_privs: by the clone (Linux 7.1), or by prctl(2). */
#include "filter.h"
#include "private.h"

static int try_nnp(bool nnp, struct Stack_t *stack, aspawn_fn fn, int *pid)
{
	struct aspawn_options options = { .size = sizeof options,
					  .flags = ASPAWN_NO_PIPE | (nnp ? ASPAWN_NNP : 0) };

	return aspawn_with(&options, pid, stack, 16384, fn, NULL, NULL, 0);
}

/* True if the clone sets no_new_privs: CLONE_AUTOREAP came with the same kernel. */
static bool clone_sets_no_new_privs(void)
{
	struct Stack_t stack = { 0 };

	spawn_private(&stack, child_returns, NULL);
	const bool sets = aspawn_privacy(&stack) == ASPAWN_PRIVATE_AUTOREAPED;
	CHECK_EQUAL(end_of(&stack), 0);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
	return sets;
}

static ASPAWN_CHILD int tells_no_new_privs(void *arg, int fd, void *mask, void *data, size_t length)
{
	(void)arg, (void)fd, (void)mask, (void)data, (void)length;
	return psys_prctl(PSYS_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
}

/* The first refusal is remembered, so that the second child begins at once. */
static void check_no_new_privs(void)
{
	struct Stack_t stack = { 0 };
	int pid;

	for (int i = 0; i < 3; i++) {
		CHECK_EQUAL(try_nnp(i != 1, &stack, tells_no_new_privs, &pid), 0);
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
	const bool by_clone = memory_is_shared() && clone_sets_no_new_privs();
	int pid;

	filter_refuse(PSYS_NR_prctl, PSYS_EPERM);
	CHECK_EQUAL(try_nnp(true, &stack, child_returns, &pid), 0);
	note("kernel sets no_new_privs by clone:", by_clone);
	CHECK_EQUAL(reap(pid), by_clone ? 0 : 127);
	command.actions = &action;
	command.action_count = 1;
	struct aspawn_child child = start_command(&stack, &command);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), by_clone ? 0 : -PSYS_ECANCELED);
	CHECK_EQUAL(failure.error, by_clone ? 0 : -PSYS_EPERM);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), by_clone ? 0 : -PSYS_ECANCELED);
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
