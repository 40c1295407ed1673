// From the call until the child has been reaped.
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
