/*
 * The spawn itself. The caller's signals stay blocked from before the stack is
 * looked at until the child is on its way: no handler of the parent runs in the
 * child, none finds a stack half set up, and the thread cannot be cancelled.
 */
#include <aspawn/aspawn.h>

#include <syscall/string.h>
#include <syscall/syscall.h>

#include "ladder.h"
#include "stack.h"

/* What is ignored stays ignored. */
static PSYS_UNINSTRUMENTED void reset_handlers(void)
{
	for (int signal = 1; signal <= PSYS_NSIG; signal++) {
		struct psys_sigaction old[2]; /* QEMU 7.2 writes more than one on riscv and loongarch */
		struct psys_sigaction reset = { .handler = PSYS_SIG_DFL };

		if (psys_rt_sigaction(signal, NULL, old, PSYS_SIGSET_SIZE) >= 0 &&
		    old->handler != PSYS_SIG_DFL && old->handler != PSYS_SIG_IGN)
			psys_rt_sigaction(signal, &reset, NULL, PSYS_SIGSET_SIZE);
	}
}

/* Where the child begins. */
static PSYS_UNINSTRUMENTED int child_main(void *block)
{
	struct control *control = block;

	__atomic_store_n(&control->shared, 1, __ATOMIC_RELAXED);
	if (control->read_end >= 0)
		psys_close(control->read_end);
	if (control->reset_handlers)
		reset_handlers();
	psys_exit_group(control->fn(control->arg, control->write_end, &control->old_mask,
				    control->user_data, control->user_data_len));
}

static void close_pipe(const int ends[2])
{
	psys_close(ends[0]);
	psys_close(ends[1]);
}

/*
 * A pipe that keeps clear of the child's standard streams, also when the parent
 * has closed its own.
 */
static int make_pipe(int ends[2])
{
	int r = psys_pipe2(ends, PSYS_O_CLOEXEC);

	if (r < 0 || (ends[0] > 2 && ends[1] > 2))
		return r;

	int low[2] = { ends[0], ends[1] };
	ends[0] = (int)psys_fcntl(low[0], PSYS_F_DUPFD_CLOEXEC, 3);
	ends[1] = (int)psys_fcntl(low[1], PSYS_F_DUPFD_CLOEXEC, 3);
	close_pipe(low);
	if (ends[0] >= 0 && ends[1] >= 0)
		return 0;
	r = ends[0] < 0 ? ends[0] : ends[1];
	close_pipe(ends); /* of a negative one: no effect */
	return r;
}

/*
 * The caller's options as the newest structure, however old or new its own is.
 * man 2 openat2, "Extensibility"
 */
static int copy_options(struct aspawn_options *to, const struct aspawn_options *from)
{
	to->size = sizeof *to;
	to->flags = 0;
	to->pidfd = NULL;
	to->cgroup_fd = -1;
	if (!from)
		return 0;

	if (from->size < sizeof *to)
		return -PSYS_EINVAL;
	for (size_t i = sizeof *to; i < from->size; i++)
		if (((const char *)from)[i])
			return -PSYS_E2BIG;

	to->flags = from->flags;
	if (to->flags & ~(ASPAWN_NO_PIPE | ASPAWN_PIDFD | ASPAWN_CGROUP | ASPAWN_VFORK))
		return -PSYS_EINVAL;
	if (to->flags & ASPAWN_PIDFD) {
		to->pidfd = from->pidfd;
		if (!to->pidfd)
			return -PSYS_EINVAL;
	}
	if (to->flags & ASPAWN_CGROUP) {
		to->cgroup_fd = from->cgroup_fd;
		if (to->cgroup_fd < 0)
			return -PSYS_EBADF;
	}
	return 0;
}

/* On a reserved stack, with all signals blocked. */
static int spawn(const struct aspawn_options *options, pid_t *pid, const struct Stack_t *stack,
		 const struct psys_sigset *mask, aspawn_fn fn, void *arg, const void *user_data,
		 size_t user_data_len)
{
	struct control *control = stack_control(stack);
	char *top = (char *)control - user_data_len;
	int ends[2] = { -1, -1 };
	bool has_pipe = !(options->flags & ASPAWN_NO_PIPE);
	int pidfd;

	top -= (uintptr_t)top % STACK_ALIGN;
	psys_memcpy(top, user_data, user_data_len);
	if (has_pipe) {
		int r = make_pipe(ends);
		if (r < 0)
			return r;
	}
	control->read_end = ends[0];
	control->write_end = ends[1];
	control->fn = fn;
	control->arg = arg;
	control->user_data = top;
	control->user_data_len = user_data_len;
	control->old_mask.set = *mask;

	long child = aspawn_clone_child(options, stack, top, child_main, &pidfd);
	if (child < 0) {
		if (has_pipe)
			close_pipe(ends);
		return (int)child;
	}
	*pid = (pid_t)child;
	if (options->flags & ASPAWN_PIDFD)
		*options->pidfd = pidfd;
	if (!has_pipe)
		return 0;
	psys_close(ends[1]);
	return ends[0];
}

int aspawn_with(const struct aspawn_options *options, pid_t *pid, struct Stack_t *cached_stack,
		size_t reserved_stack_sz, aspawn_fn fn, void *arg, void *user_data,
		size_t user_data_len)
{
	struct aspawn_options known;
	struct psys_sigset all, old;

	if (!pid || !cached_stack || !fn || (!user_data && user_data_len))
		return -PSYS_EINVAL;
	int r = copy_options(&known, options);
	if (r < 0)
		return r;

	psys_sigfillset(&all);
	r = psys_rt_sigprocmask(PSYS_SIG_SETMASK, &all, &old, PSYS_SIGSET_SIZE);
	if (r < 0)
		return r;
	r = aspawn_stack_reserve(cached_stack, reserved_stack_sz, user_data_len);
	if (r == 0)
		r = spawn(&known, pid, cached_stack, &old, fn, arg, user_data, user_data_len);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &old, NULL, PSYS_SIGSET_SIZE);
	return r;
}

int aspawn(pid_t *pid, struct Stack_t *cached_stack, size_t reserved_stack_sz, aspawn_fn fn,
	   void *arg, void *user_data, size_t user_data_len)
{
	return aspawn_with(NULL, pid, cached_stack, reserved_stack_sz, fn, arg, user_data,
			   user_data_len);
}
