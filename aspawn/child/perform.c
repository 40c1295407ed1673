/* SPDX-License-Identifier: MIT */
/* The child performs the actions of a command in their order. */
#include "perform.h"

#include <syscall/string.h>

#include "../../syscall/kernel_file.h"
#include "../marks.h"
#include "../action/action_info.h"
#include "../spawn/descriptor_table.h"
#include "../spawn/exec_watch.h"
#include "close_range.h"
#include "execute.h"

_Static_assert(sizeof(struct aspawn_failure) <= WATCH_REPORT, "must fit");

/* Returns the lowest reserved descriptor from first up, or INT32_MAX. The library reserves the
 * report pipe, and the descriptors that actions from index on need. */
static IN_CHILD int next_reserved(const struct prepared *prepared, size_t index, int first)
{
	int lowest = prepared->report_fd >= first ? prepared->report_fd : INT32_MAX;

	for (size_t i = 0; i < prepared->fd_count; i++) {
		const struct child_fd *fd = &prepared->fds[i];
		if (fd->last >= index && fd->here >= first && fd->here < lowest)
			lowest = fd->here;
	}
	return lowest;
}

static IN_CHILD bool is_reserved(const struct prepared *prepared, size_t index, int fd)
{
	return fd >= 0 && next_reserved(prepared, index, fd) == fd;
}

/* Moves the library's own descriptor off a number that the command needs. */
static IN_CHILD int relocate_reserved(struct prepared *prepared, size_t index, int fd)
{
	if (!is_reserved(prepared, index, fd))
		return 0;
	int other = (int)psys_fcntl(fd, PSYS_F_DUPFD_CLOEXEC, 3);
	if (other < 0)
		return other;
	if (prepared->report_fd == fd)
		prepared->report_fd = other;
	for (size_t i = 0; i < prepared->fd_count; i++)
		if (prepared->fds[i].last >= index && prepared->fds[i].here == fd)
			prepared->fds[i].here = other;
	return 0;
}

/* Calls dup2(2), but also clears FD_CLOEXEC if both numbers are equal. */
static IN_CHILD int move_fd(int from, int to)
{
	int r = from == to ? (int)psys_fcntl(from, PSYS_F_SETFD, 0) : psys_dup2(from, to);

	return r < 0 ? r : 0;
}

/* Moves a descriptor that was just opened to the number fd. */
static IN_CHILD int place_fd(int opened, int fd, int cloexec)
{
	if (opened < 0 || opened == fd)
		return opened < 0 ? opened : 0;
	int r = psys_dup3(opened, fd, cloexec);
	psys_close(opened);
	return r < 0 ? r : 0;
}

static IN_CHILD int close_from(const struct prepared *prepared, size_t index, int first,
			       bool at_exec)
{
	for (int r, last;; first = last + 2) {
		last = next_reserved(prepared, index, first) - 1;
		if (last >= first) {
			r = psys_close_range((unsigned)first, (unsigned)last,
					     at_exec ? PSYS_CLOSE_RANGE_CLOEXEC : 0);
			if (r < 0)
				r = aspw_close_via_proc(first, last, at_exec);
			if (r < 0)
				return r;
		}
		if (last == INT32_MAX - 1)
			return 0;
	}
}

static IN_CHILD int open_at(const struct aspawn_action *action)
{
	const int fd = action->u.openat.fd, flags = action->u.openat.flags;

	return place_fd(psys_openat(action->u.openat.dirfd, action->u.openat.path, flags,
				    action->u.openat.mode),
			fd, flags & PSYS_O_CLOEXEC);
}

static IN_CHILD int open_at2(const struct aspawn_action *action)
{
	const int fd = action->u.openat2.fd, flags = action->u.openat2.flags;
	const struct psys_open_how how = { (unsigned)flags, action->u.openat2.mode,
					   action->u.openat2.resolve };

	return place_fd(
		psys_openat2(action->u.openat2.dirfd, action->u.openat2.path, &how, sizeof how), fd,
		flags & PSYS_O_CLOEXEC);
}

