/* SPDX-License-Identifier: MIT */
/* popen_noshell_vmfork(): a function in a child that shares the memory */
#include <errno.h>

#include <popen_noshell.h>

#include <aspawn/aspawn.h>
#include <syscall/syscall.h>

struct function {
	int (*fn)(void *);
	void *arg;
};

static ASPAWN_CHILD int run_function(void *arg, int write_end, void *mask, void *data, size_t size)
{
	const struct function *function = data;

	(void)arg, (void)write_end, (void)size;
	if (psys_rt_sigprocmask(PSYS_SIG_SETMASK, mask, NULL, PSYS_SIGSET_SIZE) < 0)
		return 127;
	return function->fn(function->arg);
}

pid_t popen_noshell_vmfork(int (*fn)(void *), void *arg, void **memory_to_free_on_child_exit)
{
	struct function function = { fn, arg };
	struct Stack_t stack = { NULL, 0 };
	const int before = errno; /* the child shares this variable */
	pid_t pid;

	*memory_to_free_on_child_exit = NULL;
	int r = aspawn_with(ASPAWN_WITH_NO_PIPE | ASPAWN_WITH_SUSPENSION, NULL, &pid, &stack,
			    POPEN_NOSHELL_STACK_SIZE, run_function, NULL, &function,
			    sizeof function);
	aspawn_stack_release(&stack);
	errno = r < 0 ? -r : before;
	return r < 0 ? -1 : pid;
}
