/* What the child does with a command: its actions in their order. */
#include <syscall/string.h>

#include "prepared.h"

/* The lowest descriptor from first up that is reserved for the library: the pipe to the
 * parent, and those of pipe actions from index on. */
static PSYS_UNINSTRUMENTED int next_reserved(const struct prepared *prepared, size_t index, int first)
{
	int lowest = prepared->report_fd >= first ? prepared->report_fd : INT32_MAX;

	for (size_t i = 0; i < prepared->pipe_count; i++) {
		const struct command_pipe *pipe = &prepared->pipes[i];
		if (pipe->action >= index && pipe->moved_end >= first && pipe->moved_end < lowest)
			lowest = pipe->moved_end;
	}
	return lowest;
}

static PSYS_UNINSTRUMENTED bool is_reserved(const struct prepared *prepared, size_t index, int fd)
{
	return fd >= 0 && next_reserved(prepared, index, fd) == fd;
}

/* Moves the library's own descriptor off this number: the command needs it. */
static PSYS_UNINSTRUMENTED int relocate(struct prepared *prepared, size_t index, int fd)
{
	if (!is_reserved(prepared, index, fd))
		return 0;
	int other = (int)psys_fcntl(fd, PSYS_F_DUPFD_CLOEXEC, 3);
	if (other < 0)
		return other;
	if (prepared->report_fd == fd)
		prepared->report_fd = other;
	for (size_t i = 0; i < prepared->pipe_count; i++)
		if (prepared->pipes[i].action >= index && prepared->pipes[i].moved_end == fd)
			prepared->pipes[i].moved_end = other;
	return 0;
}

/* dup2 that keeps the descriptor across exec also if it has the number already. */
static PSYS_UNINSTRUMENTED int move(int from, int to)
{
	int r = from == to ? (int)psys_fcntl(from, PSYS_F_SETFD, 0) : psys_dup2(from, to);

	return r < 0 ? r : 0;
}

/* A descriptor just opened is to be fd. */
static PSYS_UNINSTRUMENTED int place(int opened, int fd, int cloexec)
{
	if (opened < 0 || opened == fd)
		return opened < 0 ? opened : 0;
	int r = psys_dup3(opened, fd, cloexec);
	psys_close(opened);
	return r < 0 ? r : 0;
}

static PSYS_UNINSTRUMENTED void close_one(int fd, bool at_exec)
{
	if (at_exec)
		psys_fcntl(fd, PSYS_F_SETFD, PSYS_FD_CLOEXEC);
	else
		psys_close(fd);
}

/* A number of a name in /proc/self/fd, or -1. */
static PSYS_UNINSTRUMENTED int parse_fd(const char *name)
{
	int fd = 0;

	for (; *name; name++) {
		if (*name < '0' || *name > '9')
			return -1;
		fd = fd * 10 + (*name - '0');
	}
	return fd;
}

/* Before Linux 5.9 (5.11): those that are open by /proc, or else all numbers. */
static PSYS_UNINSTRUMENTED int close_via_proc(int first, int last, bool at_exec)
{
	char records[1024] __attribute__((aligned(8)));
	long length;
	int fds = psys_open("/proc/self/fd", PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);

	if (fds < 0) {
		struct psys_rlimit64 limit;
		int r = psys_prlimit64(0, PSYS_RLIMIT_NOFILE, NULL, &limit);
		if (r < 0)
			return r;
		for (int fd = first; fd <= last && (uint64_t)fd < limit.rlim_cur; fd++)
			close_one(fd, at_exec);
		return 0;
	}
	while ((length = psys_getdents64(fds, records, sizeof records)) > 0)
		for (long at = 0; at < length;) {
			const struct psys_dirent64 *entry = (const void *)(records + at);
			int fd = parse_fd(entry->d_name);
			if (fd >= first && fd <= last && fd != fds)
				close_one(fd, at_exec);
			at += entry->d_reclen;
		}
	psys_close(fds);
	return (int)length;
}

static PSYS_UNINSTRUMENTED int close_from(const struct prepared *prepared, size_t index, int first,
					  bool at_exec)
{
	for (int r, last;; first = last + 2) {
		last = next_reserved(prepared, index, first) - 1;
		if (last >= first) {
			r = psys_close_range((unsigned)first, (unsigned)last,
					     at_exec ? PSYS_CLOSE_RANGE_CLOEXEC : 0);
			if (r < 0)
				r = close_via_proc(first, last, at_exec);
			if (r < 0)
				return r;
		}
		if (last == INT32_MAX - 1)
			return 0;
	}
}

