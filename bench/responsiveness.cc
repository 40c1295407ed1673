/* SPDX-License-Identifier: MIT */
// Measures how long the caller is blocked: from the call until it returns.
#include "ways.h"

int main(int argc, char **argv)
{
	for (const Way &way : ways)
		benchmark::RegisterBenchmark(way.name, measure_blocked, way)
			->UseManualTime()
			->Unit(benchmark::kMicrosecond);
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
	return 0;
}
