/* SPDX-License-Identifier: MIT */
/* Tests the drop-in of posix_spawn(): fallbacks, and behaviour beyond the libc's. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite/filter.h"
#include "../suite/sanitizer.h"
#include "newer.h"

static char *const argv[] = { "sh", "-c", "exit 7", NULL };

static void check_spawns(void)
{
	posix_spawn_file_actions_t actions;
	int descriptors = count_descriptors(), status;
	pid_t pid = -5;

	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < 3; i++) {
		CHECK_EQUAL(posix_spawn(&pid, "/no such file", NULL, NULL, argv, environ), ENOENT);
		CHECK_EQUAL(pid, -5);
		CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	}
	CHECK_EQUAL(posix_spawnp(&pid, "sh", &actions, NULL, argv, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 7 << 8);
	posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	CHECK_EQUAL(posix_spawnp(&pid, "sh", &actions, NULL, argv, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 7 << 8);
	posix_spawn_file_actions_adddup2(&actions, 77, 1);
	pid = -5;
	CHECK_EQUAL(posix_spawnp(&pid, "sh", &actions, NULL, argv, environ), EBADF);
	CHECK_EQUAL(pid, -5);
	posix_spawn_file_actions_destroy(&actions);
	CHECK_EQUAL(count_descriptors(), descriptors);
}

TEST(posix_spawn_works)
{
	check_spawns();
}

TEST(posix_spawn_works_without_clone3)
{
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	check_spawns();
}

TEST(posix_spawn_works_in_a_copy_of_the_memory)
{
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_VM, PSYS_EINVAL);
	check_spawns();
}

TEST(posix_spawn_works_without_close_range)
{
	filter_refuse(PSYS_NR_close_range, PSYS_ENOSYS);
	check_spawns();
}

/* ESTALE of the exec must not be taken for the library's own -ESTALE. */
TEST(posix_spawn_returns_estale_of_the_exec)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addchdir_np(&actions, "/");
	filter_refuse(PSYS_NR_chdir, PSYS_ESTALE);
	errno = 0;
	CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ), ESTALE);
	CHECK_EQUAL(errno, ESTALE); /* glibc sets errno too */
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}

/* Some programs zero the object instead of calling init. */
TEST(a_zeroed_list_of_actions_is_empty)
{
	posix_spawn_file_actions_t actions = { 0 };
	int status;
	pid_t pid;

	CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 7 << 8);
}

/* Only the first spawn maps memory, and memory of a large spawn is unmapped. */
TEST(later_spawns_map_nothing)
{
	static char large[1 << 17];
	char *many[8] = { "sh", "-c", "exit 7" };
	int status, mappings = 0;
	pid_t pid;

	psys_memset(large, 'x', sizeof large - 1);
	for (int i = 0; i < 20; i++) {
		for (int j = 3; j < 7; j++)
			many[j] = i == 10 ? large : NULL;
		CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", NULL, NULL, many, environ), 0);
		CHECK(waitpid(pid, &status, 0) == pid && status == 7 << 8);
		if (i == 1)
			mappings = count_mappings();
		if (i > 1 && i < 10)
			CHECK_EQUAL(count_mappings(), mappings);
	}
	CHECK(count_mappings() <= mappings);
}

static void *spawn_at_once(void *barrier)
{
	pid_t pid;
	int status;

	for (int i = 0; i < scaled(40); i++) {
		pthread_barrier_wait(barrier);
		CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ), 0);
		CHECK(waitpid(pid, &status, 0) == pid && status == 7 << 8);
	}
	return NULL;
}

TEST_SECONDS(more_threads_than_stacks_may_spawn, 60)
{
	enum { count = 40 };
	pthread_t threads[count];
	pthread_barrier_t barrier;

	pthread_barrier_init(&barrier, NULL, count);
	for (int i = 0; i < count; i++)
		CHECK_EQUAL(pthread_create(&threads[i], NULL, spawn_at_once, &barrier), 0);
	for (int i = 0; i < count; i++)
		CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
}