static IN_CHILD int set_disposition(int signal, bool ignored)
{
	static const struct psys_sigaction actions[] = { { .handler = PSYS_SIG_DFL },
							 { .handler = PSYS_SIG_IGN } };

	return psys_rt_sigaction(signal, &actions[ignored], NULL, PSYS_SIGSET_SIZE);
}

/* A set of NULL means all signals. */
static IN_CHILD int set_dispositions(const struct psys_sigset *set, bool ignored)
{
	for (int signal = 1; signal <= PSYS_NSIG; signal++) {
		if ((set && !psys_sigismember(set, signal)) || signal == PSYS_SIGKILL ||
		    signal == PSYS_SIGSTOP)
			continue;
		int r = set_disposition(signal, ignored);
		if (r < 0)
			return r;
	}
	return 0;
}

static IN_CHILD int join_new_cgroup(const struct control *control, int parent)
{
	char path[CGROUP_NAME + 16];

	if (!*control->new_cgroup)
		return -PSYS_EINVAL;
	const size_t length = psys_strlcpy(path, control->new_cgroup, sizeof path);
	psys_strlcpy(path + length, "/cgroup.procs", sizeof path - length);
	return aspw_write_text(parent, path, "0");
}

/* Empties the mask, and resets the signals that servers ignore for themselves: otherwise SIGTERM
 * might not end the program, nor SIGPIPE a pipeline. If a seccomp filter refuses the reset, the
 * program starts all the same. */
static IN_CHILD void reset_signals(struct control *control, const struct prepared *prepared)
{
	static const unsigned char usual[] = { PSYS_SIGPIPE, PSYS_SIGXFSZ, PSYS_SIGCHLD,
					       PSYS_SIGTERM, PSYS_SIGALRM, PSYS_SIGUSR1,
					       PSYS_SIGUSR2 };

	const bool inherits = prepared->flags & ASPAWN_COMMAND_INHERIT_SIGNALS;

	if (!inherits)
		psys_sigemptyset(&control->old_mask.set);
	for (size_t i = 0; i < sizeof usual && !inherits; i++)
		set_disposition(usual[i], false);
	if (!prepared->stop_signal)
		return;
	psys_sigdelset(&control->old_mask.set, prepared->stop_signal);
	set_disposition(prepared->stop_signal, false);
}

/* Returns how many actions before index have added an ambient capability that is still set. */
static IN_CHILD size_t added_capabilities(const struct prepared *prepared, size_t index)
{
	size_t found = 0;

	for (const struct aspawn_action *action = prepared->actions;
	     action < &prepared->actions[index]; action++) {
		const int capability = action->u.cap_ambient.capability;
		if (action->kind == ASPAWN_ACTION_CAP_AMBIENT &&
		    psys_prctl(PSYS_PR_CAP_AMBIENT, PSYS_PR_CAP_AMBIENT_IS_SET,
			       (unsigned long)capability, 0, 0) == 1)
			found++;
	}
	return found;
}

static IN_CHILD int set_user(const struct aspawn_action *action)
{
	if (action->kind == ASPAWN_ACTION_RESUID)
		return psys_setresuid(action->u.resuid.real, action->u.resuid.effective,
				      action->u.resuid.saved);
	const unsigned uid = action->u.user.uid, gid = action->u.user.gid;
	int r = psys_setgroups(action->u.user.count, action->u.user.groups);

	if (r >= 0)
		r = psys_setresgid(gid, gid, gid);
	if (r >= 0)
		r = psys_setresuid(uid, uid, uid);
	return r;
}

/* Changes the user. Fails if the change drops a capability that an ASPAWN_CAP_AMBIENT has added:
 * the program would lack the capability, and nobody would see an error. */
static IN_CHILD int become_user(const struct prepared *prepared, size_t index)
{
	const size_t added = added_capabilities(prepared, index);
	const int r = set_user(&prepared->actions[index]);

	return r >= 0 && added_capabilities(prepared, index) != added ? -PSYS_EPERM : r;
}

