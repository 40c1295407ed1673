/* A spawn that answers when the program runs, or why it does not. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <syscall/syscall.h>

#include "spawn.h"

pid_t aspawn_compat_wait(pid_t pid, int *status)
{
	pid_t r;

	do
		r = waitpid(pid, status, 0);
	while (r < 0 && errno == EINTR);
	return r;
}

/*
 * CLONE_VFORK, as libcs have it: the caller has to wait for the exec anyway, and
 * debuggers and valgrind know no other child that shares memory. No pidfd unless it is
 * asked for: who is at the limit of descriptors can spawn all the same.
 */
static int start(struct aspawn_child *child, const struct aspawn_command *command)
{
	struct Stack_t own;
	struct Stack_t *stack = aspawn_compat_take_stack(&own);
	int r = aspawn_command(child, stack, command);

	if (r == 0) {
		struct aspawn_failure failure;

		r = aspawn_started(child, &failure, NULL);
		/* Killed before the exec, or nobody can say: it is the caller's child, and
		 * its status tells. */
		if (r == -PSYS_ECHILD || (r == -PSYS_ESTALE && failure.step == ASPAWN_STEP_NONE))
			r = 0;
		if (child->fd >= 0)
			psys_close(child->fd);
		if (r == 0 && child->pidfd < 0 && !(command->flags & ASPAWN_COMMAND_NO_PIDFD)) {
			psys_kill(child->pid, PSYS_SIGKILL);
			r = -PSYS_ENOSYS;
		}
		if (r < 0 && child->pidfd >= 0)
			psys_close(child->pidfd);
		if (r < 0)
			while (psys_wait4(child->pid, NULL, 0, NULL) == -PSYS_EINTR)
				continue;
	}
	aspawn_compat_give_stack(stack);
	return r;
}

int aspawn_compat_spawn(const struct spawn *spawn)
{
	enum { FEW = 16 };
	const size_t count = 1 + spawn->before.count + spawn->actions.count;
	struct aspawn_action few[FEW], *actions = few;
	struct psys_sigset all, old;
	struct aspawn_child child;

	if (count > FEW)
		actions = malloc(count * sizeof *actions);
	if (!actions)
		return ENOMEM;
	psys_sigfillset(&all);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &all, &old, PSYS_SIGSET_SIZE);

	const struct aspawn_action mask = ASPAWN_SIGMASK(spawn->mask ? spawn->mask : &old);
	actions[0] = mask;
	if (spawn->before.count)
		memcpy(actions + 1, spawn->before.first, spawn->before.count * sizeof *actions);
	if (spawn->actions.count)
		memcpy(actions + 1 + spawn->before.count, spawn->actions.first,
		       spawn->actions.count * sizeof *actions);
	const struct aspawn_command command = {
		.size = sizeof command,
		.flags = ASPAWN_COMMAND_VFORK | (spawn->pidfd ? 0 : ASPAWN_COMMAND_NO_PIDFD),
		.file = spawn->file,
		.path = spawn->path,
		.argv = spawn->argv,
		.envp = spawn->envp,
		.actions = actions,
		.action_count = count,
	};
	int r = start(&child, &command);
	/* Before a handler of SIGCHLD asks for it. */
	if (r == 0 && spawn->pid)
		*spawn->pid = child.pid;
	if (r == 0 && spawn->pidfd)
		*spawn->pidfd = child.pidfd;
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &old, NULL, PSYS_SIGSET_SIZE);
	if (actions != few)
		free(actions);
	return -r;
}
