/* SPDX-License-Identifier: MIT */
/* Tests of the pipe: messages, and the end of file after the child's exec or exit */
#include "harness.h"

static bool is_readable(int fd, int timeout_ms)
{
	struct psys_timespec timeout = { timeout_ms / 1000, timeout_ms % 1000 * INT64_C(1000000) };
	struct psys_pollfd poll = { fd, PSYS_POLLIN, 0 };

	return psys_ppoll(&poll, 1, &timeout, NULL, PSYS_SIGSET_SIZE) == 1;
}

TEST(end_of_file_at_exec)
{
	struct Stack_t stack = { 0 };
	int pid, fd = spawn(&stack, child_execs_role, "lingers", &pid);
	char byte;

	CHECK_EQUAL(psys_fcntl(fd, PSYS_F_GETFD, 0), PSYS_FD_CLOEXEC);
	CHECK_EQUAL(psys_read(fd, &byte, 1), 0);
	kill_lingering(pid);
}

TEST(end_of_file_at_exit)
{
	struct Stack_t stack = { 0 };
	int pid, fd = spawn(&stack, child_returns, (void *)3, &pid);
	char byte;

	CHECK_EQUAL(psys_read(fd, &byte, 1), 0);
	CHECK_EQUAL(reap(pid), 3);
}

static ASPAWN_CHILD int child_sends(void *text, int fd, void *mask, void *data, size_t length)
{
	(void)mask, (void)data, (void)length;
	psys_write(fd, text, psys_strlen(text));
	return 0;
}

TEST(the_parent_reads_the_childs_message)
{
	struct Stack_t stack = { 0 };
	char text[16] = { 0 };
	int pid, fd = spawn(&stack, child_sends, "message", &pid);

	CHECK_EQUAL(psys_read(fd, text, sizeof text), 7);
	CHECK_EQUAL(psys_strcmp(text, "message"), 0);
	CHECK_EQUAL(psys_read(fd, text, sizeof text), 0);
	CHECK_EQUAL(reap(pid), 0);
}

