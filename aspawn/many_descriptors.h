/* SPDX-License-Identifier: MIT */
/*
 * The child makes the pipes, and fetches what it needs of a large table.
 *
 * A child that begins on its parent's table (CLONE_FILES) copies only the lowest descriptors. A
 * pipe that the parent made in a table of thousands would have a high number, and all below it
 * would be copied. So the child makes the pipes, in its small table, and the parent takes its ends:
 *
 * parent  asks the kernel, while the child waits, if it may take a descriptor of this child's. If
 *         it may not, the parent makes the pipes after all: the child has the parent's table yet.
 * child   unshares the table, makes the pipes, and waits.
 * parent  takes its ends by pidfd_getfd(2).
 * child   closes what it had of these, and goes on.
 *
 * So does the child fetch from the parent what actions use of high numbers, or copies all below.
 */
#ifndef ASPAWN_MANY_DESCRIPTORS_H
#define ASPAWN_MANY_DESCRIPTORS_H

#include "spawn.h"
#include "stack.h"

/* The child's part, for request.unshare: as aspawn_descriptors_unshare(). Does not return if the parent
 * has no use for the child any more. */
int aspawn_many_unshare(struct control *control);

/* The parent's part, for request.settle. Returns 0 when the parent has its ends of the pipes; or a
 * negative error number, when the child has ended and been reaped. */
int aspawn_many_settle(const struct Stack_t *stack, struct control *control,
		       const struct request *request);

#endif
