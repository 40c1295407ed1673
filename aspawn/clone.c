/* SPDX-License-Identifier: MIT */
/*
 * The clone methods, from the best to the last fallback. If the kernel or a seccomp filter rejects
 * a method, the next is tried. No result is cached: a rejection costs a fraction of a microsecond,
 * and a filter or a time namespace may belong to one thread only.
 */
#include "clone.h"

#include <syscall/clone.h>
#include <syscall/syscall.h>

const struct clone_method aspawn_clone_methods[] = {
	{ ASPAWN_MODE_CLONE3, true, PSYS_CLONE_VM | PSYS_CLONE_PIDFD | PSYS_CLONE_CLEAR_SIGHAND },
	/* before Linux 5.5; sandboxes, and filters that cannot look into clone3's structure */
	{ ASPAWN_MODE_CLONE, false, PSYS_CLONE_VM | PSYS_CLONE_PIDFD },
	/* filters that refuse CLONE_PIDFD */
	{ ASPAWN_MODE_CLONE, false, PSYS_CLONE_VM },
	/* user-mode emulators, where it is a fork */
	{ ASPAWN_MODE_VFORK, false, PSYS_CLONE_VM | PSYS_CLONE_VFORK },
	/* copied memory, beginning in a cgroup */
	{ ASPAWN_MODE_FORK, true, 0 },
	/* after unshare(CLONE_NEWTIME), Linux 5.6 to 5.18 */
	{ ASPAWN_MODE_FORK, false, 0 },
	{ ASPAWN_MODE_NONE, false, 0 },
};

PSYS_UNINSTRUMENTED bool aspawn_clone_may_copy(const struct clone_method *method,
					       const struct request *request)
{
	/* Emulators silently turn CLONE_VFORK into a fork; none of them has clone3. */
	return !(method->flags & PSYS_CLONE_VM) ||
	       (!method->clone3 && (request->suspend || method->flags & PSYS_CLONE_VFORK));
}

PSYS_UNINSTRUMENTED bool aspawn_clone_fits(const struct clone_method *method,
					   const struct request *request, bool into_cgroup)
{
	if (into_cgroup && !method->clone3)
		return false;
	if (request->executes_first && method->flags & PSYS_CLONE_VFORK)
		return false;
	/* The parent would not see the page that the child maps. */
	if (request->executes_first && !request->copy_memory && !(method->flags & PSYS_CLONE_VM))
		return false;
	if (request->copy_memory)
		return !(method->flags & PSYS_CLONE_VM) && (!method->clone3 || into_cgroup);
	return method->flags & PSYS_CLONE_VM || !method->clone3;
}

PSYS_UNINSTRUMENTED bool aspawn_clone_shares_files(const struct clone_method *method,
						   const struct request *request)
{
	return request->unshare_files && method->flags & PSYS_CLONE_VM &&
	       !(method->flags & PSYS_CLONE_VFORK);
}

PSYS_UNINSTRUMENTED bool aspawn_clone_is_refused(long error)
{
	return error == -PSYS_ENOSYS || error == -PSYS_EPERM || error == -PSYS_EACCES ||
	       error == -PSYS_EINVAL || error == -PSYS_E2BIG;
}

static PSYS_UNINSTRUMENTED uint64_t flags_of(const struct clone_method *method,
					     const struct request *request, bool into_cgroup)
{
	uint64_t flags = method->flags;

	if (flags & PSYS_CLONE_VM) {
		if (aspawn_clone_shares_files(method, request))
			flags |= PSYS_CLONE_FILES;
		/* Where clone3 is missing, this could be an emulator. */
		if (request->suspend || (request->executes_first && method->clone3))
			flags |= PSYS_CLONE_VFORK;
		/* A helper that is suspended for the image may be killed: then the kernel alone
		 * says when the child has left the stack. */
		if (!(flags & PSYS_CLONE_VFORK) || request->executes_first)
			flags |= PSYS_CLONE_CHILD_CLEARTID;
	}
	if (!request->wants_pidfd)
		flags &= ~(uint64_t)PSYS_CLONE_PIDFD;
	/* clone(2) has one argument for the number and the pidfd, which before Linux 5.2 would get the
	 * number. */
	if (request->kernel_stores_pid && !method->clone3)
		flags &= ~(uint64_t)PSYS_CLONE_PIDFD;
	if (request->kernel_stores_pid)
		flags |= PSYS_CLONE_PARENT_SETTID;
	if (into_cgroup)
		flags |= PSYS_CLONE_INTO_CGROUP;
	if (request->helped == FOR_CALLER)
		flags |= PSYS_CLONE_PARENT;
	return flags;
}

