/* Reserving, reusing and freeing the stacks of children. */
#include "stack.h"

#include <syscall/syscall.h>

#include "deadline.h"

/* Of ASan's runtime, if the program has one: what an instrumented function left
 * poisoned when the child execed is no stack of anybody's any more. */
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void *addr, size_t size);

static bool is_stack(const struct Stack_t *stack)
{
	return stack->addr ? stack->size > STACK_GUARD && stack->size % STACK_UNIT == 0 :
			     stack->size == 0;
}

static bool is_mapped(const struct Stack_t *stack)
{
	return stack && stack->addr && is_stack(stack);
}

static int map(struct Stack_t *stack, size_t size)
{
	char *addr = psys_mmap(NULL, size, PSYS_PROT_NONE,
			       PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS | PSYS_MAP_STACK, -1, 0);
	if (PSYS_IS_ERROR(addr))
		return (int)(intptr_t)addr;

	int r = psys_mprotect(addr + STACK_GUARD, size - STACK_GUARD,
			      PSYS_PROT_READ | PSYS_PROT_WRITE);
	if (r < 0) {
		psys_munmap(addr, size);
		return r;
	}
	stack->addr = addr;
	stack->size = size;
	return 0;
}

int aspawn_stack_reserve(struct Stack_t *stack, size_t reserved, size_t data_len)
{
	size_t size = sizeof(struct control) + STACK_OWN + 2 * STACK_ALIGN + STACK_GUARD +
		      STACK_UNIT - 1;

	if (!is_stack(stack))
		return -PSYS_EINVAL;
	if (__builtin_add_overflow(size, reserved, &size) ||
	    __builtin_add_overflow(size, data_len, &size))
		return -PSYS_EOVERFLOW;
	size -= size % STACK_UNIT;

	if (aspawn_stack_busy(stack))
		return -PSYS_EBUSY;
	if (stack->size < size) {
		struct Stack_t old = { stack->addr, stack->size };
		int r = map(stack, size);
		if (r < 0)
			return r;
		if (old.addr)
			psys_munmap(old.addr, old.size);
	}
	if (__asan_unpoison_memory_region)
		__asan_unpoison_memory_region((char *)stack->addr + STACK_GUARD,
					      stack->size - STACK_GUARD);
	return 0;
}

/*
 * For a kernel that does not clear the word at exec, or could not: a child that
 * is a zombie, or no more, runs nowhere.
 */
static bool child_is_gone(int pid)
{
	struct psys_siginfo info;

	if (!pid) /* not known yet, its parent is still in aspawn() */
		return false;
	info.u.child.pid = 0;
	if (psys_waitid(PSYS_P_PID, pid, &info, PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT, NULL) == 0 &&
	    info.u.child.pid == pid)
		return true;
	return psys_kill(pid, 0) == -PSYS_ESRCH;
}

int aspawn_stack_busy(const struct Stack_t *stack)
{
	if (!is_mapped(stack))
		return 0;

	struct control *control = stack_control(stack);
	return __atomic_load_n(&control->busy, __ATOMIC_ACQUIRE) != FREE &&
	       !child_is_gone(__atomic_load_n(&control->pid, __ATOMIC_ACQUIRE));
}

/* The kernel wakes one waiter only, and some kernels none at exec: look again after
 * this time, whatever happens. */
static const struct psys_timespec nap = { 0, 50000000 };

void aspawn_stack_wait_for_table(const struct Stack_t *stack)
{
	struct control *control = stack_control(stack);
	int seen = SHARES_TABLE;

	if (!__atomic_compare_exchange_n(&control->busy, &seen, PARENT_WAITS, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return;
	while (__atomic_load_n(&control->busy, __ATOMIC_ACQUIRE) == PARENT_WAITS)
		if (psys_futex(&control->busy, PSYS_FUTEX_WAIT, PARENT_WAITS, &nap, NULL, 0) ==
			    -PSYS_ETIMEDOUT &&
		    !aspawn_stack_busy(stack))
			return;
}

int aspawn_stack_wait(const struct Stack_t *stack, const struct psys_timespec *timeout)
{
	if (!deadline_is_valid(timeout))
		return -PSYS_EINVAL;
	if (!aspawn_stack_busy(stack))
		return 0;

	const struct psys_timespec deadline = deadline_after(timeout);
	do {
		if (deadline_has_passed(deadline))
			return -PSYS_ETIMEDOUT;
		struct psys_timespec until = deadline_sooner(deadline_after(&nap), deadline);
		int *busy = &stack_control(stack)->busy;
		int state = __atomic_load_n(busy, __ATOMIC_ACQUIRE);
		if (state != FREE)
			psys_futex(busy, PSYS_FUTEX_WAIT_BITSET, state, &until, NULL,
				   (int)PSYS_FUTEX_BITSET_MATCH_ANY);
	} while (aspawn_stack_busy(stack));
	return 0;
}

int aspawn_stack_free(struct Stack_t *stack)
{
	if (!stack || !is_stack(stack))
		return -PSYS_EINVAL;
	if (aspawn_stack_busy(stack))
		return -PSYS_EBUSY;
	if (stack->addr)
		psys_munmap(stack->addr, stack->size);
	stack->addr = NULL;
	stack->size = 0;
	return 0;
}

enum aspawn_mode aspawn_mode(const struct Stack_t *stack)
{
	return is_mapped(stack) ? (enum aspawn_mode)stack_control(stack)->mode : ASPAWN_MODE_NONE;
}
