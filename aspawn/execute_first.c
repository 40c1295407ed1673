/* SPDX-License-Identifier: MIT */
#include "execute_first.h"

#include <syscall/string.h>
#include <syscall/syscall.h>

#include "exec_watch.h"

/* Until its exec the child has no exit signal, so that no wait but this sees its end: by a number that
 * is no ordinary child's (wait(2), __WCLONE). The caller's child is not the helper's to wait for. */
static PSYS_UNINSTRUMENTED bool first_has_ended(const struct control *control, int pid,
						bool for_caller)
{
	struct psys_pollfd end = { control->pidfd, PSYS_POLLIN, 0 };
	struct psys_timespec at_once = { 0, 0 };
	struct psys_siginfo info;

	if (for_caller)
		return psys_ppoll(&end, 1, &at_once, NULL, 0) > 0;
	info.u.child.pid = 0;
	psys_waitid(PSYS_P_PID, pid, &info,
		    (int)(PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT | PSYS___WCLONE), NULL);
	return info.u.child.pid;
}

/* Returns when the child has left the stack. Its parent was not suspended where clone3 is missing,
 * and a sandbox may not clear the word. */
static PSYS_UNINSTRUMENTED void await_exec(const struct Stack_t *stack, int pid,
					   const struct control *control, bool for_caller)
{
	const struct psys_timespec nap = { 0, 1000000 };
	int *word = &stack_state(stack)->use, use;

	while ((use = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != FREE) {
		psys_futex(word, PSYS_FUTEX_WAIT, use, &nap, NULL, 0);
		if (aspawn_watch_has_begun(control->watch) ||
		    first_has_ended(control, pid, for_caller))
			__atomic_store_n(word, FREE, __ATOMIC_RELEASE);
	}
}

/* True if the child has executed the program. A child that was killed within its exec has kept its exit
 * signal: its parent would hear of no end. */
static PSYS_UNINSTRUMENTED bool has_executed(const struct control *control, int pid, bool for_caller)
{
	struct psys_siginfo info;

	return __atomic_load_n(&control->executing, __ATOMIC_ACQUIRE) &&
	       (for_caller ||
		psys_waitid(PSYS_P_PID, pid, &info,
			    (int)(PSYS_WEXITED | PSYS_WNOWAIT | PSYS___WCLONE), NULL) != 0);
}

PSYS_UNINSTRUMENTED long aspawn_execute_first(struct control *control, const struct request *request,
					      const struct Stack_t *stack)
{
	struct request first;

	/* The child maps a page of its file over it: a child that is killed leaves no mapping. */
	control->watch = request->executes_first ? aspawn_watch_reserve() : NULL;
	if (!control->watch)
		return aspawn_clone_child(control, request, stack);
	psys_memcpy(&first, request, sizeof first);
	first.copy_memory = first.watch_copy = false;
	control->executes_first = true;
	long pid = aspawn_clone_child(control, &first, stack);
	if (pid > 0)
		await_exec(stack, (int)pid, control, request->helped == FOR_CALLER);
	if (pid > 0 && has_executed(control, (int)pid, request->helped == FOR_CALLER)) {
		stack_state(stack)->mode = ASPAWN_MODE_IMAGE;
		return pid;
	}
	if (pid > 0)
		stack_state(stack)->abandoned = (int)pid;
	if (request->helped != FOR_CALLER)
		aspawn_stack_reap_abandoned(stack);
	if (pid > 0 && control->pidfd >= 0)
		psys_close(control->pidfd);
	aspawn_free_watch(control); /* not shared */
	control->executes_first = false;
	return aspawn_clone_child(control, request, stack);
}
