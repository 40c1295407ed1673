/* SPDX-License-Identifier: MIT */
/* The public calls of the spawn primitive. spawn.h says what happens. */
#include <aspawn/aspawn.h>
#include <syscall/string.h>
#include <syscall/syscall.h>

#include "clone.h"
#include "descriptor_table.h"
#include "spawn.h"
#include "stack.h"

/* True if user_data lies on the stack, where the call would overwrite or unmap it. */
static bool is_within(const void *user_data, const struct Stack_t *stack)
{
	return stack->addr && (uintptr_t)user_data - (uintptr_t)stack->addr < stack->size;
}

int aspawn_with(unsigned flags, int *pidfd, pid_t *pid, struct Stack_t *cached_stack,
		size_t reserved_stack_sz, aspawn_fn fn, void *arg, void *user_data,
		size_t user_data_len)
{
	static const struct plan plain = { .cgroup_fd = -1 };
	static const struct way shared = { .memory = MEMORY_SHARED },
				suspended = { .memory = MEMORY_SUSPENDED };
	const struct way *way = flags & ASPAWN_WITH_SUSPENSION ? &suspended : &shared;
	struct request request = {
		.pipe = flags & ASPAWN_WITH_NO_PIPE ? NO_PIPE : PIPE,
		.wants_pidfd = pidfd,
		.fn = fn,
		.arg = arg,
		.user_data_len = user_data_len,
	};

	if (flags & ~(unsigned)(ASPAWN_WITH_NO_PIPE | ASPAWN_WITH_SUSPENSION) || !pid ||
	    !cached_stack || !fn || (!user_data && user_data_len) ||
	    is_within(user_data, cached_stack))
		return -PSYS_EINVAL;
	int r = block_signals(&request.mask, false);
	if (r < 0)
		return r;
	r = aspw_stack_reserve(cached_stack, reserved_stack_sz, user_data_len);
	if (r == 0) {
		request.user_data = aspw_stack_place(cached_stack, user_data_len);
		psys_memcpy(request.user_data, user_data, user_data_len);
		struct control *control = aspw_spawn_begin(&request, &plain, cached_stack);
		r = (int)aspw_spawn_end(control, aspw_clone_child(control, way));
	}
	if (r > 0) {
		const struct control *control = stack_control(cached_stack);
		*pid = r;
		if (pidfd)
			*pidfd = aspw_descriptors_keep(stack_state(cached_stack)->begun.pidfd);
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
