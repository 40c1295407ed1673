/* SPDX-License-Identifier: MIT */
/*
 * The child's own descriptor table, and its pipes, which the parent makes in its own.
 *
 * A child that begins on its parent's table (CLONE_FILES) copies only the lowest descriptors. What
 * it needs of higher ones, ends of pipes and what actions use, it fetches afterwards by
 * pidfd_getfd(2), under other numbers, from the calling thread, which waits for that. The kernel may
 * forbid it, and nobody gets back to a table that was left: so the child asks first, and copies all
 * that it needs if it may not fetch.
 */
#ifndef SPAWN_DESCRIPTOR_TABLE_H
#define SPAWN_DESCRIPTOR_TABLE_H

#include "spawn.h"
#include "stack.h"

/* --- pipes, of either process ---------------------------------------------------- */

/* If the process has closed standard streams, a new descriptor could get their numbers: returns
 * another, or a negative error number with none left. */
int aspw_descriptors_avoid_streams(int fd);

/* The same for a pidfd, which the caller can do without: returns -1 in place of an error. */
PSYS_INLINE int aspw_descriptors_keep(int pidfd)
{
	const int fd = aspw_descriptors_avoid_streams(pidfd);

	return fd < 0 ? -1 : fd;
}

/* The same with the ends of a pipe: returns 0, or a negative error number with both closed. */
int aspw_descriptors_avoid_streams_by_both(int ends[2]);

/* Makes a CLOEXEC pipe whose descriptors are above 2. Returns 0 or a negative error number. */
PSYS_INLINE int aspw_descriptors_pipe(int ends[2])
{
	const int r = psys_pipe2(ends, PSYS_O_CLOEXEC);

	return r < 0 ? r : aspw_descriptors_avoid_streams_by_both(ends);
}

/* Bytes to be read, which may be more than the pipe's capacity. Negative: there is no pipe. */
PSYS_INLINE long held_by_pipe(int fd)
{
	int held = 0;
	long r = psys_ioctl(fd, PSYS_FIONREAD, (uintptr_t)&held);

	return r < 0 ? psys_fcntl(fd, PSYS_F_GETPIPE_SZ, 0) : held;
}

/* --- the child ----------------------------------------------------------------- */

/* Until this returns, the child shares the parent's descriptor table: touch no descriptor
 * before. Returns 0, or a negative error number if the table cannot be unshared, or some of what the
 * child needs cannot be fetched. */
int aspw_descriptors_unshare(struct control *control);

/* Closes the child's copies, with numbers below end, of descriptors that the library has for the
 * parent or a helper, so that no action finds them. */
void aspw_descriptors_close_copies(struct control *control, unsigned end);

/* --- the parent, or its helper ---------------------------------------------------- */

/* Makes the pipes that do not exist yet, and what the child needs to fetch its ends. Returns 0 or a
 * negative error number. */
int aspw_descriptors_make(struct control *control);

/* Closes what the parent has of the child's ends, and of its own. */
void aspw_descriptors_close(struct control *control, bool also_parents);

#endif
