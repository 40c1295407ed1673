/* SPDX-License-Identifier: MIT */
/* Tests what the standard and the manual require of the file actions of posix_spawn(). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "standard_run.h"

TEST(rejects_invalid_descriptors)
{
	file_actions actions;

	CHECK_EQUAL(posix_spawn_file_actions_init(&actions), 0);
	for (int i = 0; i < 2; i++) {
		int fd = i ? (int)sysconf(_SC_OPEN_MAX) : -1;
		CHECK_EQUAL(posix_spawn_file_actions_addclose(&actions, fd), EBADF);
		CHECK_EQUAL(posix_spawn_file_actions_adddup2(&actions, fd, 1), EBADF);
		CHECK_EQUAL(posix_spawn_file_actions_adddup2(&actions, 1, fd), EBADF);
		CHECK_EQUAL(posix_spawn_file_actions_addopen(&actions, fd, "/", O_RDONLY, 0), EBADF);
		CHECK_EQUAL(posix_spawn_file_actions_addclosefrom_np(&actions, fd), EBADF);
		CHECK_EQUAL(posix_spawn_file_actions_addtcsetpgrp_np(&actions, fd), EBADF);
	}
	CHECK_SAYS("echo nothing was added", "nothing was added\n", &actions, NULL);
	CHECK_EQUAL(posix_spawn_file_actions_destroy(&actions), 0);
}

TEST(addopen_opens_a_file)
{
	file_actions actions;
	char path[] = "/dev/null";

	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addopen(&actions, 9, path, O_RDWR, 0), 0);
	memset(path, 'x', sizeof path - 1); /* addopen has copied the path */
	CHECK_EQUAL(posix_spawn_file_actions_addopen(&actions, 0, "/dev/zero", O_RDONLY, 0), 0);
	CHECK_SAYS("stat -L -c %t:%T /proc/self/fd/9 /proc/self/fd/0", "1:3\n1:5\n", &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
}

TEST(addopen_creates_a_file)
{
	file_actions actions;
	char path[] = "/tmp/aspawn-compat-XXXXXX";

	CHECK(close(mkstemp(path)) == 0 && unlink(path) == 0);
	umask(022);
	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addopen(&actions, 5, path, O_WRONLY | O_CREAT | O_EXCL,
						     0666),
		    0);
	CHECK_SAYS("stat -L -c %a /proc/self/fd/5", "644\n", &actions, NULL);
	CHECK_FAILS(EEXIST, "/bin/sh", &actions, NULL);
	CHECK_EQUAL(unlink(path), 0);
	posix_spawn_file_actions_destroy(&actions);
}

TEST(file_actions_are_done_in_their_order)
{
	file_actions actions;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 5, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, 5, 6);
	posix_spawn_file_actions_addclose(&actions, 5);
	posix_spawn_file_actions_addopen(&actions, 5, "/dev/zero", O_RDWR, 0);
	CHECK_SAYS("stat -L -c %t:%T /proc/self/fd/5 /proc/self/fd/6", "1:5\n1:3\n", &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 5, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_addclose(&actions, 5);
	posix_spawn_file_actions_adddup2(&actions, 5, 6);
	CHECK_FAILS(EBADF, "/bin/sh", &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
}

/* The action closes the descriptor first, and needs no free descriptor. */
TEST(addopen_works_at_the_limit_of_descriptors)
{
	struct rlimit limit = { 8, 8 };
	file_actions actions;
	pid_t pid;
	int status;

	if (psys_getenv(environ, "SUITE_EMULATOR"))
		skip("the answer takes a pipe where the memory is a copy");
	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addopen(&actions, 7, "/dev/null", O_RDWR, 0), 0);
	CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	while (fcntl(0, F_DUPFD_CLOEXEC, 3) >= 0)
		continue;
	CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", &actions, NULL, sh_true, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQUAL(posix_spawn(&pid, "/no such file", &actions, NULL, sh_true, environ), ENOENT);
	posix_spawn_file_actions_destroy(&actions);
}

TEST(adddup2_to_itself_clears_cloexec)
{
	file_actions actions;
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	char script[64];

	posix_spawn_file_actions_init(&actions);
	snprintf(script, sizeof script, "test -e /proc/self/fd/%d && echo there || echo closed", fd);
	CHECK_SAYS(script, "closed\n", NULL, NULL);
	posix_spawn_file_actions_adddup2(&actions, fd, fd);
	CHECK_SAYS(script, "there\n", &actions, NULL);
	CHECK_EQUAL(fcntl(fd, F_GETFD), FD_CLOEXEC);
	posix_spawn_file_actions_destroy(&actions);
}

