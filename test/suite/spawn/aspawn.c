/* SPDX-License-Identifier: MIT */
/* Tests of what the child and the parent get from a spawn */
#include "harness.h"

TEST(what_fn_returns_is_the_exit_status)
{
	struct Stack_t stack = { 0 };

	for (intptr_t status = 0; status < 256; status += 51) {
		int pid = spawn_without_pipe(&stack, child_returns, (void *)status);
		CHECK_EQUAL(reap(pid), status);
	}
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
	CHECK(!stack.addr && !stack.size);
}

/* Checks the contents of the copy, and that the copy is not the original. */
static ASPAWN_CHILD int child_checks_data(void *arg, int fd, void *mask, void *data, size_t length)
{
	const unsigned char *bytes = data;

	(void)mask;
	if (address_of(data) % 16 || data == arg)
		return 1;
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != (unsigned char)(i * 7 + 3))
			return 2;
	if (fd < 0)
		return 3;
	return psys_fcntl(fd, PSYS_F_GETFD, 0) == PSYS_FD_CLOEXEC ? 0 : 4;
}

TEST(user_data_is_copied_and_aligned)
{
	static unsigned char data[200000], zero[200000];
	struct Stack_t stack = { 0 };
	static const size_t lengths[] = { 0, 1, 15, 16, 17, 4096, 65536, 199999 };

	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		int pid;

		for (size_t at = 0; at < lengths[i]; at++)
			data[at + 1] = (unsigned char)(at * 7 + 3);
		int fd = aspawn(&pid, &stack, 8192, child_checks_data, data, data + 1, lengths[i]);
		CHECK(fd >= 0);
		psys_memcpy(data, zero, sizeof data); /* the caller may reuse its data */
		CHECK_EQUAL(reap(pid), 0);
		psys_close(fd);
	}
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
}

static ASPAWN_CHILD int child_uses_stack(void *arg, int fd, void *mask, void *data, size_t length)
{
	volatile char room[60000];

	(void)arg, (void)fd, (void)mask, (void)data, (void)length;
	for (size_t i = 0; i < sizeof room; i += 512)
		room[i] = 1;
	return room[512];
}

TEST(the_reserved_stack_is_usable)
{
	struct Stack_t stack = { 0 };
	char data[100] = { 0 };
	int pid;
	int fd = aspawn(&pid, &stack, 61440, child_uses_stack, NULL, data, sizeof data);

	CHECK(fd >= 0);
	CHECK_EQUAL(reap(pid), 1);
}

/* Vector instructions fault on a stack that is not aligned. */
static ASPAWN_CHILD int child_uses_vectors(void *arg, int fd, void *mask, void *data, size_t length)
{
	typedef int vector __attribute__((vector_size(16)));
	volatile vector sum = { 1, 2, 3, 4 };
	volatile vector *loaded = data;

	(void)arg, (void)fd, (void)mask, (void)length;
	sum += *loaded;
	return sum[0] + sum[3] + (address_of(&sum) % __alignof__(vector) ? 100 : 0);
}

TEST(callbacks_may_use_vector_instructions)
{
	struct Stack_t stack = { 0 };
	int data[4] = { 10, 20, 30, 40 }, pid;

	for (size_t reserved = 1000; reserved < 1032; reserved++) {
		int fd = aspawn(&pid, &stack, reserved, child_uses_vectors, NULL, data, sizeof data);
		CHECK(fd >= 0);
		CHECK_EQUAL(reap(pid), 55);
		psys_close(fd);
	}
}

TEST(the_spawned_program_runs)
{
	struct Stack_t stack = { 0 };
	int pid, fd = spawn(&stack, child_execs_role, "exit_7", &pid);
	int error;

	CHECK_EQUAL(psys_read(fd, &error, sizeof error), 0); /* no error */
	CHECK_EQUAL(reap(pid), 7);
}

static ASPAWN_CHILD int child_execs_nothing(void *arg, int fd, void *mask, void *data, size_t length)
{
	char *argv[] = { NULL };
	int error = psys_execve(arg, argv, argv);

	(void)mask, (void)data, (void)length;
	psys_write(fd, &error, sizeof error);
	return 127;
}

TEST(a_missing_program_is_reported_through_the_pipe)
{
	struct Stack_t stack = { 0 };
	int pid, error = 0;
	int fd = spawn(&stack, child_execs_nothing, "/no such program", &pid);

	CHECK_EQUAL(psys_read(fd, &error, sizeof error), sizeof error);
	CHECK_EQUAL(error, -PSYS_ENOENT);
	CHECK_EQUAL(reap(pid), 127);
}

