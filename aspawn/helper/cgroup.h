/* SPDX-License-Identifier: MIT */
/*
 * Control groups of version 2, one for each tree that wants it. The tree's helper makes the group
 * before it clones the child, so that the caller waits for nothing. It removes the group when nothing
 * of the tree is left. Its name, "aspawn-PID-N", has the helper's number; mkdir(2) accepts no name twice.
 */
#ifndef HELPER_CGROUP_H
#define HELPER_CGROUP_H

#include "../spawn/stack.h"

/* Makes the group that the request wants. Returns 0, or an error: then the state has the file that it is
 * about, and aspw_cgroup_remove() is to be called. */
int aspw_cgroup_make(struct control *control);

/* Stores how many processes of the group the OOM killer has ended, and its most memory, and removes it,
 * if it is the child's alone. directory: the parent group's. is_empty: all its processes have ended, or are about to. */
void aspw_cgroup_remove(const struct control *control, int directory, bool is_empty);

/* Returns the number of oom_kill, or an error as of aspawn_oom_kills(). */
int aspw_cgroup_oom_kills(int group);

#endif
