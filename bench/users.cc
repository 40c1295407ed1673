/* SPDX-License-Identifier: MIT */
// Starts programs as another user, as a tree, or in a control group, as root. Measures how long the
// caller is blocked, and the time until the child is reaped, by the memory that the caller has
// touched, in MiB.
#include <cstdlib>

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <aspawn/command.h>

#include "host.h"

static char child[] = BENCH_CHILD;
static char *const argv[] = { child, nullptr };
static char *const envp[] = { nullptr };
static aspawn_pool pool;
static aspawn_child handle;
static const aspawn_action user = ASPAWN_USER(65534, 65534, nullptr, 0);

static aspawn_action join, make;

static int start_command(int memory, const aspawn_action *action, bool with_pool,
			 int owner = ASPAWN_OWNER_CALLER)
{
	struct aspawn_command command = {};

	command.size = sizeof command;
	command.memory = memory;
	command.owner = owner;
	command.argv = argv;
	command.envp = envp;
	command.actions = action;
	command.action_count = action ? 1 : 0;
	command.pool = with_pool ? &pool : nullptr;
	return aspawn_start(&handle, &command);
}

static int start_no_user()
{
	return start_command(ASPAWN_MEMORY_SHARED, nullptr, true);
}
static int start_user()
{
	return start_command(ASPAWN_MEMORY_SHARED, &user, true);
}
static int start_user_without_pool()
{
	return start_command(ASPAWN_MEMORY_SHARED, &user, false);
}
static int start_user_copied()
{
	return start_command(ASPAWN_MEMORY_COPIED, &user, true);
}
static int start_cgroup()
{
	return start_command(ASPAWN_MEMORY_SHARED, &join, true);
}
static int start_cgroup_copied()
{
	return start_command(ASPAWN_MEMORY_COPIED, &join, true);
}
static int start_tree()
{
	return start_command(ASPAWN_MEMORY_SHARED, nullptr, true, ASPAWN_OWNER_TREE);
}
static int start_new_cgroup()
{
	return start_command(ASPAWN_MEMORY_SHARED, &make, true, ASPAWN_OWNER_TREE);
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

static const char group_path[] = "/sys/fs/cgroup/aspawn-bench";

// Mounts in a namespace of this process, which ends with it. Returns the directory of a group,
// or -1.
static int make_group()
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) ||
	    mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, nullptr))
		return -1;
	mkdir(group_path, 0755);
	return open(group_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static std::vector<Way> user_ways = {
	{ "aspawn_start, no user", start_no_user, finish_command },
	{ "aspawn_start, user", start_user, finish_command },
	{ "aspawn_start, user, no pool", start_user_without_pool, finish_command },
	{ "aspawn_start, user, no image", start_user_copied, finish_command },
	{ "fork, user", start_fork, reap },
	{ "aspawn_start, tree", start_tree, finish_command },
};

int main(int argc, char **argv)
{
	const int group = make_group();

	if (group >= 0) {
		aspawn_action_join_cgroup(&join, group);
		aspawn_action_new_cgroup(&make, group, 0, 0, 0);
		user_ways.push_back({ "aspawn_start, cgroup", start_cgroup, finish_command });
		user_ways.push_back(
			{ "aspawn_start, cgroup, copied", start_cgroup_copied, finish_command });
		user_ways.push_back(
			{ "aspawn_start, new cgroup", start_new_cgroup, finish_command });
	}
	for (long size : { 0, 1024 })
		register_in_host(user_ways, Measured::both, touch, "MiB", size);
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
	if (group >= 0)
		rmdir(group_path);
	return 0;
}
