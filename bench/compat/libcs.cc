/* SPDX-License-Identifier: MIT */
// popen_noshell.c calls these functions when it is built on the libc's posix_spawnp.
#include "libcs.h"

#include <spawn.h>

#define FORWARD(function, parameters, arguments)               \
	extern "C" int libcs_##function parameters             \
	{                                                      \
		static auto *const forwarded = LIBC(function); \
		return forwarded arguments;                    \
	}

FORWARD(posix_spawnp,
	(pid_t * pid, const char *file, const posix_spawn_file_actions_t *actions,
	 const posix_spawnattr_t *attr, char *const argv[], char *const envp[]),
	(pid, file, actions, attr, argv, envp))
FORWARD(posix_spawn_file_actions_init, (posix_spawn_file_actions_t * actions), (actions))
FORWARD(posix_spawn_file_actions_destroy, (posix_spawn_file_actions_t * actions), (actions))
FORWARD(posix_spawn_file_actions_adddup2,
	(posix_spawn_file_actions_t * actions, int fd, int new_fd), (actions, fd, new_fd))
FORWARD(posix_spawn_file_actions_addopen,
	(posix_spawn_file_actions_t * actions, int fd, const char *path, int flags, mode_t mode),
	(actions, fd, path, flags, mode))
