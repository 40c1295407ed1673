/* SPDX-License-Identifier: MIT */
// Programs that run as another user: how long the caller is blocked, and the time until the child
// is reaped, by the memory that the caller has touched, in MiB. As root.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <grp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <aspawn/command.h>

#include "ways.h"

static char child[] = BENCH_CHILD;
static char *const argv[] = { child, nullptr };
static char *const envp[] = { nullptr };
static Stack_t stack;
static aspawn_child handle;
static const aspawn_action user = ASPAWN_USER(65534, 65534, nullptr, 0);

static int start_command(uint64_t flags, bool as_user)
{
	const struct aspawn_command command = {
		sizeof command, flags,   child,  argv, envp, nullptr, as_user ? &user : nullptr,
		as_user,        nullptr, &stack, 0,    0,    0,       0
	};
	int r = aspawn_start(&handle, &command);
	return r < 0 ? r : handle.pid;
}

static int start_no_user()
{
	return start_command(0, false);
}
static int start_user()
{
	return start_command(0, true);
}
static int start_user_copied()
{
	return start_command(ASPAWN_COMMAND_NO_IMAGE, true);
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

static const Way user_ways[] = {
	{ "aspawn_start, no user", start_no_user, finish_command },
	{ "aspawn_start, user", start_user, finish_command },
	{ "aspawn_start, user, no image", start_user_copied, finish_command },
	{ "fork, user", start_fork, reap },
};

static void touch(long mebibytes)
{
	static size_t touched;
	static char *memory;
	const size_t size = static_cast<size_t>(mebibytes) << 20;

	if (size == touched)
		return;
	if (touched)
		munmap(memory, touched);
	touched = size;
	if (!size)
		return;
	memory = static_cast<char *>(
		mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	if (memory == MAP_FAILED) {
		std::perror("mmap");
		std::exit(1);
	}
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < size; at += 4096)
		memory[at] = 1;
}

int main(int argc, char **argv)
{
	for (long size : { 0, 1024 })
		for (const Way &way : user_ways)
			for (auto measure : { measure_blocked, measure_reaped })
				benchmark::RegisterBenchmark(
					(std::string(way.name) +
					 (measure == measure_blocked ? "/blocked" : "/reaped") +
					 "/MiB:" + std::to_string(size))
						.c_str(),
					[=](benchmark::State &state) {
						touch(size);
						measure(state, way);
					})
					->UseManualTime()
					->Unit(benchmark::kMicrosecond);
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
	return 0;
}
