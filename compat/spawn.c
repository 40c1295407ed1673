/* SPDX-License-Identifier: MIT */
/* This file has a spawn that waits for the exec and returns its error. */
#include <errno.h>
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
 * The command has CLONE_VFORK, as in a libc: the caller has to wait for the exec anyway, and
 * debuggers and valgrind support no other child that shares memory. A pidfd is made only if
 * requested, so that a caller at its limit of descriptors can spawn.
 */
static int start_child(struct aspawn_child *child, const struct aspawn_command *command)
{
	struct aspawn_failure failure;
	int r = aspawn_start(child, command);

	if (r < 0)
		return r;
	r = aspawn_wait_started(child, &failure, -1);
	/* The child was killed before the exec, or the answer is lost: the caller gets the child,
	 * and learns the outcome from its status. */
	if (r == -PSYS_ESTALE)
		r = 0;
	else if (r == -PSYS_ECANCELED)
		r = failure.error == -PSYS_ECHILD ? 0 : failure.error;
	if (r == 0 && child->ended_fd < 0 && !(command->flags & ASPAWN_COMMAND_NO_PIDFD)) {
		psys_kill(aspawn_pid(child), PSYS_SIGKILL);
		r = -PSYS_ENOSYS;
	}
	if (r < 0 && child->ended_fd >= 0)
		psys_close(child->ended_fd);
	if (r < 0)
		while (psys_wait4(aspawn_pid(child), NULL, 0, NULL) == -PSYS_EINTR)
			continue;
	return r;
}

static void append_actions(struct aspawn_action **to, struct action_list list)
{
	if (list.count)
		memcpy(*to, list.first, list.count * sizeof **to);
	*to += list.count;
}

int aspawn_compat_spawn_in(struct section *section, const struct spawn *spawn)
{
	static char *const nothing[] = { NULL };
	const size_t count = 1 + spawn->before.count + spawn->actions.count;
	const struct aspawn_action mask = ASPAWN_SIGMASK(spawn->mask ? spawn->mask : &section->mask);
	struct aspawn_action few[1 + FEW_ACTIONS], *actions = few;
	struct aspawn_child child;

	/* As in glibc, this error comes before a program runs. EINVAL: the kernel has no such wait
	 * (Linux 5.4). */
	if (spawn->pidfd && psys_waitid(PSYS_P_PIDFD, INT32_MAX, NULL, PSYS_WEXITED | PSYS_WNOHANG,
					NULL) == -PSYS_EINVAL)
		return ENOSYS;
	if (count > sizeof few / sizeof *few)
		actions = aspawn_compat_scratch(section, count * sizeof *actions);
	if (!actions)
		return ENOMEM;

	struct aspawn_action *end = actions;
	append_actions(&end, (struct action_list){ &mask, 1 });
	append_actions(&end, spawn->before);
	append_actions(&end, spawn->actions);
	const struct aspawn_command command = {
		.size = sizeof command,
		.flags = ASPAWN_COMMAND_INHERIT_SIGNALS |
			 (spawn->pidfd ? 0 : ASPAWN_COMMAND_NO_PIDFD),
		.memory = ASPAWN_MEMORY_SUSPENDED,
		.file = spawn->file,
		.search_path = spawn->path,
		.argv = spawn->argv,
		.envp = spawn->envp ? spawn->envp : nothing,
		.actions = actions,
		.action_count = count,
		.pool = &aspawn_compat_stacks,
	};
	int r = start_child(&child, &command);
	/* Signals are still blocked: a SIGCHLD handler finds the pid stored. */
	if (r == 0 && spawn->pid)
		*spawn->pid = aspawn_pid(&child);
	if (r == 0 && spawn->pidfd)
		*spawn->pidfd = child.ended_fd;
	return -r;
}

int aspawn_compat_spawn(const struct spawn *spawn)
{
	struct section section;
	int error = aspawn_compat_enter(&section);

	if (error)
		return error;
	error = aspawn_compat_spawn_in(&section, spawn);
	aspawn_compat_leave(&section);
	return error;
}
