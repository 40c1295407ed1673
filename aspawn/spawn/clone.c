/* SPDX-License-Identifier: MIT */
/*
 * These are the clone methods, from the best to the last fallback. If the kernel or a seccomp
 * filter rejects a method, the next is tried. No result is cached: a rejection costs a fraction of
 * a microsecond, and a filter or a time namespace may belong to one thread only.
 */
#include "clone.h"

#include <syscall/clone.h>
#include <syscall/string.h>
#include <syscall/syscall.h>

#include "../marks.h"
#include "child_main.h"
#include "descriptor_table.h"
#include "exec_watch.h"
#include "pidfd.h"

/* MODE_NONE ends the list. */
static const struct clone_method {
	enum clone_mode mode;
	bool clone3;
	uint64_t flags;
} clone_methods[] = {
	{ MODE_CLONE3, true, PSYS_CLONE_VM | PSYS_CLONE_CLEAR_SIGHAND },
	/* before Linux 5.5, sandboxes, and filters that cannot look into clone3's structure */
	{ MODE_CLONE, false, PSYS_CLONE_VM | PSYS_CLONE_PIDFD },
	/* for filters that refuse CLONE_PIDFD */
	{ MODE_CLONE, false, PSYS_CLONE_VM },
	/* for user-mode emulators, where CLONE_VFORK is a fork */
	{ MODE_VFORK, false, PSYS_CLONE_VM | PSYS_CLONE_VFORK },
	/* after unshare(CLONE_NEWTIME), Linux 5.6 to 5.18, and for a wanted copy. Any wait of the
	 * caller may reap the child at once, so the clone itself returns the pidfd if possible. */
	{ MODE_FORK, false, PSYS_CLONE_PIDFD },
	{ MODE_FORK, false, 0 },
	{ MODE_NONE, false, 0 },
};

/* An attempt tries one way by one method. */
struct attempt {
	const struct way *way;
	const struct clone_method *method;
	bool wants_pidfd; /* of the child, for its parent or the caller */
};

/* True if the method can do what the way requires. */
static IN_ANY bool method_fits(const struct clone_method *method, const struct way *way,
			       bool lacks_clone3)
{
	const bool shares = method->flags & PSYS_CLONE_VM;

	if (method->clone3 && lacks_clone3)
		return false;
	if (way->in_cgroup)
		return method->clone3;
	if (way->memory == MEMORY_EXECUTED) /* the parent shall see the page that the child maps */
		return shares && !(method->flags & PSYS_CLONE_VFORK);
	return way->memory != MEMORY_COPIED || !shares;
}

IN_ANY bool aspw_clone_is_refused(long error)
{
	return error == -PSYS_ENOSYS || error == -PSYS_EPERM || error == -PSYS_EACCES ||
	       error == -PSYS_EINVAL || error == -PSYS_E2BIG;
}

static IN_ANY uint64_t flags_of(const struct control *control, const struct attempt *attempt)
{
	const enum child_memory memory = attempt->way->memory;
	uint64_t flags = attempt->method->flags;

	if (flags & PSYS_CLONE_VM) {
		flags |= PSYS_CLONE_CHILD_CLEARTID;
		if (control->plan.unshare_files && !(flags & PSYS_CLONE_VFORK))
			flags |= PSYS_CLONE_FILES;
		/* Without clone3 this could be an emulator. */
		if (memory == MEMORY_SUSPENDED ||
		    (memory == MEMORY_EXECUTED && attempt->method->clone3))
			flags |= PSYS_CLONE_VFORK;
	}
	/* A helper may be killed at any instruction, so the kernel itself stores the number. */
	if (!attempt->wants_pidfd || control->caller_pid)
		flags &= ~(uint64_t)PSYS_CLONE_PIDFD;
	/* clone(2) has one argument for pidfd and pid. Before Linux 5.2 it gets the pid. */
	if (!(flags & PSYS_CLONE_PIDFD))
		flags |= PSYS_CLONE_PARENT_SETTID;
	if (attempt->way->in_cgroup)
		flags |= PSYS_CLONE_INTO_CGROUP;
	if (clones_for_caller(control))
		flags |= PSYS_CLONE_PARENT;
	return flags;
}

/* Returns a pidfd of the process that was just cloned, or -1. If another wait has already reaped
 * the process, the number may be another's. A helper that clones for its parent cannot tell. */
static IN_ANY int open_cloned(int pid, bool for_parent)
{
	const int fd = psys_pidfd_open(pid, 0);

	if (fd >= 0 && (for_parent || aspw_child_has_ended(fd, pid) != -PSYS_ECHILD))
		return fd;
	psys_close(fd); /* close(-1) is harmless */
	return -1;
}

IN_ANY long aspw_clone_call(const struct clone_call *call, bool clone3)
{
	/* Linux 5.4 rejects a structure larger than its own. */
	const size_t size = call->flags & PSYS_CLONE_INTO_CGROUP ? PSYS_CLONE_ARGS_SIZE_VER2 :
								   PSYS_CLONE_ARGS_SIZE_VER0;
	struct psys_clone_args args;
	long pid;

	psys_memset(&args, 0, sizeof args);
	args.flags = call->flags | (call->pidfd ? PSYS_CLONE_PIDFD : 0);
	args.pidfd = (uintptr_t)call->pidfd;
	args.child_tid = (uintptr_t)call->cleared_tid;
	args.parent_tid = (uintptr_t)call->tid;
	args.exit_signal = call->exit_signal;
	args.stack = (uintptr_t)call->lowest;
	args.stack_size = (size_t)(call->top - call->lowest);
	args.tls = (uintptr_t)call->tls;
	args.cgroup = (uint64_t)call->cgroup_fd;
	if (clone3)
		pid = psys_clone3_thunk(&args, size, call->fn, call->arg);
	else /* the pidfd goes where the parent's copy of the pid would */
		pid = psys_clone_thunk((unsigned long)call->flags | call->exit_signal, call->top,
				       call->flags & PSYS_CLONE_PIDFD ? call->pidfd : call->tid,
				       call->cleared_tid, call->tls, call->fn, call->arg);
	if (!call->pidfd)
		return pid;
	if (pid < 0)
		*call->pidfd = -1; /* a late failure leaves the number of a closed descriptor */
	if (pid > 0 && *call->pidfd < 0)
		*call->pidfd = open_cloned((int)pid, call->flags & PSYS_CLONE_PARENT);
	return pid;
}

