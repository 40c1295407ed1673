/* SPDX-License-Identifier: MIT */
#ifndef SPAWN_SUSPENDING_CLONE_H
#define SPAWN_SUSPENDING_CLONE_H

#include "stack.h"

/* Before and after the clone of a way in the cgroup, or of one that executes a program of the library, to have
 * memory of its own. The parent of either is suspended: the caller, or a helper. The first returns 0,
 * or why there is to be no clone. The second takes what that has returned, or the first, and
 * returns the pid, -ECHILD if the child has executed nothing, or the error. A child of the caller's
 * that is abandoned so is named in the state, for the caller to reap. */
int aspw_suspending_begin(struct control *control, const struct way *way);
long aspw_suspending_end(struct control *control, const struct way *way, long pid);

#endif
