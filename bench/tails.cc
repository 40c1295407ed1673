/* SPDX-License-Identifier: MIT */
// How long single starts block a caller that has just worked, with all processors busy: as many
// processes as there are processors never sleep. With "idle" as argument there are none. By
// descriptors of the caller.
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <aspawn/command.h>

#include "host.h"

static char child[] = BENCH_CHILD;
static char *const argv[] = { child, nullptr };
static char *const envp[] = { nullptr };
static aspawn_pool pool;
static aspawn_child handle;
static const aspawn_action close_action = ASPAWN_CLOSEFROM(3);
static const aspawn_action only_action = ASPAWN_ONLY_BELOW(3);
static const aspawn_action cloexec_action = ASPAWN_CLOEXEC_FROM(3);
static aspawn_action user_action;

template <const aspawn_action *ACTION, size_t COUNT, uint64_t OWNER, int STREAM>
static int start_command()
{
	struct aspawn_command command = {};

	command.size = sizeof command;
	command.owner = OWNER;
	command.argv = argv;
	command.envp = envp;
	command.actions = ACTION;
	command.action_count = COUNT;
	command.pool = &pool;
	command.std_in = command.std_out = STREAM;
	return aspawn_start(&handle, &command);
}

static void finish_command(int)
{
	close(handle.in_fd); // -1 if it is no pipe
	close(handle.out_fd);
	if (aspawn_wait(&handle, nullptr, nullptr, -1) < 0)
		std::exit(1);
}

static void open_descriptors(long count)
{
	for (long i = 0; i < count; i++)
		if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
			std::abort();
}

static void keep_processors_busy()
{
	cpu_set_t processors;

	sched_getaffinity(0, sizeof processors, &processors);
	for (int i = CPU_COUNT(&processors); i; i--)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (volatile unsigned turns = 0;; turns = turns + 1)
				continue;
		}
}

int main(int argc, char **argv)
{
	std::vector<Way> compared = {
		{ "aspawn_start, no action", start_command<nullptr, 0, 0, 0>, finish_command },
		{ "aspawn_start, two pipes", start_command<nullptr, 0, 0, ASPAWN_STREAM_PIPE>,
		  finish_command },
		{ "aspawn_start, cloexec_from", start_command<&cloexec_action, 1, 0, 0>,
		  finish_command },
		{ "aspawn_start, closefrom", start_command<&close_action, 1, 0, 0>, finish_command },
		{ "aspawn_start, closefrom and two pipes",
		  start_command<&close_action, 1, 0, ASPAWN_STREAM_PIPE>, finish_command },
		{ "aspawn_start, only_below", start_command<&only_action, 1, 0, 0>, finish_command },
		{ "aspawn_start, user", start_command<&user_action, 1, 0, 0>, finish_command },
		{ "aspawn_start, private", start_command<nullptr, 0, ASPAWN_OWNER_PRIVATE, 0>,
		  finish_command },
		{ "aspawn_start, tree", start_command<nullptr, 0, ASPAWN_OWNER_TREE, 0>,
		  finish_command },
	};
	rlimit limit;

	aspawn_action_user(&user_action, geteuid(), getegid(), nullptr, 0);
	for (const Way &way : ways)
		for (const char *name :
		     { "bare clone3 (the floor)", "vfork", "posix_spawn", "fork" })
			if (!std::strcmp(way.name, name))
				compared.push_back(way);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	benchmark::Initialize(&argc, argv);
	if (argc < 2 || std::strcmp(argv[1], "idle"))
		keep_processors_busy();
	for (long count : { 0L, 100L, 1000L })
		register_in_host(compared, Measured::tails, open_descriptors, "descriptors", count);
	benchmark::RunSpecifiedBenchmarks();
	return 0;
}
