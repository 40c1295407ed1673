/* SPDX-License-Identifier: MIT */
/* These functions run in the helper. helper.h says in which order, and why. */
#include "helper_main.h"

#include <syscall/string.h>
#include <syscall/syscall.h>

#include "../marks.h"
#include "../child/close_range.h"
#include "../spawn/clone.h"
#include "../spawn/deadline.h"
#include "../spawn/descriptor_table.h"
#include "../spawn/pidfd.h"
#include "../spawn/suspending_clone.h"
#include "helper.h"
#include "pidfd_channel.h"
#include "ways.h"

/* Returns true if the helper has a descriptor table of its own with *kept alone, which gets the
 * number 0. If *kept is negative, the table is empty. */
static IN_HELPER bool release_files(bool is_shared, int *kept)
{
	const int first = *kept >= 0;

	if (*kept > 0 && psys_dup3(*kept, 0, PSYS_O_CLOEXEC) < 0)
		return false;
	if (psys_close_range((unsigned)first, ~0U, PSYS_CLOSE_RANGE_UNSHARE) < 0) {
		if (is_shared && psys_unshare(PSYS_CLONE_FILES) < 0)
			return false;
		aspw_close_via_proc(first, INT32_MAX, false);
	}
	*kept = first - 1;
	return true;
}

/* Returns the result of release_files(). Stores in *kept the descriptor for the list of a tree's
 * children, or else a pidfd of the child, or -1. */
static IN_HELPER bool let_go_of_files(const struct control *control, int child, int *kept)
{
	struct stack_state *state = stack_state(&control->stack);
	const bool detached = control->plan.detached;

	/* The clone's pidfd may be in the caller's table: then it is not the helper's. */
	*kept = detached ? state->begun.pidfd : -1;
	if (control->list_fd >= 0) {
		__atomic_store_n(&state->inode, aspw_inode_of(*kept), __ATOMIC_RELEASE);
		*kept = control->list_fd;
		return release_files(false, kept);
	}
	/* Open it afterwards: in the caller's table it would be a descriptor of the caller. */
	const bool has_table = release_files(!detached, kept);
	if (*kept < 0 && has_table && !clones_for_caller(control))
		*kept = psys_pidfd_open(child, 0);
	__atomic_store_n(&state->inode, aspw_inode_of(*kept), __ATOMIC_RELEASE);
	return has_table;
}

/* --- the end of the child ------------------------------------------------------------- */

/* Returns a descriptor that becomes readable when a child ends, or when a tracee of this process
 * stops. SIGCHLD must be blocked. */
static IN_HELPER int open_sigchld(void)
{
	struct psys_sigset set;

	psys_sigemptyset(&set);
	psys_sigaddset(&set, PSYS_SIGCHLD);
	return psys_signalfd4(-1, &set, PSYS_SIGSET_SIZE, PSYS_SFD_NONBLOCK | PSYS_SFD_CLOEXEC);
}

/* Returns the number of a child or tracee that has ended, or 0, or an error. */
static IN_HELPER int next_exit(int options)
{
	struct psys_siginfo info;
	int r;

	for (;;) {
		info.u.child.pid = 0;
		r = psys_waitid(PSYS_P_ALL, 0, &info,
				options | (int)(PSYS_WEXITED | PSYS_WNOWAIT | PSYS___WALL), NULL);
		if (r == -PSYS_EINTR)
			continue;
		if (r < 0 || !info.u.child.pid || is_exit(&info))
			return r < 0 ? r : info.u.child.pid;
		if (aspw_detach_stopped(&info) < 0 && options & PSYS_WNOHANG)
			return 0;
	}
}

/* Returns true if the child has ended. Detaches from tracees. Also reaps other processes, as a
 * thread of the child may be a tracee. */
static IN_HELPER bool child_has_ended(int child, int options)
{
	struct psys_siginfo info;
	int pid;

	while ((pid = next_exit(options)) > 0 && pid != child)
		psys_waitid(PSYS_P_PID, pid, &info, REAP_ANY, NULL);
	return pid == child;
}

static IN_HELPER void see_sigchld(int fd, int child)
{
	struct psys_signalfd_siginfo record;

	while (psys_read(fd, &record, sizeof record) > 0)
		continue;
	child_has_ended(child, PSYS_WNOHANG);
}

/* Waits for the first end, and returns false if the parent's process has ended before the child.
 * Without pidfds returns true at once. Then a child that shall die with the caller dies with the
 * helper, and the helper with the thread that has made it. */
static IN_HELPER bool watch_both(const struct control *control, bool has_table, int pidfd)
{
	enum { CHILD_PIDFD, CALLER_PIDFD, SIGCHLD_FD, WATCHED };
	const bool for_caller = clones_for_caller(control);
	const int child = stack_state(&control->stack)->begun.pid;
	struct psys_timespec second;
	struct psys_pollfd polled[WATCHED] = {
		{ pidfd, PSYS_POLLIN, 0 },
		{ has_table ? psys_pidfd_open(control->caller_pid, 0) : -1, PSYS_POLLIN, 0 },
		{ has_table && !for_caller ? open_sigchld() : -1, PSYS_POLLIN, 0 },
	};
	const bool have_pidfds = polled[CHILD_PIDFD].fd >= 0 && polled[CALLER_PIDFD].fd >= 0;

	if (control->plan.dies_with_caller && !have_pidfds)
		psys_prctl(PSYS_PR_SET_PDEATHSIG, PSYS_SIGKILL, 0, 0, 0);
	int r = current_parent();
	if (r >= 0 && r != control->caller_pid) /* the number may be another process's by now */
		return false;
	if (!have_pidfds && (pidfd < 0 || !for_caller))
		return true;
	do { /* without the caller's pidfd, look at the parent now and then */
		second = (struct psys_timespec){ 1, 0 }; /* ppoll(2) stores what is left */
		r = psys_ppoll(polled, WATCHED, have_pidfds ? NULL : &second, NULL, 0);
		if (r > 0 && polled[SIGCHLD_FD].revents)
			see_sigchld(polled[SIGCHLD_FD].fd, child);
	} while (r == -PSYS_EINTR || (r == 0 && current_parent() == control->caller_pid) ||
		 (r > 0 && !polled[CHILD_PIDFD].revents && !polled[CALLER_PIDFD].revents));
	return r < 0 || polled[CHILD_PIDFD].revents;
}

