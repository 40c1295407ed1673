/* SPDX-License-Identifier: MIT */
/* Many spawns leak nothing. */
#include "harness.h"

static void check_nothing_is_left(struct Stack_t *stack, int descriptors, int mappings)
{
	CHECK_EQUAL(aspawn_stack_wait(stack, -1), 0);
	CHECK_EQUAL(aspawn_stack_release(stack), 0);
	CHECK(!have_children());
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK_EQUAL(count_mappings(), mappings);
}

TEST(twenty_thousand_spawns_leak_nothing)
{
	struct Stack_t stack = { 0 };
	int spawns = scaled(20000), pidfd = -1, descriptors = count_descriptors();
	int mappings = count_mappings();

	note("spawns:", spawns);
	for (int i = 0; i < spawns; i++) {
		int pid, kind = i % 3;
		int fd = aspawn_with(kind == 2 ? 0 : ASPAWN_WITH_NO_PIPE, kind == 1 ? &pidfd : NULL,
				     &pid, &stack, 4096, child_returns, (void *)(intptr_t)(i & 127),
				     NULL, 0);
		CHECK(fd >= 0);
		CHECK_EQUAL(reap(pid), i & 127);
		CHECK_EQUAL(aspawn_stack_busy(&stack), 0); /* the child is reaped */
		if (kind == 1 && pidfd >= 0)
			psys_close(pidfd);
		if (kind == 2)
			psys_close(fd);
	}
	check_nothing_is_left(&stack, descriptors, mappings);
}

/* glibc BZ 31695, swift-subprocess#319: a failed exec left a pidfd or a zombie. */
static ASPAWN_CHILD int child_fails_to_exec(void *arg, int fd, void *mask, void *data, size_t length)
{
	char *argv[] = { NULL };
	int error = psys_execve("/no such program", argv, argv);

	(void)arg, (void)mask, (void)data, (void)length;
	return psys_write(fd, &error, sizeof error) == sizeof error ? 127 : 1;
}

TEST(failing_execs_leak_nothing)
{
	struct Stack_t stack = { 0 };
	int spawns = scaled(5000), descriptors = count_descriptors(), mappings = count_mappings();

	for (int i = 0; i < spawns; i++) {
		int pid, error = 0, fd = spawn(&stack, child_fails_to_exec, NULL, &pid);

		CHECK_EQUAL(psys_read(fd, &error, sizeof error), sizeof error);
		CHECK_EQUAL(error, -PSYS_ENOENT);
		psys_close(fd);
		CHECK_EQUAL(reap(pid), 127);
	}
	check_nothing_is_left(&stack, descriptors, mappings);
}

/* The kernel releases the memory at exec by another path than at exit. */
TEST(execs_leak_nothing)
{
	struct Stack_t stack = { 0 };
	int spawns = scaled(1000), descriptors = count_descriptors(), mappings = count_mappings();

	for (int i = 0; i < spawns; i++) {
		int pid, fd = spawn(&stack, child_execs_role, "exit_7", &pid);

		CHECK_EQUAL(reap(pid), 7);
		psys_close(fd);
		CHECK_EQUAL(aspawn_stack_busy(&stack), 0);
	}
	check_nothing_is_left(&stack, descriptors, mappings);
}

/* rtomayko: many children at once, a stack each. */
TEST(two_hundred_children_run_at_once)
{
	enum { children = 200 };
	static struct Stack_t stacks[children];
	static int pids[children];
	int *gate = shared_page();
	int descriptors = count_descriptors(), mappings = count_mappings();

	for (int i = 0; i < children; i++)
		pids[i] = spawn_without_pipe(&stacks[i], child_waits, gate);
	gate_open(gate);
	for (int i = 0; i < children; i++)
		CHECK_EQUAL(reap(pids[i]), 0);
	for (int i = 0; i < children; i++)
		CHECK_EQUAL(aspawn_stack_release(&stacks[i]), 0);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK_EQUAL(count_mappings(), mappings);
}
