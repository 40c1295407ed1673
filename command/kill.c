/* SPDX-License-Identifier: MIT */
/* The handle of a child: sends signals. */
#include "child.h"

#include <syscall/syscall.h>

static int kill_unreaped(struct aspawn_child *child, int pid, int signal)
{
	int r = aspawn_is_unreaped(child);

	return r < 0 ? r : psys_kill(pid, signal);
}

int aspawn_kill(struct aspawn_child *child, int signal)
{
	int r = -PSYS_ENOSYS;

	if (!is_child(child) || signal < 0 || signal > PSYS_NSIG)
		return -PSYS_EINVAL;
	if (child->pidfd >= 0)
		r = psys_pidfd_send_signal(child->pidfd, signal, NULL, 0);
	return r == -PSYS_ENOSYS ? kill_unreaped(child, child->pid, signal) : r;
}

int aspawn_kill_group(struct aspawn_child *child, int signal)
{
	int r = -PSYS_EINVAL;

	if (!is_child(child) || signal < 0 || signal > PSYS_NSIG)
		return -PSYS_EINVAL;
	/* The number of a private child may be another's: its pidfd still knows the group. */
	if (child_state(child)->privacy && child->pidfd >= 0)
		r = psys_pidfd_send_signal(child->pidfd, signal, NULL,
					   PSYS_PIDFD_SIGNAL_PROCESS_GROUP);
	if (r == -PSYS_EINVAL || r == -PSYS_ENOSYS)
		r = kill_unreaped(child, -child->pid, signal);
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
