/* Making the child, whatever the kernel or a filter in front of it allows. */
#ifndef ASPAWN_LADDER_H
#define ASPAWN_LADDER_H

#include "stack.h"

/*
 * Clones a child that runs child(control) on the stack below stack_top.
 * options is complete. Returns the pid or a negative error number, and stores
 * in *pidfd, -1 if none was asked for or is to be had.
 */
long aspawn_clone_child(const struct aspawn_options *options, const struct Stack_t *stack,
		char *stack_top, int (*child)(void *), int *pidfd);

#endif