/* Adds a capability to the inheritable set. ASPAWN_CAP_ALL empties this set and the ambient set. */
static IN_CHILD int change_inheritable(int capability)
{
	struct psys_cap_user_header header = { PSYS_LINUX_CAPABILITY_VERSION_3, 0 };
	struct psys_cap_user_data data[2];

	int r = psys_capget(&header, data);
	if (r < 0)
		return r;
	if (capability == ASPAWN_CAP_ALL)
		data[0].inheritable = data[1].inheritable = 0;
	else
		data[capability / 32].inheritable |= 1U << capability % 32;
	return psys_capset(&header, data);
}

static IN_CHILD int raise_ambient(int capability)
{
	int r = capability < 0 || capability > 63 ? -PSYS_EINVAL : change_inheritable(capability);

	return r < 0 ? r :
		       psys_prctl(PSYS_PR_CAP_AMBIENT, PSYS_PR_CAP_AMBIENT_RAISE,
				  (unsigned long)capability, 0, 0);
}

/* ASPAWN_CAP_ALL drops all, up to the first number that the kernel does not know. */
static IN_CHILD int drop_capability(int capability)
{
	const bool all = capability == ASPAWN_CAP_ALL;
	int r, number = all ? 0 : capability;

	do
		r = psys_prctl(PSYS_PR_CAPBSET_DROP, (unsigned long)number++, 0, 0, 0);
	while (all && r >= 0 && number < 64);
	return all && r == -PSYS_EINVAL && number > 1 ? change_inheritable(ASPAWN_CAP_ALL) : r;
}

static __attribute__((noinline)) IN_CHILD int die_with_parent(int signal, int parent)
{
	int r = psys_prctl(PSYS_PR_SET_PDEATHSIG, (unsigned long)signal, 0, 0, 0);
	int now = current_parent(); /* 0 if the parent is in another pid namespace */

	return r < 0 || now == parent || now == 0 ? r : -PSYS_ESRCH;
}

/* Returns false only if the file is not in a proc filesystem. fstatfs(2) may wait for another
 * machine, and comes last. */
static IN_CHILD bool may_be_of_proc(int fd)
{
	enum { PROC_SUPER_MAGIC = 0x9fa0 };
	struct psys_stat status;
	struct psys_statfs system;

	if (psys_fstat(fd, &status) >= 0 && ((status.st_mode & PSYS_S_IFMT) != PSYS_S_IFREG ||
					     status.st_size || PSYS_MAJOR(status.st_dev)))
		return false;
	return psys_fstatfs(fd, &system) < 0 || system.f_type == PROC_SUPER_MAGIC;
}

static IN_CHILD int write_file(const struct control *control, const struct aspawn_action *action)
{
	const int fd = psys_open(action->u.write.path, PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0);

	if (fd < 0 || !action->flags || control->memory >= MEMORY_COPIED || !may_be_of_proc(fd))
		return aspw_write_and_close(fd, action->u.write.text);
	psys_close(fd);
	return -PSYS_EXDEV; /* aspawn_failure_text() explains the error */
}

static IN_CHILD int make_syscall(const struct aspawn_action *action)
{
	const unsigned long *words = action->u.syscall.words;
	const int expected = action->u.syscall.expected;
	const psys_word r = PSYS_RAW6(action->u.syscall.number, words[0], words[1], words[2],
				      words[3], words[4], words[5]);

	if (r == expected || expected == ASPAWN_EXPECTED_ANY)
		return 0;
	if (PSYS_IS_ERROR(r))
		return (int)r;
	return expected == ASPAWN_EXPECTED_SUCCESS ? 0 : -PSYS_EIO;
}

/* Returns the action's pipe, or the caller's descriptor that the action uses, if the descriptor has
 * another number here. used is the caller's number. */
static IN_CHILD const struct child_fd *find_fd(const struct prepared *prepared, size_t index,
					       int used)
{
	for (size_t i = 0; i < prepared->fd_count; i++) {
		const struct child_fd *fd = &prepared->fds[i];
		if (fd->action <= index && index <= fd->last && fd->here >= 0 &&
		    (fd->kind != CALLERS_FD || fd->callers == used))
			return fd;
	}
	return NULL;
}

