/* SPDX-License-Identifier: MIT */
/* Starts the program. Runs in the reaper, or in the tool if the tool does the reaper's work. */
#include "cli.h"

enum { MOST_ACTIONS = 16 + MOST_RLIMITS };

/* Each function adds actions, and returns the place of the next action. */
static struct aspawn_action *plan_signals(struct aspawn_action *next, const struct setting *setting)
{
	aspawn_action_sigmask(next++, &setting->mask);
	if (setting->ignores_sigchld)
		aspawn_action_signal_ignore(next++, PSYS_SIGCHLD);
	return next;
}

/* Process 1 gives the program its own process group, in the foreground of the terminal. */
static struct aspawn_action *plan_session(struct aspawn_action *next, const struct setting *setting)
{
	int group;

	if (setting->options.setsid || setting->options.pty)
		aspawn_action_setsid(next++);
	else if (setting->is_init)
		aspawn_action_setpgid(next++, 0);
	if (setting->options.pty)
		aspawn_action_controlling_terminal(next++, 1);
	else if (setting->is_init && !setting->options.setsid &&
		 psys_ioctl(0, PSYS_TIOCGPGRP, (uintptr_t)&group) >= 0)
		aspawn_action_foreground(next++, 0);
	return next;
}

/* As RLIMIT_CPU counts whole seconds, a fraction is rounded up. The last digits are cut, as 64-bit
 * numbers are not divided here. After the soft limit (SIGXCPU) a program has a second more. */
static struct aspawn_action *plan_limits(struct aspawn_action *next, const struct options *options)
{
	char digits[PSYS_DECIMAL_SIZE];
	const char *at = digits;
	uint64_t seconds = 0;

	digits[psys_u64_to_decimal(digits, (uint64_t)options->cpu_time + 999) - 3] = '\0';
	read_number(&at, &seconds);
	if (seconds)
		aspawn_action_rlimit(next++, PSYS_RLIMIT_CPU, seconds, seconds + 1);
	for (const struct rlimit_option *limit = options->rlimits; limit->value; limit++)
		aspawn_action_rlimit(next++, limit->resource, limit->soft, limit->hard);
	return next;
}

static struct aspawn_action *plan_user(struct aspawn_action *next, const struct setting *setting)
{
	if (setting->changes_groups)
		aspawn_action_groups(next++, setting->groups, setting->group_count);
	if (setting->changes_gid)
		aspawn_action_resgid(next++, setting->gid, setting->gid, setting->gid);
	if (setting->changes_uid)
		aspawn_action_resuid(next++, setting->uid, setting->uid, setting->uid);
	if (*setting->home)
		aspawn_action_setenv(next++, "HOME", setting->home);
	if (*setting->name) {
		aspawn_action_setenv(next++, "USER", setting->name);
		aspawn_action_setenv(next++, "LOGNAME", setting->name);
	}
	if (setting->options.directory)
		aspawn_action_chdir(next++, setting->options.directory);
	if (setting->options.no_new_privs)
		aspawn_action_no_new_privs(next++);
	return next;
}

void program_start(const struct setting *setting)
{
	struct shared *shared = setting->shared;
	const int signal = setting->options.signal;
	struct aspawn_child child;
	struct aspawn_action actions[MOST_ACTIONS], *next = actions;

	next = plan_signals(next, setting);
	next = plan_session(next, setting);
	if (setting->cgroup >= 0)
		aspawn_action_join_cgroup(next++, setting->cgroup);
	next = plan_limits(next, &setting->options);
	next = plan_user(next, setting);

	const struct aspawn_command command = {
		.size = sizeof command,
		.flags = ASPAWN_COMMAND_INHERIT_SIGNALS | ASPAWN_COMMAND_SHELL_ON_ENOEXEC |
			 ASPAWN_COMMAND_NO_PIDFD,
		.argv = setting->options.argv,
		.envp = setting->options.envp,
		.actions = actions,
		.action_count = (size_t)(next - actions),
		.std_in = setting->streams[0],
		.std_out = setting->streams[1],
		.std_err = setting->streams[2],
		.memory = setting->options.user ? ASPAWN_MEMORY_COPIED : ASPAWN_MEMORY_SHARED,
		/* The program ignores the same signals as the tool, except its stop signal. */
		.stop_signal = signal == PSYS_SIGKILL || signal == PSYS_SIGSTOP ? 0 : signal,
	};
	shared->error = aspawn_start(&child, &command);
	const int started = aspawn_wait_started(&child, &shared->failure, -1);
	if (shared->error == 0)
		shared->pid = aspawn_pid(&child);
	aspawn_release(&child);
	__atomic_store_n(&shared->started, shared->error == 0 && started == 0 ? 1 : -1,
			 __ATOMIC_RELEASE);
}
