/* SPDX-License-Identifier: MIT */
// Measures the processor time of a command's whole life, by each way to start it: the drop-ins and
// the libc's functions, in one program with 200 MiB of which half is touched. Ways with a stream
// read the child's line; for the others the output is /dev/null.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <spawn.h>
#include <unistd.h>

#include <popen_noshell.h>

#include "libcs.h"
#include "measure.h"

static const char *path()
{
	return child_argv[0];
}

static bool by_spawn(decltype(posix_spawn) *spawn)
{
	pid_t pid;
	int error = spawn(&pid, path(), nullptr, nullptr, child_argv, environ);
	goes_on();
	return !error && reap(pid);
}

static bool reads_line(FILE *file)
{
	char line[16];
	return file && fgets(line, sizeof line, file);
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

template <int mode> static bool by_noshell()
{
	popen_noshell_pass_to_pclose arg;
	popen_noshell_set_fork_mode(mode);
	FILE *file = popen_noshell(path(), child_argv, "r", &arg, 0);
	goes_on();
	return reads_line(file) && pclose_noshell(&arg) == 0;
}

template <int mode> static bool by_noshell_compat()
{
	popen_noshell_pass_to_pclose arg;
	popen_noshell_set_fork_mode(mode);
	FILE *file = popen_noshell_compat(path(), "r", &arg);
	goes_on();
	return reads_line(file) && pclose_noshell(&arg) == 0;
}

static bool by_noshell_over_libcs()
{
	popen_noshell_pass_to_pclose arg;
	FILE *file = over_libcs_popen_noshell(path(), child_argv, "r", &arg, 0);
	goes_on();
	return reads_line(file) && pclose_noshell(&arg) == 0;
}

static bool by_noshell_compat_over_libcs()
{
	popen_noshell_pass_to_pclose arg;
	FILE *file = over_libcs_popen_noshell_compat(path(), "r", &arg);
	goes_on();
	return reads_line(file) && pclose_noshell(&arg) == 0;
}

static bool by_popen()
{
	FILE *file = popen(path(), "r");
	goes_on();
	return reads_line(file) && pclose(file) == 0;
}

static bool by_libcs_popen()
{
	static auto *const open = LIBC(popen);
	static auto *const close = LIBC(pclose);
	FILE *file = open(path(), "r");
	goes_on();
	return reads_line(file) && close(file) == 0;
}

static bool by_system()
{
	bool ran = system(path()) == 0;
	goes_on();
	return ran;
}

static bool by_libcs_system()
{
	static auto *const run = LIBC(system);
	bool ran = run(path()) == 0;
	goes_on();
	return ran;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		Run run;
	} rows[] = {
		{ "vfork + exec", by_vfork },
		{ "vfork + exec, a pipe and read", by_vfork_and_pipe },
		{ "aspawn", by_aspawn },
		{ "aspawn, a pipe and read", by_aspawn_and_pipe },
		{ "**popen_noshell**", by_noshell<POPEN_NOSHELL_MODE_CLONE> },
		{ "**popen_noshell_compat**", by_noshell_compat<POPEN_NOSHELL_MODE_CLONE> },
		{ "posix_spawn of the libc", by_libcs },
		{ "**posix_spawn**", by_ours },
		{ "popen_noshell over posix_spawn of the libc", by_noshell_over_libcs },
		{ "popen_noshell_compat over posix_spawn of the libc",
		  by_noshell_compat_over_libcs },
		{ "fork + exec", by_fork },
		{ "popen_noshell over fork", by_noshell<POPEN_NOSHELL_MODE_FORK> },
		{ "popen_noshell_compat over fork", by_noshell_compat<POPEN_NOSHELL_MODE_FORK> },
		{ "system of the libc", by_libcs_system },
		{ "**system**", by_system },
		{ "popen of the libc", by_libcs_popen },
		{ "**popen**", by_popen },
	};
	const size_t size = 200 << 20;
	char *memory = static_cast<char *>(malloc(size));
	memset(memory, 1, size / 2);
	benchmark::DoNotOptimize(memory);
	write_to_dev_null();
	over_libcs_popen_noshell_set_fork_mode(POPEN_NOSHELL_MODE_POSIX_SPAWN);
	for (const auto &row : rows)
		benchmark::RegisterBenchmark(row.name, measure, row.run)->UseRealTime();
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
}
