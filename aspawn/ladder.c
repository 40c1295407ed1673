/*
 * The ladder of ways to make a child, from the best down. A way that the kernel
 * lacks or a filter forbids answers with one of a few errors, and the next is
 * tried. Nothing is remembered: a refusal costs a fraction of a microsecond, and
 * a filter or a time namespace may be one thread's own.
 */
#include "ladder.h"

#include <syscall/clone.h>
#include <syscall/syscall.h>

static const struct rung {
	enum aspawn_mode mode;
	bool clone3;
	uint64_t flags;
	uint64_t pidfd;
} ladder[] = {
	{ ASPAWN_MODE_CLONE3, true, PSYS_CLONE_VM | PSYS_CLONE_CLEAR_SIGHAND, PSYS_CLONE_PIDFD },
	/* Linux 5.3 and 5.4, some sandboxes */
	{ ASPAWN_MODE_CLONE3_NO_CLEAR, true, PSYS_CLONE_VM, PSYS_CLONE_PIDFD },
	/* before 5.3; filters that cannot look into clone3's structure */
	{ ASPAWN_MODE_CLONE, false, PSYS_CLONE_VM, PSYS_CLONE_PIDFD },
	/* user-mode emulators, where it is a fork and may refuse CLONE_PIDFD */
	{ ASPAWN_MODE_VFORK, false, PSYS_CLONE_VM | PSYS_CLONE_VFORK, 0 },
	/* after unshare(CLONE_NEWTIME), Linux 5.6 to 5.18 */
	{ ASPAWN_MODE_FORK, false, 0, 0 },
};

bool aspawn_is_refusal(long error)
{
	return error == -PSYS_ENOSYS || error == -PSYS_EPERM || error == -PSYS_EACCES ||
	       error == -PSYS_EINVAL || error == -PSYS_E2BIG;
}

static bool is_passed_over(const struct rung *rung, uint64_t flags)
{
	/* CLONE_VFORK makes emulators fork without a word; none of those has clone3. */
	bool may_copy = rung->mode >= ASPAWN_MODE_VFORK || ((flags & ASPAWN_VFORK) && !rung->clone3);

	return ((flags & SPAWN_SHARING) && may_copy) || ((flags & SPAWN_NOT_SHARING) && !may_copy) ||
	       ((flags & SPAWN_COPY) && rung->mode != ASPAWN_MODE_FORK);
}

static uint64_t flags_of(const struct rung *rung, const struct aspawn_options *options)
{
	uint64_t flags = rung->flags;

	if (flags & PSYS_CLONE_VM) {
		if ((options->flags & SPAWN_OWN_TABLE) && rung->mode < ASPAWN_MODE_VFORK)
			flags |= PSYS_CLONE_FILES;
		if (options->flags & ASPAWN_VFORK)
			flags |= PSYS_CLONE_VFORK;
		if (!(flags & PSYS_CLONE_VFORK))
			flags |= PSYS_CLONE_CHILD_CLEARTID;
	}
	if (options->flags & ASPAWN_PIDFD)
		flags |= rung->pidfd;
	if (options->flags & ASPAWN_CGROUP)
		flags |= PSYS_CLONE_INTO_CGROUP;
	return flags;
}

static long call_clone3(uint64_t flags, const struct aspawn_options *options,
			const struct Stack_t *stack, const char *stack_top, int (*child)(void *))
{
	struct control *control = stack_control(stack);
	struct psys_clone_args args;

	args.flags = flags;
	args.pidfd = (uintptr_t)&control->pidfd;
	args.child_tid = (uintptr_t)&control->busy;
	args.parent_tid = 0;
	args.exit_signal = PSYS_SIGCHLD;
	args.stack = (uintptr_t)stack->addr + STACK_GUARD;
	args.stack_size = (uintptr_t)stack_top - args.stack;
	args.tls = 0;
	args.set_tid = 0;
	args.set_tid_size = 0;
	args.cgroup = (uint64_t)options->cgroup_fd;
	/* Linux 5.4 refuses what goes beyond the structure that it knows. */
	return psys_clone3_thunk(&args,
				 flags & PSYS_CLONE_INTO_CGROUP ? PSYS_CLONE_ARGS_SIZE_VER2 :
								  PSYS_CLONE_ARGS_SIZE_VER0,
				 child, control);
}

static long call_clone(uint64_t flags, const struct Stack_t *stack, char *stack_top,
		       int (*child)(void *))
{
	struct control *control = stack_control(stack);

	/* The pidfd goes where the parent's copy of the pid would. */
	return psys_clone_thunk((unsigned long)flags | PSYS_SIGCHLD, stack_top, &control->pidfd,
				&control->busy, NULL, child, control);
}

long aspawn_clone_child(const struct aspawn_options *options, const struct Stack_t *stack,
		 char *stack_top, int (*child)(void *), int *pidfd)
{
	struct control *control = stack_control(stack);
	const struct rung *const end = ladder + sizeof ladder / sizeof ladder[0];
	uint64_t flags = 0;
	long pid = -PSYS_ENOSYS;

	control->pidfd = -1;
	control->pid = 0;
	control->shared = 0;

	const struct rung *rung = ladder;
	for (; rung < end; rung++) {
		if ((options->flags & ASPAWN_CGROUP) && !rung->clone3)
			break;
		if (is_passed_over(rung, options->flags))
			continue;
		flags = flags_of(rung, options);
		control->shares_table = flags & PSYS_CLONE_FILES;
		__atomic_store_n(&control->busy, control->shares_table ? SHARES_TABLE : RUNS,
				 __ATOMIC_RELEASE);
		/* 32-bit kernels before 6.19 take CLONE_CLEAR_SIGHAND and ignore it. */
		control->reset_handlers = !(flags & PSYS_CLONE_CLEAR_SIGHAND) || sizeof(long) < 8;
		pid = rung->clone3 ? call_clone3(flags, options, stack, stack_top, child) :
				     call_clone(flags, stack, stack_top, child);
		if (!aspawn_is_refusal(pid))
			break;
	}
	if (pid < 0) {
		__atomic_store_n(&control->busy, FREE, __ATOMIC_RELEASE);
		if ((options->flags & ASPAWN_CGROUP) && (pid == -PSYS_EINVAL || pid == -PSYS_E2BIG))
			return -PSYS_ENOSYS;
		return pid;
	}

	/* After CLONE_VFORK the child has let go of the memory, or it never
	 * shared it and has not stored its mark. */
	bool suspended = flags & PSYS_CLONE_VFORK;
	bool copied = !(flags & PSYS_CLONE_VM) ||
		      (suspended && !__atomic_load_n(&control->shared, __ATOMIC_RELAXED));
	if (suspended || copied)
		__atomic_store_n(&control->busy, FREE, __ATOMIC_RELEASE);
	control->mode = copied ? ASPAWN_MODE_FORK : suspended ? ASPAWN_MODE_VFORK : (int)rung->mode;
	__atomic_store_n(&control->pid, (int)pid, __ATOMIC_RELEASE);
	*pidfd = control->pidfd;
	if ((options->flags & ASPAWN_PIDFD) && *pidfd < 0) {
		int fd = psys_pidfd_open((int)pid, 0);
		*pidfd = fd < 0 ? -1 : fd;
	}
	return pid;
}
