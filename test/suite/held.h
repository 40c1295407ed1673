/* SPDX-License-Identifier: MIT */
/* filter_hold() holds a call up until another thread has done something to the process. */
#ifndef HELD_H
#define HELD_H

#include "filter.h"

/* The first call of nr, by this thread or its child, waits until this thread has handled a signal,
 * 50 ms later. Join the thread. */
void hold_until_signal(long nr, struct thread *thread);

/* The first call of nr waits until the first child of this thread was killed. Stores the child's
 * pid, or 0 if /proc does not show the child. */
void hold_until_child_is_killed(long nr, struct thread *thread, int *killed);

/* Returns the pid of the first child of a thread of this process, or 0 if /proc shows no child. */
int first_child_of(int thread);

#endif
