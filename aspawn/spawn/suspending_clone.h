/* SPDX-License-Identifier: MIT */
#ifndef SPAWN_SUSPENDING_CLONE_H
#define SPAWN_SUSPENDING_CLONE_H

#include "stack.h"

/* Call these before and after a clone into a cgroup, or of a child that executes a program of the
 * library to have its own memory. Both suspend the parent: the caller, or a helper. The first
 * returns 0, or why there is to be no clone. The second takes the result of the clone, or of the
 * first. It returns the pid, -ECHILD if the child has executed nothing, or the error. The state
 * then names an abandoned child of the caller, for the caller to reap. */
int aspw_suspending_begin(struct control *control, const struct way *way);
long aspw_suspending_end(struct control *control, const struct way *way, long pid);

#endif
