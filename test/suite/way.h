/* SPDX-License-Identifier: MIT */
/* How a test starts a command, as one number. */
#ifndef WAY_H
#define WAY_H

#include <aspawn/command.h>

/* These bits set the owner and memory of a command, beside the flags. */
#define WAY_PRIVATE (UINT64_C(1) << 61)
#define WAY_SUSPENDED (UINT64_C(1) << 62)
#define WAY_COPIED (UINT64_C(1) << 63)

static inline void set_way(struct aspawn_command *command, uint64_t way)
{
	command->flags = way & ~(WAY_PRIVATE | WAY_SUSPENDED | WAY_COPIED);
	command->owner = way & WAY_PRIVATE ? ASPAWN_OWNER_PRIVATE : ASPAWN_OWNER_CALLER;
	command->memory = way & WAY_SUSPENDED ? ASPAWN_MEMORY_SUSPENDED :
			  way & WAY_COPIED    ? ASPAWN_MEMORY_COPIED :
						ASPAWN_MEMORY_SHARED;
}

#endif
