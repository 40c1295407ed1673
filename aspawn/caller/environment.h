/* SPDX-License-Identifier: MIT */
#ifndef CALLER_ENVIRONMENT_H
#define CALLER_ENVIRONMENT_H

#include "arena.h"

/* Returns the search path: the command's, or PATH of the program's environment; NULL: the
 * default. */
const char *aspw_search_path(const struct aspawn_command *command);

/* Returns the command's environment, changed by the actions, or NULL while the arena measures. With
 * lends, does not copy the strings of the command's environment. */
char *const *aspw_make_environment(struct arena *arena, const struct aspawn_command *command,
				   bool lends);

#endif