/* The children wait within posix_spawn() until let_in() opens the other end. */
static char fifo[64];

static void make_fifo(posix_spawn_file_actions_t *actions)
{
	strcpy(fifo, "/tmp/aspawn-fifo-");
	append_own_name(fifo);
	CHECK_EQUAL(mkfifo(fifo, 0600), 0);
	posix_spawn_file_actions_init(actions);
	posix_spawn_file_actions_addopen(actions, 0, fifo, O_RDONLY, 0);
}

static volatile pid_t stored, seen;

static void look(int signal)
{
	(void)signal;
	seen = stored;
}

static void *let_in_with_a_signal(void *caller)
{
	int fd = open(fifo, O_WRONLY | O_CLOEXEC); /* returns when the child is in its action */

	CHECK(fd >= 0);
	/* The caller of posix_spawn() has all signals blocked. */
	CHECK_EQUAL(pthread_kill(*(pthread_t *)caller, SIGUSR1), 0);
	close(fd);
	return NULL;
}

TEST(the_pid_is_stored_before_a_handler_runs)
{
	posix_spawn_file_actions_t actions;
	pthread_t self = pthread_self(), thread;
	int status;

	if (psys_getenv(environ, "SUITE_EMULATOR"))
		skip("the emulator does not suspend the caller");
	make_fifo(&actions);
	signal(SIGUSR1, look);
	CHECK_EQUAL(pthread_create(&thread, NULL, let_in_with_a_signal, &self), 0);
	CHECK_EQUAL(posix_spawn((pid_t *)&stored, "/bin/sh", &actions, NULL, argv, environ), 0);
	CHECK_EQUAL(pthread_join(thread, NULL), 0);
	CHECK(seen > 0 && seen == stored);
	CHECK(waitpid(stored, &status, 0) == stored && status == 7 << 8);
	unlink(fifo);
}

static void *spawn_through_fifo(void *actions)
{
	pid_t pid;

	CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", actions, NULL, argv, environ), 0);
	return NULL;
}

static void check_a_stack_is_kept(void)
{
	const struct rlimit nothing_more = { 0, 0 };
	pid_t pid;

	CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ), 0);
	CHECK_EQUAL(setrlimit(RLIMIT_AS, &nothing_more), 0);
	CHECK_EQUAL(posix_spawn(&pid, "/no such file", NULL, NULL, argv, environ),
		    ENOENT); /* the error is not ENOMEM */
}

/* All stacks are in use when the process forks. The children on the stacks are the parent's: the
 * forked process can use all copies of the stacks. */
static void check_a_fork_takes_its_stacks_back(void)
{
	enum { count = 16 };
	posix_spawn_file_actions_t actions;
	pthread_t threads[count];
	int status;

	make_fifo(&actions);
	for (int i = 0; i < count; i++)
		CHECK_EQUAL(pthread_create(&threads[i], NULL, spawn_through_fifo, &actions), 0);
	usleep(200000); /* by now probably all are in open(2); otherwise the test shows less */
	pid_t pid = fork();
	if (pid == 0) {
		check_a_stack_is_kept();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQUAL(status, 0);
	int fd = open(fifo, O_WRONLY | O_CLOEXEC);
	for (int i = 0; i < count; i++)
		CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
	close(fd);
	while (wait(NULL) > 0)
		continue;
	unlink(fifo);
}

TEST(a_forked_process_may_use_all_stacks)
{
	check_a_fork_takes_its_stacks_back();
}

/* The copies of the stacks are busy without MADV_WIPEONFORK. */
TEST(a_forked_process_may_use_all_stacks_without_wipeonfork)
{
	filter_refuse(PSYS_NR_madvise, PSYS_EINVAL);
	check_a_fork_takes_its_stacks_back();
}

/* Cancels at any instruction, but never within the call: the child would be lost. */
static int spawned;

static void *spawn_for_ever(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (pid_t pid;;)
		if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) == 0)
			__atomic_add_fetch(&spawned, 1, __ATOMIC_RELAXED);
	return arg;
}

