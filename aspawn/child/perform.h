/* SPDX-License-Identifier: MIT */
#ifndef CHILD_PERFORM_H
#define CHILD_PERFORM_H

#include <stddef.h>

/* The aspawn_fn of commands: arg is the struct control, user_data the struct prepared. Does not
 * return. */
int aspw_perform_actions(void *arg, int write_end, void *mask, void *user_data, size_t length);

#endif