static PSYS_UNINSTRUMENTED int open_at(const struct aspawn_action *action)
{
	int dirfd = action->b, flags = action->c;

	if (action->kind == ASPAWN_ACTION_OPEN)
		return place(psys_openat(dirfd, action->data, flags, (unsigned)action->u), action->a,
			     flags & PSYS_O_CLOEXEC);
	const struct psys_open_how how = { (unsigned)flags, action->u, action->v };
	return place(psys_openat2(dirfd, action->data, &how, sizeof how), action->a,
		     flags & PSYS_O_CLOEXEC);
}

static PSYS_UNINSTRUMENTED int set_dispositions(const struct psys_sigset *set, bool ignored)
{
	const struct psys_sigaction action = { .handler = ignored ? PSYS_SIG_IGN : PSYS_SIG_DFL };

	for (int signal = 1; signal <= PSYS_NSIG; signal++) {
		if (!psys_sigismember(set, signal) || signal == PSYS_SIGKILL || signal == PSYS_SIGSTOP)
			continue;
		int r = psys_rt_sigaction(signal, &action, NULL, PSYS_SIGSET_SIZE);
		if (r < 0)
			return r;
	}
	return 0;
}

static PSYS_UNINSTRUMENTED int become_user(const struct aspawn_action *action)
{
	unsigned uid = (unsigned)action->a, gid = (unsigned)action->b;
	int r = psys_setgroups((size_t)action->u, action->data);

	if (r >= 0)
		r = psys_setresgid(gid, gid, gid);
	if (r >= 0)
		r = psys_setresuid(uid, uid, uid);
	return r;
}

static PSYS_UNINSTRUMENTED int raise_ambient(int capability)
{
	struct psys_cap_user_header header = { PSYS_LINUX_CAPABILITY_VERSION_3, 0 };
	struct psys_cap_user_data data[2];

	if (capability < 0 || capability > 63)
		return -PSYS_EINVAL;
	int r = psys_capget(&header, data);
	if (r < 0)
		return r;
	data[capability / 32].inheritable |= 1U << capability % 32;
	r = psys_capset(&header, data);
	return r < 0 ? r : psys_prctl(PSYS_PR_CAP_AMBIENT, PSYS_PR_CAP_AMBIENT_RAISE,
				      (unsigned long)capability, 0, 0);
}

static PSYS_UNINSTRUMENTED int write_text(int dirfd, const char *path, const char *text)
{
	int fd = psys_openat(dirfd, path, PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0);

	if (fd < 0)
		return fd;
	size_t length = psys_strlen(text);
	long written = psys_write(fd, text, length);
	psys_close(fd);
	return written < 0 ? (int)written : (size_t)written < length ? -PSYS_EIO : 0;
}

static PSYS_UNINSTRUMENTED int die_with_parent(int signal, int parent)
{
	int r = psys_prctl(PSYS_PR_SET_PDEATHSIG, (unsigned long)signal, 0, 0, 0);
	int now = psys_getppid(); /* 0: in another pid namespace */

	return r < 0 || now == parent || now == 0 ? r : -PSYS_ESRCH;
}

/* The child's end of the action's pipe. */
static PSYS_UNINSTRUMENTED int childs_end(const struct prepared *prepared, size_t index)
{
	const struct command_pipe *pipe = prepared->pipes;

	while (pipe->action != index)
		pipe++;
	return pipe->moved_end;
}

