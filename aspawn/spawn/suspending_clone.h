/* SPDX-License-Identifier: MIT */
#ifndef ASPAWN_SUSPENDING_CLONE_H
#define ASPAWN_SUSPENDING_CLONE_H

#include "stack.h"

/* As aspw_clone_child(), for a way in the cgroup, and for one that executes a program of the library, to have
 * memory of its own. The parent of either is suspended: the caller, or a helper. Fails with -ECHILD if that
 * child has executed nothing. A child of the caller's that is abandoned so is named in the state, for the
 * caller to reap. */
long aspw_clone_suspending(struct control *control, const struct way *way);

#endif
