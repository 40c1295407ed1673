/* SPDX-License-Identifier: MIT */
// Measures the processor time of a command's whole life, by the MiB that its parent has touched, in
// small pages as a grown heap has them.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <sys/mman.h>

#include "measure.h"

// Grows from the size of the previous row.
static void touch(long mebibytes)
{
	static long touched;
	const size_t size = static_cast<size_t>(mebibytes - touched) << 20;

	if (!size)
		return;
	touched = mebibytes;
	void *memory =
		mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		std::perror("mmap");
		std::exit(1);
	}
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < size; at += 4096)
		static_cast<char *>(memory)[at] = 1;
}

static void measure_touched(benchmark::State &state, Run run, long mebibytes)
{
	touch(mebibytes);
	measure(state, run);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		Run run;
	} ways[] = { { "aspawn", by_aspawn }, { "vfork", by_vfork }, { "fork", by_fork } };

	write_to_dev_null();
	for (long size : { 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 4096 })
		for (const auto &way : ways)
			benchmark::RegisterBenchmark(
				(way.name + ("/MiB:" + std::to_string(size))).c_str(),
				measure_touched, way.run, size)
				->UseRealTime();
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
}
