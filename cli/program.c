/* SPDX-License-Identifier: MIT */
/* The program's start. Runs in the reaper; in the tool if that does the reaper's work. */
#include "cli.h"

enum { MOST_ACTIONS = 16 + MOST_RLIMITS };

struct plan {
	struct aspawn_action actions[MOST_ACTIONS];
	size_t count;
};

static struct aspawn_action *next_action(struct plan *plan)
{
	return &plan->actions[plan->count++];
}

static void plan_signals(struct plan *plan, const struct setting *setting)
{
	for (int fd = 0; fd < 3; fd++)
		if (setting->is_closed[fd] && setting->streams[fd] == ASPAWN_STREAM_DEFAULT)
			aspawn_action_close(next_action(plan), fd);
	aspawn_action_sigmask(next_action(plan), &setting->mask);
	if (setting->ignores_sigchld)
		aspawn_action_signal_ignore(next_action(plan), PSYS_SIGCHLD);
}

/* Process 1 gives the program a process group of its own, which has the terminal in the
 * foreground. */
static void plan_session(struct plan *plan, const struct setting *setting)
{
	int group;

	if (setting->options.setsid || setting->options.pty)
		aspawn_action_setsid(next_action(plan));
	else if (setting->is_init)
		aspawn_action_setpgid(next_action(plan), 0);
	if (setting->options.pty)
		aspawn_action_controlling_terminal(next_action(plan), 1);
	else if (setting->is_init && !setting->options.setsid &&
		 psys_ioctl(0, PSYS_TIOCGPGRP, (uintptr_t)&group) >= 0)
		aspawn_action_foreground(next_action(plan), 0);
}

/* RLIMIT_CPU counts whole seconds: a fraction is rounded up, by its digits, as 64-bit numbers are
 * not divided here. After the soft limit (SIGXCPU) a program has a second more. */
static void plan_limits(struct plan *plan, const struct options *options)
{
	char digits[PSYS_DECIMAL_SIZE];
	const char *at = digits;
	uint64_t seconds = 0;

	digits[psys_u64_to_decimal(digits, (uint64_t)options->cpu_time + 999) - 3] = '\0';
	read_number(&at, &seconds);
	if (seconds)
		aspawn_action_rlimit(next_action(plan), PSYS_RLIMIT_CPU, seconds, seconds + 1);
	for (const struct rlimit_option *limit = options->rlimits; limit->value; limit++)
		aspawn_action_rlimit(next_action(plan), limit->resource, limit->soft, limit->hard);
}

static void plan_user(struct plan *plan, const struct setting *setting)
{
	if (setting->changes_groups)
		aspawn_action_groups(next_action(plan), setting->groups, setting->group_count);
	if (setting->changes_gid)
		aspawn_action_resgid(next_action(plan), setting->gid, setting->gid, setting->gid);
	if (setting->changes_uid)
		aspawn_action_resuid(next_action(plan), setting->uid, setting->uid, setting->uid);
	if (*setting->home)
		aspawn_action_setenv(next_action(plan), "HOME", setting->home);
	if (*setting->name) {
		aspawn_action_setenv(next_action(plan), "USER", setting->name);
		aspawn_action_setenv(next_action(plan), "LOGNAME", setting->name);
	}
	if (setting->options.directory)
		aspawn_action_chdir(next_action(plan), setting->options.directory);
	if (setting->options.no_new_privs)
		aspawn_action_no_new_privs(next_action(plan));
}

/* The program ignores what the tool ignores, except the signal that shall end it. */
static int stop_signal(int signal)
{
	return signal == PSYS_SIGKILL || signal == PSYS_SIGSTOP ? 0 : signal;
}

void program_start(const struct setting *setting)
{
	struct shared *shared = setting->shared;
	struct aspawn_child child;
	struct plan plan;

	plan.count = 0;
	plan_signals(&plan, setting);
	plan_session(&plan, setting);
	if (setting->cgroup >= 0)
		aspawn_action_join_cgroup(next_action(&plan), setting->cgroup);
	plan_limits(&plan, &setting->options);
	plan_user(&plan, setting);

	const struct aspawn_command command = {
		.size = sizeof command,
		.flags = ASPAWN_COMMAND_INHERIT_SIGNALS | ASPAWN_COMMAND_SHELL_ON_ENOEXEC |
			 ASPAWN_COMMAND_NO_PIDFD,
		.argv = setting->options.argv,
		.envp = setting->options.envp,
		.actions = plan.actions,
		.action_count = plan.count,
		.std_in = setting->streams[0],
		.std_out = setting->streams[1],
		.std_err = setting->streams[2],
		.memory = setting->options.user ? ASPAWN_MEMORY_COPIED : ASPAWN_MEMORY_SHARED,
		.stop_signal = stop_signal(setting->options.signal),
	};
	shared->error = aspawn_start(&child, &command);
	const int started = aspawn_wait_started(&child, &shared->failure, -1);
	if (shared->error == 0)
		shared->pid = aspawn_pid(&child);
	aspawn_release(&child);
	__atomic_store_n(&shared->started, shared->error == 0 && started == 0 ? 1 : -1,
			 __ATOMIC_RELEASE);
}
