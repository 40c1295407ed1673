/* SPDX-License-Identifier: MIT */
/* A failed spawn leaves no descriptor, mapping, child or changed mask behind. */
#include "filter.h"

/* Checks that the spawn fails with the error and changes nothing. */
static void check_fails(int *pidfd, struct Stack_t *stack, size_t reserved, int error)
{
	struct psys_sigset mask = get_mask();
	struct Stack_t before = *stack;
	int descriptors = count_descriptors(), mappings = count_mappings(), pid = -5;

	CHECK_EQUAL(aspawn_with(0, pidfd, &pid, stack, reserved, child_returns, NULL, NULL, 0),
		    -error);
	CHECK_EQUAL(pid, -5);
	CHECK(same_mask(get_mask(), mask));
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK(!have_children());
	CHECK_EQUAL(aspawn_stack_busy(stack), 0);
	if (stack->addr == before.addr)
		CHECK_EQUAL(count_mappings(), mappings);
	CHECK_EQUAL(aspawn_stack_release(stack), 0);
	CHECK(mappings < 0 || count_mappings() <= mappings);
}

TEST(rejects_invalid_arguments)
{
	struct Stack_t stack = { 0 };
	char data[4];
	int pid = -5;

	CHECK_EQUAL(aspawn(NULL, &stack, 0, child_returns, NULL, NULL, 0), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn(&pid, NULL, 0, child_returns, NULL, NULL, 0), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn(&pid, &stack, 0, NULL, NULL, NULL, 0), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_with(4, NULL, &pid, &stack, 0, child_returns, NULL, NULL, 0),
		    -PSYS_EINVAL);
	CHECK_EQUAL(aspawn(&pid, &stack, 0, child_returns, NULL, NULL, 1), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn(&pid, &stack, SIZE_MAX, child_returns, NULL, data, 4), -PSYS_EOVERFLOW);
	CHECK_EQUAL(aspawn(&pid, &stack, 4, child_returns, NULL, data, SIZE_MAX), -PSYS_EOVERFLOW);
	CHECK_EQUAL(aspawn(&pid, &stack, SIZE_MAX / 2 + 1, child_returns, NULL, data, SIZE_MAX / 2),
		    -PSYS_EOVERFLOW);
	CHECK_EQUAL(aspawn(&pid, &stack, SIZE_MAX - SIZE_MAX / 8, child_returns, NULL, NULL, 0),
		    -PSYS_ENOMEM);
	CHECK_EQUAL(pid, -5);
	CHECK(!stack.addr && !stack.size && !have_children());
}

TEST(rejects_a_stack_that_has_the_data_or_another_size)
{
	struct Stack_t stack = { 0 };
	int pid, fd = aspawn(&pid, &stack, 0, child_returns, NULL, NULL, 0);

	CHECK(fd >= 0);
	psys_close(fd);
	reap(pid);
	CHECK_EQUAL(aspawn(&pid, &stack, 0, child_returns, NULL, (char *)stack.addr + 64, 4),
		    -PSYS_EINVAL);
	stack.size++;
	CHECK_EQUAL(aspawn(&pid, &stack, 0, child_returns, NULL, NULL, 0), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_stack_release(&stack), -PSYS_EINVAL);
	stack.size--;
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
}

TEST(a_failing_pipe_fails_the_spawn)
{
	struct Stack_t stack = { 0 };

	filter_refuse(PSYS_NR_pipe2, PSYS_ENFILE);
	check_fails(NULL, &stack, 4096, PSYS_ENFILE);
}

TEST(spawn_is_emfile_without_free_descriptors)
{
	struct Stack_t stack = { 0 };
	struct psys_rlimit64 limit;

	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, NULL, &limit), 0);
	int first = psys_dup(1);
	psys_close(first);
	CHECK(first > 2);
	limit.rlim_cur = (unsigned)first + 1; /* room for one end */
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL), 0);
	check_fails(NULL, &stack, 4096, PSYS_EMFILE);
}

/* The pipe came on low descriptors and cannot be moved: both ends are closed. */
TEST(spawn_is_emfile_without_descriptors_above_2)
{
	struct Stack_t stack = { 0 };
	struct psys_rlimit64 limit;

	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, NULL, &limit), 0);
	limit.rlim_cur = 4;
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL), 0);
	for (int fd = 3; fd < 20; fd++)
		psys_close(fd);
	psys_close(0);
	psys_close(2);
	int pid = -5;
	CHECK_EQUAL(aspawn(&pid, &stack, 4096, child_returns, NULL, NULL, 0), -PSYS_EMFILE);
	CHECK_EQUAL(psys_fcntl(0, PSYS_F_GETFD, 0), -PSYS_EBADF);
	CHECK_EQUAL(psys_fcntl(2, PSYS_F_GETFD, 0), -PSYS_EBADF);
	CHECK_EQUAL(psys_fcntl(3, PSYS_F_GETFD, 0), -PSYS_EBADF);
	CHECK_EQUAL(pid, -5);
}

