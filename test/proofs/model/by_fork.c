/* SPDX-License-Identifier: MIT */
/* The model: a fork performs the command by functions of the libc, as described in the manual. */
#define _GNU_SOURCE
#include "model.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/filter.h>

enum { MOST_VARIABLES = 32, SIGNALS = 64, PIPES_FROM = 500 };

/* The child reports to its parent in this struct. */
struct told {
	int step, error, status;
};
static struct told *told;

/* the program's mask */
static uint64_t mask; /* of the program */
static char *variables[MOST_VARIABLES];

/* Returns the error of a function that returns -1 and sets errno. */
static int error_of(long result)
{
	return result < 0 ? -errno : 0;
}

void take_output(struct text *text)
{
	const int fd = open(world.output, O_RDWR | O_CLOEXEC);
	const ssize_t length = read(fd, text->bytes, sizeof text->bytes - 1);

	text->length = length < 0 ? 0 : (size_t)length;
	text->bytes[text->length] = '\0';
	if (ftruncate(fd, 0) < 0)
		text->length = 0;
	close(fd);
}

/* --- descriptors ---------------------------------------------------------- */

static int move_to(int opened, int fd, int flags)
{
	if (opened < 0)
		return -errno;
	if (opened == fd)
		return 0;
	const int r = error_of(dup3(opened, fd, flags & O_CLOEXEC));
	close(opened);
	return r;
}

static int duplicate(int from, int to)
{
	return error_of(from == to ? fcntl(from, F_SETFD, 0) : dup2(from, to));
}

static int open_at2(const struct aspawn_action *action)
{
	const struct {
		uint64_t flags, mode, resolve;
	} how = { (unsigned)action->u.openat2.flags, action->u.openat2.mode,
		  action->u.openat2.resolve };

	return move_to((int)syscall(SYS_openat2, action->u.openat2.dirfd, action->u.openat2.path,
				    &how, sizeof how),
		       action->u.openat2.fd, action->u.openat2.flags);
}

static int write_at(int directory, const char *path, const char *bytes)
{
	const int fd = openat(directory, path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	const ssize_t length = write(fd, bytes, strlen(bytes));
	const int r = error_of(length);
	close(fd);
	return r < 0 ? r : length < (ssize_t)strlen(bytes) ? -EIO : 0;
}

/* --- the environment: known before the child begins ----------------------- */

static int count_variables(void)
{
	int count = 0;

	while (variables[count])
		count++;
	return count;
}

static void unset_variable(const char *name)
{
	const size_t length = strlen(name);
	int kept = 0;

	for (int i = 0; variables[i]; i++)
		if (strncmp(variables[i], name, length) != 0 || variables[i][length] != '=')
			variables[kept++] = variables[i];
	variables[kept] = NULL;
}

static void set_variable(const char *name, const char *value)
{
	char *variable = NULL;

	unset_variable(name);
	const int count = count_variables();
	if (count + 1 < MOST_VARIABLES && asprintf(&variable, "%s=%s", name, value) > 0)
		variables[count] = variable;
}

static void make_environment(const struct aspawn_action *actions, size_t count)
{
	for (int i = 0; trial_environment[i]; i++)
		variables[i] = (char *)(uintptr_t)trial_environment[i];
	for (const struct aspawn_action *action = actions; action < actions + count; action++)
		if (action->kind == ASPAWN_ACTION_SETENV)
			set_variable(action->u.setenv.name, action->u.setenv.value);
		else if (action->kind == ASPAWN_ACTION_UNSETENV)
			unset_variable(action->u.unsetenv.name);
		else if (action->kind == ASPAWN_ACTION_CLEARENV)
			memset(variables, 0, sizeof variables);
}

static const char *variable_path(void)
{
	for (int i = 0; variables[i]; i++)
		if (strncmp(variables[i], "PATH=", 5) == 0)
			return variables[i] + 5;
	return "/bin:/usr/bin";
}

/* --- signals -------------------------------------------------------------- */

/* Calls the kernel, as the libc keeps two signals for itself. */
static void set_mask(const uint64_t *new, uint64_t *old)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, new, old, sizeof *new);
}

