/*
 * The spawn itself. The caller's signals stay blocked from before the stack is
 * looked at until the child is on its way: no handler of the parent runs in the
 * child, none finds a stack half set up, and the thread cannot be cancelled.
 */
#include <aspawn/command.h>

#include <syscall/string.h>
#include <syscall/syscall.h>

#include "spawn.h"

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

PSYS_UNINSTRUMENTED void aspawn_fail(struct control *control, int step, int error)
{
	const struct aspawn_failure failure = { step, error };

	control->step = step;
	__atomic_store_n(&control->error, error, __ATOMIC_RELEASE);
	/* One attempt: nobody may be there to read it. */
	if (control->write_end >= 0)
		psys_write(control->write_end, &failure, sizeof failure);
	psys_exit_group(127);
}

/*
 * Until this has been done each change to a descriptor is one to the parent's.
 * What is not copied need not be closed: not by this, nor by the exec.
 */
static PSYS_UNINSTRUMENTED void take_table(struct control *control)
{
	int r = psys_close_range(control->kept, ~0U, PSYS_CLOSE_RANGE_UNSHARE);

	if (r < 0) /* before Linux 5.9: a copy of all */
		r = psys_unshare(PSYS_CLONE_FILES);
	if (r < 0)
		aspawn_fail(control, ASPAWN_STEP_DESCRIPTORS, -r);
	if (control->pidfd >= 0) /* in the copy, if its number is among those kept */
		psys_close(control->pidfd);
	if (__atomic_exchange_n(&control->busy, RUNS, __ATOMIC_ACQ_REL) == PARENT_WAITS)
		psys_futex(&control->busy, PSYS_FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Where the child begins. */
static PSYS_UNINSTRUMENTED int child_main(void *block)
{
	struct control *control = block;

	__atomic_store_n(&control->shared, 1, __ATOMIC_RELAXED);
	if (control->shares_table)
		take_table(control);
	if (control->read_end >= 0)
		psys_close(control->read_end);
	if (control->reset_handlers)
		reset_handlers();
	psys_exit_group(control->fn(control->arg, control->write_end, &control->old_mask,
				    control->user_data, control->user_data_len));
}

void aspawn_close_pipe(const int ends[2])
{
	psys_close(ends[0]);
	psys_close(ends[1]);
}

/* Also when the parent has closed its own standard streams. */
int aspawn_pipe(int ends[2])
{
	int r = psys_pipe2(ends, PSYS_O_CLOEXEC);

	if (r < 0 || (ends[0] > 2 && ends[1] > 2))
		return r;

	int low[2] = { ends[0], ends[1] };
	ends[0] = (int)psys_fcntl(low[0], PSYS_F_DUPFD_CLOEXEC, 3);
	ends[1] = (int)psys_fcntl(low[1], PSYS_F_DUPFD_CLOEXEC, 3);
	aspawn_close_pipe(low);
	if (ends[0] >= 0 && ends[1] >= 0)
		return 0;
	r = ends[0] < 0 ? ends[0] : ends[1];
	aspawn_close_pipe(ends); /* of a negative one: no effect */
	return r;
}

/* The caller's options as the structure that is known, however new its own is. */
static int copy_options(struct aspawn_options *to, const struct aspawn_options *from)
{
	to->size = sizeof *to;
	to->flags = 0;
	to->pidfd = NULL;
	to->cgroup_fd = -1;
	if (!from)
		return 0;

	int r = aspawn_check_size(from, from->size, sizeof *to);
	if (r < 0)
		return r;

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

static int spawn(const struct aspawn_options *options, pid_t *pid, const struct Stack_t *stack,
		 void *user_data)
{
	struct control *control = stack_control(stack);
	int ends[2] = { -1, -1 };
	bool has_pipe = !(options->flags & ASPAWN_NO_PIPE);
	int pidfd;

	if (has_pipe) {
		int r = aspawn_pipe(ends);
		if (r < 0)
			return r;
		if (control->kept <= (unsigned)ends[1])
			control->kept = (unsigned)ends[1] + 1;
	}
	control->read_end = ends[0];
	control->write_end = ends[1];

	long child = aspawn_clone_child(options, stack, user_data, child_main, &pidfd);
	if (child < 0) {
		if (has_pipe)
			aspawn_close_pipe(ends);
		return (int)child;
	}
	if (control->shares_table && (has_pipe || !(options->flags & SPAWN_STILL)))
		aspawn_stack_wait_for_table(stack);
	*pid = (pid_t)child;
	if (options->flags & ASPAWN_PIDFD)
		*options->pidfd = pidfd;
	if (!has_pipe)
		return 0;
	psys_close(ends[1]);
	return ends[0];
}

int aspawn_spawn(const struct aspawn_options *options, pid_t *pid, const struct Stack_t *stack,
		 const struct psys_sigset *mask, aspawn_fn fn, void *arg, void *user_data,
		 size_t user_data_len)
{
	struct control *control = stack_control(stack);
	struct aspawn_options way = *options;

	control->fn = fn;
	control->arg = arg;
	control->user_data = user_data;
	control->user_data_len = user_data_len;
	control->old_mask.set = *mask;
	if (!(options->flags & SPAWN_LATE_PIPE))
		return spawn(options, pid, stack, user_data);

	way.flags |= ASPAWN_NO_PIPE | SPAWN_SHARING;
	int r = spawn(&way, pid, stack, user_data);
	if (!aspawn_is_refusal(r))
		return r;
	way.flags = options->flags | SPAWN_NOT_SHARING;
	return spawn(&way, pid, stack, user_data);
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
	if (r == 0) {
		char *copy = aspawn_stack_place(cached_stack, user_data_len);
		psys_memcpy(copy, user_data, user_data_len);
		r = aspawn_spawn(&known, pid, cached_stack, &old, fn, arg, copy, user_data_len);
	}
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &old, NULL, PSYS_SIGSET_SIZE);
	return r;
}

int aspawn(pid_t *pid, struct Stack_t *cached_stack, size_t reserved_stack_sz, aspawn_fn fn,
	   void *arg, void *user_data, size_t user_data_len)
{
	return aspawn_with(NULL, pid, cached_stack, reserved_stack_sz, fn, arg, user_data,
			   user_data_len);
}
