/* SPDX-License-Identifier: MIT */
/* Deadlines are times of CLOCK_MONOTONIC, in nanoseconds. */
#ifndef SPAWN_DEADLINE_H
#define SPAWN_DEADLINE_H

#include <stdbool.h>

#include <syscall/syscall.h>

#define DEADLINE_NEVER INT64_MAX

/* Returns the deadline in ms milliseconds. A negative number means no limit. */
int64_t aspw_deadline_in(int64_t ms);

bool aspw_deadline_is_past(int64_t deadline);

/* Returns the time until the deadline, at most 4 seconds, or 0 if the deadline has passed. */
struct psys_timespec aspw_deadline_left(int64_t deadline);

/*
 * Sleeps while *word, a shared futex, equals value, at most until the deadline. Returns after at
 * most 50 ms, and the caller checks again: the kernel wakes only one waiter, and some sandboxes
 * wake no waiter at exec.
 */
void aspw_deadline_sleep_on(int *word, int value, int64_t deadline);

/* Calls ppoll(2) for one descriptor. Returns the events, -ETIMEDOUT, or an error. */
int aspw_deadline_poll(int fd, int events, int64_t deadline);

#endif
