/* SPDX-License-Identifier: MIT */
// Measures the processor time of a command's whole life, of the parent and the command.
#ifndef BENCH_COMPAT_MEASURE_H
#define BENCH_COMPAT_MEASURE_H

#include <sys/types.h>

#include <benchmark/benchmark.h>

extern char *const child_argv[]; // a static program that writes a line; its path is BENCH_CHILD

// Returns when the command has ended; true if it succeeded.
using Run = bool (*)();

// A Run calls this when the call that starts the child has returned.
void goes_on();

bool reap(pid_t pid);
bool by_vfork();
bool by_fork();
bool by_aspawn();
bool by_aspawn_and_pipe(); // the line read by read(2)
bool by_vfork_and_pipe();

// Sets counters in microseconds: user, system, and blocked, which is the time until goes_on().
void measure(benchmark::State &state, Run run);

// Sends the child's output to /dev/null, for ways that do not read it.
void write_to_dev_null();

#endif
