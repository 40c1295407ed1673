// What a command's whole life costs, in processor time of its parent and its own.
#ifndef BENCH_COMPAT_MEASURE_H
#define BENCH_COMPAT_MEASURE_H

#include <sys/types.h>

#include <benchmark/benchmark.h>

extern char *const child_argv[]; // a static program that writes a line; its path is BENCH_CHILD

// Returns when the command is over: whether all went well.
using Run = bool (*)();

// To be called by a Run when the call that starts the child has returned.
void goes_on();

bool reap(pid_t pid);
bool by_vfork();
bool by_fork();
bool by_aspawn();
bool by_aspawn_and_pipe(); // the line read by read(2)
bool by_vfork_and_pipe();

// Counters in microseconds: user, system, and blocked: until goes_on().
void measure(benchmark::State &state, Run run);

// The child's line goes there, where no way reads it.
void write_to_dev_null();

#endif
