/* SPDX-License-Identifier: MIT */
/*
 * The spawn: who does what, in which order, and why.
 *
 * parent  blocks all signals but SIGSYS before it checks the stack. Otherwise a handler could spawn
 *         on the same stack, or run in the child on the parent's memory. Blocked signals also keep
 *         thread cancellation out. SIGSYS stays as it is: spawn.h, block_signals().
 * parent  reserves the stack, copies user_data to it and fills the control block, which holds all
 *         that the child needs: the child cannot use the parent's frame, which goes on changing.
 * parent  makes the pipes that are requested, and clones. It tries one clone method after another
 *         until the kernel accepts one.
 * child   blocks SIGSYS first: no handler of the parent may run here.
 * child   then unshares the descriptor table, if it began on the parent's (descriptor_table.h):
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

#include "../marks.h"
#include "descriptor_table.h"
#include "exec_watch.h"

IN_SERVER struct control *aspw_spawn_begin(const struct request *request, const struct plan *plan,
					   const struct Stack_t *stack)
{
	struct control *control = stack_control(stack);
	struct stack_state *state = stack_state(stack);

	control->stack = *stack;
	psys_memcpy((void *)(uintptr_t)&control->request, request, sizeof *request);
	psys_memcpy((void *)(uintptr_t)&control->plan, plan, sizeof *plan);
	psys_memset(&control->pipe, 0, (size_t)((char *)(control + 1) - (char *)&control->pipe));
	control->pipe = request->pipe;
	control->lacks_clone3 = plan->lacks_clone3;
	control->keep_below = plan->keep_below;
	control->report = (struct child_fd){ CHILD_WRITES, false, -1, -1, -1, -1, 0, 0 };
	control->helper_pidfd = control->caller_pidfd = -1;
	control->new_cgroup_fd = control->list_fd = control->channel[0] = control->channel[1] = -1;
	control->old_mask.set = request->mask;
	state->begun = (struct begun){ .pidfd = -1 };
	state->in_cgroup = ELSEWHERE;
	return control;
}

IN_SERVER long aspw_spawn_end(struct control *control, long pid)
{
	if (pid >= 0 && control->flags & PSYS_CLONE_FILES)
		aspw_stack_await_blocked(control, STACK_CHILD, SHARES_FILES);
	aspw_descriptors_close(control, pid < 0);
	if (control->caller_pidfd >= 0)
		psys_close(control->caller_pidfd);
	if (pid < 0) {
		if (control->helper_pidfd >= 0)
			psys_close(control->helper_pidfd);
		aspw_watch_free(&control->watch, control->plan.watch_at);
	}
	return pid;
}
