/* Making the child, whatever the kernel or a filter in front of it allows. */
#ifndef ASPAWN_LADDER_H
#define ASPAWN_LADDER_H

#include "stack.h"

/* Beside the flags of aspawn_options, for callers within the library. */
/* The child begins with its parent's descriptor table and takes a copy first, of
 * what is below control->kept. */
#define SPAWN_OWN_TABLE (UINT64_C(1) << 32)
/* Do not wait for that. */
#define SPAWN_STILL (UINT64_C(1) << 33)
/* Only ways that are sure to share memory, or only those that are not. */
#define SPAWN_SHARING (UINT64_C(1) << 34)
#define SPAWN_NOT_SHARING (UINT64_C(1) << 35)
/* Only with a copy of the memory. */
#define SPAWN_COPY (UINT64_C(1) << 36)
/* A pipe only if memory may be a copy. */
#define SPAWN_LATE_PIPE (UINT64_C(1) << 37)

/* Whether the error says that this way of cloning is not to be had here. */
bool aspawn_is_refusal(long error);

/*
 * Clones a child that runs child(control) on the stack below stack_top.
 * options is complete. Returns the pid or a negative error number, and stores
 * in *pidfd, -1 if none was asked for or is to be had.
 */
long aspawn_clone_child(const struct aspawn_options *options, const struct Stack_t *stack,
		char *stack_top, int (*child)(void *), int *pidfd);

#endif
