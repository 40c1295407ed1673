/* SPDX-License-Identifier: MIT */
// Measures the time from the call until the child is reaped.
#include "ways.h"

int main(int argc, char **argv)
{
	for (const Way &way : ways)
		benchmark::RegisterBenchmark(way.name, measure_reaped, way)
			->UseManualTime()
			->Unit(benchmark::kMicrosecond);
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
	return 0;
}
