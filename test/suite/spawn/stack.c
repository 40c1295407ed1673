/* SPDX-License-Identifier: MIT */
/* Tests of the stack: time of release, growth, guards */
#include "harness.h"

TEST(an_unused_stack_is_not_busy_and_may_be_freed)
{
	struct Stack_t stack = { 0 }, odd = { NULL, 65536 }, odder = { &stack, 0 };
	int pid = -5;

	CHECK_EQUAL(aspawn_stack_busy(&stack), 0);
	CHECK_EQUAL(aspawn_stack_busy(NULL), 0);
	CHECK_EQUAL(aspawn_stack_wait(&stack, -1), 0);
	CHECK_EQUAL(aspawn_stack_wait(NULL, 1), 0);
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
	CHECK_EQUAL(aspawn_stack_release(NULL), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_stack_release(&odd), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn(&pid, &odd, 0, child_returns, NULL, NULL, 0), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn(&pid, &odder, 0, child_returns, NULL, NULL, 0), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_stack_busy(&odder), 0);
	CHECK_EQUAL(aspawn_stack_wait(&odder, -1), 0);
	CHECK_EQUAL(pid, -5);
}

TEST(a_busy_stack_is_refused_and_nothing_changes)
{
	struct Stack_t stack = { 0 }, before;
	int gate = 0, other = -5;

	if (!memory_is_shared())
		skip("memory is not shared here");
	int pid = spawn_without_pipe(&stack, child_waits, &gate);
	before = stack;
	int descriptors = count_descriptors(), mappings = count_mappings();

	CHECK_EQUAL(aspawn_stack_busy(&stack), 1);
	CHECK_EQUAL(aspawn(&other, &stack, 4096, child_returns, NULL, NULL, 0), -PSYS_EBUSY);
	CHECK_EQUAL(aspawn(&other, &stack, 1 << 20, child_returns, NULL, NULL, 0), -PSYS_EBUSY);
	CHECK_EQUAL(aspawn_stack_release(&stack), -PSYS_EBUSY);
	CHECK_EQUAL(aspawn_stack_wait(&stack, 0), -PSYS_ETIMEDOUT);
	int64_t start = monotonic_ns();
	CHECK_EQUAL(aspawn_stack_wait(&stack, 30), -PSYS_ETIMEDOUT);
	CHECK(monotonic_ns() - start >= 30000000);
	CHECK_EQUAL(other, -5);
	CHECK(stack.addr == before.addr && stack.size == before.size);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK_EQUAL(count_mappings(), mappings);

	gate_open(&gate);
	CHECK_EQUAL(aspawn_stack_wait(&stack, -1), 0);
	CHECK_EQUAL(aspawn_stack_busy(&stack), 0);
	CHECK_EQUAL(reap(pid), 0);
	pid = spawn_without_pipe(&stack, child_returns, (void *)4);
	CHECK(stack.addr == before.addr);
	CHECK_EQUAL(reap(pid), 4);
}

TEST(the_longest_timeout_does_not_overflow)
{
	struct Stack_t stack = { 0 };
	int pid = spawn_without_pipe(&stack, child_execs_role, "exit_7");

	CHECK_EQUAL(aspawn_stack_wait(&stack, INT64_MAX), 0);
	CHECK_EQUAL(reap(pid), 7);
}

TEST(a_stack_is_free_after_the_exec)
{
	struct Stack_t stack = { 0 };

	int pid = spawn_without_pipe(&stack, child_execs_role, "lingers");
	CHECK_EQUAL(aspawn_stack_wait(&stack, -1), 0);
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
	kill_lingering(pid);
}

/* The original design took the pipe's end for the stack's, which was seen 100 ms early. */
static ASPAWN_CHILD int child_closes_all(void *gate, int fd, void *mask, void *data, size_t length)
{
	(void)fd, (void)mask, (void)data, (void)length;
	for (int each = 0; each < 256; each++)
		psys_close(each);
	gate_wait(gate);
	return 11;
}

TEST(a_stack_is_busy_after_the_callback_closed_the_pipe)
{
	struct Stack_t stack = { 0 };
	int gate = 0, pid;
	char byte;

	if (!memory_is_shared())
		skip("memory is not shared here");
	int fd = spawn(&stack, child_closes_all, &gate, &pid);
	CHECK_EQUAL(psys_read(fd, &byte, 1), 0); /* the pipe has ended */
	CHECK_EQUAL(aspawn_stack_busy(&stack), 1);
	gate_open(&gate);
	CHECK_EQUAL(aspawn_stack_wait(&stack, -1), 0);
	CHECK_EQUAL(reap(pid), 11);
}

