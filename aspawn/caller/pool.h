/* SPDX-License-Identifier: MIT */
/* A pool of stacks, which later children reuse. */
#ifndef CALLER_POOL_H
#define CALLER_POOL_H

#include <aspawn/command.h>
#include <syscall/base.h>

/* Returns a stack that no child uses, or {0} if there is none. Called with all signals blocked. */
struct Stack_t aspw_pool_take(struct aspawn_pool *pool);

/* Gives a stack back; a child may still run on it. stack {0} only ends the matching take. */
void aspw_pool_give(struct aspawn_pool *pool, struct Stack_t stack);

/* What decide.c has found out at some start. 0: look again. */
struct remembered {
	int few;                /* descriptors, for this number of starts; negative: many */
	unsigned pid_namespace; /* the caller's */
};

struct pool {
	struct control *list;
	int kept, taken; /* numbers of stacks; approximate while other threads use the pool */
	struct remembered remembered;
} __attribute__((may_alias)); /* as struct child_state */
_Static_assert(sizeof(struct pool) <= sizeof(struct aspawn_pool), "must fit");

PSYS_INLINE struct pool *pool_of(struct aspawn_pool *pool)
{
	return (struct pool *)(void *)pool;
}

#endif
