/* SPDX-License-Identifier: MIT */
#ifndef CHILD_PERFORM_H
#define CHILD_PERFORM_H

#include <stddef.h>

/* This aspawn_fn gets the struct control in arg, and the struct prepared in user_data. It does not
 * return. */
int aspw_perform_actions(void *arg, int write_end, void *mask, void *user_data, size_t length);

#endif
