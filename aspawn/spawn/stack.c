/* SPDX-License-Identifier: MIT */
/* Reserves, reuses and frees the stacks of children. */
#include "stack.h"

#include <syscall/syscall.h>

#include "../marks.h"
#include "deadline.h"
#include "pidfd.h"

enum { NAPS_OF_A_RING = 10 }; /* half a second of aspw_deadline_sleep_on() */

/* ASan's runtime has this function. Instrumented frames stay poisoned after an exec. */
#ifdef ASPAWN_NO_WEAK_SYMBOLS
static void (*const __asan_unpoison_memory_region)(const volatile void *, size_t) = NULL;
#else
__attribute__((weak, visibility("default"))) void
__asan_unpoison_memory_region(const volatile void *addr, size_t size);
#endif

/* If a fork came between the two stores, the stack may have a size and no address: it is unused. */
PSYS_INLINE bool is_stack(const struct Stack_t *stack)
{
	return (stack->size > STACK_LOWEST && stack->size % STACK_UNIT == 0) ||
	       (!stack->addr && stack->size == 0);
}

/* Clears the address before the unmap, because another thread may fork in between. */
static IN_SERVER void stack_unmap(struct Stack_t *stack)
{
	const struct Stack_t old = *stack;

	__atomic_store_n(&stack->addr, NULL, __ATOMIC_RELEASE);
	if (old.addr)
		psys_munmap(old.addr, old.size);
	__atomic_store_n(&stack->size, 0, __ATOMIC_RELEASE);
}

/* Maps a stack in place of the old one. */
static IN_SERVER int stack_map(struct Stack_t *stack, size_t size)
{
	char *addr = psys_mmap(NULL, size, PSYS_PROT_READ | PSYS_PROT_WRITE,
			       PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS | PSYS_MAP_STACK, -1, 0);
	if (PSYS_IS_ERROR(addr))
		return (int)(intptr_t)addr;

	int r = psys_mprotect(addr + STACK_UNIT, STACK_LOWEST - STACK_UNIT, PSYS_PROT_NONE);
	if (r < 0) {
		psys_munmap(addr, size);
		return r;
	}
	/* This fails before Linux 4.14: then a forked copy of the stack is busy with the child. */
	((struct stack_state *)(void *)addr)->is_wiped_by_fork =
		psys_madvise(addr, STACK_UNIT, PSYS_MADV_WIPEONFORK) >= 0;
	if (stack->addr)
		stack_unmap(stack);
	__atomic_store_n(&stack->size, size, __ATOMIC_RELEASE);
	__atomic_store_n(&stack->addr, addr, __ATOMIC_RELEASE);
	return 0;
}

IN_SERVER int aspw_stack_reserve(struct Stack_t *stack, size_t reserved, size_t data_len)
{
	size_t size = sizeof(struct control) + STACK_OWN + 2 * STACK_ALIGN + STACK_LOWEST +
		      STACK_UNIT - 1;
	int r = aspw_stack_take_back(stack, PSYS_WNOHANG);

	if (r < 0)
		return r;
	if (__builtin_add_overflow(size, reserved, &size) ||
	    __builtin_add_overflow(size, data_len, &size))
		return -PSYS_EOVERFLOW;
	size -= size % STACK_UNIT;

	if (!stack->addr || stack->size < size)
		r = stack_map(stack, size);
	if (r < 0)
		return r;
	if (__asan_unpoison_memory_region)
		__asan_unpoison_memory_region((char *)stack->addr + STACK_LOWEST,
					      stack->size - STACK_LOWEST);
	return 0;
}

/* Detects an end after which the kernel did not clear the stack's word. */
IN_SERVER bool aspw_child_is_gone(int pid)
{
	return pid && /* otherwise the parent is still in aspawn() and has not stored the pid */
	       (aspw_child_has_ended(-1, pid) > 0 || psys_kill(pid, 0) == -PSYS_ESRCH);
}

static IN_SERVER bool is_there(const int *word, const int *pid)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE) &&
	       !aspw_child_is_gone(__atomic_load_n(pid, __ATOMIC_ACQUIRE));
}

IN_SERVER int *aspw_stack_has(const struct Stack_t *stack, int users)
{
	if (!stack || !stack->addr || !is_stack(stack))
		return NULL;
	struct stack_state *state = stack_state(stack);
	if (users & STACK_CHILD && is_there(&state->child_word, &state->begun.pid))
		return &state->child_word;
	return users & STACK_HELPER && is_there(&state->helper, &state->helper_pid) ?
		       &state->helper :
		       NULL;
}

IN_SERVER int aspawn_stack_busy(const struct Stack_t *stack)
{
	return aspw_stack_has(stack, STACK_CHILD | STACK_HELPER) != NULL;
}

/* Waits by __WCLONE, unless the number is 0. If the number was reaped elsewhere, and an ordinary
 * child has it now, that child is not touched. Returns false with WNOHANG if the child has not
 * ended. */
