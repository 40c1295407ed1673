/* SPDX-License-Identifier: MIT */
/* Spawns a command line of system() or popen(), by a shell only if the line needs a shell. */
#ifndef COMPAT_SHELL_H
#define COMPAT_SHELL_H

#include <stdbool.h>

#include "spawn.h"

/* What the shell would execute. */
struct direct {
	const char *path;
	char **argv, **envp;
};

/*
 * True if any shell would do nothing with the command but execute a program; false in case of
 * doubt. *direct points into the section's scratch memory.
 */
bool aspawn_compat_is_direct(const char *command, struct section *section, struct direct *direct);

/*
 * Spawns the command directly if it needs no shell, otherwise by /bin/sh. If the direct exec
 * fails, the shell gets the command and reports the error. Sets file, argv and envp of a copy of
 * *spawn, which may have at most FEW_ACTIONS actions. Returns 0 or a positive error number.
 */
int aspawn_compat_spawn_line(struct section *section, const struct spawn *spawn,
			     const char *command);

#endif
