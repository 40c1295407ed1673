// The processor time of a command's whole life, by each way to start it: the drop-ins,
// and what the libc has, in one program with 200 MiB of which half is touched. Those
// that give a stream read the child's line from it, the others let it go to /dev/null.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <benchmark/benchmark.h>

#include <popen_noshell.h>

static char child[] = BENCH_CHILD;
static char *const argv[] = { child, nullptr };

// The libc's own, whose names the drop-ins have taken.
template <typename Function> static Function *libc(const char *name, Function *)
{
	static void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *found = dlsym(library, name);
	if (!found)
		abort();
	return reinterpret_cast<Function *>(found);
}
#define LIBC(function) libc(#function, function)

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

static double returned; // when the call that starts the child did

static bool reap(pid_t pid)
{
	int status;
	return waitpid(pid, &status, 0) == pid && status == 0;
}

static bool reads_line(FILE *file)
{
	char line[16];
	return file && fgets(line, sizeof line, file);
}

static bool by_vfork()
{
	pid_t pid = vfork();
	if (pid == 0) {
		execv(child, argv);
		_exit(127);
	}
	returned = now();
	return reap(pid);
}

static bool by_fork()
{
	pid_t pid = fork();
	if (pid == 0) {
		execv(child, argv);
		_exit(127);
	}
	returned = now();
	return reap(pid);
}

static bool by_spawn(decltype(posix_spawn) *spawn)
{
	pid_t pid;
	int error = spawn(&pid, child, nullptr, nullptr, argv, environ);
	returned = now();
	return !error && reap(pid);
}

static bool by_ours()
{
	return by_spawn(posix_spawn);
}

static bool by_libcs()
{
	static auto *const spawn = LIBC(posix_spawn);
	return by_spawn(spawn);
}

static bool by_noshell()
{
	popen_noshell_pass_to_pclose arg;
	FILE *file = popen_noshell(child, argv, "r", &arg, 0);
	returned = now();
	return reads_line(file) && pclose_noshell(&arg) == 0;
}

static bool by_noshell_compat()
{
	popen_noshell_pass_to_pclose arg;
	FILE *file = popen_noshell_compat(child, "r", &arg);
	returned = now();
	return reads_line(file) && pclose_noshell(&arg) == 0;
}

static bool by_popen()
{
	FILE *file = popen(child, "r");
	returned = now();
	return reads_line(file) && pclose(file) == 0;
}

static bool by_libcs_popen()
{
	static auto *const open = LIBC(popen);
	static auto *const close = LIBC(pclose);
	FILE *file = open(child, "r");
	returned = now();
	return reads_line(file) && close(file) == 0;
}

static bool by_system()
{
	bool ran = system(child) == 0;
	returned = now();
	return ran;
}

static bool by_libcs_system()
{
	static auto *const run = LIBC(system);
	bool ran = run(child) == 0;
	returned = now();
	return ran;
}

static void measure(benchmark::State &state, bool (*run)())
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

int main(int argc, char **arguments)
{
	static const struct {
		const char *name;
		bool (*run)();
	} rows[] = {
		{ "vfork + exec", by_vfork },
		{ "fork + exec", by_fork },
		{ "posix_spawn", by_ours },
		{ "libc's posix_spawn", by_libcs },
		{ "popen_noshell", by_noshell },
		{ "popen_noshell_compat", by_noshell_compat },
		{ "popen", by_popen },
		{ "libc's popen", by_libcs_popen },
		{ "system", by_system },
		{ "libc's system", by_libcs_system },
	};
	const size_t size = 200 << 20;
	char *memory = static_cast<char *>(malloc(size));
	memset(memory, 1, size / 2);
	benchmark::DoNotOptimize(memory);
	int null = open("/dev/null", O_WRONLY);
	dup2(null, 1);
	for (const auto &row : rows)
		benchmark::RegisterBenchmark(row.name, measure, row.run)->UseRealTime();
	benchmark::Initialize(&argc, arguments);
	benchmark::RunSpecifiedBenchmarks();
}
