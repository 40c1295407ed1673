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
#include <aspawn/aspawn.h>

#include <syscall/string.h>
#include <syscall/syscall.h>

#include "exec_watch.h"
#include "execute_first.h"
#include "helper.h"
#include "own_descriptors.h"

/* --- the parent ------------------------------------------------------------ */

static PSYS_UNINSTRUMENTED struct control *fill(const struct request *request,
						const struct Stack_t *stack)
{
	struct control *control = stack_control(stack);

	psys_memset(control, 0, sizeof *control);
	control->stack = *stack;
	psys_memcpy(&control->request, request, sizeof *request);
	control->report = (struct child_fd){ CHILD_WRITES, false, -1, -1, -1, 0 };
	control->pidfd = control->helper_pidfd = control->caller_pidfd = -1;
	control->old_mask.set = request->mask;
	stack_state(stack)->helped = NOT_HELPED;
	return control;
}

PSYS_UNINSTRUMENTED void aspw_free_watch(struct control *control)
{
	struct exec_watch *watch = control->watch;

	control->watch = NULL; /* first: who is killed in between leaves it mapped */
	aspw_watch_free(watch);
}

PSYS_UNINSTRUMENTED long aspw_spawn(const struct request *wanted, const struct Stack_t *stack)
{
	struct control *control = fill(wanted, stack);
	struct request *request = &control->request;
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
		aspw_free_watch(control);
	}
	return pid;
}

/* --- the call --------------------------------------------------------------- */

/* True if user_data lies on the stack, where it would be overwritten or unmapped. */
static bool is_within(const void *user_data, const struct Stack_t *stack)
{
	return stack->addr && (uintptr_t)user_data - (uintptr_t)stack->addr < stack->size;
}

int aspawn_with(unsigned flags, int *pidfd, pid_t *pid, struct Stack_t *cached_stack,
		size_t reserved_stack_sz, aspawn_fn fn, void *arg, void *user_data,
		size_t user_data_len)
{
	struct request request = {
		.memory = flags & ASPAWN_WITH_SUSPENSION ? MEMORY_SUSPENDED : MEMORY_SHARED,
		.pipe = flags & ASPAWN_WITH_NO_PIPE ? NO_PIPE : PIPE,
		.wants_pidfd = pidfd,
		.cgroup_fd = -1,
		.fn = fn,
		.arg = arg,
		.user_data_len = user_data_len,
	};
	struct psys_sigset all;

	if (flags & ~(unsigned)(ASPAWN_WITH_NO_PIPE | ASPAWN_WITH_SUSPENSION) || !pid ||
	    !cached_stack || !fn || (!user_data && user_data_len) ||
	    is_within(user_data, cached_stack))
		return -PSYS_EINVAL;
	psys_sigfillset(&all);
	int r = psys_rt_sigprocmask(PSYS_SIG_SETMASK, &all, &request.mask, PSYS_SIGSET_SIZE);
	if (r < 0)
		return r;
	r = aspw_stack_reserve(cached_stack, reserved_stack_sz, user_data_len);
	if (r == 0) {
		request.user_data = aspw_stack_place(cached_stack, user_data_len);
		psys_memcpy(request.user_data, user_data, user_data_len);
		r = (int)aspw_spawn(&request, cached_stack);
	}
	if (r > 0) {
		const struct control *control = stack_control(cached_stack);
		*pid = r;
		if (pidfd)
			*pidfd = control->pidfd;
		r = control->report.parents_end >= 0 ? control->report.parents_end : 0;
	}
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &request.mask, NULL, PSYS_SIGSET_SIZE);
	return r;
}

int aspawn(pid_t *pid, struct Stack_t *cached_stack, size_t reserved_stack_sz, aspawn_fn fn,
	   void *arg, void *user_data, size_t user_data_len)
{
	return aspawn_with(0, NULL, pid, cached_stack, reserved_stack_sz, fn, arg, user_data,
			   user_data_len);
}
