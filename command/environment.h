/* SPDX-License-Identifier: MIT */
/* The program's environment: that of the command, changed by its actions. */
#ifndef COMMAND_ENVIRONMENT_H
#define COMMAND_ENVIRONMENT_H

#include "arena.h"

/* Returns the environment, or NULL while the arena measures. lends: do not copy the strings of the
 * command's environment. */
char *const *aspw_make_environment(struct arena *arena, const struct aspawn_command *command,
				   bool lends);

#endif
