/* Memory on the child's stack, measured first and filled then. */
#ifndef COMMAND_ARENA_H
#define COMMAND_ARENA_H

#include <stdbool.h>

#include <aspawn/command.h>

/* Measures while base is NULL. Afterwards it fills, and at most what it measured: a thread
 * that changes the environment meanwhile gets an error. */
struct arena {
	char *base;
	size_t size, most;
	int error;
};

/* So many bytes, or NULL while measuring. */
void *aspawn_allocate(struct arena *arena, size_t size, size_t align);

const void *aspawn_copy(struct arena *arena, const void *from, size_t size, size_t align);

/* NULL: NULL. */
const char *aspawn_copy_string(struct arena *arena, const char *string);

char *const *aspawn_copy_strings(struct arena *arena, char *const *strings);

#endif