/* The child waits for the parent, which therefore was not suspended. */
TEST(the_parent_is_not_suspended)
{
	struct Stack_t stack = { 0 };
	int gate = 0;

	if (!memory_is_shared())
		skip("memory is not shared here");
	int pid = spawn_without_pipe(&stack, child_waits, &gate);
	CHECK_EQUAL(aspawn_stack_busy(&stack), 1); /* it cannot have ended */
	gate_open(&gate);
	CHECK_EQUAL(reap(pid), 0);
}

/* In python/cpython#104372 a slow exec or open froze every thread of the parent. */
static ASPAWN_CHILD int child_opens_fifo(void *path, int fd, void *mask, void *data, size_t length)
{
	char byte = 0;
	int fifo = psys_open(path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);

	(void)fd, (void)mask, (void)data, (void)length;
	return fifo >= 0 && psys_read(fifo, &byte, 1) == 1 ? byte : 1;
}

TEST(a_callback_that_blocks_in_open_does_not_block_the_parent)
{
	struct Stack_t stack = { 0 };
	char path[64] = "/tmp/aspawn-fifo-";
	int pid;

	if (!memory_is_shared())
		skip("memory is not shared here");
	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	append_own_name(path);
	CHECK_EQUAL(psys_mknodat(PSYS_AT_FDCWD, path, PSYS_S_IFIFO | 0600, 0), 0);
	int fd = spawn(&stack, child_opens_fifo, path, &pid);
	/* Only the parent opens the other end. */
	int fifo = psys_open(path, PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0);
	CHECK(fifo >= 0);
	CHECK_EQUAL(psys_write(fifo, "A", 1), 1);
	CHECK_EQUAL(reap(pid), 'A');
	psys_close(fd);
	psys_unlinkat(PSYS_AT_FDCWD, path, 0);
}

TEST(the_pidfd_refers_to_the_child)
{
	struct Stack_t stack = { 0 };
	int gate = 0, pidfd = -2, pid = 0;

	CHECK_EQUAL(aspawn_with(ASPAWN_WITH_NO_PIPE, &pidfd, &pid, &stack, 4096, child_returns,
				(void *)5, NULL, 0),
		    0);
	if (pidfd == -1) {
		CHECK_EQUAL(psys_pidfd_open(psys_getpid(), 0), -PSYS_ENOSYS);
		CHECK_EQUAL(reap(pid), 5);
		skip("no pidfd here");
	}
	CHECK(pidfd >= 0);
	CHECK_EQUAL(psys_fcntl(pidfd, PSYS_F_GETFD, 0), PSYS_FD_CLOEXEC);
	struct psys_pollfd poll = { pidfd, PSYS_POLLIN, 0 };
	CHECK_EQUAL(psys_ppoll(&poll, 1, NULL, NULL, PSYS_SIGSET_SIZE), 1); /* it ended */
	CHECK_EQUAL(reap(pid), 5);
	psys_close(pidfd);

	if (!memory_is_shared())
		return;
	CHECK_EQUAL(aspawn_with(ASPAWN_WITH_NO_PIPE, &pidfd, &pid, &stack, 4096, child_waits, &gate,
				NULL, 0),
		    0);
	CHECK_EQUAL(psys_pidfd_send_signal(pidfd, PSYS_SIGKILL, NULL, 0), 0);
	CHECK_EQUAL(reap(pid), 128 + PSYS_SIGKILL);
	CHECK_EQUAL(psys_pidfd_send_signal(pidfd, PSYS_SIGKILL, NULL, 0), -PSYS_ESRCH);
	psys_close(pidfd);
}

TEST(with_suspension_the_parent_goes_on_after_the_exec)
{
	struct Stack_t stack = { 0 };
	int pid, fd = aspawn_with(ASPAWN_WITH_SUSPENSION, NULL, &pid, &stack, 16384,
				  child_execs_role, "lingers", NULL, 0);

	CHECK(fd >= 0);
	CHECK_EQUAL(aspawn_stack_busy(&stack), 0);
	kill_lingering(pid);
}

static ASPAWN_CHILD int child_spawns(void *arg, int fd, void *mask, void *data, size_t length)
{
	struct Stack_t stack = { 0 };
	int pid, status = -1;

	(void)arg, (void)fd, (void)mask, (void)data, (void)length;
	int pipe = aspawn(&pid, &stack, 16384, child_execs_role, "exit_7", NULL, 0);
	if (pipe < 0)
		return 100;
	while (psys_wait4(pid, &status, 0, NULL) == -PSYS_EINTR)
		continue;
	return aspawn_stack_release(&stack) ? 101 : status >> 8;
}

TEST(a_child_may_spawn_a_child)
{
	struct Stack_t stack = { 0 };
	int pid = spawn_without_pipe(&stack, child_spawns, NULL);

	CHECK_EQUAL(reap(pid), 7);
}