static PSYS_UNINSTRUMENTED int perform_one(struct control *control, struct prepared *prepared, size_t index)
{
	const struct aspawn_action *action = &prepared->actions[index];
	const int a = action->a, b = action->b;
	const char *text = action->data;

	switch (action->kind) {
	case ASPAWN_ACTION_DUP2:
		return move(a, b);
	case ASPAWN_ACTION_OPEN:
	case ASPAWN_ACTION_OPENAT2:
		return open_at(action);
	case ASPAWN_ACTION_PIPE:
		return move(childs_end(prepared, index), a);
	case ASPAWN_ACTION_CLOSE: /* it is closed whatever close(2) says */
		psys_close(a);
		return 0;
	case ASPAWN_ACTION_CLOSEFROM:
	case ASPAWN_ACTION_CLOEXEC_FROM:
		return close_from(prepared, index, a, action->kind == ASPAWN_ACTION_CLOEXEC_FROM);
	case ASPAWN_ACTION_CHDIR:
		return psys_chdir(text);
	case ASPAWN_ACTION_FCHDIR:
		return psys_fchdir(a);
	case ASPAWN_ACTION_CHROOT:
		return psys_chroot(text);
	case ASPAWN_ACTION_PIVOT_ROOT:
		return psys_pivot_root(text, action->text[0]);
	case ASPAWN_ACTION_SETSID:
		return psys_setsid();
	case ASPAWN_ACTION_SETPGID:
		return psys_setpgid(0, a);
	case ASPAWN_ACTION_CONTROLLING_TERMINAL:
		return (int)psys_ioctl(a, PSYS_TIOCSCTTY, 0);
	case ASPAWN_ACTION_FOREGROUND: {
		int group = psys_getpgid(0);
		return (int)psys_ioctl(a, PSYS_TIOCSPGRP, (uintptr_t)&group);
	}
	case ASPAWN_ACTION_SIGMASK:
		psys_memcpy(&control->old_mask.set, action->data, PSYS_SIGSET_SIZE);
		return 0;
	case ASPAWN_ACTION_SIGNALS_DEFAULT:
	case ASPAWN_ACTION_SIGNALS_IGNORE:
		return set_dispositions(action->data, action->kind == ASPAWN_ACTION_SIGNALS_IGNORE);
	case ASPAWN_ACTION_UMASK:
		return psys_umask((unsigned)a);
	case ASPAWN_ACTION_RLIMIT: {
		const struct psys_rlimit64 limit = { action->u, action->v };
		return psys_prlimit64(0, a, &limit, NULL);
	}
	case ASPAWN_ACTION_NICE:
		return psys_setpriority(PSYS_PRIO_PROCESS, 0, a);
	case ASPAWN_ACTION_SCHEDULER: {
		const struct psys_sched_param param = { b };
		return psys_sched_setscheduler(0, a, &param);
	}
	case ASPAWN_ACTION_AFFINITY:
		return psys_sched_setaffinity(0, action->size, action->data);
	case ASPAWN_ACTION_IOPRIO:
		return psys_ioprio_set(PSYS_IOPRIO_WHO_PROCESS, 0, a);
	case ASPAWN_ACTION_RESUID:
		return psys_setresuid((unsigned)a, (unsigned)b, (unsigned)action->c);
	case ASPAWN_ACTION_RESGID:
		return psys_setresgid((unsigned)a, (unsigned)b, (unsigned)action->c);
	case ASPAWN_ACTION_GROUPS:
		return psys_setgroups((size_t)action->u, action->data);
	case ASPAWN_ACTION_USER:
		return become_user(action);
	case ASPAWN_ACTION_CAP_DROP:
		return psys_prctl(PSYS_PR_CAPBSET_DROP, (unsigned long)a, 0, 0, 0);
	case ASPAWN_ACTION_CAP_AMBIENT:
		return raise_ambient(a);
	case ASPAWN_ACTION_SECUREBITS:
		return psys_prctl(PSYS_PR_SET_SECUREBITS, (unsigned long)action->u, 0, 0, 0);
	case ASPAWN_ACTION_NO_NEW_PRIVS:
		return psys_prctl(PSYS_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	case ASPAWN_ACTION_SECCOMP: {
		struct psys_sock_fprog program = { (unsigned short)action->u,
						   (struct psys_sock_filter *)(uintptr_t)action->data };
		return psys_seccomp(PSYS_SECCOMP_SET_MODE_FILTER, 0, &program);
	}
	case ASPAWN_ACTION_LANDLOCK:
		return psys_landlock_restrict_self(a, 0);
	case ASPAWN_ACTION_PDEATHSIG:
		return die_with_parent(a, prepared->parent);
	case ASPAWN_ACTION_UNSHARE:
		return psys_unshare((unsigned long)action->u);
	case ASPAWN_ACTION_SETNS:
		return psys_setns(a, b);
	case ASPAWN_ACTION_MOUNT:
		return psys_mount(action->text[0], text, action->text[1], (unsigned long)action->u,
				  action->text[2]);
	case ASPAWN_ACTION_HOSTNAME:
		return psys_sethostname(text, psys_strlen(text));
	case ASPAWN_ACTION_JOIN_CGROUP:
		return action == prepared->joined && control->began_in_cgroup ? 0 : write_text(a, "cgroup.procs", "0");
	case ASPAWN_ACTION_OOM_SCORE_ADJ: {
		char number[PSYS_DECIMAL_SIZE];
		psys_i64_to_decimal(number, a);
		return write_text(PSYS_AT_FDCWD, "/proc/self/oom_score_adj", number);
	}
	case ASPAWN_ACTION_WRITE:
		return write_text(PSYS_AT_FDCWD, text, action->text[0]);
	case ASPAWN_ACTION_PERSONALITY:
		return psys_personality((unsigned long)action->u);
	case ASPAWN_ACTION_CALL:
		return action->call(action->pointer);
	default:
		return -PSYS_EINVAL;
	}
}

PSYS_UNINSTRUMENTED int aspawn_replaced(const struct aspawn_action *action)
{
	switch (action->kind) {
	case ASPAWN_ACTION_DUP2:
		return action->b;
	case ASPAWN_ACTION_OPEN:
	case ASPAWN_ACTION_OPENAT2:
	case ASPAWN_ACTION_PIPE:
	case ASPAWN_ACTION_CLOSE:
		return action->a;
	default:
		return -1;
	}
}

/* The parent's end of a pipe action yet to come is not the command's, unless the command
 * has given its number to something of its own. */
static PSYS_UNINSTRUMENTED bool is_parents_end(const struct prepared *prepared, size_t index, int fd)
{
	for (size_t i = 0; i < prepared->pipe_count; i++) {
		if (prepared->pipes[i].action < index || prepared->pipes[i].parents_end != fd)
			continue;
		for (size_t j = 0; j < index; j++)
			if (aspawn_replaced(&prepared->actions[j]) == fd)
				return false;
		return true;
	}
	return false;
}

/* True if the action uses a number of the library's own pipes: the caller cannot mean them. */
static PSYS_UNINSTRUMENTED bool uses_reserved(const struct prepared *prepared, size_t index)
{
	const struct aspawn_action *action = &prepared->actions[index];
	unsigned has = aspawn_action_info(action->kind)->has;

	return ((has & USES_A) && (is_reserved(prepared, index, action->a) ||
				   is_parents_end(prepared, index, action->a))) ||
	       ((has & USES_B) && (is_reserved(prepared, index, action->b) ||
				   is_parents_end(prepared, index, action->b)));
}

PSYS_UNINSTRUMENTED void aspawn_fail(struct prepared *prepared, int step, int error)
{
	const struct aspawn_failure failure = { step, error };

	prepared->step = step;
	__atomic_store_n(&prepared->error, error, __ATOMIC_RELEASE);
	/* One attempt: nobody may be there to read it, and SIGPIPE is no longer blocked when
	 * the exec has failed. */
	if (prepared->report_fd >= 0) {
		struct psys_sigset pipe;

		psys_sigemptyset(&pipe);
		psys_sigaddset(&pipe, PSYS_SIGPIPE);
		psys_rt_sigprocmask(PSYS_SIG_BLOCK, &pipe, NULL, PSYS_SIGSET_SIZE);
		psys_write(prepared->report_fd, &failure, sizeof failure);
	}
	psys_exit_group(127);
}

/* Report that all actions succeeded. If the parent is gone, the write raises SIGPIPE:
 * consume it while it is still blocked. */
static PSYS_UNINSTRUMENTED void report_success(int report_fd)
{
	const struct aspawn_failure none = { ASPAWN_STEP_EXEC, 0 };
	const struct psys_timespec at_once = { 0, 0 };
	struct psys_sigset pipe;

	if (psys_write(report_fd, &none, sizeof none) != -PSYS_EPIPE)
		return;
	psys_sigemptyset(&pipe);
	psys_sigaddset(&pipe, PSYS_SIGPIPE);
	psys_rt_sigtimedwait(&pipe, NULL, &at_once, PSYS_SIGSET_SIZE);
}

PSYS_UNINSTRUMENTED int aspawn_perform(void *arg, int write_end, void *mask, void *user_data,
				       size_t length)
{
	struct control *control = arg;
	struct prepared *prepared = user_data;
	struct candidate candidate; /* from now on: the directory may be another at the end */
	int r = 0;

	(void)length;
	prepared->report_fd = write_end;
	if (control->files_error)
		aspawn_fail(prepared, ASPAWN_STEP_DESCRIPTORS, -control->files_error);
	aspawn_begin_search(&candidate, prepared);
	for (size_t i = 0; i < prepared->count; i++) {
		int step = (int)i - prepared->own_count;
		prepared->step = step >= 0 ? step : ASPAWN_STEP_DESCRIPTORS;
		r = uses_reserved(prepared, i) ? -PSYS_EBADF :
						 relocate(prepared, i + 1, aspawn_replaced(&prepared->actions[i]));
		if (r >= 0)
			r = perform_one(control, prepared, i);
		if (r < 0)
			aspawn_fail(prepared, prepared->step, -r);
	}
	prepared->step = ASPAWN_STEP_EXEC;
	if (prepared->report_fd >= 0)
		report_success(prepared->report_fd);
	r = psys_rt_sigprocmask(PSYS_SIG_SETMASK, mask, NULL, PSYS_SIGSET_SIZE);
	if (r < 0)
		aspawn_fail(prepared, ASPAWN_STEP_EXEC, -r);
	aspawn_execute(prepared, &candidate);
}
