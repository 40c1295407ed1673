// See measure.h.
#include "measure.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
	state.counters["user"] = { microseconds(after.ru_utime) - microseconds(before.ru_utime), each };
	state.counters["system"] = { microseconds(after.ru_stime) - microseconds(before.ru_stime), each };
	state.counters["blocked"] = { blocked, each };
}

void write_to_dev_null()
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	dup2(null, 1);
	close(null);
}
