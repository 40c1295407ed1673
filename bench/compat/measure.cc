/* SPDX-License-Identifier: MIT */
// See measure.h.
#include "measure.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <aspawn/aspawn.h>
#include <syscall/syscall.h>

static char child[] = BENCH_CHILD;
char *const child_argv[] = { child, nullptr };

static double now()
{
	timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return double(time.tv_sec) * 1e6 + double(time.tv_nsec) / 1e3;
}

static double microseconds(timeval time)
{
	return double(time.tv_sec) * 1e6 + double(time.tv_usec);
}

static rusage usage_of_all()
{
	rusage own, childrens;
	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &childrens);
	timeradd(&own.ru_utime, &childrens.ru_utime, &own.ru_utime);
	timeradd(&own.ru_stime, &childrens.ru_stime, &own.ru_stime);
	return own;
}

static double returned;

void goes_on()
{
	returned = now();
}

bool reap(pid_t pid)
{
	int status;
	return waitpid(pid, &status, 0) == pid && status == 0;
}

bool by_vfork()
{
	pid_t pid = vfork();
	if (pid == 0) {
		execv(child, child_argv);
		_exit(127);
	}
	goes_on();
	return reap(pid);
}

bool by_fork()
{
	pid_t pid = fork();
	if (pid == 0) {
		execv(child, child_argv);
		_exit(127);
	}
	goes_on();
	return reap(pid);
}

struct Child {
	char *argv[2];
	int output; // -1: inherited
};

static ASPAWN_CHILD int execute(void *envp, int, void *mask, void *data, size_t)
{
	Child *self = static_cast<Child *>(data);
	if (self->output >= 0)
		psys_dup2(self->output, 1);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, static_cast<psys_sigset *>(mask), nullptr,
			    PSYS_SIGSET_SIZE);
	psys_execve(self->argv[0], self->argv, static_cast<char **>(envp));
	return 127;
}

static pid_t start(int output)
{
	static Stack_t stack;
	pid_t pid;
	Child self = { { child, nullptr }, output };
	int error = aspawn_with(ASPAWN_WITH_NO_PIPE, nullptr, &pid, &stack, 4096, execute, environ,
				&self, sizeof self);
	return error ? -1 : pid;
}

bool by_aspawn()
{
	pid_t pid = start(-1);
	goes_on();
	return reap(pid);
}

static pid_t start_by_vfork(int output)
{
	pid_t pid = vfork();
	if (pid == 0) {
		dup2(output, 1);
		execv(child, child_argv);
		_exit(127);
	}
	return pid;
}

static bool with_pipe(pid_t (*way)(int output))
{
	int ends[2];
	char line[16];
	if (pipe2(ends, O_CLOEXEC))
		return false;
	pid_t pid = way(ends[1]);
	goes_on();
	close(ends[1]);
	bool has_line = read(ends[0], line, sizeof line) > 0;
	close(ends[0]);
	return reap(pid) && has_line;
}

bool by_aspawn_and_pipe()
{
	return with_pipe(start);
}

bool by_vfork_and_pipe()
{
	return with_pipe(start_by_vfork);
}

void measure(benchmark::State &state, Run run)
{
	double blocked = 0;
	rusage before = usage_of_all();
	for (auto _ : state) {
		double begin = now();
		if (!run()) {
			state.SkipWithError("it did not run");
			break;
		}
		blocked += returned - begin;
	}
	rusage after = usage_of_all();
	auto each = benchmark::Counter::kAvgIterations;
	state.counters["user"] = { microseconds(after.ru_utime) - microseconds(before.ru_utime),
				   each };
	state.counters["system"] = { microseconds(after.ru_stime) - microseconds(before.ru_stime),
				     each };
	state.counters["blocked"] = { blocked, each };
}

void write_to_dev_null()
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	dup2(null, 1);
	close(null);
}
