/* SPDX-License-Identifier: MIT */
/* Clones that suspend the parent: into a cgroup, or for a program of the library that is executed
 * first. Afterwards another child may have to be tried. */
#include "suspending_clone.h"

#include <syscall/string.h>
#include <syscall/syscall.h>

#include "../marks.h"
#include "clone.h"
#include "exec_watch.h"
#include "pidfd.h"
#include "spawn.h"

/* Until the exec the child has no exit signal. So no other wait sees the end, and no ordinary child
 * has the number (wait(2), __WCLONE). A helper cannot wait for the caller's child. */
static IN_ANY bool suspending_has_ended(const struct control *control, int pid)
{
	struct psys_pollfd end = { stack_state(&control->stack)->begun.pidfd, PSYS_POLLIN, 0 };
	struct psys_timespec at_once = { 0, 0 };
	struct psys_siginfo info;

	if (clones_for_caller(control))
		return psys_ppoll(&end, 1, &at_once, NULL, 0) > 0;
	info.u.child.pid = 0;
	psys_waitid(PSYS_P_PID, pid, &info, LOOK_AT_CLONE, NULL);
	return info.u.child.pid && is_exit(&info);
}

/* Returns when the child has left the stack. Without clone3 the parent was not suspended, and a
 * sandbox may not clear the word. */
static IN_ANY void await_exec(const struct control *control, int pid)
{
	const struct psys_timespec nap = { 0, 1000000 };
	struct stack_state *state = stack_state(&control->stack);

	while (stack_sleeps(state, &nap))
		if (watch_has_begun(control->watch) || suspending_has_ended(control, pid))
			stack_is_left(state);
}

/* True if the child has executed the program. A child that was killed within the exec has kept the
 * exit signal, so the parent would not hear of the end. */
static IN_ANY bool has_executed(const struct control *control, int pid)
{
	struct psys_siginfo info;

	return __atomic_load_n(&control->progress, __ATOMIC_ACQUIRE) == EXECUTES &&
	       (clones_for_caller(control) ||
		psys_waitid(PSYS_P_PID, pid, &info,
			    (int)(PSYS_WEXITED | PSYS_WNOWAIT | PSYS___WCLONE), NULL) != 0);
}

/* True if the caller cannot have taken the child's number: then another child may follow. */
static IN_ANY bool may_try_again(struct stack_state *state)
{
	int in_cgroup = SUSPENDS;

	__atomic_compare_exchange_n(&state->in_cgroup, &in_cgroup, ELSEWHERE, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return in_cgroup != IS_TAKEN;
}

/* Gives up a child that did not begin as wanted. The caller reaps a child of its own. */
static IN_ANY void abandon_child(const struct control *control, int pid)
{
	struct stack_state *state = stack_state(&control->stack);
	struct psys_siginfo info;
	/* If the child was reaped elsewhere, no ordinary child with the number must be touched. */
	const bool is_clone = control->memory == MEMORY_EXECUTED;
	const int options = (int)(PSYS_WEXITED | (is_clone ? PSYS___WCLONE : PSYS___WALL));

	state->begun.pid = 0; /* a helper may be killed before it clones again */
	if (clones_for_caller(control))
		state->abandoned[state->abandoned[0] != 0] = pid;
	else
		while (psys_waitid(PSYS_P_PID, pid, &info, options, NULL) == -PSYS_EINTR)
			continue;
	psys_close(state->begun.pidfd); /* close(-1) is harmless */
}

IN_ANY int aspw_suspending_begin(struct control *control, const struct way *way)
{
	struct stack_state *state = stack_state(&control->stack);
	const bool executes = way->memory == MEMORY_EXECUTED;

	if (way->in_cgroup) {
		state->begun.mode = executes ? MODE_IMAGE : MODE_VFORK;
		/* An earlier order to end a tree is seen here. A later order sees this store. */
		__atomic_store_n(&state->in_cgroup, SUSPENDS, __ATOMIC_SEQ_CST);
		if (control->plan.owner == OWNER_TREE &&
		    __atomic_load_n(&state->order, __ATOMIC_SEQ_CST) > 0)
			return -PSYS_ECHILD;
	}
	/* The child maps a page of its file there. A child that is killed leaves no mapping. */
	if (executes)
		control->watch = aspw_watch_map(control->plan.watch_at, WATCH_RESERVED, -1, 0);
	return !executes || control->watch ? 0 : -PSYS_ENOMEM;
}

/* From Linux 6.14 on the kernel kills a child that is cloned into a cgroup which was killed more
 * often than the parent's (kill_seq). */
IN_ANY long aspw_suspending_end(struct control *control, const struct way *way, long pid)
{
	struct stack_state *state = stack_state(&control->stack);
	const bool executes = way->memory == MEMORY_EXECUTED;

	if (pid > 0 && executes)
		await_exec(control, (int)pid);
	if (pid > 0) {
		const bool has_begun =
			executes ? has_executed(control, (int)pid) : control->progress != NOT_SEEN;
		if (has_begun || !may_try_again(state)) {
			state->begun.mode = executes ? MODE_IMAGE : MODE_VFORK;
			return pid;
		}
		abandon_child(control, (int)pid);
		pid = -PSYS_ECHILD;
	}
	aspw_watch_free(&control->watch, control->plan.watch_at); /* the page is not shared */
	state->in_cgroup = ELSEWHERE;
	return pid;
}
