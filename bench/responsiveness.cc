// How long the caller is held: from the call until it goes on.
#include <benchmark/benchmark.h>

#include "ways.h"

static void measure(benchmark::State &state, const Way &way)
{
	for (auto _ : state) {
		long long begin = now();
		int pid = way.start();
		long long end = now();

		if (pid < 0) {
			state.SkipWithError("could not start the child");
			break;
		}
		state.SetIterationTime(static_cast<double>(end - begin) * 1e-9);
		way.finish(pid);
	}
}

int main(int argc, char **argv)
{
	for (const Way &way : ways)
		benchmark::RegisterBenchmark(way.name, measure, way)
			->UseManualTime()
			->Unit(benchmark::kMicrosecond);
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
	return 0;
}
