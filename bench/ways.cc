/* SPDX-License-Identifier: MIT */
// See ways.h. BENCH_CHILD is the path of the child, from the Makefile.
#include "ways.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aspawn/aspawn.h>
#include <syscall/clone.h>
#include <syscall/syscall.h>

static char child[] = BENCH_CHILD;
static char *const argv[] = { child, nullptr };
static char *const envp[] = { nullptr };

// Nanoseconds of CLOCK_MONOTONIC.
static long long now()
{
	timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

double time_of(const Way &way, bool until_reaped)
{
	const long long begin = now();
	const int pid = way.start();
	long long end = now();

	if (pid < 0)
		return -1;
	way.finish(pid);
	if (until_reaped)
		end = now();
	return static_cast<double>(end - begin) * 1e-9;
}

static void measure(benchmark::State &state, const Way &way, bool until_reaped)
{
	for (auto _ : state) {
		const double seconds = time_of(way, until_reaped);

		if (seconds < 0) {
			state.SkipWithError("could not start the child");
			break;
		}
		state.SetIterationTime(seconds);
	}
}

void measure_blocked(benchmark::State &state, const Way &way)
{
	measure(state, way, false);
}

void measure_reaped(benchmark::State &state, const Way &way)
{
	measure(state, way, true);
}

void reap(int pid)
{
	waitpid(pid, nullptr, 0);
}

// --- aspawn ---------------------------------------------------------------------

static Stack_t stack;
static int pipe_end = -1;

static ASPAWN_CHILD int exec_child(void *, int, void *, void *, size_t)
{
	return psys_execve(child, argv, envp);
}

static int start_aspawn()
{
	pid_t pid;
	pipe_end = aspawn(&pid, &stack, 4096, exec_child, nullptr, nullptr, 0);
	return pipe_end < 0 ? pipe_end : pid;
}

static void finish_aspawn(int pid)
{
	close(pipe_end);
	reap(pid);
}

static void finish_no_reuse(int pid)
{
	finish_aspawn(pid);
	aspawn_stack_release(&stack);
}

static int start_no_pipe()
{
	pid_t pid;
	int r = aspawn_with(ASPAWN_WITH_NO_PIPE, nullptr, &pid, &stack, 4096, exec_child, nullptr,
			    nullptr, 0);
	return r < 0 ? r : pid;
}

// --- the lower bound: the system calls that every spawn of this kind needs --------

static ASPAWN_CHILD int exec_floor(void *)
{
	return psys_execve(child, argv, envp);
}

static int start_floor()
{
	static const size_t size = 65536;
	static char *const bare = static_cast<char *>(
		mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	psys_clone_args args = {};
	psys_sigset all, old;

	args.flags = PSYS_CLONE_VM | PSYS_CLONE_CLEAR_SIGHAND;
	args.exit_signal = PSYS_SIGCHLD;
	args.stack = reinterpret_cast<uintptr_t>(bare);
	args.stack_size = size;
	psys_sigfillset(&all);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &all, &old, PSYS_SIGSET_SIZE);
	long pid = psys_clone3_thunk(&args, PSYS_CLONE_ARGS_SIZE_VER0, exec_floor, nullptr);
	if (pid == -PSYS_ENOSYS) // in a container
		pid = psys_clone_thunk(PSYS_CLONE_VM | PSYS_SIGCHLD, bare + size, nullptr, nullptr,
				       nullptr, exec_floor, nullptr);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &old, nullptr, PSYS_SIGSET_SIZE);
	return static_cast<int>(pid);
}

// --- functions of the libc -----------------------------------------------------------

static int start_vfork()
{
	pid_t pid = vfork();
	if (pid == 0) {
		execve(child, argv, envp);
		_exit(127);
	}
	return pid;
}

static int start_fork()
{
	pid_t pid = fork();
	if (pid == 0) {
		execve(child, argv, envp);
		_exit(127);
	}
	return pid;
}

static int start_posix_spawn()
{
	pid_t pid;
	return posix_spawn(&pid, child, nullptr, nullptr, argv, envp) ? -1 : pid;
}

static FILE *stream;

static int start_popen()
{
	stream = popen(child, "r");
	return stream ? 0 : -1;
}

static void finish_popen(int)
{
	pclose(stream);
}

static int start_system() // includes the child's end, as system() waits for it
{
	return system(child);
}

static void finish_nothing(int) {}

const std::vector<Way> ways = {
	{ "bare clone3 (the floor)", start_floor, reap },
	{ "aspawn, no pipe", start_no_pipe, reap },
	{ "aspawn", start_aspawn, finish_aspawn },
	{ "aspawn, a new stack each time", start_aspawn, finish_no_reuse },
	{ "vfork", start_vfork, reap },
	{ "posix_spawn", start_posix_spawn, reap },
	{ "fork", start_fork, reap },
	{ "popen", start_popen, finish_popen },
	{ "system", start_system, finish_nothing },
};
