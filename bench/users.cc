/* SPDX-License-Identifier: MIT */
// Programs that run as another user: how long the caller is blocked, and the time until the child
// is reaped, by the memory that the caller has touched, in MiB. As root.
#include <cstdlib>

#include <grp.h>
#include <unistd.h>

#include <aspawn/command.h>

#include "host.h"

static char child[] = BENCH_CHILD;
static char *const argv[] = { child, nullptr };
static char *const envp[] = { nullptr };
static aspawn_pool pool;
static aspawn_child handle;
static const aspawn_action user = ASPAWN_USER(65534, 65534, nullptr, 0);

static int start_command(int memory, bool as_user, bool with_pool)
{
	struct aspawn_command command = {};

	command.size = sizeof command;
	command.memory = memory;
	command.argv = argv;
	command.envp = envp;
	command.actions = as_user ? &user : nullptr;
	command.action_count = as_user;
	command.pool = with_pool ? &pool : nullptr;
	return aspawn_start(&handle, &command);
}

static int start_no_user()
{
	return start_command(ASPAWN_MEMORY_SHARED, false, true);
}
static int start_user()
{
	return start_command(ASPAWN_MEMORY_SHARED, true, true);
}
static int start_user_without_pool()
{
	return start_command(ASPAWN_MEMORY_SHARED, true, false);
}
static int start_user_copied()
{
	return start_command(ASPAWN_MEMORY_COPIED, true, true);
}
static void finish_command(int)
{
	if (aspawn_wait(&handle, nullptr, nullptr, -1) < 0)
		std::exit(1);
}

static int start_fork()
{
	pid_t pid = fork();
	if (pid == 0) {
		if (setgroups(0, nullptr) == 0 && setresgid(65534, 65534, 65534) == 0 &&
		    setresuid(65534, 65534, 65534) == 0)
			execve(child, argv, envp);
		_exit(127);
	}
	return pid;
}

static const std::vector<Way> user_ways = {
	{ "aspawn_start, no user", start_no_user, finish_command },
	{ "aspawn_start, user", start_user, finish_command },
	{ "aspawn_start, user, no pool", start_user_without_pool, finish_command },
	{ "aspawn_start, user, no image", start_user_copied, finish_command },
	{ "fork, user", start_fork, reap },
};

int main(int argc, char **argv)
{
	for (long size : { 0, 1024 })
		register_in_host(user_ways, Measured::both, touch, "MiB", size);
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
	return 0;
}
