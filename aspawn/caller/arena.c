/* SPDX-License-Identifier: MIT */
/* Allocates memory on the child's stack. */
#include "arena.h"

#include <syscall/string.h>

#include "../marks.h"

IN_SERVER void *aspw_arena_allocate(struct arena *arena, size_t size, size_t align)
{
	size_t at = (arena->size + align - 1) & ~(align - 1);

	if (at < arena->size || __builtin_add_overflow(at, size, &arena->size))
		arena->error = -PSYS_EOVERFLOW;
	else if (arena->size > arena->most)
		arena->error = -PSYS_EAGAIN;
	return arena->base && !arena->error ? arena->base + at : NULL;
}

IN_SERVER const void *aspw_arena_copy(struct arena *arena, const void *from, size_t size,
				      size_t align)
{
	void *to = aspw_arena_allocate(arena, size, align);

	return to && size ? psys_memcpy(to, from, size) : to;
}

IN_SERVER const char *aspw_copy_string(struct arena *arena, const char *string)
{
	if (!string || arena->error)
		return NULL;
	if (!arena->base)
		return aspw_arena_allocate(arena, psys_strlen(string) + 1, 1);
	/* The string may have grown since the first pass, so copy only what fits. */
	char *to = arena->base + arena->size;
	size_t length = psys_strlcpy(to, string, arena->most - arena->size);
	return aspw_arena_allocate(arena, length + 1, 1);
}

IN_SERVER char *const *aspw_copy_strings(struct arena *arena, char *const *strings)
{
	size_t count = 0;

	while (strings[count])
		count++;
	char **to = aspw_arena_allocate(arena, (count + 1) * sizeof *to, sizeof *to);
	for (size_t i = 0; i < count; i++) {
		const char *string = aspw_copy_string(arena, strings[i]);
		if (to)
			to[i] = (char *)(uintptr_t)string;
	}
	if (to)
		to[count] = NULL;
	return to;
}
