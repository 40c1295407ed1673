/* SPDX-License-Identifier: MIT */
/* A pool of stacks, which later children reuse. */
#ifndef COMMAND_POOL_H
#define COMMAND_POOL_H

#include <aspawn/command.h>

/* Returns a stack that no child uses, or {0} if there is none. Called with all signals blocked. */
struct Stack_t aspawn_pool_take(struct aspawn_pool *pool);

/* Gives a stack back; a child may still run on it. stack {0} only ends the matching take. */
void aspawn_pool_give(struct aspawn_pool *pool, struct Stack_t stack);

/* For decide.c: positive if the caller has few descriptors, negative if many, for so many starts; 0: look. */
int *aspawn_pool_few(struct aspawn_pool *pool);

#endif
