/* SPDX-License-Identifier: MIT */
/* Allocates memory on the child's stack, in two passes: the first measures, the second fills. */
#ifndef CALLER_ARENA_H
#define CALLER_ARENA_H

#include <stdbool.h>

#include <aspawn/command.h>

/* The first pass has base NULL. The second pass fills at most the measured size: if another thread
 * changes the command or the environment meanwhile, error is -EAGAIN. */
struct arena {
	char *base;
	size_t size, most;
	int error;
};

/* Returns size bytes, or NULL in the first pass or after an error. */
void *aspw_arena_allocate(struct arena *arena, size_t size, size_t align);

const void *aspw_arena_copy(struct arena *arena, const void *from, size_t size, size_t align);

/* Copies the string, which may be NULL. Fails as aspw_arena_allocate() does. */
const char *aspw_copy_string(struct arena *arena, const char *string);

/* Returns how many slots a table of count entries has: a power of two that leaves half free. */
PSYS_INLINE size_t aspw_slot_count(size_t count)
{
	size_t slots = 2;

	while (slots / 2 < count)
		slots *= 2;
	return slots;
}

char *const *aspw_copy_strings(struct arena *arena, char *const *strings);

#endif
