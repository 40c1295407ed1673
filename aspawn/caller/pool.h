/* SPDX-License-Identifier: MIT */
/* A pool keeps stacks, which later children reuse. */
#ifndef CALLER_POOL_H
#define CALLER_POOL_H

#include <aspawn/command.h>
#include <syscall/base.h>

/* Returns a stack that no child uses, or {0}. All signals must be blocked. */
struct Stack_t aspw_pool_take(struct aspawn_pool *pool);

/* Gives a stack back, on which a child may still run. {0} only ends the matching take. */
void aspw_pool_give(struct aspawn_pool *pool, struct Stack_t stack);

/* decide.c keeps here what it has found out at a start. With 0 it looks again. */
struct remembered {
	int few;                /* descriptors, for this number of starts, or many if negative */
	unsigned pid_namespace; /* the caller's */
};

struct pool {
	struct control *list;
	int kept, taken; /* numbers of stacks, approximate while other threads use the pool */
	struct remembered remembered;
} __attribute__((may_alias)); /* as struct child_state */
_Static_assert(sizeof(struct pool) <= sizeof(struct aspawn_pool), "must fit");

PSYS_INLINE struct pool *pool_of(struct aspawn_pool *pool)
{
	return (struct pool *)(void *)pool;
}

#endif
