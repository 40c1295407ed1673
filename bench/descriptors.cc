/* SPDX-License-Identifier: MIT */
// Measures what the caller's open descriptors cost: how long the caller is blocked, and the time
// until the child is reaped. The descriptors are close-on-exec, as a server's are.
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <aspawn/command.h>
#include <syscall/syscall.h>

#include "host.h"

static char child[] = BENCH_CHILD;
static char *const argv[] = { child, nullptr };
static char *const envp[] = { nullptr };
static aspawn_pool pool;
static aspawn_child handle;

static const aspawn_action close_action = ASPAWN_CLOSEFROM(3);
static const aspawn_action only_action = ASPAWN_ONLY_BELOW(3);

static struct aspawn_command command_with(const aspawn_action *actions, size_t count, int stream)
{
	struct aspawn_command command = {};

	command.size = sizeof command;
	command.file = child;
	command.argv = argv;
	command.envp = envp;
	command.actions = actions;
	command.action_count = count;
	command.pool = &pool;
	command.std_in = command.std_out = stream;
	return command;
}

template <const aspawn_action *ACTION> static int start_closing()
{
	const struct aspawn_command command = command_with(ACTION, 1, 0);
	return aspawn_start(&handle, &command);
}

/* The output goes to a log file. */
static int start_only_below_log()
{
	static const aspawn_action actions[] = {
		ASPAWN_OPEN(1, "/tmp/aspawn-bench.log",
			    PSYS_O_WRONLY | PSYS_O_CREAT | PSYS_O_APPEND | PSYS_O_NOFOLLOW, 0600),
		ASPAWN_ONLY_BELOW(3),
	};
	const struct aspawn_command command = command_with(actions, 2, 0);
	return aspawn_start(&handle, &command);
}

/* The child has two pipes, for its output and its input. */
template <const aspawn_action *ACTION> static int start_closing_pipes()
{
	const struct aspawn_command command = command_with(ACTION, 1, ASPAWN_STREAM_PIPE);
	return aspawn_start(&handle, &command);
}

static void finish_pipes(int)
{
	close(handle.in_fd);
	close(handle.out_fd);
	aspawn_wait(&handle, nullptr, nullptr, -1);
}

static int in_end, out_end;

/* Does what a libc's popen or Python's Popen does: pipe2, dup2 in the child, close of the child's
 * ends. */
static int start_posix_spawn_pipes()
{
	posix_spawn_file_actions_t actions;
	int in[2], out[2];
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		std::abort();
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	int error = posix_spawn(&pid, child, &actions, nullptr, argv, envp);
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	close(out[1]);
	in_end = in[1];
	out_end = out[0];
	return error ? -1 : pid;
}

static int start_vfork_pipes()
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		std::abort();
	pid_t pid = vfork();
	if (pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execve(child, argv, envp);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	in_end = in[1];
	out_end = out[0];
	return pid;
}

static void reap_pipes(int pid)
{
	close(in_end);
	close(out_end);
	reap(pid);
}

static void finish_command(int)
{
	aspawn_wait(&handle, nullptr, nullptr, -1);
}

static int start_posix_spawn_closefrom()
{
	static posix_spawn_file_actions_t *actions;
	pid_t pid;

	if (!actions) {
		actions = new posix_spawn_file_actions_t;
		posix_spawn_file_actions_init(actions);
		posix_spawn_file_actions_addclosefrom_np(actions, 3);
	}
	return posix_spawn(&pid, child, actions, nullptr, argv, envp) ? -1 : pid;
}

static void open_descriptors(long count)
{
	for (long i = 0; i < count; i++)
		if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
			std::abort();
}

static const Way *way_named(const std::string &name)
{
	for (const Way &way : ways)
		if (name == way.name)
			return &way;
	std::abort();
}

int main(int argc, char **argv)
{
	const std::vector<Way> compared = {
		{ "aspawn_start, closefrom", start_closing<&close_action>, finish_command },
		{ "aspawn_start, closefrom and two pipes", start_closing_pipes<&close_action>,
		  finish_pipes },
		{ "aspawn_start, only_below", start_closing<&only_action>, finish_command },
		{ "aspawn_start, only_below and a log file", start_only_below_log, finish_command },
		{ "aspawn_start, only_below and two pipes", start_closing_pipes<&only_action>,
		  finish_pipes },
		{ "posix_spawn, two pipes", start_posix_spawn_pipes, reap_pipes },
		{ "vfork, two pipes", start_vfork_pipes, reap_pipes },
		*way_named("aspawn, no pipe"),
		*way_named("posix_spawn"),
		{ "posix_spawn, closefrom", start_posix_spawn_closefrom, reap },
		*way_named("vfork"),
	};
	rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max < 100100 ? limit.rlim_max : 100100;
	setrlimit(RLIMIT_NOFILE, &limit);
	const long most = static_cast<long>(limit.rlim_cur) - 100;
	for (long count : { 0L, 1000L, 10000L, most })
		register_in_host(compared, Measured::both, open_descriptors, "descriptors", count);
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
	return 0;
}
