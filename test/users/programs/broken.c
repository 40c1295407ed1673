/* SPDX-License-Identifier: MIT */
/* The preload starts nothing: the suites of programs must fail with the preload. */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *file_actions,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	(void)pid, (void)path, (void)file_actions, (void)attr, (void)argv, (void)envp;
	return EAGAIN;
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *file_actions,
		 const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	return posix_spawn(pid, file, file_actions, attr, argv, envp);
}

FILE *popen(const char *command, const char *type)
{
	(void)command, (void)type;
	errno = EAGAIN;
	return NULL;
}

int system(const char *command)
{
	(void)command;
	errno = EAGAIN;
	return -1;
}
