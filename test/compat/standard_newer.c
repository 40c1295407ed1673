/* SPDX-License-Identifier: MIT */
/*
 * Tests extensions of glibc 2.39: pidfd_spawn(), which returns a pidfd, and POSIX_SPAWN_SETCGROUP.
 */
#define _GNU_SOURCE
#include <features.h>

#include "../suite/harness.h"

#ifndef __GLIBC_PREREQ /* another libc */
#define __GLIBC_PREREQ(major, minor) 0
#endif
#if __GLIBC_PREREQ(2, 39)
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

static char *const exits_with_7[] = { "sh", "-c", "exit 7", NULL };

TEST(the_running_libc_matches_the_headers)
{
	char version[16];

	snprintf(version, sizeof version, "%d.%d", __GLIBC__, __GLIBC_MINOR__);
	CHECK(!strcmp(gnu_get_libc_version(), version));
}

TEST(pidfd_spawn_and_pidfd_spawnp_run_programs)
{
	for (int i = 0; i < 2; i++) {
		siginfo_t info = { 0 };
		int pidfd = -5;
		int error = i ? pidfd_spawnp(&pidfd, "sh", NULL, NULL, exits_with_7, environ) :
				pidfd_spawn(&pidfd, "/bin/sh", NULL, NULL, exits_with_7, environ);
		CHECK_EQUAL(error, 0);
		CHECK_EQUAL(fcntl(pidfd, F_GETFD), FD_CLOEXEC);
		pid_t pid = pidfd_getpid(pidfd);
		CHECK(pid > 0);
		struct pollfd poll_one = { pidfd, POLLIN, 0 };
		CHECK_EQUAL(poll(&poll_one, 1, -1), 1);
		CHECK_EQUAL(waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED), 0);
		CHECK(info.si_pid == pid && info.si_code == CLD_EXITED && info.si_status == 7);
		CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
		close(pidfd);
	}
}

TEST(pidfd_spawn_has_attributes_and_actions)
{
	char *const argv[] = {
		"sh", "-c",
		"read word; test $word = words && test $(cut -d' ' -f5 /proc/$$/stat) = $$", NULL
	};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	siginfo_t info;
	int pidfd, ends[2];

	CHECK(pipe2(ends, O_CLOEXEC) == 0 && write(ends[1], "words\n", 6) == 6);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	CHECK_EQUAL(pidfd_spawn(&pidfd, "/bin/sh", &actions, &attr, argv, environ), 0);
	CHECK_EQUAL(waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED), 0);
	CHECK_EQUAL(info.si_status, 0);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
}

/* After an error there is no child, and the pidfd is unchanged. */
TEST(pidfd_spawn_reports_errors)
{
	posix_spawn_file_actions_t actions;
	int pidfd = -5, descriptors = count_descriptors();

	CHECK_EQUAL(pidfd_spawn(&pidfd, "/no such file", NULL, NULL, exits_with_7, environ), ENOENT);
	CHECK_EQUAL(pidfd_spawn(&pidfd, "sh", NULL, NULL, exits_with_7, environ), ENOENT);
	CHECK_EQUAL(pidfd_spawnp(&pidfd, "no such file", NULL, NULL, exits_with_7, environ), ENOENT);
	CHECK_EQUAL(pidfd_spawnp(&pidfd, "/tmp", NULL, NULL, exits_with_7, environ), EACCES);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, 77, 0);
	CHECK_EQUAL(pidfd_spawnp(&pidfd, "sh", &actions, NULL, exits_with_7, environ), EBADF);
	posix_spawn_file_actions_destroy(&actions);
	CHECK_EQUAL(pidfd, -5);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

TEST(setcgroup_begins_in_the_cgroup)
{
	char *const argv[] = { "grep", "-q", "^0::.*/aspawn-test-", "/proc/self/cgroup", NULL };
	posix_spawnattr_t attr;
	struct cgroup group;
	int status, pidfd, cgroup = -5;
	siginfo_t info;
	pid_t pid;

	make_cgroup(&group);
	CHECK_EQUAL(posix_spawnattr_init(&attr), 0);
	CHECK_EQUAL(posix_spawnattr_setcgroup_np(&attr, group.fd), 0);
	CHECK(posix_spawnattr_getcgroup_np(&attr, &cgroup) == 0 && cgroup == group.fd);
	CHECK_EQUAL(posix_spawnp(&pid, "grep", NULL, &attr, argv, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 1 << 8); /* the flag is not set */
	CHECK_EQUAL(posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETCGROUP), 0);
	CHECK_EQUAL(posix_spawnp(&pid, "grep", NULL, &attr, argv, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK_EQUAL(pidfd_spawnp(&pidfd, "grep", NULL, &attr, argv, environ), 0);
	CHECK_EQUAL(waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED), 0);
	CHECK_EQUAL(info.si_status, 0);
	posix_spawnattr_destroy(&attr);
	remove_cgroup(&group);
}

TEST(setcgroup_rejects_an_invalid_descriptor)
{
	posix_spawnattr_t attr;
	pid_t pid = -5;

	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETCGROUP);
	posix_spawnattr_setcgroup_np(&attr, 77);
	CHECK_EQUAL(posix_spawnp(&pid, "sh", NULL, &attr, exits_with_7, environ), EBADF);
	posix_spawnattr_setcgroup_np(&attr, open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	CHECK_EQUAL(posix_spawnp(&pid, "sh", NULL, &attr, exits_with_7, environ), EBADF);
	CHECK_EQUAL(pid, -5);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	posix_spawnattr_destroy(&attr);
}
#endif
