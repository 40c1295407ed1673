/* SPDX-License-Identifier: MIT */
/*
 * The child's own descriptor table, and its pipes.
 *
 * A child that begins on its parent's table (CLONE_FILES) copies only the lowest descriptors. A
 * pipe that the parent made in a table of thousands would have a high number, and all below it
 * would be copied. So the child makes the pipes, in its small table, and the parent takes its ends:
 *
 * parent  asks the kernel, while the child waits, if it may take a descriptor of this child's. If
 *         it may not, the parent makes the pipes after all: the child has the parent's table yet.
 * child   unshares the table, makes the pipes, and waits.
 * parent  takes its ends: by pidfd_getfd(2), or by opening /proc/<child>/fd/<n>.
 * child   closes what it had of these, and goes on.
 *
 * Where the parent may not (an undumpable process, Yama), a second thread of the child can:
 * within a process nobody asks. It keeps the parent's table, moves the parent's ends to it with
 * pidfd_getfd(2) and ends before the child goes on.
 */
#ifndef ASPAWN_FILES_H
#define ASPAWN_FILES_H

#include "spawn.h"
#include "stack.h"

/* --- the child's part ------------------------------------------------------- */

/*
 * Until this returns, the child shares the parent's descriptor table: touch no descriptor
 * before. Returns 0, or a negative error number if the table cannot be unshared. Does not return
 * if the parent has no use for the child any more.
 */
int aspawn_files_unshare(struct control *control);

/* --- the parent's part, or its helper's ------------------------------------- */

/* True if none of the pipes exists, and they may get so high numbers that it is cheaper if the
 * child makes them. */
bool aspawn_files_may_defer_pipes(const struct control *control);

/* Makes the pipes that do not exist yet. Returns 0 or a negative error number. */
int aspawn_files_make_pipes(struct control *control);

/* Closes what the parent has of the child's ends, and of its own. */
void aspawn_files_close(const struct control *control, bool also_parents);

/*
 * The child exists. Returns 0 when it has its own table, the pipes are there, and the parent has
 * closed the child's ends; or a negative error number, when the child has ended and been reaped
 * and no pipe is left. Returns at once if nothing makes it wait.
 */
int aspawn_files_settle(const struct Stack_t *stack, const struct request *request);

#endif
