/* SPDX-License-Identifier: MIT */
/*
 * A tree may have a cgroup of version 2. The tree's helper makes the cgroup before it clones the
 * child, so the caller need not wait, and removes the cgroup when nothing of the tree is left. The
 * name, "aspawn-PID-N", has the helper's number; mkdir(2) accepts no name twice.
 */
#ifndef HELPER_CGROUP_H
#define HELPER_CGROUP_H

#include "../spawn/stack.h"

/* Makes the requested cgroup. Returns 0, or an error: then the state names the failed file, and
 * aspw_cgroup_remove() must follow. */
int aspw_cgroup_make(struct control *control);

/* Stores the number of OOM kills and the most memory of a cgroup that was made for the child, and
 * removes the cgroup. directory is the parent cgroup's. is_empty: all processes have ended, or are
 * about to. */
void aspw_cgroup_remove(const struct control *control, int directory, bool is_empty);

/* Returns the number of oom_kill, or an error as of aspawn_oom_kills(). */
int aspw_cgroup_oom_kills(int group);

#endif