/* musl b7bc9665: the pipe's end comes too late, or never. Here a sibling holds the write end. */
static ASPAWN_CHILD int child_leaves_a_sibling(void *arg, int fd, void *mask, void *data,
					       size_t length)
{
	(void)arg;
	int pid = psys_clone(PSYS_SIGCHLD, NULL, NULL, NULL, NULL); /* inherits fd */
	if (pid == 0) {
		sleep_ms(600000);
		psys_exit_group(0);
	}
	return child_execs_role("exit_7", fd, mask, data, length);
}

TEST(a_stack_is_free_although_a_sibling_holds_the_pipe)
{
	struct Stack_t stack = { 0 };
	int pid;
	int fd = spawn(&stack, child_leaves_a_sibling, NULL, &pid);

	CHECK_EQUAL(aspawn_stack_wait(&stack, LONG), 0);
	CHECK_EQUAL(reap(pid), 7);
	struct psys_pollfd poll = { fd, PSYS_POLLIN, 0 };
	struct psys_timespec none = { 0, 0 };
	CHECK_EQUAL(psys_ppoll(&poll, 1, &none, NULL, PSYS_SIGSET_SIZE), 0); /* no end yet */
}

TEST(a_stack_grows_and_is_kept)
{
	struct Stack_t stack = { 0 }, small, large;
	int pid = spawn_without_pipe(&stack, child_returns, NULL);
	CHECK_EQUAL(reap(pid), 0);
	small = stack;

	CHECK_EQUAL(aspawn_with(ASPAWN_WITH_NO_PIPE, NULL, &pid, &stack, 1 << 20, child_returns,
				NULL, NULL, 0),
		    0);
	CHECK_EQUAL(reap(pid), 0);
	large = stack;
	CHECK(large.size > (1 << 20) && large.size > small.size);

	pid = spawn_without_pipe(&stack, child_returns, NULL); /* never shrinks */
	CHECK_EQUAL(reap(pid), 0);
	CHECK(stack.addr == large.addr && stack.size == large.size);

	int mappings = count_mappings();
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
	CHECK(mappings < 0 || count_mappings() < mappings);
}

static ASPAWN_CHILD __attribute__((noinline)) int recurse(volatile char *above, int depth)
{
	volatile char room[1024];

	room[0] = (char)depth;
	return depth ? recurse(room, depth - 1) + room[0] + above[0] : 0;
}

static ASPAWN_CHILD int child_overflows(void *arg, int fd, void *mask, void *data, size_t length)
{
	char first = 0;

	(void)arg, (void)fd, (void)mask, (void)data, (void)length;
	return recurse(&first, 100000);
}

TEST(a_stack_overflow_kills_the_child_alone)
{
	enum { page = 65536 };
	struct Stack_t stack = { 0 };
	struct psys_rlimit64 none = { 0, 0 };
	/* The neighbour mapping probably lies below the stack, and must not change. */
	char *neighbour = psys_mmap(NULL, 16 * page, PSYS_PROT_READ | PSYS_PROT_WRITE,
				    PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);

	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_CORE, &none, NULL), 0);
	psys_prctl(PSYS_PR_SET_DUMPABLE, 0, 0, 0, 0);
	int pid = spawn_without_pipe(&stack, child_overflows, NULL);
	char *below = psys_mmap((char *)stack.addr - page, page, PSYS_PROT_READ | PSYS_PROT_WRITE,
				PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);
	CHECK_EQUAL(reap(pid), 128 + PSYS_SIGSEGV);
	CHECK_EQUAL(aspawn_stack_busy(&stack), 0);
	for (int i = 0; i < 16 * page; i++)
		CHECK(!neighbour[i]);
	for (int i = 0; i < page; i++)
		CHECK(!below[i]);
}

TEST(guard_and_size_are_multiples_of_64_kib)
{
	struct Stack_t stack = { 0 };
	int pid = spawn_without_pipe(&stack, child_returns, NULL);

	CHECK_EQUAL(reap(pid), 0);
	CHECK_EQUAL(stack.size % 65536, 0);
	CHECK_EQUAL(psys_mprotect(stack.addr, 65536, PSYS_PROT_NONE), 0); /* a page boundary */
}

/* The kernel does not clear the word of a forked copy. */
TEST(a_forked_copy_of_a_busy_stack_becomes_free)
{
	struct Stack_t stack = { 0 };
	int *gate = shared_page();

	int pid = spawn_without_pipe(&stack, child_waits, gate);
	int copy = fork_child();
	if (!copy) {
		CHECK_EQUAL(aspawn_stack_wait(&stack, LONG), 0);
		psys_exit_group(0);
	}
	sleep_ms(50);
	gate_open(gate);
	CHECK_EQUAL(reap(pid), 0);
	CHECK_EQUAL(reap(copy), 0);
}
