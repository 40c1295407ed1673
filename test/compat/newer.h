/* SPDX-License-Identifier: MIT */
/* Not every libc declares these functions of the drop-ins. */
#ifndef NEWER_H
#define NEWER_H

#include <spawn.h>

int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *list, int from);
int posix_spawn_file_actions_addtcsetpgrp_np(posix_spawn_file_actions_t *list, int fd);
int pidfd_spawn(int *pidfd, const char *path, const posix_spawn_file_actions_t *file_actions,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);
int pidfd_spawnp(int *pidfd, const char *file, const posix_spawn_file_actions_t *file_actions,
		 const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);

#endif