IN_SERVER long aspw_clone_sharing(const struct clone_call *call, bool *lacks_clone3)
{
	long r = *lacks_clone3 ? -PSYS_ENOSYS : aspw_clone_call(call, true);

	if (r < 0 && aspw_clone_is_refused(r)) {
		*lacks_clone3 = true; /* before the process reads the flag */
		r = aspw_clone_call(call, false);
	}
	return r < 0 && aspw_clone_is_refused(r) ? -PSYS_EOPNOTSUPP : r;
}

/* Records the child. After CLONE_VFORK the child no longer uses the stack. A child that the parent
 * did not see by then had a copy of the memory. */
static IN_ANY void note_child(const struct control *control, enum clone_mode mode, int pid)
{
	struct stack_state *state = stack_state(&control->stack);
	const bool suspended = control->flags & PSYS_CLONE_VFORK;

	if (suspended)
		mode = MODE_VFORK;
	if (!(control->flags & PSYS_CLONE_VM) ||
	    (suspended && !__atomic_load_n(&control->progress, __ATOMIC_RELAXED)))
		mode = MODE_FORK;
	if (suspended || mode == MODE_FORK)
		stack_is_left(state);
	state->begun.mode = (int)mode;
	__atomic_store_n(&state->begun.pid, pid, __ATOMIC_RELEASE);
}

/* Stores the child's pid and clone mode in the stack's state. Returns the pid or a negative error
 * number. */
static IN_ANY long clone_by(struct control *control, const struct attempt *attempt)
{
	const struct clone_method *method = attempt->method;
	struct stack_state *state = stack_state(&control->stack);

	control->flags = flags_of(control, attempt);
	control->memory = attempt->way->memory;
	control->progress = NOT_SEEN;
	state->begun.pidfd = -1;
	state->begun.pid = 0;
	const struct clone_call call = {
		.flags = control->flags,
		/* With CLONE_PARENT the signal is the helper's, and an exec makes it SIGCHLD. */
		.exit_signal = control->memory == MEMORY_EXECUTED || clones_for_caller(control) ?
				       0 :
				       PSYS_SIGCHLD,
		.pidfd = attempt->wants_pidfd ? &state->begun.pidfd : NULL,
		.tid = &state->begun.pid,
		.cleared_tid = stack_lend(state, control->flags & PSYS_CLONE_FILES),
		.lowest = (char *)control->stack.addr + STACK_LOWEST,
		.top = control->request.user_data,
		.fn = aspw_child_main,
		.arg = control,
		.cgroup_fd =
			control->plan.new_cgroup ? control->new_cgroup_fd : control->plan.cgroup_fd,
	};
	const long pid = aspw_clone_call(&call, method->clone3);
	control->has_clones_pidfd = pid > 0 && method->clone3 && state->begun.pidfd >= 0;
	if (pid < 0)
		stack_has_no_child(state);
	else
		note_child(control, method->mode, (int)pid);
	return pid;
}

/* Makes this method's pipes, and the exec_watch if memory may be copied, unless they exist. Without
 * a pipe and an exec_watch a copy could not report its failure: then no child is cloned. */
static IN_ANY int make_channels(struct control *control, bool may_copy)
{
	const struct plan *plan = &control->plan;

	if (plan->watch_copy && may_copy && !control->watch)
		control->watch = aspw_watch_map(plan->watch_at, WATCH_SHARED, -1, 0);
	if (control->pipe == PIPE_IF_COPIED && may_copy)
		control->pipe = PIPE;
	if (control->pipe == NO_PIPE && plan->watch_copy && may_copy && !control->watch)
		return -PSYS_ENOMEM;
	return aspw_descriptors_make(control);
}

/* Until this returns nobody can reap the child, so the number is the child's. But a wait of the
 * caller may reap a child that a helper clones for the caller. */
IN_ANY long aspw_clone_child(struct control *control, const struct way *way)
{
	struct attempt attempt = {
		.way = way,
		.wants_pidfd = control->request.wants_pidfd ||
			       (control->caller_pid && control->plan.detached),
	};
	long r = -PSYS_ENOSYS;

	for (const struct clone_method *method = clone_methods; method->mode != MODE_NONE;
	     method++) {
		if (!method_fits(method, way, control->lacks_clone3))
			continue;
		attempt.method = method;
		/* Emulators silently turn CLONE_VFORK into a fork. No emulator has clone3. */
		r = make_channels(control,
				  !(method->flags & PSYS_CLONE_VM) ||
					  (!method->clone3 && (way->memory == MEMORY_SUSPENDED ||
							       method->flags & PSYS_CLONE_VFORK)));
		if (r < 0)
			return r;
		r = clone_by(control, &attempt);
		if (r >= 0 || !aspw_clone_is_refused(r))
			return r;
	}
	return r;
}

/* --- before and after a clone ----------------------------------------------------- */

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
