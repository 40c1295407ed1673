/*
 * Stacks that are kept from one spawn to the next, so that none is mapped for it.
 * A slot is taken by an atomic exchange: no thread waits for another, and a signal
 * handler that spawns takes the next one.
 */
#include <pthread.h>
#include <stdbool.h>

#include <syscall/syscall.h>

#include "spawn.h"

enum {
	SLOTS = 16,
	MOST_KEPT = 512 * 1024, /* what a long list of arguments needed is given back */
};

static struct slot {
	struct Stack_t stack;
	bool taken;
} pool[SLOTS];

struct Stack_t *aspawn_compat_take_stack(struct Stack_t *own)
{
	for (struct slot *slot = pool; slot < pool + SLOTS; slot++) {
		if (__atomic_load_n(&slot->taken, __ATOMIC_RELAXED) ||
		    __atomic_exchange_n(&slot->taken, true, __ATOMIC_ACQUIRE))
			continue;
		/* popen_noshell() gives it back while its child is on it. */
		if (!aspawn_stack_busy(&slot->stack))
			return &slot->stack;
		__atomic_store_n(&slot->taken, false, __ATOMIC_RELEASE);
	}
	own->addr = NULL;
	own->size = 0;
	return own;
}

void aspawn_compat_give_stack(struct Stack_t *stack)
{
	struct slot *slot = (struct slot *)stack;
	bool pooled = slot >= pool && slot < pool + SLOTS;

	if (!pooled || stack->size > MOST_KEPT)
		aspawn_stack_free(stack);
	if (pooled)
		__atomic_store_n(&slot->taken, false, __ATOMIC_RELEASE);
}

/*
 * After fork(): other threads are gone, and running children use the parent's copy of a
 * stack. A thread may have been anywhere in the use of what it had taken, also between
 * unmapping a stack and forgetting it: its memory is not looked at. Where a fork does not
 * wipe the state of a stack (Linux before 4.14, user-mode emulators), a copy under a child
 * of popen_noshell() is busy for as long as the child is.
 */
static void forget_threads(void)
{
	for (struct slot *slot = pool; slot < pool + SLOTS; slot++) {
		const struct Stack_t stack = slot->stack;

		if (!__atomic_load_n(&slot->taken, __ATOMIC_ACQUIRE) && !aspawn_stack_busy(&stack))
			continue;
		slot->stack = (struct Stack_t){ NULL, 0 };
		if (stack.addr)
			psys_munmap(stack.addr, stack.size);
		__atomic_store_n(&slot->taken, false, __ATOMIC_RELEASE);
	}
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_threads);
}