TEST_SECONDS(cancellation_does_not_interrupt_posix_spawn, 60)
{
	if (HAS_ASAN)
		skip("ASan takes what a cancelled thread leaves on its stack for an overflow");
	if (psys_getenv(environ, "SUITE_EMULATOR"))
		skip("the emulator dies of such signals");
	int reaped = 0, descriptors = count_descriptors();

	for (int i = 0; i < scaled(100); i++) {
		pthread_t thread;
		void *result;
		CHECK_EQUAL(pthread_create(&thread, NULL, spawn_for_ever, NULL), 0);
		usleep((unsigned)i * 20);
		CHECK_EQUAL(pthread_cancel(thread), 0);
		CHECK_EQUAL(pthread_join(thread, &result), 0);
		CHECK(result == PTHREAD_CANCELED);
		while (waitpid(-1, NULL, 0) > 0)
			reaped++;
	}
	CHECK(reaped >= spawned);
	CHECK_EQUAL(count_descriptors(), descriptors);
}

/* The spawn must share memory: the process may not copy its memory. */
TEST(resetids_without_a_difference_copies_no_memory)
{
	posix_spawnattr_t attr;
	int status;
	pid_t pid;

	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_RESETIDS);
	filter_refuse_flags_without(PSYS_NR_clone, clone_flags, 0, PSYS_CLONE_VM, PSYS_EPERM);
	CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", NULL, &attr, argv, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 7 << 8);
	posix_spawnattr_destroy(&attr);
}

TEST(pidfd_spawn_returns_a_pidfd)
{
	siginfo_t info;
	int pidfd = -5, descriptors = count_descriptors();

	CHECK_EQUAL(pidfd_spawn(&pidfd, "/no such file", NULL, NULL, argv, environ), ENOENT);
	CHECK_EQUAL(pidfd_spawn(&pidfd, "sh", NULL, NULL, argv, environ), ENOENT);
	CHECK_EQUAL(pidfd, -5);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK_EQUAL(pidfd_spawnp(&pidfd, "sh", NULL, NULL, argv, environ), 0);
	CHECK_EQUAL(fcntl(pidfd, F_GETFD), FD_CLOEXEC);
	struct pollfd poll_one = { pidfd, POLLIN, 0 };
	CHECK_EQUAL(poll(&poll_one, 1, -1), 1);
	CHECK_EQUAL(waitid((idtype_t)3 /* P_PIDFD */, (id_t)pidfd, &info, WEXITED), 0);
	CHECK_EQUAL(info.si_status, 7);
	close(pidfd);

	struct rlimit none = { 0, 0 };
	CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
	CHECK_EQUAL(pidfd_spawn(&pidfd, "/bin/sh", NULL, NULL, argv, environ), EMFILE);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}

/* On an old kernel the call fails before the program runs, whose last act would be seen. */
TEST(pidfd_spawn_starts_nothing_where_no_wait_takes_a_pidfd)
{
	char file[] = "/tmp/aspawn-compat-XXXXXX", *const remove[] = { "rm", file, NULL };
	int pidfd = -5, made = mkstemp(file);

	CHECK(made >= 0);
	filter_refuse(PSYS_NR_waitid, PSYS_EINVAL);
	CHECK_EQUAL(pidfd_spawnp(&pidfd, "rm", NULL, NULL, remove, environ), ENOSYS);
	CHECK_EQUAL(pidfd, -5);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
	CHECK_EQUAL(unlink(file), 0);
	close(made);
}

TEST(pidfd_spawn_fails_without_pidfds)
{
	int pidfd = -5;

	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_PIDFD, PSYS_EINVAL);
	filter_refuse(PSYS_NR_pidfd_open, PSYS_ENOSYS);
	CHECK_EQUAL(pidfd_spawn(&pidfd, "/bin/sh", NULL, NULL, argv, environ), ENOSYS);
	CHECK_EQUAL(pidfd, -5);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}
