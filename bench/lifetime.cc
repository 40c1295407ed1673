// From the call until the child has been reaped.
#include <benchmark/benchmark.h>

#include "ways.h"

static void measure(benchmark::State &state, const Way &way)
{
	for (auto _ : state) {
		int pid = way.start();

		if (pid < 0) {
			state.SkipWithError("could not start the child");
			break;
		}
		way.finish(pid);
	}
}

int main(int argc, char **argv)
{
	for (const Way &way : ways)
		benchmark::RegisterBenchmark(way.name, measure, way)
			->UseRealTime()
			->Unit(benchmark::kMicrosecond);
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
	return 0;
}
