/* The program's environment: the command's, as its actions change it. */
#ifndef COMMAND_ENVIRONMENT_H
#define COMMAND_ENVIRONMENT_H

#include "arena.h"

/* lends: the strings of the command's environment need not be copied. */
char *const *aspawn_make_environment(struct arena *arena, const struct aspawn_command *command,
				     bool lends);

#endif
