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

/* --- a child in a cgroup, and a program of the library that is executed first ------ */

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

/* True if the caller cannot have taken the child's number, so that there may be another child. */
static PSYS_UNINSTRUMENTED bool may_try_again(struct stack_state *state)
{
	int in_cgroup = SUSPENDS;

	__atomic_compare_exchange_n(&state->in_cgroup, &in_cgroup, ELSEWHERE, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return in_cgroup != IS_TAKEN;
}

/* A child that is not the one that was wanted. The caller's is for the caller to reap. */
static PSYS_UNINSTRUMENTED void abandon(const struct control *control, int pid)
{
	struct stack_state *state = stack_state(&control->stack);
	struct psys_siginfo info;
	/* If another has reaped it, no ordinary child that has the number now may be touched. */
	const bool is_clone = control->request.memory == MEMORY_EXECUTED;
	const int options = (int)(PSYS_WEXITED | (is_clone ? PSYS___WCLONE : PSYS___WALL));

	state->pid = 0; /* a helper may be killed before it clones again */
	if (control->request.helped == FOR_CALLER)
		state->abandoned[state->abandoned[0] != 0] = pid;
	else
		while (psys_waitid(PSYS_P_PID, pid, &info, options, NULL) == -PSYS_EINTR)
			continue;
	psys_close(control->pidfd); /* of a negative one: no effect */
}

/* Clones a child that executes the image, or begins in a cgroup. Returns its number, or why another
 * child is to be tried: from Linux 6.14 on the kernel kills each child that is cloned into a cgroup
 * which was killed more often than the parent's (kill_seq). */
static PSYS_UNINSTRUMENTED long try_first(struct control *control)
{
	struct stack_state *state = stack_state(&control->stack);
	const bool executes = control->request.memory == MEMORY_EXECUTED;

	/* The child maps a page of its file over it: a child that is killed leaves no mapping. */
	control->watch = executes ? aspw_watch_map(NULL, WATCH_RESERVED, -1, 0) : NULL;
	if (executes && !control->watch)
		return -PSYS_ENOMEM;
	const long pid = aspw_clone_child(control);
	if (pid > 0 && executes)
		await_exec(control, (int)pid);
	const bool has_begun = executes ? pid > 0 && has_executed(control, (int)pid) :
					  control->progress != NOT_SEEN;
	if (pid > 0 && (has_begun || !may_try_again(state))) {
		state->mode = executes ? MODE_IMAGE : MODE_VFORK;
		return pid;
	}
	if (pid > 0)
		abandon(control, (int)pid);
	aspw_watch_free(&control->watch); /* not shared */
	return pid > 0 ? -PSYS_ECHILD : pid;
}

PSYS_UNINSTRUMENTED long aspw_clone_first(struct control *control)
{
	struct request *request = &control->request;
	struct stack_state *state = stack_state(&control->stack);
	const enum child_memory elsewhere = request->memory;

	state->in_cgroup = ELSEWHERE;
	if (request->cgroup_fd >= 0) {
		request->memory = request->in_cgroup;
		state->mode = request->memory == MEMORY_EXECUTED ? MODE_IMAGE : MODE_VFORK;
		/* An order to end a tree comes before this and is seen here, or sees this. */
		__atomic_store_n(&state->in_cgroup, SUSPENDS, __ATOMIC_SEQ_CST);
		const bool is_ordered =
			request->tree && __atomic_load_n(&state->order, __ATOMIC_SEQ_CST) > 0;
		const long pid = is_ordered ? -PSYS_ECHILD : try_first(control);
		if (pid > 0 || pid == -PSYS_EAGAIN || pid == -PSYS_ENOMEM) /* pids.max */
			return pid;
		state->in_cgroup = ELSEWHERE;
		request->cgroup_fd = -1;
		request->memory = elsewhere;
	}
	if (request->memory == MEMORY_EXECUTED) {
		const long pid = try_first(control);
		if (pid > 0)
			return pid;
		request->memory = MEMORY_COPIED;
	}
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
	control->pidfd = control->helper_pidfd = control->caller_pidfd = control->group_fd = -1;
	control->old_mask.set = request->mask;
	stack_state(stack)->helped = NOT_HELPED;
	long pid = request->helped ? aspw_clone_by_helper(control) : -PSYS_EOPNOTSUPP;

	/* The caller waits itself. If a helper was tried, it has the pipes. */
	if (pid == -PSYS_EOPNOTSUPP && request->helped != PRIVATE) {
		request->detached = false;
		if (request->helped) /* a frozen cgroup would suspend the caller */
			request->cgroup_fd = -1;
		request->helped = NOT_HELPED;
		pid = aspw_clone_first(control);
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
