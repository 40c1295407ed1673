/* SPDX-License-Identifier: MIT */
// How long the caller is blocked, by the memory that it has touched: the number in the name,
// in MiB, in small pages as a grown heap has them.
#include <cstdio>
#include <string>

#include <sys/mman.h>

#include "ways.h"

static const long sizes[] = { 0, 64, 1024, 4096 };

static void touch(long mebibytes)
{
	static long touched;
	static char *memory;

	if (mebibytes == touched)
		return;
	if (touched)
		munmap(memory, static_cast<size_t>(touched) << 20);
	touched = mebibytes;
	if (!touched)
		return;
	size_t size = static_cast<size_t>(touched) << 20;
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

static void measure(benchmark::State &state, const Way &way, long mebibytes)
{
	touch(mebibytes);
	measure_blocked(state, way);
}

int main(int argc, char **argv)
{
	for (long size : sizes)
		for (const Way &way : ways)
			benchmark::RegisterBenchmark(
				(std::string(way.name) + "/MiB:" + std::to_string(size)).c_str(),
				measure, way, size)
				->UseManualTime()
				->Unit(benchmark::kMicrosecond);
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
	return 0;
}
