/* SPDX-License-Identifier: MIT */
// Counts the calls of a start that lock the caller's memory map for writing: meanwhile page faults
// of its other threads wait, and those threads wait to map memory.
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include "ways.h"

struct Calls {
	int changes; // calls that change mappings; negative: could not trace
	int copies;  // clones that copy the memory, with the lock held for as long
};

// Traces a start of a new process, which may use what earlier starts have kept.
Calls calls_of(const Way &way);

#endif