/* For a pipe's action, here is the number of the child's end. */
static IN_CHILD int perform_one(struct control *control, struct prepared *prepared, size_t index,
				int here)
{
	const struct aspawn_action *action = &prepared->actions[index];

	switch ((enum aspawn_action_kind)action->kind) {
	case ASPAWN_ACTION_DUP2:
		return move_fd(action->u.dup2.from, action->u.dup2.to);
	case ASPAWN_ACTION_OPENAT:
		return open_at(action);
	case ASPAWN_ACTION_OPENAT2:
		return open_at2(action);
	case ASPAWN_ACTION_OUTPUT_PIPE:
	case ASPAWN_ACTION_INPUT_PIPE:
		return move_fd(here, replaced_by(action));
	case ASPAWN_ACTION_CLOSE: /* close(2) closes the descriptor even if it fails */
		psys_close(action->u.close.fd);
		return 0;
	case ASPAWN_ACTION_CLOSEFROM:
		return close_from(prepared, index, action->u.closefrom.first, false);
	case ASPAWN_ACTION_ONLY_BELOW:
		return close_from(prepared, index, action->u.only_below.first, false);
	case ASPAWN_ACTION_CLOEXEC_FROM:
		return close_from(prepared, index, action->u.cloexec_from.first, true);
	case ASPAWN_ACTION_SETENV: /* the parent does this in aspw_make_environment() */
	case ASPAWN_ACTION_UNSETENV:
	case ASPAWN_ACTION_CLEARENV:
		return 0;
	case ASPAWN_ACTION_CHDIR:
		return psys_chdir(action->u.chdir.path);
	case ASPAWN_ACTION_FCHDIR:
		return psys_fchdir(action->u.fchdir.fd);
	case ASPAWN_ACTION_UMASK:
		return psys_umask(action->u.umask.mask);
	case ASPAWN_ACTION_SETSID:
		return psys_setsid();
	case ASPAWN_ACTION_SETPGID:
		return psys_setpgid(0, action->u.setpgid.pgid);
	case ASPAWN_ACTION_CONTROLLING_TERMINAL:
		return (int)psys_ioctl(action->u.controlling_terminal.fd, PSYS_TIOCSCTTY, 0);
	case ASPAWN_ACTION_FOREGROUND: {
		int group = psys_getpgid(0);
		return (int)psys_ioctl(action->u.foreground.fd, PSYS_TIOCSPGRP, (uintptr_t)&group);
	}
	case ASPAWN_ACTION_RESET_SIGNALS:
		psys_sigemptyset(&control->old_mask.set);
		return set_dispositions(NULL, false);
	case ASPAWN_ACTION_SIGMASK:
		psys_memcpy(&control->old_mask.set, action->u.sigmask.set, PSYS_SIGSET_SIZE);
		return 0;
	case ASPAWN_ACTION_SIGNALS_DEFAULT:
		return set_dispositions(action->u.signals_default.set, false);
	case ASPAWN_ACTION_SIGNALS_IGNORE:
		return set_dispositions(action->u.signals_ignore.set, true);
	case ASPAWN_ACTION_SIGNAL_DEFAULT:
		return set_disposition(action->u.signal_default.signal, false);
	case ASPAWN_ACTION_SIGNAL_IGNORE:
		return set_disposition(action->u.signal_ignore.signal, true);
	case ASPAWN_ACTION_PDEATHSIG:
		return die_with_parent(action->u.pdeathsig.signal,
				       control->parent ? control->parent : prepared->parent);
	case ASPAWN_ACTION_RLIMIT: {
		const struct psys_rlimit64 limit = { action->u.rlimit.soft, action->u.rlimit.hard };
		return psys_prlimit64(0, action->u.rlimit.resource, &limit, NULL);
	}
	case ASPAWN_ACTION_NICE:
		return psys_setpriority(PSYS_PRIO_PROCESS, 0, action->u.nice.value);
	case ASPAWN_ACTION_SCHEDULER: {
		const struct psys_sched_param param = { action->u.scheduler.priority };
		return psys_sched_setscheduler(0, action->u.scheduler.policy, &param);
	}
	case ASPAWN_ACTION_AFFINITY:
		return psys_sched_setaffinity(0, action->u.affinity.size, action->u.affinity.mask);
	case ASPAWN_ACTION_IOPRIO:
		return psys_ioprio_set(PSYS_IOPRIO_WHO_PROCESS, 0, action->u.ioprio.value);
	case ASPAWN_ACTION_OOM_SCORE_ADJ: {
		char number[PSYS_DECIMAL_SIZE];
		psys_i64_to_decimal(number, action->u.oom_score_adj.value);
		return aspw_write_text(PSYS_AT_FDCWD, "/proc/self/oom_score_adj", number);
	}
	case ASPAWN_ACTION_PERSONALITY:
		return psys_personality(action->u.personality.persona);
	case ASPAWN_ACTION_JOIN_CGROUP:
		return action == prepared->joined && control->flags & PSYS_CLONE_INTO_CGROUP ?
			       0 :
			       aspw_write_text(action->u.join_cgroup.fd, "cgroup.procs", "0");
	case ASPAWN_ACTION_NEW_CGROUP:
		return control->flags & PSYS_CLONE_INTO_CGROUP ?
			       0 :
			       join_new_cgroup(control, action->u.new_cgroup.parent_fd);
	case ASPAWN_ACTION_USER:
	case ASPAWN_ACTION_RESUID:
		return become_user(prepared, index);
	case ASPAWN_ACTION_RESGID:
		return psys_setresgid(action->u.resgid.real, action->u.resgid.effective,
				      action->u.resgid.saved);
	case ASPAWN_ACTION_GROUPS:
		return psys_setgroups(action->u.groups.count, action->u.groups.groups);
	case ASPAWN_ACTION_CAP_DROP:
		return drop_capability(action->u.cap_drop.capability);
	case ASPAWN_ACTION_CAP_AMBIENT:
		return raise_ambient(action->u.cap_ambient.capability);
	case ASPAWN_ACTION_SECUREBITS:
		return psys_prctl(PSYS_PR_SET_SECUREBITS, action->u.securebits.bits, 0, 0, 0);
	case ASPAWN_ACTION_NO_NEW_PRIVS:
		return psys_prctl(PSYS_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	case ASPAWN_ACTION_SECCOMP: {
		struct psys_sock_fprog program = {
			(unsigned short)action->u.seccomp.count,
			(struct psys_sock_filter *)(uintptr_t)action->u.seccomp.filter
		};
		return psys_seccomp(PSYS_SECCOMP_SET_MODE_FILTER, 0, &program);
	}
	case ASPAWN_ACTION_LANDLOCK:
		return psys_landlock_restrict_self(action->u.landlock.ruleset_fd,
						   action->u.landlock.flags);
	case ASPAWN_ACTION_CHROOT:
		return psys_chroot(action->u.chroot.path);
	case ASPAWN_ACTION_PIVOT_ROOT:
		return psys_pivot_root(action->u.pivot_root.new_root, action->u.pivot_root.put_old);
	case ASPAWN_ACTION_UNSHARE:
		return psys_unshare((unsigned long)action->u.unshare.flags);
	case ASPAWN_ACTION_SETNS:
		return psys_setns(action->u.setns.fd, action->u.setns.type);
	case ASPAWN_ACTION_MOUNT:
		return psys_mount(action->u.mount.source, action->u.mount.target,
				  action->u.mount.type, (unsigned long)action->u.mount.flags,
				  action->u.mount.options);
	case ASPAWN_ACTION_HOSTNAME:
		return psys_sethostname(action->u.hostname.name,
					psys_strlen(action->u.hostname.name));
	case ASPAWN_ACTION_WRITE:
		return write_file(control, action);
	case ASPAWN_ACTION_CALL:
		return action->u.call.function(action->u.call.arg);
	case ASPAWN_ACTION_SYSCALL:
		return make_syscall(action);
	}
	return -PSYS_EINVAL;
}

/* --- reporting ---------------------------------------------------------------- */

static IN_CHILD void fail_action(struct prepared *prepared, size_t index, int error)
{
	const struct aspawn_action *action = &prepared->actions[index];
	const struct action_info *info = &aspw_action_infos[action->kind];
	const size_t string = info->strings[0];
	char number[PSYS_DECIMAL_SIZE];

	if (string)
		aspw_exit_failed(prepared, error, member_pointer(action, string));
	psys_i64_to_decimal(number, info->subject ? member_int(action, info->subject) : 0);
	aspw_exit_failed(prepared, error, info->subject ? number : NULL);
}

/* --- all of it ------------------------------------------------------------------ */

/* Performs the action with the local number of its descriptor. An action of the caller cannot name
 * a descriptor of the library. The library's descriptor is relocated when an action takes the
 * number, and closed when no later action uses the descriptor. */
static IN_CHILD int perform_action(struct control *control, struct prepared *prepared, size_t index)
{
	struct aspawn_action *action = &prepared->actions[index];
	const size_t uses = aspw_used_by(action);
	const int callers = uses ? member_int(action, uses) : -1, replaced = replaced_by(action);
	const struct child_fd *fd = find_fd(prepared, index, callers);
	const int here = fd ? fd->here : -1;

	if (here < 0 && is_reserved(prepared, index, callers))
		return -PSYS_EBADF;
	int r = relocate_reserved(prepared, index + 1, replaced);
	if (r < 0)
		return r;
	/* The number was not open: now the relocated descriptor has it. */
	if (here < 0 && is_reserved(prepared, index, callers))
		return -PSYS_EBADF;
	if (uses && here >= 0)
		set_member_int(action, uses, here);
	r = perform_one(control, prepared, index, here);
	if (uses)
		set_member_int(action, uses, callers); /* for the report */
	if (here >= 0 && fd->last == index && here != replaced)
		psys_close(here);
	return r;
}

IN_CHILD int aspw_perform_actions(void *arg, int write_end, void *mask, void *user_data,
				  size_t length)
{
	struct control *control = arg;
	struct prepared *prepared = user_data;
	struct candidate candidate;

	(void)length;
	prepared->report_fd = write_end;
	prepared->report = control->watch ? (void *)control->watch->report : &prepared->in_memory;
	prepared->report->step = ASPAWN_STEP_DESCRIPTORS;
	if (control->files_error)
		aspw_exit_failed(prepared, control->files_error, NULL);
	aspw_begin_search(&candidate, prepared);
	/* The image's exec clears the signal if it gives capabilities, and a helper may have
	 * ended. */
	if (control->plan.dies_with_caller &&
	    die_with_parent(PSYS_SIGKILL, control->parent) == -PSYS_ESRCH)
		aspw_exit_failed(prepared, -PSYS_ESRCH, NULL);
	reset_signals(control, prepared);
	for (size_t i = 0; i < prepared->count; i++) {
		const int step = (int)i - prepared->library_count;

		prepared->report->step = step >= 0 ? step : ASPAWN_STEP_STREAMS;
		prepared->report->kind = step >= 0 ? prepared->actions[i].kind : 0;
		int r = perform_action(control, prepared, i);
		/* The action may have cleared PR_SET_PDEATHSIG of the clone. A signal may end the
		 * helper with the caller. */
		if (r >= 0 && control->plan.dies_with_caller &&
		    aspw_changes_credentials(&prepared->actions[i]))
			r = die_with_parent(PSYS_SIGKILL, control->parent);
		if (r < 0)
			fail_action(prepared, i, r);
	}
	prepared->report->step = ASPAWN_STEP_EXEC;
	prepared->report->kind = 0;
	aspw_write_report(prepared); /* all actions succeeded */
	int r = psys_rt_sigprocmask(PSYS_SIG_SETMASK, mask, NULL, PSYS_SIGSET_SIZE);
	if (r < 0)
		aspw_exit_failed(prepared, r, NULL);
	aspw_execute_program(prepared, &candidate);
}
