/* SPDX-License-Identifier: MIT */
/* Times at which a wait ends: nanoseconds of CLOCK_MONOTONIC. */
#ifndef SPAWN_DEADLINE_H
#define SPAWN_DEADLINE_H

#include <stdbool.h>

#include <syscall/syscall.h>

#define DEADLINE_NEVER INT64_MAX

/* In so many milliseconds. Negative: no limit. */
int64_t aspw_deadline_in(int64_t ms);

bool aspw_deadline_is_past(int64_t deadline);

/* Returns the time left until the deadline, at most 4 seconds; 0 if it has passed. */
struct psys_timespec aspw_deadline_left(int64_t deadline);

/*
 * Sleeps while *word, a shared futex, equals value, at most until the deadline. Returns after
 * 50 ms at the latest, and the caller checks again: the kernel wakes only one waiter, and some
 * sandboxes wake none at exec.
 */
void aspw_deadline_sleep_on(int *word, int value, int64_t deadline);

/* ppoll(2) of one descriptor. Returns its events, -ETIMEDOUT, or an error. */
int aspw_deadline_poll(int fd, int events, int64_t deadline);

#endif