static int set_signal(int signal, bool is_ignored)
{
	const struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		unsigned long mask;
	} disposition = { is_ignored ? (void *)1 : NULL, 0, NULL, 0 };

	return error_of(syscall(SYS_rt_sigaction, signal, &disposition, NULL, 8));
}

static int set_signals(const void *set, bool are_ignored)
{
	uint64_t bits;

	memcpy(&bits, set, sizeof bits);
	for (int signal = 1; signal <= SIGNALS; signal++)
		if (bits >> (signal - 1) & 1 && signal != SIGKILL && signal != SIGSTOP)
			set_signal(signal, are_ignored);
	return 0;
}

static int reset_signals(void)
{
	const uint64_t all = ~0ULL;

	mask = 0;
	return set_signals(&all, false);
}

/* Each command begins with these signals. */
static void begin_signals(const struct trial *trial)
{
	static const int of_servers[] = { SIGPIPE, SIGXFSZ, SIGCHLD, SIGTERM,
					  SIGALRM, SIGUSR1, SIGUSR2 };
	const bool inherits = trial->flags & ASPAWN_COMMAND_INHERIT_SIGNALS;

	if (!inherits)
		mask = 0;
	for (size_t i = 0; i < sizeof of_servers / sizeof *of_servers && !inherits; i++)
		set_signal(of_servers[i], false);
	if (trial->stop_signal) {
		mask &= ~(1ULL << (trial->stop_signal - 1));
		set_signal(trial->stop_signal, false);
	}
}

/* --- limits and rights ---------------------------------------------------- */

static int set_limit(const struct aspawn_action *action)
{
	const struct {
		uint64_t soft, hard;
	} limits = { action->u.rlimit.soft, action->u.rlimit.hard };

	return error_of(syscall(SYS_prlimit64, 0, action->u.rlimit.resource, &limits, NULL));
}

static int set_scheduler(const struct aspawn_action *action)
{
	const struct sched_param parameters = { .sched_priority = action->u.scheduler.priority };

	return error_of(sched_setscheduler(0, action->u.scheduler.policy, &parameters));
}

/* If capability is -1, empties the set. */
static int change_inheritable(int capability)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	if (capability < 0)
		data[0].inheritable = data[1].inheritable = 0;
	else
		data[capability / 32].inheritable |= 1U << capability % 32;
	return error_of(syscall(SYS_capset, &header, data));
}

static int add_ambient(int capability)
{
	const int r = capability < 0 || capability > 63 ? -EINVAL : change_inheritable(capability);

	return r < 0 ? r : error_of(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0));
}

static int drop_capability(int capability)
{
	if (capability >= 0)
		return error_of(prctl(PR_CAPBSET_DROP, capability, 0, 0, 0));
	for (capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0;)
		capability++;
	return errno == EINVAL && capability ? change_inheritable(-1) : -errno;
}

static bool is_ambient(int capability)
{
	return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0) == 1;
}

static int set_user(const struct aspawn_action *action)
{
	const unsigned user = action->u.user.uid, group = action->u.user.gid;

	if (action->kind == ASPAWN_ACTION_RESUID)
		return error_of(syscall(SYS_setresuid, action->u.resuid.real,
					action->u.resuid.effective, action->u.resuid.saved));
	if (syscall(SYS_setgroups, action->u.user.count, action->u.user.groups) < 0 ||
	    syscall(SYS_setresgid, group, group, group) < 0)
		return -errno;
	return error_of(syscall(SYS_setresuid, user, user, user));
}

/* A capability added by an earlier action must not be lost. */
static int become_user(const struct aspawn_action *actions, const struct aspawn_action *action)
{
	uint64_t added = 0;

	for (; actions < action; actions++)
		if (actions->kind == ASPAWN_ACTION_CAP_AMBIENT &&
		    is_ambient(actions->u.cap_ambient.capability))
			added |= 1ULL << actions->u.cap_ambient.capability;
	const int r = set_user(action);
	for (int capability = 0; capability < 64 && r == 0; capability++)
		if (added >> capability & 1 && !is_ambient(capability))
			return -EPERM;
	return r;
}