static IN_SERVER bool reap_clone(int *pid, int options)
{
	struct psys_siginfo info;

	while (*pid) {
		info.u.child.pid = 0;
		const int r = psys_waitid(PSYS_P_PID, *pid, &info,
					  options | (int)(PSYS_WEXITED | PSYS___WCLONE), NULL);
		if (r == 0 && !info.u.child.pid)
			return false;
		if (r != -PSYS_EINTR)
			*pid = 0;
	}
	return true;
}

IN_SERVER void aspw_stack_reap_abandoned(const struct Stack_t *stack)
{
	struct stack_state *state = stack_state(stack);

	reap_clone(&state->abandoned[0], 0);
	reap_clone(&state->abandoned[1], 0);
}

static IN_SERVER bool reap_helper(struct stack_state *state, int options)
{
	if (state->begun.helped == AUTOREAPED)
		state->helper_pid = 0;
	if (!reap_clone(&state->abandoned[0], options) ||
	    !reap_clone(&state->abandoned[1], options) || !reap_clone(&state->helper_pid, options))
		return false;
	__atomic_store_n(&state->helper, NO_HELPER, __ATOMIC_RELEASE);
	return true;
}

IN_SERVER void aspw_stack_reap_helper(const struct Stack_t *stack)
{
	reap_helper(stack_state(stack), 0);
}

IN_SERVER int aspw_stack_helper_status(const struct Stack_t *stack, int pidfd)
{
	const struct stack_state *state = stack_state(stack);
	const int64_t deadline = aspw_deadline_in(1000);
	struct psys_siginfo info;
	int status = PSYS_SIGKILL;

	info.u.child.pid = 0;
	if (state->begun.helped == AUTOREAPED) /* the kernel has the status after the reaping */
		aspw_await_reaped(pidfd, deadline);
	else if (pidfd >= 0) /* it may not be a zombie yet */
		aspw_deadline_poll(pidfd, PSYS_POLLIN, deadline);
	if (aspw_reaped_status(pidfd, &status) < 0)
		psys_waitid(PSYS_P_PID, state->helper_pid, &info, LOOK_AT_CLONE, NULL);
	return info.u.child.pid ? aspw_wait_status(&info) : status;
}

IN_SERVER int aspw_stack_take_back(const struct Stack_t *stack, int options)
{
	if (!is_stack(stack))
		return -PSYS_EINVAL;
	if (stack->addr && (aspw_stack_has(stack, STACK_CHILD | STACK_HELPER) ||
			    !reap_helper(stack_state(stack), options)))
		return -PSYS_EBUSY;
	return 0;
}

/* Checks the number by __WCLONE, as reap_clone() does. */
IN_SERVER void aspw_stack_signal_helper(const struct Stack_t *stack, int pidfd, int signal)
{
	const int pid = stack_state(stack)->helper_pid;
	struct psys_siginfo info;

	if (signal == PSYS_SIGKILL && pid && stack_control(stack)->plan.owner)
		psys_setpgid(pid,
			     stack_state(stack)->callers_process_group); /* aspw_helper_leave() */
	if (aspw_signal_by_pidfd(pidfd, signal, 0) == -PSYS_ENOSYS && pid &&
	    psys_waitid(PSYS_P_PID, pid, &info, LOOK_AT_CLONE, NULL) == 0)
		psys_kill(pid, signal);
}

IN_SERVER int aspw_stack_await(const struct Stack_t *stack, int users, int value, int64_t deadline)
{
	int *word;

	for (int naps = 1; (word = aspw_stack_has(stack, users)); naps++) {
		if (users & STACK_HELPER && naps % NAPS_OF_A_RING == 0)
			aspw_stack_signal_helper(stack, -1, PSYS_SIGCONT);
		const int seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
		if (value && seen != value)
			return 0;
		if (aspw_deadline_is_past(deadline))
			return -PSYS_ETIMEDOUT;
		if (seen) /* neither FREE nor NO_HELPER */
			aspw_deadline_sleep_on(word, seen, deadline);
	}
	return 0;
}

IN_SERVER void aspw_stack_await_blocked(const struct control *control, enum stack_user user,
					int value)
{
	static const struct psys_timespec usual = { 0, 5000000 };
	struct stack_state *state = stack_state(&control->stack);
	int *word = user == STACK_CHILD ? &state->child_word : &state->helper;
	struct psys_sigset all;

	psys_futex(word, PSYS_FUTEX_WAIT, value, &usual, NULL, 0);
	if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
		return;
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &control->request.mask, &all, PSYS_SIGSET_SIZE);
	aspw_stack_await(&control->stack, user, value, DEADLINE_NEVER);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &all, NULL, PSYS_SIGSET_SIZE);
}

IN_SERVER int aspawn_stack_wait(const struct Stack_t *stack, int64_t timeout_ms)
{
	return aspw_stack_await_free(stack, STACK_CHILD | STACK_HELPER,
				     aspw_deadline_in(timeout_ms));
}

IN_SERVER int aspawn_stack_release(struct Stack_t *stack)
{
	const int r = stack ? aspw_stack_take_back(stack, 0) : -PSYS_EINVAL;

	if (r == 0)
		stack_unmap(stack);
	return r;
}
