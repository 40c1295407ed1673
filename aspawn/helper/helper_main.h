/* SPDX-License-Identifier: MIT */
#ifndef HELPER_HELPER_MAIN_H
#define HELPER_HELPER_MAIN_H

#include <stdbool.h>

#include "../spawn/stack.h"

/* A helper begins here, but a tree's helper in aspw_tree_main(). */
int aspw_helper_main(void *control);

/* tree.c calls these functions in turn. Returns 0, or why there can be no help. */
int aspw_helper_enter(struct control *control);
/* Clones the child and releases the caller's resources, unless error is negative. Returns the
 * child's number; or a negative number, with the error in the state. Stores in *kept
 * control->list_fd, or else a pidfd of the child, or -1; and in *has_table if the helper has a
 * table of its own. */
int aspw_helper_clone(struct control *control, int error, int *kept, bool *has_table);
/* Reaps the ended child, and stores status and usage. False if the wait is refused. */
bool aspw_helper_reap(struct stack_state *state, int child);
/* Goes back to the caller's process group, before the helper ends. */
void aspw_helper_leave(const struct control *control);

#endif
