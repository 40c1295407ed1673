/* SPDX-License-Identifier: MIT */
// Declares the compared ways to start a program. Each starts the same child with the same arguments
// and an empty environment. start() is timed; finish() is not: it waits for the child, so that no
// iteration disturbs the next.
#ifndef BENCH_WAYS_H
#define BENCH_WAYS_H

#include <benchmark/benchmark.h>

#include <vector>

struct Way {
	const char *name;
	int (*start)(); // the pid, 0 if finish() knows it, negative on failure
	void (*finish)(int pid);
};

extern const std::vector<Way> ways;

// Waits for the child; a finish().
void reap(int pid);

// Returns the seconds until start() has returned, or finish(). They are negative if the start has
// failed.
double time_of(const Way &way, bool until_reaped);

// Sets the manual time: until start() returns, and until finish() has returned.
void measure_blocked(benchmark::State &state, const Way &way);
void measure_reaped(benchmark::State &state, const Way &way);

#endif
