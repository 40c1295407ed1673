/* SPDX-License-Identifier: MIT */
/*
 * The child's own descriptor table, and the pipes, which the parent makes in the parent's table
 *
 * A child that begins on the parent's table (CLONE_FILES) copies only the lowest descriptors. The
 * child fetches higher descriptors, for actions and pipes, afterwards by pidfd_getfd(2), under
 * other numbers, from the calling thread, which waits meanwhile. The kernel may forbid this, and no
 * process gets back to a table that was left. So the child asks first, and copies all needed
 * descriptors if it may not fetch.
 */
#ifndef SPAWN_DESCRIPTOR_TABLE_H
#define SPAWN_DESCRIPTOR_TABLE_H

#include "spawn.h"
#include "stack.h"

/* --- pipes, in either process ---------------------------------------------------- */

/* If the process has closed standard streams, a new descriptor could get their numbers. Returns
 * another number; or a negative error number, and then closes the descriptor. */
int aspw_descriptors_avoid_streams(int fd);

/* Does the same for a pidfd, which the caller can do without: returns -1 in place of an error. */
PSYS_INLINE int aspw_descriptors_keep(int pidfd)
{
	const int fd = aspw_descriptors_avoid_streams(pidfd);

	return fd < 0 ? -1 : fd;
}

/* Does the same for the ends of a pipe. Returns 0, or a negative error number with both closed. */
int aspw_descriptors_avoid_streams_by_both(int ends[2]);

/* Makes a CLOEXEC pipe whose descriptors are above 2. Returns 0 or a negative error number. */
PSYS_INLINE int aspw_descriptors_pipe(int ends[2])
{
	const int r = psys_pipe2(ends, PSYS_O_CLOEXEC);

	return r < 0 ? r : aspw_descriptors_avoid_streams_by_both(ends);
}

/* Returns how many bytes can be read, maybe above the pipe's capacity; negative without a pipe. */
PSYS_INLINE long held_by_pipe(int fd)
{
	int held = 0;
	long r = psys_ioctl(fd, PSYS_FIONREAD, (uintptr_t)&held);

	return r < 0 ? psys_fcntl(fd, PSYS_F_GETPIPE_SZ, 0) : held;
}

/* --- the child ----------------------------------------------------------------- */

/* Until this returns, the child shares the parent's table, and must touch no descriptor. Returns 0,
 * or a negative error number if the child cannot unshare the table or fetch a descriptor. */
int aspw_descriptors_unshare(struct control *control);

/* Closes the child's copies, with numbers below end, of descriptors that the library has for the
 * parent or a helper: actions must not find them. */
void aspw_descriptors_close_copies(struct control *control, unsigned end);

/* --- the parent, or its helper ---------------------------------------------------- */

/* Makes missing pipes, and the pidfd for the child's fetches. Returns 0 or a negative error
 * number. */
int aspw_descriptors_make(struct control *control);

/* Closes the parent's copies of the child's ends; with also_parents, the parent's ends too. */
void aspw_descriptors_close(struct control *control, bool also_parents);

#endif
