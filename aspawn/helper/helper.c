/* SPDX-License-Identifier: MIT */
/* The parent of a helper: makes it, asks it, waits for it. */
#include "helper.h"

#include <syscall/string.h>
#include <syscall/syscall.h>

#include "../marks.h"
#include "../spawn/clone.h"
#include "../spawn/deadline.h"
#include "../spawn/descriptor_table.h"
#include "../spawn/exec_watch.h"
#include "../spawn/suspending_clone.h"
#include "helper_main.h"
#include "pidfd_channel.h"
#include "tree.h"

/* --- making a helper, and its child --------------------------------------------- */

static IN_SERVER long clone_helper(struct control *control)
{
	struct stack_state *state = stack_state(&control->stack);
	struct request *request = &control->request;
	struct clone_call call = {
		.flags = PSYS_CLONE_VM | PSYS_CLONE_PARENT_SETTID | PSYS_CLONE_CHILD_CLEARTID |
			 (request->detached ? 0 : PSYS_CLONE_FILES),
		.pidfd = request->polls_helper ? &control->helper_pidfd : NULL,
		.tid = &state->helper_pid,
		.cleared_tid = &state->helper,
		.lowest = (char *)(state + 1) + STACK_ALIGN - (uintptr_t)(state + 1) % STACK_ALIGN,
		.top = (char *)state + STACK_UNIT,
		.fn = request->tree ? aspw_tree_main : aspw_helper_main,
		.arg = control,
		.cgroup_fd = -1,
	};

	/* A process that is reaped so may not clone for its parent (Linux 7.1). */
	if (request->helped == PRIVATE && !request->lacks_clone3) {
		state->helped = PRIVATE_AUTOREAPED;
		call.flags |= PSYS_CLONE_AUTOREAP;
		const long r = aspw_clone_call(&call, true);
		if (r > 0 || !aspw_clone_is_refused(r))
			return r;
		call.flags &= ~PSYS_CLONE_AUTOREAP;
	}
	state->helped = request->helped;
	return aspw_clone_sharing(&call, &request->lacks_clone3);
}

/* The caller makes the pipes: if the helper is killed meanwhile, somebody knows their numbers. Returns 0
 * of a detached helper: the state says what becomes of the child. */
static IN_SERVER long clone_by_helper(struct control *control)
{
	struct stack_state *state = stack_state(&control->stack);
	struct request *request = &control->request;

	control->host = psys_getpid();
	if (control->host <= 0)
		return -PSYS_EOPNOTSUPP;
	/* A helper has no pipe to make. The end of a copy is seen by its watch, where that works. */
	if (request->pipe == PIPE_IF_COPIED)
		request->pipe =
			request->memory >= MEMORY_COPIED && !aspw_watch_may_work() ? PIPE : NO_PIPE;
	long r = aspw_descriptors_make(control);
	if (r < 0)
		return r;
	if (request->helped == FOR_CALLER && request->polls_helper)
		aspw_channel_make(control->channel);
	state->ended = NOT_ENDED;
	state->cloned = 0;
	state->inode = 0;
	state->abandoned[0] = state->abandoned[1] = 0;
	state->order = state->by_group = state->survivors = state->is_cancelled = 0;
	state->oom_kills = 0;
	state->memory_peak = 0;
	state->refused = NULL;
	state->pid = state->helper_pid = 0;
	state->mode = MODE_NONE;
	__atomic_store_n(&state->helper, CLONING, __ATOMIC_RELEASE);
	r = clone_helper(control);
	if (control->channel[1] >= 0)
		psys_close(control->channel[1]);
	if (r < 0) {
		if (control->channel[0] >= 0)
			psys_close(control->channel[0]);
		control->channel[0] = control->channel[1] = -1;
		state->helper_pid = 0;
		state->helped = NOT_HELPED;
		__atomic_store_n(&state->helper, NO_HELPER, __ATOMIC_RELEASE);
		return r;
	}
	if (request->detached)
		return 0;
	aspw_stack_await_blocked(control, &state->helper, CLONING);
	if (state->cloned > 0)
		return state->cloned;
	aspw_stack_await_end(&control->stack, STACK_HELPER, DEADLINE_NEVER);
	const int status = aspw_stack_helper_status(&control->stack, control->helper_pidfd);
	aspw_stack_reap_helper(&control->stack);
	if (!state->pid) /* it may have been killed in its clone */
		__atomic_store_n(&state->use, FREE, __ATOMIC_RELEASE);
	/* It may have been killed right after: the kernel has stored the child's number, and the child goes
	 * on. control->pidfd may be a number that a failed clone has stored, and not opened. */
	if (!state->cloned && state->pid)
		return state->pid;
	state->helped = NOT_HELPED;
	return state->cloned < 0      ? state->cloned :
	       status == PSYS_SIGSYS ? -PSYS_ENOSYS : /* a filter traps one of its calls */
					-PSYS_EAGAIN;
}

