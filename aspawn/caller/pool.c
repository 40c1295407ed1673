/* SPDX-License-Identifier: MIT */
/*
 * A pool is a list of stacks without a lock. To take a stack, a thread takes the whole list by one
 * atomic exchange and pushes the rest back. So no thread reads an element that another thread may
 * unmap, or take and give back (ABA). Meanwhile other threads find the list empty and map a new
 * stack; the list keeps at most about MOST_KEPT.
 *
 * An element of the list lies in the control block of the stack. At every instant the list is
 * consistent, so a forked child can use a copy; stacks that other threads had taken are lost to the
 * forked child.
 */
#include "pool.h"

#include <syscall/syscall.h>

#include "../marks.h"
#include "../helper/helper.h"
#include "../spawn/deadline.h"
#include "../spawn/stack.h"

enum {
	MOST_KEPT = 64,
	LARGEST_KEPT = 1024 * 1024, /* bytes; a larger stack, of long arguments, is unmapped */
};

/* Pushes a whole list. Looks for its last element only if the pool is not empty. */
static IN_SERVER void pool_push(struct pool *pool, struct control *first)
{
	struct control *head = NULL, *last = first;

	if (__atomic_compare_exchange_n(&pool->list, &head, first, false, __ATOMIC_RELEASE,
					__ATOMIC_RELAXED))
		return;
	while (last->next)
		last = last->next;
	do
		last->next = head;
	while (!__atomic_compare_exchange_n(&pool->list, &head, first, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED));
}

static IN_SERVER bool is_in_use(const struct control *element)
{
	const struct stack_state *state = stack_state(&element->stack);

	return stack_is_lent(state) ||
	       __atomic_load_n(&state->helper, __ATOMIC_ACQUIRE) != NO_HELPER ||
	       aspw_stack_take_back(&element->stack, PSYS_WNOHANG) < 0;
}

IN_SERVER struct Stack_t aspw_pool_take(struct aspawn_pool *public)
{
	struct pool *pool = pool_of(public);
	__atomic_add_fetch(&pool->taken, 1, __ATOMIC_SEQ_CST);
	struct control *list = __atomic_exchange_n(&pool->list, NULL, __ATOMIC_ACQUIRE),
		       **at = &list, *found;

	while ((found = *at) && is_in_use(found))
		at = &found->next;
	/* The kernel may not clear the stack's word: then only a look for the child tells, which
	 * costs two system calls. Ask for one stack only. */
	if (!found && list && aspw_stack_take_back(&list->stack, PSYS_WNOHANG) == 0)
		found = *(at = &list);
	if (found)
		*at = found->next;
	if (list)
		pool_push(pool, list);
	if (!found)
		return (struct Stack_t){ NULL, 0 };
	__atomic_add_fetch(&pool->kept, -1, __ATOMIC_RELAXED);
	return found->stack;
}

IN_SERVER void aspw_pool_give(struct aspawn_pool *public, struct Stack_t stack)
{
	struct pool *pool = pool_of(public);
	const bool is_kept = stack.size <= LARGEST_KEPT &&
			     __atomic_load_n(&pool->kept, __ATOMIC_RELAXED) < MOST_KEPT;

	if (stack.addr && (is_kept || aspawn_stack_release(&stack) < 0)) {
		struct control *control = stack_control(&stack);
		control->stack = stack;
		control->next = NULL;
		__atomic_add_fetch(&pool->kept, 1, __ATOMIC_RELAXED);
		pool_push(pool, control);
	}
	__atomic_add_fetch(&pool->taken, -1, __ATOMIC_SEQ_CST);
}

/* Waits if the helper is about to end because its child was waited for. */
static IN_SERVER int free_stack(struct Stack_t *stack)
{
	const int r = aspawn_stack_release(stack);

	if (r != -PSYS_EBUSY || !aspw_helper_result(stack, NULL, NULL))
		return r;
	aspw_stack_await_free(stack, STACK_HELPER, aspw_deadline_in(1000));
	return aspawn_stack_release(stack);
}

IN_SERVER int aspawn_pool_release(struct aspawn_pool *public)
{
	struct pool *pool = pool_of(public);
	struct control *list, *next, *busy = NULL;

	if (!public)
		return -PSYS_EINVAL;
	for (list = __atomic_exchange_n(&pool->list, NULL, __ATOMIC_ACQUIRE); list; list = next) {
		struct Stack_t stack = list->stack;

		next = list->next;
		if (free_stack(&stack) == 0) {
			__atomic_add_fetch(&pool->kept, -1, __ATOMIC_RELAXED);
			continue;
		}
		list->next = busy;
		busy = list;
	}
	if (busy)
		pool_push(pool, busy);
	return busy || __atomic_load_n(&pool->taken, __ATOMIC_RELAXED) ? -PSYS_EBUSY : 0;
}
