/* SPDX-License-Identifier: MIT */
/*
 * The spawn: who does what, in which order, and why.
 *
 * parent  blocks all signals before it checks the stack. Otherwise a handler could spawn on the
 *         same stack, or run in the child on the parent's memory. Blocked signals also keep
 *         thread cancellation out.
 * parent  reserves the stack, copies user_data to it and fills the control block, which holds all
 *         that the child needs: the child cannot use the parent's frame, which goes on changing.
 * parent  makes the pipes that are requested, and clones. It tries one clone method after another
 *         until the kernel accepts one.
 * child   first unshares the descriptor table, if it began on the parent's (own_descriptors.h):
 *         before that, a descriptor that the child closes is closed in the parent.
 * child   closes the read end. If the parent then dies, the child's write fails at once.
 * child   resets caught signals to SIG_DFL if the kernel did not, and leaves ignored signals
 *         ignored, as execve(2) does. All signals stay blocked until fn sets the mask, right
 *         before its exec.
 * child   runs fn, and ends by exit_group: no destructor of the parent runs.
 * parent  is suspended until then if a program of the library is to be executed first, which runs
 *         the actions in memory of its own. If that fails, it clones again.
 * helper  of a private child is cloned by the parent, and clones the child in its place: it is the
 *         child's parent until the child's end (helper.h).
 * kernel  clears the stack's word and wakes its waiters when the child's exec or exit has released
 *         the memory. Only then is the stack free; the pipe's end may come earlier or later.
 * parent  meanwhile waits until the child has unshared the descriptor table, as the caller may
 *         change descriptors afterwards. It closes its copy of the write end, so that the pipe
 *         ends with the child. It stores the results and restores the mask last, so that a
 *         SIGCHLD handler finds *pid.
 */
#include "spawn.h"

#include <syscall/string.h>
#include <syscall/syscall.h>

#include "clone.h"
#include "exec_watch.h"
#include "helper.h"
#include "own_descriptors.h"

/* --- a program of the library that is executed first ----------------------------- */

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
		aspw_watch_free(&control->watch); /* not shared */
	}
	if (request->memory == MEMORY_EXECUTED)
		request->memory = MEMORY_COPIED;
	return aspw_clone_child(control);
}

/* --- the spawn ------------------------------------------------------------------- */

PSYS_UNINSTRUMENTED long aspw_spawn(const struct request *wanted, const struct Stack_t *stack)
{
	struct control *control = stack_control(stack);
	struct request *request = &control->request;

	psys_memset(control, 0, sizeof *control);
	control->stack = *stack;
	psys_memcpy(request, wanted, sizeof *request);
	control->report = (struct child_fd){ CHILD_WRITES, false, -1, -1, -1, 0 };
	control->pidfd = control->helper_pidfd = control->caller_pidfd = -1;
	control->old_mask.set = request->mask;
	stack_state(stack)->helped = NOT_HELPED;
	long pid = request->helped ? aspw_clone_by_helper(control) : -PSYS_EOPNOTSUPP;

	/* The caller waits itself. If a helper was tried, it has the pipes. */
	if (pid == -PSYS_EOPNOTSUPP && request->helped != PRIVATE) {
		request->detached = false;
		request->helped = NOT_HELPED;
		pid = aspw_execute_first(control);
	}
	if (pid >= 0 && control->flags & PSYS_CLONE_FILES)
		aspw_stack_await_blocked(control, &stack_state(stack)->use, SHARES_FILES);
	aspw_descriptors_close(control, pid < 0);
	if (control->caller_pidfd >= 0)
		psys_close(control->caller_pidfd);
	if (pid < 0) {
		if (control->helper_pidfd >= 0)
			psys_close(control->helper_pidfd);
		aspw_watch_free(&control->watch);
	}
	return pid;
}
