/* SPDX-License-Identifier: MIT */
/*
 * A child that executes a program of the library first, to have memory of its own, or returns. Its
 * parent is suspended until then: the caller, or a helper.
 */
#ifndef ASPAWN_EXECUTE_FIRST_H
#define ASPAWN_EXECUTE_FIRST_H

#include "spawn.h"
#include "stack.h"

/* As aspawn_clone_child(), of a request with executes_first. Returns 0 if the child has executed
 * nothing: it was reaped, or the state names it for the caller to reap. */
long aspawn_execute_first(struct control *control, const struct request *request,
			  const struct Stack_t *stack);

#endif
