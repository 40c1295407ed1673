/* SPDX-License-Identifier: MIT */
/* A call that is held up (filter_hold()) until another thread has done something to its process. */
#ifndef HELD_H
#define HELD_H

#include "filter.h"

/* The first call of nr, by this thread or its child, waits until this thread has handled a signal,
 * which comes 50 ms later. Join the thread. */
void hold_until_signal(long nr, struct thread *thread);

/* The same, until the first child of this thread was killed: stores its pid, or 0 if /proc does not
 * tell it. */
void hold_until_child_is_killed(long nr, struct thread *thread, int *killed);

/* The pid of the first child of a thread of this process; 0: none, or /proc does not tell. */
int first_child_of(int thread);

#endif
