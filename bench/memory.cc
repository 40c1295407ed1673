/* SPDX-License-Identifier: MIT */
// Measures how long the caller is blocked, by the memory that it has touched: the number in the
// name, in MiB.
#include "host.h"

int main(int argc, char **argv)
{
	for (long size : { 0, 64, 1024, 4096 })
		register_in_host(ways, Measured::blocked, touch, "MiB", size);
	benchmark::Initialize(&argc, argv);
	benchmark::RunSpecifiedBenchmarks();
	return 0;
}
