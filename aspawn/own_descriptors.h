/* SPDX-License-Identifier: MIT */
/* The child's own descriptor table, and its pipes. */
#ifndef ASPAWN_OWN_DESCRIPTORS_H
#define ASPAWN_OWN_DESCRIPTORS_H

#include "spawn.h"
#include "stack.h"

/* --- pipes, of either process ---------------------------------------------------- */

/* The pipes of the request, then the report pipe; of NULL the first. NULL: no more. */
struct spawn_pipe *aspawn_descriptors_next(const struct control *control,
					   const struct spawn_pipe *pipe);

/* If the process has closed standard streams, a new descriptor could get their numbers: returns
 * another, or a negative error number with none left. */
int aspawn_descriptors_avoid_streams(int fd);

/* The same with the ends of a pipe: returns 0, or a negative error number with both closed. */
int aspawn_descriptors_avoid_streams_by_both(int ends[2]);

/* Makes a CLOEXEC pipe whose descriptors are above 2. Returns 0 or a negative error number. */
int aspawn_descriptors_pipe(int ends[2]);

/* The same; stores both ends as those of the pipe. After a failure one may be open. */
int aspawn_descriptors_make(struct spawn_pipe *pipe);

/* --- the child ----------------------------------------------------------------- */

/* Until this returns, the child shares the parent's descriptor table: touch no descriptor
 * before. Returns 0, or a negative error number if the table cannot be unshared. */
int aspawn_descriptors_unshare(struct control *control);

/* Of that, the table alone. Descriptors from keep_below up are not copied, so nobody has to close
 * them. */
int aspawn_descriptors_unshare_table(const struct control *control);

/* Sets the stack's use, and wakes the parent if it sleeps. */
void aspawn_descriptors_set_use(struct stack_state *state, int use);

/* --- the parent, or its helper ---------------------------------------------------- */

/* Makes the pipes that do not exist yet. Returns 0 or a negative error number. */
int aspawn_descriptors_make_pipes(struct control *control);

/* Closes what the parent has of the child's ends, and of its own. */
void aspawn_descriptors_close(const struct control *control, bool also_parents);

/*
 * The child exists. Returns 0 when it has its own table, the pipes are there, and the parent has
 * closed the child's ends; or a negative error number, when the child has ended and been reaped
 * and no pipe is left. Returns at once if nothing makes it wait.
 */
int aspawn_descriptors_settle(const struct Stack_t *stack, const struct request *request);

/* A pidfd of the thread; before Linux 6.9 only of a main thread. A process whose main thread has ended
 * has no descriptors: not to be fetched by its pid. */
int aspawn_descriptors_open_thread(int tid);

#endif