/* In sheredom/subprocess.h#118 the pipe on 0 to 2 was lost to the child's streams. */
static ASPAWN_CHILD int child_replaces_streams(void *arg, int fd, void *mask, void *data,
					       size_t length)
{
	(void)arg, (void)mask, (void)data, (void)length;
	if (fd < 3)
		return 1;
	for (int i = 0; i < 3; i++) {
		int null = psys_open("/", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
		if (null < 0 || (null != i && psys_dup2(null, i) < 0))
			return 2;
	}
	return psys_write(fd, "still there", 11) == 11 ? 0 : 3;
}

TEST(the_pipe_avoids_closed_standard_streams)
{
	for (int closed = 1; closed < 8; closed++) {
		struct Stack_t stack = { 0 };
		char text[16];
		int pid, test = fork_child();

		if (test) {
			CHECK_EQUAL(reap(test), 0);
			continue;
		}
		for (int i = 0; i < 3; i++)
			if (closed & 1 << i)
				psys_close(i);
		int before = count_descriptors();
		int fd = spawn(&stack, child_replaces_streams, NULL, &pid);
		CHECK(fd > 2);
		CHECK_EQUAL(psys_fcntl(fd, PSYS_F_GETFD, 0), PSYS_FD_CLOEXEC);
		CHECK_EQUAL(psys_read(fd, text, sizeof text), 11);
		CHECK_EQUAL(reap(pid), 0);
		psys_close(fd);
		CHECK_EQUAL(count_descriptors(), before);
		psys_exit_group(0);
	}
}

/*
 * openjdk/jdk#13956: a helper process held the read end of its own pipe. Here the parent dies while
 * the child waits: the child's write then fails, as no other process has the read end.
 */
static struct orphan {
	int child_waits, parent_gone, result;
} * orphan;

static ASPAWN_CHILD int child_writes_after_parent(void *arg, int fd, void *mask, void *data,
						  size_t length)
{
	(void)arg, (void)mask, (void)data, (void)length;
	gate_open(&orphan->child_waits);
	gate_wait(&orphan->parent_gone);
	__atomic_store_n(&orphan->result, (int)psys_write(fd, "x", 1), __ATOMIC_RELEASE);
	return 0;
}

TEST(a_parent_killed_before_the_exec_leaves_no_reader)
{
	struct Stack_t stack = { 0 };
	int pid;

	orphan = shared_page();
	int parent = fork_child();
	if (!parent) {
		spawn(&stack, child_writes_after_parent, NULL, &pid);
		gate_wait(&orphan->parent_gone);
		sleep_ms(600000);
	}
	gate_wait(&orphan->child_waits);
	psys_kill(parent, PSYS_SIGKILL);
	CHECK_EQUAL(reap(parent), 128 + PSYS_SIGKILL);
	gate_open(&orphan->parent_gone);
	while (!__atomic_load_n(&orphan->result, __ATOMIC_ACQUIRE))
		sleep_ms(1);
	CHECK_EQUAL(orphan->result, -PSYS_EPIPE); /* SIGPIPE is blocked */
}

/* In musl 75990040 the caller's dup2 replaced the internal descriptor. */
static ASPAWN_CHILD int child_overwrites_pipe(void *arg, int fd, void *mask, void *data,
					      size_t length)
{
	(void)arg, (void)mask, (void)data, (void)length;
	psys_dup2(2, fd);
	sleep_ms(100);
	return 9;
}

TEST(overwriting_the_pipe_is_an_end_of_file)
{
	struct Stack_t stack = { 0 };
	char byte;
	int pid, fd = spawn(&stack, child_overwrites_pipe, NULL, &pid);

	CHECK_EQUAL(psys_read(fd, &byte, 1), 0);
	CHECK_EQUAL(reap(pid), 9);
}

/* sheredom/subprocess.h#115, popen-noshell#7: a second child held the first's pipe. */
ROLE(lists_descriptors)
{
	(void)argc, (void)argv;
	return count_descriptors();
}

TEST(the_spawned_program_inherits_no_pipe)
{
	enum { others = 5 };
	struct Stack_t stacks[others + 1] = { { 0 } };
	int pids[others], gate = 0, open_before = 0, pid;

	if (!have_proc() || !memory_is_shared())
		skip("needs /proc and shared memory");
	for (int fd = 0; fd < 1000; fd++)
		open_before += psys_fcntl(fd, PSYS_F_GETFD, 0) == 0; /* not CLOEXEC */
	for (int i = 0; i < others; i++)
		spawn(&stacks[i], child_waits, &gate, &pids[i]);
	spawn(&stacks[others], child_execs_role, "lists_descriptors", &pid);
	CHECK_EQUAL(reap(pid), open_before);
	gate_open(&gate);
	for (int i = 0; i < others; i++)
		CHECK_EQUAL(reap(pids[i]), 0);
}

TEST(no_pipe_opens_no_descriptor)
{
	struct Stack_t stack = { 0 };
	int before = count_descriptors();
	int pid = spawn_without_pipe(&stack, child_returns, NULL);

	CHECK_EQUAL(count_descriptors(), before);
	CHECK_EQUAL(reap(pid), 0);
}

/* If the pipe is full the child waits for the reader; the parent does not wait. */
static ASPAWN_CHILD int child_sends_much(void *arg, int fd, void *mask, void *data, size_t length)
{
	char block[1024];
	long sent = 0;

	(void)arg, (void)mask, (void)data, (void)length;
	psys_memset(block, 'm', sizeof block);
	while (sent < 300 * 1024) {
		long n = psys_write(fd, block, sizeof block);
		if (n < 0)
			return 1;
		sent += n;
	}
	return 0;
}

TEST(a_full_pipe_blocks_only_the_child)
{
	static char block[4096];
	struct Stack_t stack = { 0 };
	long got, total = 0;
	int pid, fd = spawn(&stack, child_sends_much, NULL, &pid);

	CHECK(is_readable(fd, LONG));
	while ((got = psys_read(fd, block, sizeof block)) > 0)
		total += got;
	CHECK_EQUAL(total, 300 * 1024);
	CHECK_EQUAL(reap(pid), 0);
}
