/* SPDX-License-Identifier: MIT */
/* The parent of a helper calls these functions: to make, ask and await the helper. */
#include "helper.h"

#include <syscall/string.h>
#include <syscall/syscall.h>

#include "../marks.h"
#include "../spawn/clone.h"
#include "../spawn/deadline.h"
#include "../spawn/descriptor_table.h"
#include "../spawn/exec_watch.h"
#include "../spawn/pidfd.h"
#include "../spawn/suspending_clone.h"
#include "helper_main.h"
#include "pidfd_channel.h"
#include "tree.h"
#include "ways.h"

/* --- making a helper, and its child --------------------------------------------- */

static IN_SERVER struct clone_call clone_call_of(struct control *control)
{
	const struct plan *plan = &control->plan;
	struct stack_state *state = stack_state(&control->stack);

	return (struct clone_call){
		.flags = PSYS_CLONE_VM | PSYS_CLONE_PARENT_SETTID | PSYS_CLONE_CHILD_CLEARTID |
			 (plan->detached ? 0 : PSYS_CLONE_FILES),
		.pidfd = plan->polls_helper ? &control->helper_pidfd : NULL,
		.tid = &state->helper_pid,
		.cleared_tid = &state->helper,
		.lowest = (char *)(state + 1) + STACK_ALIGN - (uintptr_t)(state + 1) % STACK_ALIGN,
		.top = (char *)state + STACK_UNIT,
		.fn = plan->owner == OWNER_TREE ? aspw_tree_main : aspw_helper_main,
		.arg = control,
		.cgroup_fd = -1,
	};
}

/* Cleans up if no helper could be cloned. */
static IN_SERVER void give_up_helper(struct control *control)
{
	struct stack_state *state = stack_state(&control->stack);

	if (control->channel[0] >= 0)
		psys_close(control->channel[0]);
	control->channel[0] = control->channel[1] = -1;
	control->caller_pid = state->helper_pid = 0;
	state->begun.helped = NOT_HELPED;
	__atomic_store_n(&state->helper, NO_HELPER, __ATOMIC_RELEASE);
}

/* Waits until the helper has cloned the child. Returns the child's number or an error. */
static IN_SERVER long await_clone(const struct control *control)
{
	struct stack_state *state = stack_state(&control->stack);
	struct begun *begun = &state->begun;

	aspw_stack_await_blocked(control, STACK_HELPER, CLONING);
	if (__atomic_load_n(&state->helper, __ATOMIC_ACQUIRE) == HELPING)
		return begun->pid;
	aspw_stack_await_free(&control->stack, STACK_HELPER, DEADLINE_NEVER);
	const int status = aspw_stack_helper_status(&control->stack, control->helper_pidfd);
	aspw_stack_reap_helper(&control->stack);
	if (!begun->pid) /* the helper may have been killed in its clone */
		stack_has_no_child(state);
	/* If the helper was killed right after the clone, the kernel has stored the child's number,
	 * and the child goes on. begun->pidfd may be a number that a failed clone has stored, and
	 * not opened. */
	if (!begun->error && begun->pid)
		return begun->pid;
	begun->helped = NOT_HELPED;
	if (begun->error)
		return begun->error;
	return status == PSYS_SIGSYS ? -PSYS_ENOSYS : /* a filter traps one of its calls */
				       -PSYS_EAGAIN;
}

/* The caller makes the pipes, to know their numbers even if the helper is killed meanwhile. */
IN_SERVER long aspw_clone_by_helper(struct control *control)
{
	const struct plan *plan = &control->plan;
	struct stack_state *state = stack_state(&control->stack);

	const int caller_pid = psys_getpid();
	if (caller_pid <= 0)
		return -PSYS_EOPNOTSUPP;
	/* A helper makes no pipe. A watch detects the end of a copy, where watches work. */
	if (control->pipe == PIPE_IF_COPIED)
		control->pipe = plan->wishes & WISH_COPY && !aspw_watch_may_work() ? PIPE : NO_PIPE;
	long r = aspw_descriptors_make(control);
	if (r < 0)
		return r;
	if (!plan->owner && plan->polls_helper)
		aspw_channel_make(control->channel);
	control->caller_pid = caller_pid;
	state->ended = NOT_ENDED;
	state->inode = 0;
	state->abandoned[0] = state->abandoned[1] = 0;
	state->order = state->by_process_group = state->survivors = state->is_cancelled = 0;
	state->oom_kills = 0;
	state->memory_peak = 0;
	state->refused = NULL;
	state->helper_pid = 0;
	__atomic_store_n(&state->helper, CLONING, __ATOMIC_RELEASE);
	struct clone_call call = clone_call_of(control);
	r = -PSYS_ENOSYS;
	if (plan->owner && !control->lacks_clone3) { /* with AUTOREAP no CLONE_PARENT */
		state->begun.helped = AUTOREAPED;
		call.flags |= PSYS_CLONE_AUTOREAP; /* Linux 7.1 */
		r = aspw_clone_call(&call, true);
		call.flags &= ~PSYS_CLONE_AUTOREAP;
	}
	if (aspw_clone_is_refused(r)) {
		state->begun.helped = WAITED_FOR;
		r = aspw_clone_sharing(&call, &control->lacks_clone3);
	}
	if (control->channel[1] >= 0)
		psys_close(control->channel[1]);
	if (r < 0) {
		give_up_helper(control);
		return r;
	}
	return plan->detached ? 0 : await_clone(control);
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

/* Any wait of the caller's process may reap the caller's child, unnoticed. */
static IN_SERVER bool is_reaped_by_caller(const struct Stack_t *stack)
{
	const struct begun *begun = &stack_state(stack)->begun;
	struct psys_siginfo info;

	return begun->helped && !stack_control(stack)->plan.owner &&
	       psys_waitid(PSYS_P_PID, begun->pid, &info, LOOK_AT_ANY, NULL) == -PSYS_ECHILD;
}

IN_SERVER int aspw_helper_open_child(const struct Stack_t *stack)
{
	const struct stack_state *state = stack_state(stack);
	const int fd = aspw_descriptors_avoid_streams(psys_pidfd_open(state->begun.pid, 0));
	const unsigned inode = __atomic_load_n(&state->inode, __ATOMIC_ACQUIRE);
	const unsigned found = inode ? aspw_inode_of(fd) : 0;

	if (fd >= 0 && (aspw_helper_has_reaped(stack) || is_reaped_by_caller(stack) ||
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
