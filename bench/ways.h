// The ways to start a program that are compared. Each starts the same child with
// the same arguments and an empty environment; start() is what is timed, finish()
// what is not: waiting for the child, so that each iteration begins in silence.
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

// Waits for the child; for a finish().
void reap(int pid);

// Manual time: until start() has returned, and until finish() has.
void measure_blocked(benchmark::State &state, const Way &way);
void measure_reaped(benchmark::State &state, const Way &way);

#endif
