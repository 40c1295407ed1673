/* SPDX-License-Identifier: MIT */
/* Sends signals to a child. */
#include "kill.h"

#include <syscall/syscall.h>

#include "../../syscall/kernel_file.h"
#include "../marks.h"
#include "../helper/cgroup.h"
#include "../helper/helper.h"
#include "../helper/tree.h"
#include "../spawn/pidfd.h"
#include "handle.h"
#include "wait.h"

static int kill_unreaped(struct aspawn_child *child, int pid, int signal)
{
	int r = aspw_is_unreaped(child);

	return r < 0 ? r : psys_kill(pid, signal);
}

/* Fails with -ENOSYS if the child can be signalled by its number only. */
static int kill_by_pidfd(struct aspawn_child *child, int signal, unsigned flags)
{
	const int fd = aspw_child_pidfd(child);

	return fd == -PSYS_ESRCH ? fd : aspw_signal_by_pidfd(fd, signal, flags);
}

/* Returns the child's number. A child that could not be cloned counts as reaped. */
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

	if (pid < 0)
		return pid;
	/* Another process may have the number of an ended child, but the pidfd still knows the
	 * group. */
	int r = kill_by_pidfd(child, signal, PSYS_PIDFD_SIGNAL_PROCESS_GROUP);
	if (r < 0 && r != -PSYS_ESRCH)
		r = kill_unreaped(child, -pid, signal);
	/* The child may not lead a group yet, or may have left it. */
	return r == -PSYS_ESRCH ? aspawn_kill(child, signal) : r;
}

/* Kills a child that keeps the helper suspended. Waits for its number: usually the exec is
 * first. */
static int kill_suspended(struct aspawn_child *child)
{
	const struct stack_state *made = stack_state(&child_state(child)->stack);

	if (__atomic_load_n(&made->in_cgroup, __ATOMIC_SEQ_CST) == ELSEWHERE)
		return 0;
	const int pid = aspawn_pid(child);
	if (pid > 0)
		aspw_kill_suspended(child);
	return pid == -PSYS_EAGAIN ? pid : 0;
}

IN_SERVER int aspw_order_tree_end(struct aspawn_child *child, int64_t grace_ms)
{
	const struct Stack_t *stack = &child_state(child)->stack;
	const int64_t grace = grace_in_ms(grace_ms);

	if (!aspw_has_stack(child) || aspw_helper_result(stack, NULL, NULL))
		return -PSYS_ESRCH;
	if (!aspw_stack_has(stack, STACK_HELPER)) /* its result may have come since */
		return aspw_helper_result(stack, NULL, NULL) ? -PSYS_ESRCH : -PSYS_EOWNERDEAD;
	__atomic_store_n(&stack_state(stack)->order, grace < INT32_MAX ? (int)grace + 1 : INT32_MAX,
			 __ATOMIC_SEQ_CST);
	aspw_signal_helper(child, PSYS_SIGCONT);
	return 0;
}

int aspawn_kill_tree(struct aspawn_child *child, int64_t grace_ms)
{
	if (!is_child(child) || grace_ms < ASPAWN_GRACE_NONE ||
	    child_state(child)->owner != OWNER_TREE)
		return -PSYS_EINVAL;
	const int r = aspw_order_tree_end(child, grace_ms);
	return r < 0 ? r : kill_suspended(child);
}

int aspawn_oom_kills(int cgroup_fd)
{
	return cgroup_fd < 0 ? -PSYS_EBADF : aspw_cgroup_oom_kills(cgroup_fd);
}

int aspawn_kill_cgroup(int cgroup_fd)
{
	return cgroup_fd < 0 ? -PSYS_EBADF : aspw_write_text(cgroup_fd, "cgroup.kill", "1");
}
