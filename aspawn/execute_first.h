/* SPDX-License-Identifier: MIT */
/*
 * A child that executes a program of the library first, to have memory of its own. Its parent is
 * suspended until then: the caller, or a helper. If the child returns or ends before that exec, a
 * second one begins in a copy of the memory.
 */
#ifndef ASPAWN_EXECUTE_FIRST_H
#define ASPAWN_EXECUTE_FIRST_H

#include "spawn.h"
#include "stack.h"

/* As aspw_clone_child(), which it is without MEMORY_EXECUTED. A first child of the caller's
 * that has executed nothing is named in the state, for the caller to reap. */
long aspw_execute_first(struct control *control);

#endif
