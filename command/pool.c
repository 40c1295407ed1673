/*
 * A list of stacks without a lock. Who takes one takes the whole list, by one exchange, and
 * pushes the rest back: nobody reads an element that another may have unmapped, and none
 * comes back behind one's back (ABA). For that moment others find the list empty and map a
 * stack, so that the list may grow; it keeps MOST_KEPT.
 *
 * An element lies in the control block of its stack. A fork beside any of this copies a
 * list that is whole; what another thread had taken is lost to the copy.
 */
#include "pool.h"

#include <syscall/syscall.h>

#include "../aspawn/stack.h"

enum {
	MOST_KEPT = 64,
	LARGEST_KEPT = 1024 * 1024, /* what a long list of arguments needed is given back */
};

struct pool {
	struct control *list;
	int kept, taken; /* how many, roughly, when others are at it */
};
_Static_assert(sizeof(struct pool) <= sizeof(struct aspawn_pool), "it has to fit");

static struct pool *pool_of(struct aspawn_pool *pool)
{
	return (struct pool *)(void *)pool;
}

static struct control *take_all(struct pool *pool)
{
	return __atomic_exchange_n(&pool->list, NULL, __ATOMIC_ACQUIRE);
}

/* A list, whose last element is found only if others have pushed meanwhile. */
static void push(struct pool *pool, struct control *first)
{
	struct control *head = NULL, *last = first;

	if (!first || __atomic_compare_exchange_n(&pool->list, &head, first, false,
						  __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		return;
	while (last->next)
		last = last->next;
	do
		last->next = head;
	while (!__atomic_compare_exchange_n(&pool->list, &head, first, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED));
}

static bool is_in_use(const struct control *element)
{
	const struct stack_state *state = stack_state(&element->stack);

	return __atomic_load_n(&state->use, __ATOMIC_ACQUIRE) != FREE ||
	       __atomic_load_n(&state->helper, __ATOMIC_ACQUIRE) != NO_HELPER;
}

struct Stack_t aspawn_pool_take(struct aspawn_pool *public)
{
	struct pool *pool = pool_of(public);
	struct control *list = take_all(pool), **at = &list, *found;

	while ((found = *at) && is_in_use(found))
		at = &found->next;
	/* Where the kernel does not clear the word: whether the child is gone costs two calls. */
	if (!found && list && !aspawn_stack_busy(&list->stack))
		found = *(at = &list);
	if (found)
		*at = found->next;
	push(pool, list);
	__atomic_add_fetch(&pool->taken, 1, __ATOMIC_RELAXED);
	if (!found)
		return (struct Stack_t){ NULL, 0 };
	__atomic_add_fetch(&pool->kept, -1, __ATOMIC_RELAXED);
	return found->stack;
}

void aspawn_pool_give(struct aspawn_pool *public, struct Stack_t stack)
{
	struct pool *pool = pool_of(public);

	__atomic_add_fetch(&pool->taken, -1, __ATOMIC_RELAXED);
	if (!stack.addr)
		return;
	if ((stack.size > LARGEST_KEPT ||
	     __atomic_load_n(&pool->kept, __ATOMIC_RELAXED) >= MOST_KEPT) &&
	    aspawn_stack_free(&stack) == 0)
		return;
	struct control *control = stack_control(&stack);
	control->stack = stack;
	control->next = NULL;
	__atomic_add_fetch(&pool->kept, 1, __ATOMIC_RELAXED);
	push(pool, control);
}

int aspawn_pool_trim(struct aspawn_pool *public)
{
	struct pool *pool = pool_of(public);
	struct control *list, *next, *busy = NULL;

	if (!public)
		return -PSYS_EINVAL;
	for (list = take_all(pool); list; list = next) {
		struct Stack_t stack = list->stack;

		next = list->next;
		if (aspawn_stack_free(&stack) == 0) {
			__atomic_add_fetch(&pool->kept, -1, __ATOMIC_RELAXED);
			continue;
		}
		list->next = busy;
		busy = list;
	}
	push(pool, busy);
	return busy || __atomic_load_n(&pool->taken, __ATOMIC_RELAXED) > 0 ? -PSYS_EBUSY : 0;
}
