/* SPDX-License-Identifier: MIT */
#include "execute_first.h"

#include <syscall/syscall.h>

#include "clone.h"
#include "exec_watch.h"

/* Until its exec the child has no exit signal, so that no wait but this sees its end: by a number that
 * is no ordinary child's (wait(2), __WCLONE). The caller's child is not the helper's to wait for. */
static PSYS_UNINSTRUMENTED bool first_has_ended(const struct control *control, int pid)
{
	struct psys_pollfd end = { control->pidfd, PSYS_POLLIN, 0 };
	struct psys_timespec at_once = { 0, 0 };
	struct psys_siginfo info;

	if (control->request.helped == FOR_CALLER)
		return psys_ppoll(&end, 1, &at_once, NULL, 0) > 0;
	info.u.child.pid = 0;
	psys_waitid(PSYS_P_PID, pid, &info,
		    (int)(PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT | PSYS___WCLONE), NULL);
	return info.u.child.pid;
}

/* Returns when the child has left the stack. Its parent was not suspended where clone3 is missing,
 * and a sandbox may not clear the word. */
static PSYS_UNINSTRUMENTED void await_exec(const struct control *control, int pid)
{
	const struct psys_timespec nap = { 0, 1000000 };
	int *word = &stack_state(&control->stack)->use, use;

	while ((use = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != FREE) {
		psys_futex(word, PSYS_FUTEX_WAIT, use, &nap, NULL, 0);
		if (watch_has_begun(control->watch) || first_has_ended(control, pid))
			__atomic_store_n(word, FREE, __ATOMIC_RELEASE);
	}
}

/* True if the child has executed the program. A child that was killed within its exec has kept its exit
 * signal: its parent would hear of no end. */
static PSYS_UNINSTRUMENTED bool has_executed(const struct control *control, int pid)
{
	struct psys_siginfo info;

	return __atomic_load_n(&control->progress, __ATOMIC_ACQUIRE) == EXECUTES &&
	       (control->request.helped == FOR_CALLER ||
		psys_waitid(PSYS_P_PID, pid, &info,
			    (int)(PSYS_WEXITED | PSYS_WNOWAIT | PSYS___WCLONE), NULL) != 0);
}

PSYS_UNINSTRUMENTED long aspw_execute_first(struct control *control)
{
	struct request *request = &control->request;
	struct stack_state *state = stack_state(&control->stack);

	/* The child maps a page of its file over it: a child that is killed leaves no mapping. */
	control->watch = request->memory == MEMORY_EXECUTED ?
				 aspw_watch_map(NULL, WATCH_RESERVED, -1, 0) :
				 NULL;
	if (control->watch) {
		const long pid = aspw_clone_child(control);
		if (pid > 0)
			await_exec(control, (int)pid);
		if (pid > 0 && has_executed(control, (int)pid)) {
			state->mode = MODE_IMAGE;
			return pid;
		}
		if (pid > 0)
			state->abandoned = (int)pid;
		if (request->helped != FOR_CALLER)
			aspw_stack_reap_abandoned(&control->stack);
		if (pid > 0 && control->pidfd >= 0)
			psys_close(control->pidfd);
		aspw_free_watch(control); /* not shared */
	}
	if (request->memory == MEMORY_EXECUTED)
		request->memory = MEMORY_COPIED;
	return aspw_clone_child(control);
}
