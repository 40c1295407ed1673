/* SPDX-License-Identifier: MIT */
#ifndef ASPAWN_SUSPENDING_CLONE_H
#define ASPAWN_SUSPENDING_CLONE_H

#include "stack.h"

/* As aspw_clone_child(); but first, with cgroup_fd, a child that begins in the cgroup, and with MEMORY_EXECUTED one
 * that executes a program of the library, to have memory of its own. The parent of either is suspended:
 * the caller, or a helper. If that child has executed nothing, another begins in a copy of the memory.
 * An abandoned child of the caller's is named in the state, for the caller to reap. */
long aspw_clone_first(struct control *control);

#endif