#ifdef PSYS_NR_mmap2
#define NR_MMAP PSYS_NR_mmap2
#else
#define NR_MMAP PSYS_NR_mmap
#endif

TEST(a_failing_mmap_fails_the_spawn)
{
	struct Stack_t stack = { 0 };

	filter_refuse(NR_MMAP, PSYS_ENOMEM);
	check_fails(NULL, &stack, 4096, PSYS_ENOMEM);
}

TEST(a_failing_mprotect_fails_the_spawn)
{
	struct Stack_t stack = { 0 };

	filter_refuse(PSYS_NR_mprotect, PSYS_ENOMEM);
	check_fails(NULL, &stack, 4096, PSYS_ENOMEM);
}

/* The stack is unchanged, and still usable. */
TEST(a_stack_that_cannot_grow_is_kept)
{
	struct Stack_t stack = { 0 };
	int pid = spawn_without_pipe(&stack, child_returns, NULL);
	CHECK_EQUAL(reap(pid), 0);
	struct Stack_t before = stack;

	filter_refuse(NR_MMAP, PSYS_ENOMEM);
	CHECK_EQUAL(aspawn(&pid, &stack, 1 << 20, child_returns, NULL, NULL, 0), -PSYS_ENOMEM);
	CHECK(stack.addr == before.addr && stack.size == before.size);
	pid = spawn_without_pipe(&stack, child_returns, (void *)6);
	CHECK_EQUAL(reap(pid), 6);
}

/* glibc BZ 29109: an error of clone was lost. */
TEST(a_failing_clone_leaves_nothing)
{
	static const int errors[] = { PSYS_EAGAIN, PSYS_ENOMEM, PSYS_ENOSPC };

	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
		int test = fork_child();
		if (!test) {
			struct Stack_t stack = { 0 };
			int pidfd = -5;

			filter_refuse(PSYS_NR_clone3, errors[i]);
			check_fails(NULL, &stack, 4096, errors[i]);
			check_fails(&pidfd, &stack, 4096, errors[i]);
			CHECK_EQUAL(pidfd, -5);
			psys_exit_group(0);
		}
		int status = reap(test);
		if (status == 77)
			psys_exit_group(77);
		CHECK_EQUAL(status, 0);
	}
}

TEST(spawn_is_eperm_if_every_clone_method_is_forbidden)
{
	struct Stack_t stack = { 0 };

	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse(PSYS_NR_clone, PSYS_EPERM);
	check_fails(NULL, &stack, 4096, PSYS_EPERM);
}

TEST(spawn_is_eagain_at_rlimit_nproc)
{
	struct Stack_t stack = { 0 };
	struct psys_rlimit64 none = { 0, 0 };

	/* RLIMIT_NPROC does not apply to root. */
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NPROC, &none, NULL), 0);
	if (psys_setresgid(65534, 65534, 65534) < 0 || psys_setresuid(65534, 65534, 65534) < 0)
		skip("may not become another user");
	struct psys_sigset mask = get_mask();
	int pid = -5, r = aspawn(&pid, &stack, 4096, child_returns, NULL, NULL, 0);
	if (r >= 0)
		skip("RLIMIT_NPROC has no effect here");
	CHECK_EQUAL(r, -PSYS_EAGAIN);
	CHECK_EQUAL(pid, -5);
	CHECK(same_mask(get_mask(), mask));
	CHECK(!have_children());
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
}

/* libuv/libuv#2133: fork needs the same amount of memory again; sharing needs no memory. */
TEST(spawn_needs_no_address_space)
{
	struct Stack_t stack = { 0 };
	struct psys_rlimit64 limit = { 1, 1 };

	int pid = spawn_without_pipe(&stack, child_returns, NULL);
	CHECK_EQUAL(reap(pid), 0);
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_AS, &limit, NULL), 0);
	pid = spawn_without_pipe(&stack, child_returns, (void *)8);
	CHECK_EQUAL(reap(pid), 8);
}

TEST(a_failing_sigprocmask_fails_the_spawn)
{
	struct Stack_t stack = { 0 };
	int pid = -5;

	filter_refuse(PSYS_NR_rt_sigprocmask, PSYS_EPERM);
	CHECK_EQUAL(aspawn(&pid, &stack, 4096, child_returns, NULL, NULL, 0), -PSYS_EPERM);
	CHECK_EQUAL(pid, -5);
	CHECK(!stack.addr && !have_children());
}