PSYS_UNINSTRUMENTED long aspawn_clone_call(const struct clone_call *call, bool clone3)
{
	struct psys_clone_args args;

	if (!clone3) /* the pidfd goes where the parent's copy of the pid would */
		return psys_clone_thunk((unsigned long)call->flags | call->exit_signal, call->top,
					call->flags & PSYS_CLONE_PIDFD ? call->pidfd : call->tid,
					call->cleared_tid, call->tls, call->fn, call->arg);
	args.flags = call->flags;
	args.pidfd = (uintptr_t)call->pidfd;
	args.child_tid = (uintptr_t)call->cleared_tid;
	args.parent_tid = (uintptr_t)call->tid;
	args.exit_signal = call->exit_signal;
	args.stack = (uintptr_t)call->lowest;
	args.stack_size = (size_t)(call->top - call->lowest);
	args.tls = (uintptr_t)call->tls;
	args.set_tid = 0;
	args.set_tid_size = 0;
	args.cgroup = (uint64_t)call->cgroup_fd;
	/* Linux 5.4 rejects a structure larger than its own. */
	return psys_clone3_thunk(&args,
				 call->flags & PSYS_CLONE_INTO_CGROUP ? PSYS_CLONE_ARGS_SIZE_VER2 :
									PSYS_CLONE_ARGS_SIZE_VER0,
				 call->fn, call->arg);
}

/* Records the child. After CLONE_VFORK the child no longer uses the stack. If control->shared is
 * still 0 then, the child had a copy of the memory. */
static PSYS_UNINSTRUMENTED void
note_child(const struct Stack_t *stack, const struct clone_method *method, uint64_t flags, int pid)
{
	struct stack_state *state = stack_state(stack);
	bool suspended = flags & PSYS_CLONE_VFORK;
	bool copied =
		!(flags & PSYS_CLONE_VM) ||
		(suspended && !__atomic_load_n(&stack_control(stack)->shared, __ATOMIC_RELAXED));

	if (suspended || copied)
		__atomic_store_n(&state->use, FREE, __ATOMIC_RELEASE);
	state->mode = copied ? ASPAWN_MODE_FORK : suspended ? ASPAWN_MODE_VFORK : (int)method->mode;
	__atomic_store_n(&state->pid, pid, __ATOMIC_RELEASE);
}

PSYS_UNINSTRUMENTED long aspawn_clone(const struct clone_method *method,
				      const struct request *request, int cgroup_fd,
				      const struct Stack_t *stack, int (*child)(void *))
{
	struct control *control = stack_control(stack);
	struct stack_state *state = stack_state(stack);
	const uint64_t flags = flags_of(method, request, cgroup_fd >= 0);

	control->shared = 0;
	control->pidfd = -1;
	control->shares_files = flags & PSYS_CLONE_FILES;
	control->began_in_cgroup = cgroup_fd >= 0;
	/* 32-bit kernels before 6.19 accept CLONE_CLEAR_SIGHAND and ignore it. */
	control->reset_handlers = !(flags & PSYS_CLONE_CLEAR_SIGHAND) || sizeof(long) < 8;
	state->pid = 0;
	__atomic_store_n(&state->use, control->shares_files ? SHARES_FILES : RUNNING,
			 __ATOMIC_RELEASE);
	const struct clone_call call = {
		.flags = flags,
		/* With CLONE_PARENT it is the helper's, and an exec makes it SIGCHLD. */
		.exit_signal =
			control->executes_first || request->helped == FOR_CALLER ? 0 : PSYS_SIGCHLD,
		.pidfd = &control->pidfd,
		.tid = &state->pid,
		.cleared_tid = &state->use,
		.lowest = (char *)stack->addr + STACK_LOWEST,
		.top = request->user_data,
		.fn = child,
		.arg = control,
		.cgroup_fd = cgroup_fd,
	};
	long pid = aspawn_clone_call(&call, method->clone3);
	if (pid < 0)
		__atomic_store_n(&state->use, FREE, __ATOMIC_RELEASE);
	else
		note_child(stack, method, flags, (int)pid);
	return pid;
}
