/* SPDX-License-Identifier: MIT */
// Measures how long a command with actions blocks the caller, by each way that supports them: three
// file actions and a change of directory. Measures also what twelve more actions cost.
#include <cstdlib>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <aspawn/command.h>
#include <syscall/syscall.h>

#include "ways.h"

static char child[] = BENCH_CHILD;
static char *const argv[] = { child, nullptr };
static char *const envp[] = { nullptr };
static Stack_t stack;
static int pidfd = -1;
static aspawn_child handle;
static aspawn_pool pool;

static void finish_with(int pid)
{
	reap(pid);
	close(pidfd);
}

static ASPAWN_CHILD int exec_child(void *, int, void *, void *, size_t)
{
	return psys_execve(child, argv, envp);
}

// aspawn() with a pidfd and without a pipe, as a command uses it.
static int start_with()
{
	pid_t pid;
	int r = aspawn_with(ASPAWN_WITH_NO_PIPE, &pidfd, &pid, &stack, 4096, exec_child, nullptr,
			    nullptr, 0);
	return r < 0 ? r : pid;
}

static const aspawn_action four[] = {
	ASPAWN_OPEN(0, "/dev/null", PSYS_O_RDONLY, 0),
	ASPAWN_DUP2(1, 7),
	ASPAWN_CLOSE(7),
	ASPAWN_CHDIR("/"),
};
static const aspawn_action twelve[] = {
	ASPAWN_OPEN(0, "/dev/null", PSYS_O_RDONLY, 0),
	ASPAWN_DUP2(1, 7),
	ASPAWN_CLOSE(7),
	ASPAWN_CHDIR("/"),
	ASPAWN_UMASK(022),
	ASPAWN_SETPGID(0),
	ASPAWN_NICE(1),
	ASPAWN_RLIMIT(PSYS_RLIMIT_CORE, 0, 0),
	ASPAWN_RLIMIT(PSYS_RLIMIT_CPU, 10, 10),
	ASPAWN_NO_NEW_PRIVS(),
	ASPAWN_DUP2(1, 8),
	ASPAWN_CLOSE(8),
};

static int start_command(const aspawn_action *actions, size_t count)
{
	struct aspawn_command command = {};

	command.size = sizeof command;
	command.file = child;
	command.argv = argv;
	command.envp = envp;
	command.actions = actions;
	command.action_count = count;
	command.pool = &pool;
	return aspawn_start(&handle, &command);
}

static int start_no_actions()
{
	return start_command(nullptr, 0);
}
static int start_four()
{
	return start_command(four, 4);
}
static int start_twelve()
{
	return start_command(twelve, 12);
}

static void finish_command(int)
{
	aspawn_wait(&handle, nullptr, nullptr, -1);
}

static int start_posix_spawn()
{
	static posix_spawn_file_actions_t *actions;
	pid_t pid;

	if (!actions) {
		actions = new posix_spawn_file_actions_t;
		posix_spawn_file_actions_init(actions);
		posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
		posix_spawn_file_actions_adddup2(actions, 1, 7);
		posix_spawn_file_actions_addclose(actions, 7);
		posix_spawn_file_actions_addchdir_np(actions, "/");
	}
	return posix_spawn(&pid, child, actions, nullptr, argv, envp) ? -1 : pid;
}

static int start_fork()
{
	pid_t pid = fork();
	if (pid == 0) {
		int fd = open("/dev/null", O_RDONLY);
		if (dup2(fd, 0) < 0 || dup2(1, 7) < 0 || close(7) < 0 || chdir("/") < 0)
			_exit(127);
		execve(child, argv, envp);
		_exit(127);
	}
	return pid;
}

static const Way command_ways[] = {
	{ "aspawn_with", start_with, finish_with },
	{ "aspawn_start, no action", start_no_actions, finish_command },
	{ "aspawn_start, 4 actions", start_four, finish_command },
	{ "aspawn_start, 12 actions", start_twelve, finish_command },
	{ "posix_spawn, 4 actions", start_posix_spawn, reap },
	{ "fork, 4 actions", start_fork, reap },
};

int main(int argc, char **argv)
{
	for (const Way &way : command_ways)
		benchmark::RegisterBenchmark(way.name, measure_blocked, way)
			->UseManualTime()
			->Unit(benchmark::kMicrosecond);
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
	return 0;
}