static int add_filter(const struct aspawn_action *action)
{
	const struct sock_fprog program = {
		(unsigned short)action->u.seccomp.count,
		(struct sock_filter *)(uintptr_t)action->u.seccomp.filter
	};

	return error_of(syscall(SYS_seccomp, 1, 0, &program));
}

static int make_syscall(const struct aspawn_action *action)
{
	const unsigned long *words = action->u.syscall.words;
	const int expected = action->u.syscall.expected;
	long result = syscall(action->u.syscall.number, words[0], words[1], words[2], words[3],
			      words[4], words[5]);

	if (result < 0)
		result = -errno;
	if (result == expected || expected == ASPAWN_EXPECTED_ANY)
		return 0;
	return result < 0 ? (int)result : expected == ASPAWN_EXPECTED_SUCCESS ? 0 : -EIO;
}

static int call(const struct aspawn_action *action)
{
	const int argument = (int)(uintptr_t)action->u.call.arg;

	if (action->u.call.function == call_failing)
		return -argument;
	umask((mode_t)argument);
	return 0;
}

/* --- an action ------------------------------------------------------------ */

static int perform(const struct aspawn_action *actions, const struct aspawn_action *action)
{
	char number[16];
	const pid_t group = getpgid(0);

	switch ((enum aspawn_action_kind)action->kind) {
	case ASPAWN_ACTION_DUP2:
		return duplicate(action->u.dup2.from, action->u.dup2.to);
	case ASPAWN_ACTION_OPENAT:
		return move_to(openat(action->u.openat.dirfd, action->u.openat.path,
				      action->u.openat.flags, action->u.openat.mode),
			       action->u.openat.fd, action->u.openat.flags);
	case ASPAWN_ACTION_OPENAT2:
		return open_at2(action);
	case ASPAWN_ACTION_CLOSE:
		close(action->u.close.fd);
		return 0;
	case ASPAWN_ACTION_CLOSEFROM:
	case ASPAWN_ACTION_ONLY_BELOW:
		return error_of(syscall(SYS_close_range, action->u.closefrom.first, ~0U, 0));
	case ASPAWN_ACTION_CLOEXEC_FROM:
		return error_of(syscall(SYS_close_range, action->u.closefrom.first, ~0U, 4));
	case ASPAWN_ACTION_SETENV:
	case ASPAWN_ACTION_UNSETENV:
	case ASPAWN_ACTION_CLEARENV:
		return 0;
	case ASPAWN_ACTION_CHDIR:
		return error_of(chdir(action->u.chdir.path));
	case ASPAWN_ACTION_FCHDIR:
		return error_of(fchdir(action->u.fchdir.fd));
	case ASPAWN_ACTION_UMASK:
		umask(action->u.umask.mask);
		return 0;
	case ASPAWN_ACTION_SETSID:
		return error_of(setsid());
	case ASPAWN_ACTION_SETPGID:
		return error_of(setpgid(0, action->u.setpgid.pgid));
	case ASPAWN_ACTION_CONTROLLING_TERMINAL:
		return error_of(ioctl(action->u.controlling_terminal.fd, TIOCSCTTY, 0));
	case ASPAWN_ACTION_FOREGROUND:
		return error_of(ioctl(action->u.foreground.fd, TIOCSPGRP, &group));
	case ASPAWN_ACTION_RESET_SIGNALS:
		return reset_signals();
	case ASPAWN_ACTION_SIGMASK:
		memcpy(&mask, action->u.sigmask.set, sizeof mask);
		return 0;
	case ASPAWN_ACTION_SIGNALS_DEFAULT:
		return set_signals(action->u.signals_default.set, false);
	case ASPAWN_ACTION_SIGNALS_IGNORE:
		return set_signals(action->u.signals_ignore.set, true);
	case ASPAWN_ACTION_SIGNAL_DEFAULT:
		return set_signal(action->u.signal_default.signal, false);
	case ASPAWN_ACTION_SIGNAL_IGNORE:
		return set_signal(action->u.signal_ignore.signal, true);
	case ASPAWN_ACTION_PDEATHSIG:
		return error_of(prctl(PR_SET_PDEATHSIG, action->u.pdeathsig.signal));
	case ASPAWN_ACTION_RLIMIT:
		return set_limit(action);
	case ASPAWN_ACTION_NICE:
		return error_of(setpriority(PRIO_PROCESS, 0, action->u.nice.value));
	case ASPAWN_ACTION_SCHEDULER:
		return set_scheduler(action);
	case ASPAWN_ACTION_AFFINITY:
		return error_of(syscall(SYS_sched_setaffinity, 0, action->u.affinity.size,
					action->u.affinity.mask));
	case ASPAWN_ACTION_IOPRIO:
		return error_of(syscall(SYS_ioprio_set, 1, 0, action->u.ioprio.value));
	case ASPAWN_ACTION_OOM_SCORE_ADJ:
		snprintf(number, sizeof number, "%d", action->u.oom_score_adj.value);
		return write_at(AT_FDCWD, "/proc/self/oom_score_adj", number);
	case ASPAWN_ACTION_PERSONALITY:
		return error_of(personality(action->u.personality.persona));
	case ASPAWN_ACTION_JOIN_CGROUP:
		return write_at(action->u.join_cgroup.fd, "cgroup.procs", "0");
	case ASPAWN_ACTION_NEW_CGROUP: /* the world is not a control group */
		return -ENOENT;
	case ASPAWN_ACTION_USER:
	case ASPAWN_ACTION_RESUID:
		return become_user(actions, action);
	case ASPAWN_ACTION_RESGID:
		return error_of(syscall(SYS_setresgid, action->u.resgid.real,
					action->u.resgid.effective, action->u.resgid.saved));
	case ASPAWN_ACTION_GROUPS:
		return error_of(
			syscall(SYS_setgroups, action->u.groups.count, action->u.groups.groups));
	case ASPAWN_ACTION_CAP_DROP:
		return drop_capability(action->u.cap_drop.capability);
	case ASPAWN_ACTION_CAP_AMBIENT:
		return add_ambient(action->u.cap_ambient.capability);
	case ASPAWN_ACTION_SECUREBITS:
		return error_of(prctl(PR_SET_SECUREBITS, action->u.securebits.bits, 0, 0, 0));
	case ASPAWN_ACTION_NO_NEW_PRIVS:
		return error_of(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	case ASPAWN_ACTION_SECCOMP:
		return add_filter(action);
	case ASPAWN_ACTION_LANDLOCK:
		return error_of(syscall(SYS_landlock_restrict_self, action->u.landlock.ruleset_fd,
					action->u.landlock.flags));
	case ASPAWN_ACTION_CHROOT:
		return error_of(chroot(action->u.chroot.path));
	case ASPAWN_ACTION_PIVOT_ROOT:
		return error_of(syscall(SYS_pivot_root, action->u.pivot_root.new_root,
					action->u.pivot_root.put_old));
	case ASPAWN_ACTION_UNSHARE:
		return error_of(unshare((int)action->u.unshare.flags));
	case ASPAWN_ACTION_SETNS:
		return error_of(setns(action->u.setns.fd, action->u.setns.type));
	case ASPAWN_ACTION_MOUNT:
		return error_of(mount(action->u.mount.source, action->u.mount.target,
				      action->u.mount.type, (unsigned long)action->u.mount.flags,
				      action->u.mount.options));
	case ASPAWN_ACTION_WRITE:
		return write_at(AT_FDCWD, action->u.write.path, action->u.write.text);
	case ASPAWN_ACTION_CALL:
		return call(action);
	case ASPAWN_ACTION_SYSCALL:
		return make_syscall(action);
	case ASPAWN_ACTION_OUTPUT_PIPE:
	case ASPAWN_ACTION_INPUT_PIPE:
	case ASPAWN_ACTION_HOSTNAME:
		break;
	}
	return -ENOSYS; /* commands.c makes none of these */
}

/* --- streams -------------------------------------------------------------- */

/* Returns the kind of the stream with the number. */
static int stream_of(const struct trial *trial, int number)
{
	const bool has_pipe[] = { trial->has_input, trial->has_output, trial->has_errors };

	if (trial->streams[number] != ASPAWN_STREAM_DEFAULT)
		return trial->streams[number];
	if (!trial->is_run)
		return ASPAWN_STREAM_INHERIT;
	return has_pipe[number] ? ASPAWN_STREAM_PIPE :
	       number == 0      ? ASPAWN_STREAM_NULL :
				  ASPAWN_STREAM_INHERIT;
}

/* pipes has the program's ends. */
static int make_stream(int stream, int number, const int pipes[3])
{
	switch (stream) {
	case ASPAWN_STREAM_INHERIT:
		return 0;
	case ASPAWN_STREAM_NULL:
		return move_to(open("/dev/null", number ? O_WRONLY : O_RDONLY), number, 0);
	case ASPAWN_STREAM_PIPE:
		return error_of(dup2(pipes[number], number));
	case ASPAWN_STREAM_STDOUT:
		return error_of(dup2(1, number));
	default:
		return stream == number ? 0 : error_of(dup2(stream, number));
	}
}

static int make_group(const struct trial *trial)
{
	const bool is_wanted = trial->io_flags & ASPAWN_IO_KILL_GROUP ||
			       trial->flags & ASPAWN_COMMAND_TREE_OR_GROUP;

	return !is_wanted || trial_has(trial, ASPAWN_ACTION_SETSID) ||
			       trial_has(trial, ASPAWN_ACTION_SETPGID) ?
		       0 :
		       error_of(setpgid(0, 0));
}

static int make_streams(const struct trial *trial, const int pipes[3])
{
	int r = make_group(trial);

	for (int number = 0; number < 3 && r == 0; number++)
		r = make_stream(stream_of(trial, number), number, pipes);
	for (int number = 0; number < 3; number++)
		close(pipes[number]);
	return r;
}

/* --- the exec ------------------------------------------------------------- */

static _Noreturn void fail(int step, int error)
{
	told->step = step;
	told->error = error;
	_exit(127);
}

/* Returns the error, or does not return. */
static int execute(const struct trial *trial, const char *path)
{
	char *const argv[] = { (char *)"reporter", world.output, (char *)(uintptr_t)trial->argument,
			       NULL };
	char *const of_shell[] = { (char *)"/bin/sh", (char *)(uintptr_t)path, world.output,
				   (char *)(uintptr_t)trial->argument, NULL };

	execve(path, argv, variables);
	if (errno == ENOEXEC && trial->flags & ASPAWN_COMMAND_SHELL_ON_ENOEXEC)
		execve("/bin/sh", of_shell, variables);
	return -errno;
}

/* If an existing file is not found, the interpreter is missing. */
static int step_of(const char *path, int error)
{
	return error == -ENOENT && access(path, F_OK) == 0 ? ASPAWN_STEP_INTERPRETER :
							     ASPAWN_STEP_EXEC;
}

static _Noreturn void search(const struct trial *trial, const char *prefix)
{
	const char *paths = trial->search_path ? trial->search_path : variable_path();
	char path[8192];
	bool was_refused = false, is_orphan = false;
	int error;

	for (;; paths++) {
		const size_t length = strcspn(paths, ":");
		snprintf(path, sizeof path, "%s%.*s%s%s", *paths == '/' ? "" : prefix, (int)length,
			 paths, length ? "/" : "", trial->file);
		error = execute(trial, path);
		if (error == -EACCES)
			was_refused = true;
		else if (error != -ENOENT && error != -ENOTDIR)
			fail(ASPAWN_STEP_EXEC, error);
		if (step_of(path, error) == ASPAWN_STEP_INTERPRETER)
			is_orphan = true;
		paths += length;
		if (!*paths)
			break;
	}
	if (was_refused)
		fail(ASPAWN_STEP_EXEC, -EACCES);
	fail(is_orphan ? ASPAWN_STEP_INTERPRETER : ASPAWN_STEP_SEARCH, error);
}

static _Noreturn void find_and_execute(const struct trial *trial)
{
	char prefix[128] = "", path[8192];

	if (trial->flags & ASPAWN_COMMAND_RELATIVE_TO_CALLER)
		snprintf(prefix, sizeof prefix, "%s/", world.directory);
	if (!strchr(trial->file, '/'))
		search(trial, prefix);
	snprintf(path, sizeof path, "%s%s", *trial->file == '/' ? "" : prefix, trial->file);
	const int error = execute(trial, path);
	fail(step_of(path, error), error);
}

/* --- all of it ------------------------------------------------------------ */

/* The kernel forgets the signal of DIES_WITH_CALLER when credentials change. */
static void die_with_caller(const struct trial *trial)
{
	if (trial->flags & ASPAWN_COMMAND_DIES_WITH_CALLER)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static bool changes_credentials(const struct aspawn_action *action)
{
	const uint32_t kind = action->kind;

	return kind == ASPAWN_ACTION_USER || kind == ASPAWN_ACTION_RESUID ||
	       kind == ASPAWN_ACTION_RESGID ||
	       (kind == ASPAWN_ACTION_SYSCALL && action->u.syscall.number == SYS_setuid) ||
	       (kind == ASPAWN_ACTION_SETNS && !action->u.setns.type);
}

static _Noreturn void be_child(const struct trial *trial, bool ignores_sigchld, const int pipes[3])
{
	static struct aspawn_action actions[MOST_STEPS + MOST_REPEATS];
	const size_t count = trial_actions(trial, actions);

	make_environment(actions, count);
	set_signal(SIGCHLD, ignores_sigchld);
	for (int signal = 1; signal <= SIGNALS; signal++) {
		struct sigaction action;
		if (sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			set_signal(signal, false);
	}
	begin_signals(trial);
	die_with_caller(trial);
	/* by the helper, before all else */
	if (count && actions[0].kind == ASPAWN_ACTION_NEW_CGROUP)
		fail(0, perform(actions, actions));
	int r = make_streams(trial, pipes);
	if (r < 0)
		fail(ASPAWN_STEP_STREAMS, r);
	for (size_t i = 0; i < count; i++) {
		r = perform(actions, &actions[i]);
		if (r < 0)
			fail((int)i, r);
		if (changes_credentials(&actions[i]))
			die_with_caller(trial);
	}
	set_mask(&mask, NULL);
	find_and_execute(trial);
}

/* The numbers are far above the numbers of commands. The input lies in the pipe before the child
 * begins. */
static void make_pipes(int ours[3], int childs[3])
{
	for (int i = 0; i < 3; i++) {
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) < 0)
			_exit(3);
		ours[i] = fcntl(ends[i == 0], F_DUPFD_CLOEXEC, PIPES_FROM);
		childs[i] = fcntl(ends[i != 0], F_DUPFD_CLOEXEC, PIPES_FROM);
		close(ends[0]);
		close(ends[1]);
	}
}

/* This process is the child's parent, because other waits of the caller reap all of the caller's
 * children. */
static _Noreturn void be_parent(const struct trial *trial, const int ours[3], const int childs[3])
{
	const bool ignores_sigchld = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
	const pid_t child = fork();

	for (int i = 0; i < 3; i++)
		close(child ? childs[i] : ours[i]);
	if (child == 0)
		be_child(trial, ignores_sigchld, childs);
	_exit(child < 0 || waitpid(child, &told->status, 0) != child ? 3 : 0);
}

void run_by_fork(const struct trial *trial, struct ending *ending)
{
	int ours[3], childs[3];
	const uint64_t all = ~0ULL;

	told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED)
		_exit(3);
	make_pipes(ours, childs);
	set_mask(&all, &mask);
	const pid_t parent = fork();
	if (parent == 0)
		be_parent(trial, ours, childs);
	set_mask(&mask, NULL);
	for (int i = 0; i < 3; i++)
		close(childs[i]);
	/* Fails if another wait has reaped the process, which has then ended. */
	if (parent < 0 || (waitpid(parent, NULL, 0) != parent && errno != ECHILD))
		_exit(3);
	for (int i = 0; i < 3; i++)
		close(ours[i]);
	ending->step = told->step;
	ending->status = told->status;
	ending->error = told->error;
	ending->result = told->error ? -ECANCELED : 0;
	if (is_killed(trial) && !told->error)
		ending->status = SIGKILL;
	munmap(told, sizeof *told);
	take_output(&ending->state);
}
