/* SPDX-License-Identifier: MIT */
/* Unshares the child's descriptor table, and makes pipes. */
#include "descriptor_table.h"

#include <syscall/syscall.h>

#include "../marks.h"

/* --- pipes ------------------------------------------------------------------ */

/* Returns the plan's descriptors in order, then the report pipe, then NULL. Begins after NULL. */
static IN_ANY struct child_fd *next_fd(struct control *control, struct child_fd *fd)
{
	const struct plan *plan = &control->plan;

	if (fd == &control->report)
		return NULL;
	fd = fd ? fd + 1 : plan->fds;
	if (plan->fd_count && fd < plan->fds + plan->fd_count)
		return fd;
	return control->pipe == PIPE ? &control->report : NULL;
}

IN_ANY int aspw_descriptors_avoid_streams(int fd)
{
	if (fd < 0 || fd > 2)
		return fd;
	int other = (int)psys_fcntl(fd, PSYS_F_DUPFD_CLOEXEC, 3);
	psys_close(fd);
	return other;
}

IN_ANY int aspw_descriptors_avoid_streams_by_both(int ends[2])
{
	ends[0] = aspw_descriptors_avoid_streams(ends[0]);
	ends[1] = aspw_descriptors_avoid_streams(ends[1]);
	if (ends[0] >= 0 && ends[1] >= 0)
		return 0;
	int r = ends[0] < 0 ? ends[0] : ends[1];
	psys_close(ends[0]); /* close(-1) is harmless */
	psys_close(ends[1]);
	return r;
}

/* Lets the child copy the descriptor. */
static IN_ANY void keep_copy(struct control *control, int fd)
{
	if (control->keep_below <= (unsigned)fd)
		control->keep_below = (unsigned)fd + 1;
}

static IN_ANY bool is_kept(const struct control *control, int fd)
{
	return fd >= 0 && (unsigned)fd < control->keep_below;
}

/* Opens a pidfd of the thread, before Linux 6.9 only of a main thread. If the main thread has
 * ended, the process has no descriptors to fetch by its pid. */
static IN_ANY int open_thread(int tid)
{
	int fd = psys_pidfd_open(tid, PSYS_PIDFD_THREAD);

	return fd == -PSYS_EINVAL ? psys_pidfd_open(tid, 0) : fd;
}

/* --- the child ------------------------------------------------------------------ */

/* The caller has no number in another pid namespace. */
static IN_CHILD bool may_fetch(const struct control *control)
{
	return control->caller_pidfd >= 0 && current_parent() != 0 &&
	       psys_pidfd_getfd(control->caller_pidfd, -1, 0) == -PSYS_EBADF;
}

static IN_CHILD void close_below(unsigned end, int fd)
{
	if (fd >= 0 && (unsigned)fd < end)
		psys_close(fd);
}

/* A detached helper copied the table before its pidfd existed: the number may be the caller's. */
IN_CHILD void aspw_descriptors_close_copies(struct control *control, unsigned end)
{
	if (!control->plan.detached)
		close_below(end, control->helper_pidfd);
	close_below(end, control->caller_pidfd);
	close_below(end, control->new_cgroup_fd);
	close_below(end, control->list_fd);
	close_below(end, control->channel[0]);
	close_below(end, control->channel[1]);
	for (struct child_fd *fd = NULL; (fd = next_fd(control, fd));)
		close_below(end, fd->parents_end);
}

/* Descriptors from keep_below up are not copied, so nobody has to close them. If the child is
 * killed meanwhile, the kernel only closes the child's table: neither the parent nor its threads
 * notice. */
static IN_CHILD int unshare_table(struct control *control)
{
	int r = psys_close_range(control->keep_below, ~0U, PSYS_CLOSE_RANGE_UNSHARE);

	if (r < 0) { /* before Linux 5.9, copy all */
		r = psys_unshare(PSYS_CLONE_FILES);
		if (r < 0)
			return r;
		control->keep_below = ~0U;
	}
	/* These descriptors are the parent's, but may be among the copied ones. */
	close_below(control->keep_below, stack_state(&control->stack)->begun.pidfd);
	aspw_descriptors_close_copies(control, control->keep_below);
	return 0;
}

/* True if the library itself has this number in the parent's table, and not the caller. */
static IN_CHILD bool is_own(struct control *control, int number)
{
	if (number == stack_state(&control->stack)->begun.pidfd ||
	    number == control->helper_pidfd || number == control->caller_pidfd)
		return true;
	for (struct child_fd *fd = NULL; (fd = next_fd(control, fd));)
		if (fd->kind != CALLERS_FD && (number == fd->fd || number == fd->parents_end))
			return true;
	return false;
}

/* Fetches all descriptors that were not copied. An action on a closed one fails by itself. */
static IN_CHILD int fetch_fds(struct control *control)
{
	const int pidfd = open_thread(control->plan.caller);
	int r = pidfd < 0 ? pidfd : 0;

	for (struct child_fd *fd = NULL; (fd = next_fd(control, fd));) {
		if (is_kept(control, fd->fd) || (fd->kind == CALLERS_FD && is_own(control, fd->fd)))
			continue;
		fd->here = aspw_descriptors_avoid_streams(psys_pidfd_getfd(pidfd, fd->fd, 0));
		if (fd->here < 0 && fd->here != -PSYS_EBADF && r == 0)
			r = fd->here;
	}
	if (pidfd >= 0)
		psys_close(pidfd);
	return r;
}

IN_CHILD int aspw_descriptors_unshare(struct control *control)
{
	const bool fetches = may_fetch(control);

	for (struct child_fd *fd = NULL; !fetches && (fd = next_fd(control, fd));)
		keep_copy(control, fd->fd);
	int r = unshare_table(control);
	if (r < 0)
		return r;
	if (fetches)
		r = fetch_fds(control);
	stack_shares_no_files(stack_state(&control->stack));
	return r;
}

/* --- the parent ------------------------------------------------------------------- */

static IN_ANY int make_pipe(struct child_fd *fd)
{
	const bool child_writes = fd->kind == CHILD_WRITES;
	int ends[2] = { -1, -1 };
	int r = aspw_descriptors_pipe(ends);

	if (r < 0)
		return r;
	fd->parents_end = ends[!child_writes];
	fd->fd = fd->here = ends[child_writes];
	if (fd->nonblock)
		r = (int)psys_fcntl(fd->parents_end, PSYS_F_SETFL, PSYS_O_NONBLOCK);
	return r < 0 ? r : 0;
}

IN_ANY int aspw_descriptors_make(struct control *control)
{
	bool is_far = false;

	for (struct child_fd *fd = NULL; (fd = next_fd(control, fd));) {
		int r = fd->kind != CALLERS_FD && fd->parents_end < 0 ? make_pipe(fd) : 0;
		if (r < 0)
			return r;
		if (!control->plan.unshare_files) /* a clone copies all */
			continue;
		if (fd->fd < FEW_DESCRIPTORS || !control->plan.caller)
			keep_copy(control, fd->fd);
		is_far = is_far || !is_kept(control, fd->fd);
	}
	if (is_far && control->caller_pidfd < 0)
		control->caller_pidfd = open_thread(control->plan.caller);
	return 0;
}

IN_SERVER void aspw_descriptors_close(struct control *control, bool also_parents)
{
	for (struct child_fd *fd = NULL; (fd = next_fd(control, fd));) {
		if (fd->kind == CALLERS_FD || fd->fd < 0)
			continue;
		psys_close(fd->fd);
		if (also_parents)
			psys_close(fd->parents_end);
	}
}