IN_SERVER long aspw_spawn(const struct request *wanted, const struct Stack_t *stack)
{
	struct control *control = aspw_spawn_begin(wanted, stack);
	struct request *request = &control->request;
	long pid = request->helped ? clone_by_helper(control) : -PSYS_EOPNOTSUPP;

	/* The caller waits itself. If a helper was tried, it has the pipes. */
	if (pid == -PSYS_EOPNOTSUPP && request->helped != PRIVATE) {
		request->detached = false;
		if (request->helped) /* a frozen cgroup would suspend the caller */
			request->cgroup_fd = -1;
		request->helped = NOT_HELPED;
		pid = aspw_clone_first(control);
	}
	return aspw_spawn_end(control, pid);
}

/* --- asking and waiting --------------------------------------------------------- */

IN_ANY unsigned aspw_inode_of(int pidfd)
{
	struct psys_statx status;

	status.stx_ino = 0;
	if (pidfd >= 0)
		psys_statx(pidfd, "", PSYS_AT_EMPTY_PATH, PSYS_STATX_INO, &status);
	return (unsigned)status.stx_ino;
}

IN_SERVER bool aspw_helper_has_reaped(const struct Stack_t *stack)
{
	return __atomic_load_n(&stack_state(stack)->ended, __ATOMIC_SEQ_CST) != NOT_ENDED;
}

/* Any wait of the caller's process reaps a child of it, unnoticed. */
static IN_SERVER bool is_reaped_by_caller(const struct stack_state *state)
{
	struct psys_siginfo info;

	return state->helped == FOR_CALLER &&
	       psys_waitid(PSYS_P_PID, state->pid, &info,
			   (int)(PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT | PSYS___WALL),
			   NULL) == -PSYS_ECHILD;
}

IN_SERVER int aspw_helper_open_child(const struct Stack_t *stack)
{
	const struct stack_state *state = stack_state(stack);
	const int fd = aspw_descriptors_avoid_streams(psys_pidfd_open(state->pid, 0));
	const unsigned inode = __atomic_load_n(&state->inode, __ATOMIC_ACQUIRE);
	const unsigned found = inode ? aspw_inode_of(fd) : 0;

	if (fd >= 0 && (aspw_helper_has_reaped(stack) || is_reaped_by_caller(state) ||
			(found && found != inode))) {
		psys_close(fd);
		return -PSYS_ESRCH;
	}
	return fd;
}

IN_SERVER bool aspw_helper_result(const struct Stack_t *stack, int *status,
				  struct psys_rusage *usage)
{
	const struct stack_state *state = stack_state(stack);
	const bool ended = __atomic_load_n(&state->ended, __ATOMIC_ACQUIRE) == ENDED;

	if (ended && status)
		*status = state->status;
	if (ended && usage)
		psys_memcpy(usage, &state->usage, sizeof *usage);
	return ended;
}