/* Announces the reaping of the child: afterwards another process may have the number. */
IN_HELPER bool aspw_helper_reap(struct stack_state *state, int child)
{
	struct psys_siginfo info;
	int r;

	__atomic_store_n(&state->ended, REAPED_NEXT, __ATOMIC_SEQ_CST);
	do
		r = psys_waitid(PSYS_P_PID, child, &info, (int)(PSYS_WEXITED | PSYS___WALL),
				&state->usage);
	while (r == -PSYS_EINTR);
	if (r < 0)
		return false;
	state->status = aspw_wait_status(&info);
	return true;
}

/* Without a child the status is 127, as if the child had exited. */
static IN_HELPER int store_no_child(struct stack_state *state, int error)
{
	psys_memset(&state->usage, 0, sizeof state->usage);
	state->status = 127 << 8;
	state->begun.error = error;
	__atomic_store_n(&state->ended, ENDED, __ATOMIC_RELEASE);
	return error;
}

/* Prepares the helper for a private child. */
static IN_HELPER void become_parent(struct control *control)
{
	static const struct psys_sigaction usual = { .handler = PSYS_SIG_DFL };
	struct psys_sigaction old[2]; /* QEMU 7.2 writes more than one on riscv and loongarch */

	if (psys_rt_sigaction(PSYS_SIGCHLD, &usual, old, PSYS_SIGSET_SIZE) >= 0)
		control->ignores_sigchld = old->handler == PSYS_SIG_IGN;
	control->parent = stack_state(&control->stack)->helper_pid;
}

/* If children go to another pid namespace, the helper would be the init, whose end kills all. The
 * parent, outside the namespace, has no number there. */
IN_HELPER int aspw_helper_enter(struct control *control)
{
	block_signals(NULL, true);
	if (current_parent() <= 0)
		return -PSYS_EOPNOTSUPP;
	if (!clones_for_caller(control))
		become_parent(control);
	return 0;
}

IN_HELPER int aspw_helper_clone(struct control *control, int error, int *kept, bool *has_table)
{
	struct stack_state *state = stack_state(&control->stack);
	const int child = error < 0 ? error : (int)aspw_try_ways(control, NULL);

	if (child < 0)
		return store_no_child(state, child);
	if (control->channel[1] >= 0 && control->has_clones_pidfd)
		aspw_channel_send(control->channel[1], state->begun.pidfd);
	__atomic_store_n(&state->helper, HELPING, __ATOMIC_RELEASE);
	psys_futex(&state->helper, PSYS_FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	/* Not earlier: the child inherits the caller's name, and the caller may wait for the
	 * helper. */
	psys_prctl(PSYS_PR_SET_NAME,
		   (uintptr_t)(control->plan.owner == OWNER_TREE ? "aspawn-tree" : "aspawn-helper"),
		   0, 0, 0);
	/* A SIGKILL for the caller's process group, as CI runners send it, must not end the helper,
	 * which ends the tree. The session stays: in another session the child's own groups would
	 * be orphaned. */
	if (!clones_for_caller(control)) {
		state->callers_process_group = psys_getpgid(0);
		psys_setpgid(0, 0);
	}
	if (!*control->new_cgroup || psys_fchdir(control->plan.new_cgroup->parent) < 0)
		psys_chdir("/");
	*has_table = let_go_of_files(control, child, kept);
	return child;
}

/* Otherwise a child that lives on, with a stopped process in its group, would get SIGHUP as soon as
 * no member of the group has a parent in another group (kernel/exit.c, kill_orphaned_pgrp). */
IN_HELPER void aspw_helper_leave(const struct control *control)
{
	psys_setpgid(0, stack_state(&control->stack)->callers_process_group);
}

IN_HELPER int aspw_helper_main(void *block)
{
	struct control *control = block;
	struct stack_state *state = stack_state(&control->stack);
	bool has_table;
	int pidfd;

	const int child = aspw_helper_clone(control, aspw_helper_enter(control), &pidfd, &has_table);
	if (child < 0)
		return 0;
	const bool has_ended = watch_both(control, has_table, pidfd);
	if (!has_ended) {
		if (control->plan.dies_with_caller)
			aspw_send_signal(pidfd, child, PSYS_SIGKILL, false);
		aspw_helper_leave(control);
	} else if (!clones_for_caller(control) && child_has_ended(child, 0) &&
		   aspw_helper_reap(state, child)) {
		__atomic_store_n(&state->ended, ENDED, __ATOMIC_RELEASE);
	}
	return 0;
}
