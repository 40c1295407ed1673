/* SPDX-License-Identifier: MIT */
/* What the tests of trees have in common */
#ifndef TREE_TESTS_H
#define TREE_TESTS_H

#include "private.h"

/* Makes a tree that runs this program in a role. std_out is a pipe, whose other end the whole tree
 * has. */
struct aspawn_command tree_command(struct self *self, const char *role, const char *argument);

/* Skips the test where the kernel has no lists of children, or no process can share memory. */
void need_lists(void);

/* Waits until nothing has the pipe's other end. Closes the pipe. */
void check_all_have_ended(int fd, int timeout_ms);

/* Waits until the program, or its descendants, have written this many bytes. */
void await_bytes(int fd, int count);

#endif
