/* SPDX-License-Identifier: MIT */
/* The handle of a child: sends signals. */
#include "child.h"

#include <syscall/syscall.h>

static int kill_unreaped(struct aspawn_child *child, int pid, int signal)
{
	int r = aspw_is_unreaped(child);

	return r < 0 ? r : psys_kill(pid, signal);
}

/* By its descriptor, if it has one: -ENOSYS otherwise. */
static int kill_by_pidfd(struct aspawn_child *child, int signal, unsigned flags)
{
	const int fd = aspw_own_pidfd(child);

	return fd >= 0           ? psys_pidfd_send_signal(fd, signal, NULL, flags) :
	       fd == -PSYS_ESRCH ? fd :
				   -PSYS_ENOSYS;
}

/* Returns the child's number. A child that could not be cloned is as one that is reaped. */
static int target_of(struct aspawn_child *child, int signal)
{
	const int pid = signal < 0 || signal > PSYS_NSIG ? -PSYS_EINVAL : aspawn_pid(child);

	return pid == -PSYS_ECANCELED ? -PSYS_ESRCH : pid;
}

int aspawn_kill(struct aspawn_child *child, int signal)
{
	const int pid = target_of(child, signal);

	if (pid < 0)
		return pid;
	const int r = kill_by_pidfd(child, signal, 0);
	return r == -PSYS_ENOSYS ? kill_unreaped(child, pid, signal) : r;
}

int aspawn_kill_group(struct aspawn_child *child, int signal)
{
	const int pid = target_of(child, signal);
	int r = -PSYS_ENOSYS;

	if (pid < 0)
		return pid;
	/* The number of a private child may be another's: its pidfd still knows the group. */
	if (child_state(child)->helped >= PRIVATE)
		r = kill_by_pidfd(child, signal, PSYS_PIDFD_SIGNAL_PROCESS_GROUP);
	if (r == -PSYS_EINVAL || r == -PSYS_ENOSYS)
		r = kill_unreaped(child, -pid, signal);
	/* The child may not lead a group yet, or may have left it. */
	return r == -PSYS_ESRCH ? aspawn_kill(child, signal) : r;
}

int aspawn_kill_cgroup(int cgroup_fd)
{
	int fd = psys_openat(cgroup_fd, "cgroup.kill", PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0);

	if (fd < 0)
		return fd;
	long r = psys_write(fd, "1", 1);
	psys_close(fd);
	return r < 0 ? (int)r : 0;
}
