/* SPDX-License-Identifier: MIT */
/* standard_run.h describes these functions. */
#define _GNU_SOURCE
#include "standard_run.h"

#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

char *const sh_true[] = { "sh", "-c", ":", NULL };

bool has_scheduling(void)
{
	posix_spawnattr_t attr;

	posix_spawnattr_init(&attr);
	return posix_spawnattr_setschedpolicy(&attr, SCHED_OTHER) == 0;
}

void check_writes_in(const char *file, int line, char *const *argv, const char *expected,
		     posix_spawnattr_t *attr)
{
	file_actions actions;
	char text[128] = "";
	int ends[2], status;
	pid_t pid;

	CHECK_EQUAL(pipe2(ends, O_CLOEXEC), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	check_equal(file, line, "error", posix_spawnp(&pid, argv[0], &actions, attr, argv, environ),
		    0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(read(ends[0], text, sizeof text - 1) > 0);
	close(ends[0]);
	close(ends[1]);
	posix_spawn_file_actions_destroy(&actions);
	if (strcmp(text, expected)) {
		printf("# %s", text);
		fflush(stdout);
		check_failed(file, line, expected);
	}
}

int run_script(const char *script, char *text, size_t size, file_actions *actions,
	       posix_spawnattr_t *attr, char *const *envp)
{
	char *argv[] = { "sh", "-c", (char *)(uintptr_t)script, "zero", "one", NULL };
	file_actions own;
	int ends[2], status;
	size_t length = 0;
	ssize_t r;
	pid_t pid = -5;

	CHECK_EQUAL(pipe2(ends, O_CLOEXEC), 0);
	if (!actions) {
		CHECK_EQUAL(posix_spawn_file_actions_init(&own), 0);
		actions = &own;
	}
	CHECK_EQUAL(posix_spawn_file_actions_adddup2(actions, ends[1], 1), 0);
	int error = posix_spawn(&pid, "/bin/sh", actions, attr, argv, envp);
	close(ends[1]);
	if (error) {
		CHECK_EQUAL(pid, -5);
		close(ends[0]);
		return -error;
	}
	while ((r = read(ends[0], text + length, size - 1 - length)) > 0)
		length += (size_t)r;
	text[length] = '\0';
	close(ends[0]);
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	if (actions == &own)
		CHECK_EQUAL(posix_spawn_file_actions_destroy(&own), 0);
	return status;
}

void check_says_in(const char *file, int line, const char *script, const char *expected,
		   file_actions *actions, posix_spawnattr_t *attr)
{
	char text[512] = "";
	int status = run_script(script, text, sizeof text, actions, attr, environ);

	if (status || strcmp(text, expected)) {
		printf("# %s: \"%s\", status %d\n", script, text, status);
		fflush(stdout);
		check_failed(file, line, expected);
	}
}

void check_fails_in(const char *file, int line, int error, const char *path, file_actions *actions,
		    posix_spawnattr_t *attr)
{
	pid_t pid = -5;
	int descriptors = count_descriptors();
	struct psys_sigset mask = get_mask();

	check_equal(file, line, "error", posix_spawn(&pid, path, actions, attr, sh_true, environ),
		    error);
	check_equal(file, line, "pid", pid, -5);
	check_equal(file, line, "children", waitpid(-1, NULL, WNOHANG), -1);
	check_equal(file, line, "descriptors", count_descriptors(), descriptors);
	check_equal(file, line, "mask", same_mask(get_mask(), mask), true);
}
