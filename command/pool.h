/* Stacks that are kept from one child to the next. */
#ifndef COMMAND_POOL_H
#define COMMAND_POOL_H

#include <aspawn/command.h>

/* One that no child is on, or {0} if there is none. With all signals blocked. */
struct Stack_t aspawn_pool_take(struct aspawn_pool *pool);

/* Also one that a child is still on. */
void aspawn_pool_give(struct aspawn_pool *pool, struct Stack_t stack);

#endif
