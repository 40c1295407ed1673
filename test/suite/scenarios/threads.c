/* SPDX-License-Identifier: MIT */
/* Threads that spawn at once, end before the child, or change credentials. */
#include "harness.h"

enum { threads = 8 };

static int spawn_many(void *failures)
{
	struct Stack_t stack = { 0 };

	for (int i = 0; i < scaled(200); i++) {
		int pid, status, with_pipe = i % 2;
		int fd = aspawn_with(with_pipe ? 0 : ASPAWN_WITH_NO_PIPE, NULL, &pid, &stack, 16384,
				     i % 4 ? child_returns : child_execs_role,
				     i % 4 ? (void *)7 : "exit_7", NULL, 0);
		bool right = fd >= 0 && psys_wait4(pid, &status, 0, NULL) == pid && status == 7 << 8;
		if (with_pipe && fd >= 0)
			right &= psys_close(fd) == 0;
		if (!right || aspawn_stack_wait(&stack, -1))
			__atomic_fetch_add((int *)failures, 1, __ATOMIC_RELAXED);
	}
	if (aspawn_stack_release(&stack))
		__atomic_fetch_add((int *)failures, 1, __ATOMIC_RELAXED);
	return 0;
}

TEST(eight_threads_may_spawn_at_once)
{
	struct thread thread[threads];
	int failures = 0, descriptors = count_descriptors();

	for (int i = 0; i < threads; i++)
		thread_start(&thread[i], spawn_many, &failures);
	for (int i = 0; i < threads; i++)
		thread_join(&thread[i]);
	CHECK_EQUAL(failures, 0);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK(!have_children());
}

/* The spawning thread ends, and its stack is unmapped, while the child runs. */
static struct Stack_t outliving_stack;
static int outliving_pid, outliving_gate;

static int spawn_and_end(void *arg)
{
	(void)arg;
	outliving_pid = spawn_without_pipe(&outliving_stack, child_waits, &outliving_gate);
	return 0;
}

TEST(a_thread_may_end_before_its_child_execs)
{
	struct thread thread;

	if (!memory_is_shared())
		skip("memory is not shared here");
	thread_start(&thread, spawn_and_end, NULL);
	thread_join(&thread); /* its stack is unmapped */
	CHECK_EQUAL(aspawn_stack_busy(&outliving_stack), 1);
	gate_open(&outliving_gate);
	CHECK_EQUAL(aspawn_stack_wait(&outliving_stack, -1), 0);
	CHECK_EQUAL(reap(outliving_pid), 0);
}

/* Two threads wait for one stack. The kernel wakes only one thread. */
static int wait_for_stack(void *stack)
{
	return aspawn_stack_wait(stack, -1);
}

TEST(two_threads_may_wait_for_one_stack)
{
	struct Stack_t stack = { 0 };
	struct thread thread[2];
	int gate = 0;

	if (!memory_is_shared())
		skip("memory is not shared here");
	int pid = spawn_without_pipe(&stack, child_waits, &gate);
	for (int i = 0; i < 2; i++)
		thread_start(&thread[i], wait_for_stack, &stack);
	sleep_ms(20);
	gate_open(&gate);
	for (int i = 0; i < 2; i++)
		thread_join(&thread[i]);
	CHECK_EQUAL(reap(pid), 0);
}

/* In facebook/folly 01310bc a libc's setgid signals all threads and waits, in the child. */
static int sleep_until(void *gate)
{
	gate_wait(gate);
	return 0;
}

static ASPAWN_CHILD int child_changes_group(void *arg, int fd, void *mask, void *data, size_t length)
{
	(void)arg, (void)fd, (void)mask, (void)data, (void)length;
	int r = psys_setresgid(1, 1, 1);
	return r == -PSYS_EPERM ? 1 : r ? 2 : psys_getegid() == 1 ? 1 : 3;
}

TEST(a_child_may_change_its_group_beside_64_threads)
{
	struct thread thread[64];
	struct Stack_t stack = { 0 };
	int gate = 0;
	unsigned gid = psys_getegid();

	for (int i = 0; i < 64; i++)
		thread_start(&thread[i], sleep_until, &gate);
	CHECK_EQUAL(reap(spawn_without_pipe(&stack, child_changes_group, NULL)), 1);
	CHECK_EQUAL(psys_getegid(), gid);
	gate_open(&gate);
	for (int i = 0; i < 64; i++)
		thread_join(&thread[i]);
}
