/* A command line for a shell, and whether it takes one. */
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
 * Whether executing a program is all that a shell would do with the command, whichever
 * shell it is. If there is any doubt, false. What is found lies in the section's scratch
 * memory.
 */
bool aspawn_compat_is_direct(const char *command, struct section *section, struct direct *direct);

/*
 * Spawns the command, by /bin/sh unless it can be executed directly; the rest of
 * *spawn is the caller's, with at most FEW_ACTIONS. What fails to be executed goes to the
 * shell, which says so.
 */
int aspawn_compat_spawn_line(struct section *section, const struct spawn *spawn,
			     const char *command);

#endif