TEST(addclose_ignores_a_closed_descriptor)
{
	file_actions actions;

	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addclose(&actions, 77), 0);
	CHECK_SAYS("echo started", "started\n", &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
}

TEST(addclosefrom_closes_higher_descriptors)
{
	file_actions actions;

	for (int i = 10; i < 200; i++)
		CHECK_EQUAL(dup2(0, i), i);
	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_adddup2(&actions, 1, 5), 0);
	CHECK_EQUAL(posix_spawn_file_actions_addclosefrom_np(&actions, 6), 0);
	CHECK_EQUAL(posix_spawn_file_actions_adddup2(&actions, 2, 12), 0);
	/* Do not use run_script(): the script's pipe would be closed. */
	pid_t pid;
	int status;
	char *argv[] = {
		"sh", "-c",
		"for f in /proc/self/fd/*; do case ${f##*/} in [0125]|12) ;; *) test ! -e $f || exit 1; esac; done; test -e /proc/self/fd/12",
		NULL
	};
	CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQUAL(status, 0);
	CHECK(fcntl(150, F_GETFD) == 0); /* the parent's descriptors are unchanged */
	posix_spawn_file_actions_destroy(&actions);

	/* An earlier action may use a descriptor that closefrom closes. */
	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addopen(&actions, 0, "/proc/self/fd/150", O_RDONLY, 0),
		    0);
	CHECK_EQUAL(posix_spawn_file_actions_addchdir_np(&actions, "/dev/fd"), 0);
	CHECK_EQUAL(posix_spawn_file_actions_addclosefrom_np(&actions, 3), 0);
	CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", &actions, NULL, sh_true, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	posix_spawn_file_actions_destroy(&actions);
}

TEST(addchdir_and_addfchdir_change_the_directory)
{
	file_actions actions;
	int fd = open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addchdir_np(&actions, "/dev"), 0);
	CHECK_EQUAL(posix_spawn_file_actions_addopen(&actions, 0, "zero", O_RDONLY, 0), 0);
	CHECK_SAYS("cd -P . && pwd; stat -L -c %t:%T /proc/self/fd/0", "/dev\n1:5\n", &actions,
		   NULL);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addfchdir_np(&actions, fd), 0);
	CHECK_SAYS("cd -P . && pwd", "/usr\n", &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addchdir_np(&actions, "no such directory"), 0);
	CHECK_FAILS(ENOENT, "/bin/sh", &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addfchdir_np(&actions, 77), 0);
	CHECK_FAILS(EBADF, "/bin/sh", &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
}

TEST(a_relative_path_begins_in_the_new_directory)
{
	file_actions actions;
	pid_t pid;
	int status;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addchdir_np(&actions, "/bin");
	CHECK_EQUAL(posix_spawn(&pid, "./sh", &actions, NULL, sh_true, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK_EQUAL(posix_spawn(&pid, "sh", &actions, NULL, sh_true, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	posix_spawn_file_actions_destroy(&actions);
}

/* The test has its own session, with a controlling terminal. */
TEST(addtcsetpgrp_sets_the_foreground_group)
{
	file_actions actions;
	posix_spawnattr_t attr;
	int primary, terminal, status;
	pid_t pid;

	if (openpty(&primary, &terminal, NULL, NULL, NULL))
		skip("no pseudoterminals here");
	pid_t session = fork();
	if (session == 0) {
		setsid();
		if (ioctl(terminal, TIOCSCTTY, 0))
			_exit(77);
		posix_spawn_file_actions_init(&actions);
		posix_spawnattr_init(&attr);
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
		posix_spawn_file_actions_addtcsetpgrp_np(&actions, terminal);
		CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", &actions, &attr, sh_true, environ), 0);
		_exit(tcgetpgrp(terminal) == pid ? 0 : 1);
	}
	CHECK(waitpid(session, &status, 0) == session);
	if (status == 77 << 8)
		skip("no controlling terminal available");
	CHECK_EQUAL(status, 0);
}

TEST(a_list_may_be_reused_and_long)
{
	file_actions actions;
	pid_t pid;
	int status;

	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < 300; i++)
		CHECK_EQUAL(posix_spawn_file_actions_addopen(&actions, 3 + i % 20, "/dev/null",
							     O_RDWR, 0),
			    0);
	for (int i = 0; i < 10; i++) {
		CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", &actions, NULL, sh_true, environ), 0);
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	}
	posix_spawn_file_actions_destroy(&actions);

	/* Adds an action for each possible descriptor. */
	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < scaled(200000); i++)
		CHECK_EQUAL(posix_spawn_file_actions_addclose(&actions, 3 + i % 1000), 0);
	CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", &actions, NULL, sh_true, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawn_file_actions_init(&actions);
	CHECK_SAYS("echo empty", "empty\n", &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
}
