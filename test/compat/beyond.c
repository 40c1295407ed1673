/* SPDX-License-Identifier: MIT */
/* Here the drop-ins follow the standard or promise more, and a glibc does not. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite/filter.h"
#include "../suite/sanitizer.h"

/* The drop-in rejects a negative descriptor at once. fchdir() rejects another closed descriptor. */
TEST(addfchdir_rejects_negative_descriptors)
{
	char *const argv[] = { "true", NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addfchdir_np(&actions, -1), EBADF);
	CHECK_EQUAL(posix_spawn_file_actions_addfchdir_np(&actions, (int)sysconf(_SC_OPEN_MAX)), 0);
	CHECK_EQUAL(posix_spawn(&pid, "/bin/true", &actions, NULL, argv, environ), EBADF);
	posix_spawn_file_actions_destroy(&actions);
}

/* A newer libc may have more flags: a spawn must not ignore an unknown flag. */
TEST(posix_spawn_rejects_unknown_flags)
{
	char *const argv[] = { "true", NULL };
	posix_spawnattr_t attr;
	pid_t pid = -5;

	posix_spawnattr_init(&attr);
	attr.__flags = 0x4000;
	CHECK_EQUAL(posix_spawn(&pid, "/bin/true", NULL, &attr, argv, environ), EINVAL);
	CHECK_EQUAL(pid, -5);
}

/* The file is closed when the program is executed. */
TEST(addopen_keeps_o_cloexec)
{
	char *const argv[] = { "sh", "-c", "test ! -e /proc/self/fd/9", NULL };
	posix_spawn_file_actions_t actions;
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(
		posix_spawn_file_actions_addopen(&actions, 9, "/dev/null", O_RDWR | O_CLOEXEC, 0),
		0);
	CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	posix_spawn_file_actions_destroy(&actions);
}

/* system() returns -1, not the status of a shell. */
TEST(system_is_minus_one_if_no_process_can_be_made)
{
	struct rlimit none = { 0, 0 };

	if (geteuid() || psys_getenv(environ, "SUITE_EMULATOR"))
		skip("not root, which no limit holds, or not a process of its own");
	CHECK(setrlimit(RLIMIT_NPROC, &none) == 0 && setuid(1000) == 0);
	for (int i = 0; i < 2; i++) {
		errno = 0;
		CHECK_EQUAL(system(i ? "/bin/true" : "exit 3"), -1);
		CHECK_EQUAL(errno, EAGAIN);
		if (HAS_ASAN)
			continue; /* with ASan popen() is the libc's */
		errno = 0;
		CHECK(!popen(i ? "/bin/true" : "exit 3", "r"));
		CHECK_EQUAL(errno, EAGAIN);
	}
}

/* The child reports by a pipe here. */
TEST(system_is_minus_one_without_a_descriptor_for_its_pipe)
{
	struct rlimit none = { 0, 0 };

	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
	for (int i = 0; i < 2; i++) {
		errno = 0;
		CHECK_EQUAL(system(i ? "/bin/true" : "exit 3"), -1);
		CHECK_EQUAL(errno, EMFILE);
	}
}

TEST(system_and_popen_fail_with_enomem)
{
	struct rlimit none = { 4096, 4096 };

	if (HAS_ASAN || psys_getenv(environ, "SUITE_EMULATOR"))
		skip("takes memory of its own");
	CHECK_EQUAL(setrlimit(RLIMIT_AS, &none), 0);
	for (int i = 0; i < 2; i++) {
		errno = 0;
		CHECK_EQUAL(system(i ? "/bin/true" : "exit 3"), -1);
		CHECK_EQUAL(errno, ENOMEM);
		errno = 0;
		CHECK(!popen(i ? "/bin/true" : "exit 3", "r"));
		CHECK_EQUAL(errno, ENOMEM);
	}
}

static __attribute__((noinline)) void leave_ones_on_the_stack(void)
{
	volatile char frame[8192];

	for (size_t i = 0; i < sizeof frame; i++)
		frame[i] = -1;
}

static struct psys_sigset mask_now(void)
{
	struct psys_sigset mask;

	CHECK_EQUAL(psys_rt_sigprocmask(PSYS_SIG_SETMASK, NULL, &mask, PSYS_SIGSET_SIZE), 0);
	return mask;
}

/* The old mask is then unknown: no call may use the mask. */
TEST(calls_fail_if_signals_cannot_be_blocked)
{
	const struct psys_sigset before = mask_now();
	char *const argv[] = { "true", NULL };
	pid_t pid;

	filter_refuse_flags_without(PSYS_NR_rt_sigprocmask, 0, 0, SIG_SETMASK,
				    PSYS_EPERM); /* SIG_BLOCK */
	for (int i = 0; i < 4; i++) {
		const char *command = i % 2 ? "/bin/true" : "exit 0";
		if (i == 2)
			filter_refuse(PSYS_NR_rt_sigprocmask, PSYS_EPERM); /* all others too */
		leave_ones_on_the_stack();
		errno = 0;
		int r = system(command);
		CHECK(r == -1 && errno == EPERM);
		CHECK(i >= 2 || same_mask(mask_now(), before));
		CHECK(signal(SIGINT, SIG_DFL) == SIG_DFL);
		leave_ones_on_the_stack();
		if (HAS_ASAN)
			continue; /* with ASan popen() is the libc's */
		errno = 0;
		FILE *file = popen(command, "r");
		CHECK(!file && errno == EPERM);
	}
	leave_ones_on_the_stack();
	CHECK_EQUAL(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ), EPERM);
}

