/* SPDX-License-Identifier: MIT */
// Processes of their own start the children. Each has its own memory and descriptors, so that what
// one measurement leaves to the kernel (a closed table, unmapped memory) costs no other
// measurement's time.
#ifndef BENCH_HOST_H
#define BENCH_HOST_H

#include "ways.h"

// Registers "name/blocked" and "name/reaped", or only "name" for the time blocked, of each way in a
// process that has called prepare(amount) once: "/unit:amount" follows.
enum class Measured { blocked, both };
void register_in_host(const std::vector<Way> &ways, Measured measured, void (*prepare)(long),
		      const char *unit, long amount);

// Maps so much memory and writes to each of its pages, 4 KiB each, as a grown heap has them.
void touch(long mebibytes);

#endif
