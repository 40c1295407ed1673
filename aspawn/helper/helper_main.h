/* SPDX-License-Identifier: MIT */
#ifndef HELPER_HELPER_MAIN_H
#define HELPER_HELPER_MAIN_H

#include <stdbool.h>

#include "../spawn/stack.h"

/* The helper's entry point. That of a tree is aspw_tree_main(). */
int aspw_helper_main(void *control);

/* What a helper of another kind does in turn (tree.c). Returns 0, or why it cannot help. */
int aspw_helper_enter(struct control *control);
/* Clones the child and lets go of what is the caller's, unless error is negative. Returns the child's
 * number; negative: there is none, and the state says so. Stores the descriptor that the helper has
 * kept, control->list_fd or else a pidfd of the child, or -1; and if it has a table of its own. */
int aspw_helper_clone(struct control *control, int error, int *kept, bool *has_table);
/* Reaps the child, which has ended, and stores status and usage. False if it may not. */
bool aspw_helper_reap(struct stack_state *state, int child);
/* Goes back to the caller's process group, before the helper ends. */
void aspw_helper_leave(const struct control *control);

#endif