/* The handler turns the call into ENOSYS: then the library tries another clone. */
TEST(a_filter_that_traps_clone3_does_not_kill_the_caller)
{
	char *const argv[] = { "true", NULL };
	const int *foreign = filter_trap_to_enosys(PSYS_NR_clone3);
	pid_t pid;

	CHECK_EQUAL(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ), 0);
	CHECK_EQUAL(reap(pid), 0);
	CHECK_EQUAL(system("exit 3"), 3 << 8);
	CHECK_EQUAL(*foreign, 0);
	if (HAS_ASAN)
		skip("its popen() is the libc's");
	FILE *file = popen("exit 4", "r");
	CHECK(file && pclose(file) == 4 << 8);
	CHECK_EQUAL(*foreign, 0);
}

/* popen() sets errno. */
TEST(popen_fails_without_a_shell)
{
	char directory[] = "/tmp/aspawn-compat-XXXXXX";

	if (psys_getenv(environ, "SUITE_EMULATOR"))
		skip("the emulator would be missing too");
	if (HAS_ASAN)
		skip("its popen() is the libc's");
	CHECK(mkdtemp(directory) && chdir(directory) == 0 && rmdir(directory) == 0);
	if (chroot("."))
		skip("may not change the root");
	errno = 0;
	CHECK(!popen("exit 3", "r"));
	CHECK_EQUAL(errno, ENOENT);
}

/* errno also stays beside a stream closed by fclose(), and with unread output. In the latter case
 * fclose() of a glibc newer than 2.41 leaves ESPIPE. */
TEST(popen_and_pclose_keep_errno_on_success)
{
	static const char *const commands[] = { "printenv PATH NONE",
						"printenv PATH NONE && :", "grep -q x",
						"grep -q x && :" };
	FILE *closed = popen("exit 0", "r");
	char byte;

	CHECK(closed && fclose(closed) == 0);
	CHECK_EQUAL(setenv("PATH", "/no such directory:/nor this:/bin:/usr/bin", 1), 0);
	errno = E2BIG;
	for (int i = 0; i < 4; i++) {
		FILE *file = popen(commands[i], i < 2 ? "r" : "w");
		CHECK(file && errno == E2BIG);
		CHECK(i >= 2 || (fread(&byte, 1, 1, file) == 1 && byte == '/'));
		CHECK_EQUAL(pclose(file), 1 << 8);
		CHECK_EQUAL(errno, E2BIG);
	}
}

/* The spawn returns all errors, and stores no error in errno. A signal may interrupt a wait. */
TEST(posix_spawn_keeps_errno_on_success)
{
	char *const argv[] = { "sh", "-c", "exit 3", NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int status;
	pid_t pid;

	CHECK_EQUAL(setenv("PATH", "/no such directory:/nor this:/bin:/usr/bin", 1), 0);
	errno = E2BIG;
	CHECK(posix_spawn_file_actions_init(&actions) == 0 && posix_spawnattr_init(&attr) == 0);
	for (int i = 0; i < 40; i++)
		CHECK_EQUAL(posix_spawn_file_actions_addopen(&actions, 9, "/dev/null", O_RDWR, 0),
			    0);
	CHECK_EQUAL(posix_spawn_file_actions_adddup2(&actions, 9, 8), 0);
	CHECK_EQUAL(posix_spawn_file_actions_addclose(&actions, 99), 0);
	CHECK_EQUAL(posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP |
							    POSIX_SPAWN_RESETIDS),
		    0);
	CHECK_EQUAL(posix_spawnp(&pid, "sh", &actions, &attr, argv, environ), 0);
	CHECK_EQUAL(posix_spawn_file_actions_destroy(&actions), 0);
	CHECK_EQUAL(errno, E2BIG);
	CHECK(waitpid(pid, &status, 0) == pid && status == 3 << 8);
	CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ), 0);
	CHECK_EQUAL(errno, E2BIG);
	CHECK(waitpid(pid, &status, 0) == pid && status == 3 << 8);
}

static void do_nothing(int signal)
{
	(void)signal;
}

TEST(interrupted_waits_keep_errno)
{
	static const char command[] =
		"for i in 1 2 3 4 5; do kill -ALRM $PPID; sleep 0.02; done; exit 3";
	struct sigaction action = { .sa_handler = do_nothing };

	sigaction(SIGALRM, &action, NULL);
	errno = E2BIG;
	CHECK_EQUAL(system(command), 3 << 8);
	CHECK_EQUAL(errno, E2BIG);
	if (HAS_ASAN)
		return; /* with ASan popen() is the libc's */
	FILE *file = popen(command, "r");
	CHECK(file);
	CHECK_EQUAL(pclose(file), 3 << 8);
	CHECK_EQUAL(errno, E2BIG);
}
