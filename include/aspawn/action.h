/* SPDX-License-Identifier: MIT */
/*
 * Actions: what a new process does before its exec.
 *
 *  *	const struct aspawn_action actions[] = {
 *  *		ASPAWN_OPEN(1, "check.log", PSYS_O_WRONLY | PSYS_O_CREAT | PSYS_O_APPEND, 0600),
 *  *		ASPAWN_CHDIR("/srv/checks"),
 *  *		ASPAWN_DUP2(1, 2),
 *  *		ASPAWN_RLIMIT(PSYS_RLIMIT_CPU, 10, 11),
 *  *	};
 *
 * A command (aspawn/command.h) performs its actions in the order of the array, in the child. The
 * first failure ends the child, and gives the action's index.
 *
 * Each action can be made in two ways, with the same arguments in the same order:
 *
 *   ASPAWN_CHDIR("/srv")                        for tables: an initializer
 *   aspawn_action_chdir(&actions[n++], "/srv")  for code, and for other languages
 *
 * In C the macro is a braced initializer: to assign the macro, write a cast in front, actions[n++]
 * = (struct aspawn_action)ASPAWN_CHDIR("/srv"). The macro is constant if the arguments are: a table
 * can be static const. In C++ it is an expression.
 *
 * Neither way checks or copies anything, and no function here can fail: aspawn_start() checks and
 * copies all actions, with their strings and arrays, which must stay valid until then. All
 * functions here are async-signal-safe and thread-safe, and overwrite all of *action, which may be
 * uninitialized.
 *
 * An action uses the caller's descriptor of the number, unless an earlier action has replaced the
 * descriptor. aspawn_start() fails with -EINVAL, and its failure has the index of the action, if a
 * descriptor is negative, a signal is invalid, or a pointer is NULL where NULL is not allowed. An
 * array of no elements may be NULL. "Errors" lists what the action itself can fail with, in
 * aspawn_failure.error; "none" ignores sandboxes (seccomp, security modules). The named manual page
 * has the details. The first paragraph of each comment is the action's entry in aspawn_action(3),
 * too.
 *
 * The standard streams, and the group of ASPAWN_IO_KILL_GROUP, are made before the first action.
 * Put actions that drop privileges last: later actions have the rights of the new user only. A
 * usual order is RESET_SIGNALS, SETSID or SETPGID, OPEN, RLIMIT, USER, CHDIR, PDEATHSIG,
 * NO_NEW_PRIVS, CLOSEFROM(3) or ONLY_BELOW(3). CHDIR after USER checks the new user's access to the
 * directory; before USER, the caller's.
 *
 * [copy] marks actions that would change state of the caller's memory (oom_score_adj, dumpable), or
 * run with new credentials on memory that the caller can write. A child with such an action first
 * executes a small program of the library, the image. The image performs all actions and executes
 * the command; the cost does not depend on the caller's memory. Where the image is not possible,
 * memory is copied, at fork(2)'s cost; what an ASPAWN_CALL stores does not reach the caller then.
 * aspawn(7) lists the conditions; aspawn_describe() returns what happened, and why.
 */
#ifndef ASPAWN_ACTION_H
#define ASPAWN_ACTION_H

#include <aspawn/aspawn.h>    /* ASPAWN_CHILD */
#include <syscall/file.h>     /* PSYS_O_..., PSYS_AT_FDCWD, PSYS_RESOLVE_... */
#include <syscall/process.h>  /* PSYS_RLIMIT_..., PSYS_SCHED_..., PSYS_CLONE_NEW... */
#include <syscall/security.h> /* PSYS_CAP_..., struct psys_sock_filter */
#include <syscall/signal.h>   /* PSYS_SIG..., struct psys_sigset */

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are part of the ABI: they never change, and new ones are added at the end. 0 is
 * invalid: an element that was never filled is rejected. */
enum aspawn_action_kind {
	ASPAWN_ACTION_DUP2 = 1,
	ASPAWN_ACTION_OPENAT = 2,
	ASPAWN_ACTION_OPENAT2 = 3,
	ASPAWN_ACTION_OUTPUT_PIPE = 4,
	ASPAWN_ACTION_INPUT_PIPE = 5,
	ASPAWN_ACTION_CLOSE = 6,
	ASPAWN_ACTION_CLOSEFROM = 7,
	ASPAWN_ACTION_CLOEXEC_FROM = 8,

	ASPAWN_ACTION_SETENV = 9,
	ASPAWN_ACTION_UNSETENV = 10,
	ASPAWN_ACTION_CLEARENV = 11,

	ASPAWN_ACTION_CHDIR = 12,
	ASPAWN_ACTION_FCHDIR = 13,
	ASPAWN_ACTION_UMASK = 14,

	ASPAWN_ACTION_SETSID = 15,
	ASPAWN_ACTION_SETPGID = 16,
	ASPAWN_ACTION_CONTROLLING_TERMINAL = 17,
	ASPAWN_ACTION_FOREGROUND = 18,

	ASPAWN_ACTION_RESET_SIGNALS = 19,
	ASPAWN_ACTION_SIGMASK = 20,
	ASPAWN_ACTION_SIGNALS_DEFAULT = 21,
	ASPAWN_ACTION_SIGNALS_IGNORE = 22,
	ASPAWN_ACTION_PDEATHSIG = 23,

	ASPAWN_ACTION_RLIMIT = 24,
	ASPAWN_ACTION_NICE = 25,
	ASPAWN_ACTION_SCHEDULER = 26,
	ASPAWN_ACTION_AFFINITY = 27,
	ASPAWN_ACTION_IOPRIO = 28,
	ASPAWN_ACTION_OOM_SCORE_ADJ = 29,
	ASPAWN_ACTION_PERSONALITY = 30,
	ASPAWN_ACTION_JOIN_CGROUP = 31,

	ASPAWN_ACTION_USER = 32,
	ASPAWN_ACTION_RESUID = 33,
	ASPAWN_ACTION_RESGID = 34,
	ASPAWN_ACTION_GROUPS = 35,
	ASPAWN_ACTION_CAP_DROP = 36,
	ASPAWN_ACTION_CAP_AMBIENT = 37,
	ASPAWN_ACTION_SECUREBITS = 38,
	ASPAWN_ACTION_NO_NEW_PRIVS = 39,
	ASPAWN_ACTION_SECCOMP = 40,
	ASPAWN_ACTION_LANDLOCK = 41,

	ASPAWN_ACTION_CHROOT = 42,
	ASPAWN_ACTION_PIVOT_ROOT = 43,
	ASPAWN_ACTION_UNSHARE = 44,
	ASPAWN_ACTION_SETNS = 45,
	ASPAWN_ACTION_MOUNT = 46,
	ASPAWN_ACTION_HOSTNAME = 47,

	ASPAWN_ACTION_WRITE = 48,
	ASPAWN_ACTION_CALL = 49,

	ASPAWN_ACTION_SIGNAL_DEFAULT = 50,
	ASPAWN_ACTION_SIGNAL_IGNORE = 51,

	ASPAWN_ACTION_ONLY_BELOW = 52,
	ASPAWN_ACTION_SYSCALL = 53,

	ASPAWN_ACTION_NEW_CGROUP = 54
};

/* This is a function for ASPAWN_CALL. It returns 0, or a negative error number if the action fails.
 * */
typedef int (*aspawn_call)(void *arg);

/*
 * An action has 64 bytes on every architecture, owns nothing, and may be copied. Bindings of other
 * languages treat it as opaque bytes and use the functions. Each member of the union belongs to the
 * kind of the same name and holds the arguments of its macro and function, in their order; unused
 * bytes are zero.
 */
/* clang-format off */
struct aspawn_action {
	uint32_t kind;  /* enum aspawn_action_kind */
	uint32_t flags; /* the marks of ASPAWN_SYSCALL; of other kinds 0, otherwise -EINVAL */
	union {
		struct { int from, to; } dup2;
		struct { int fd, dirfd; const char *path; int flags; unsigned mode; } openat;
		struct {
			int fd, dirfd;
			const char *path;
			int flags;
			unsigned mode;
			uint64_t resolve;
		} openat2;
		struct { int fd; int *read_end; } output_pipe;
		struct { int fd; int *write_end; } input_pipe;
		struct { int fd; } close;
		struct { int first; } closefrom;
		struct { int first; } only_below;
		struct { int first; } cloexec_from;

		struct { const char *name, *value; } setenv;
		struct { const char *name; } unsetenv;

		struct { const char *path; } chdir;
		struct { int fd; } fchdir;
		struct { unsigned mask; } umask;

		struct { int pgid; } setpgid;
		struct { int fd; } controlling_terminal;
		struct { int fd; } foreground;

		struct { const void *set; } sigmask;
		struct { const void *set; } signals_default;
		struct { const void *set; } signals_ignore;
		struct { int signal; } signal_default;
		struct { int signal; } signal_ignore;
		struct { int signal; } pdeathsig;

		struct { int resource; uint64_t soft, hard; } rlimit;
		struct { int value; } nice;
		struct { int policy, priority; } scheduler;
		struct { const void *mask; size_t size; } affinity;
		struct { int value; } ioprio;
		struct { int value; } oom_score_adj;
		struct { unsigned persona; } personality;
		struct { int fd; } join_cgroup;
		struct { int parent_fd; uint64_t memory_max, pids_max, cpu_max; } new_cgroup;

		struct { unsigned uid, gid; const unsigned *groups; size_t count; } user;
		struct { unsigned real, effective, saved; } resuid;
		struct { unsigned real, effective, saved; } resgid;
		struct { const unsigned *groups; size_t count; } groups;
		struct { int capability; } cap_drop;
		struct { int capability; } cap_ambient;
		struct { unsigned bits; } securebits;
		struct { const void *filter; size_t count; } seccomp;
		struct { int ruleset_fd; unsigned flags; } landlock;

		struct { const char *path; } chroot;
		struct { const char *new_root, *put_old; } pivot_root;
		struct { uint64_t flags; } unshare;
		struct { int fd, type; } setns;
		struct {
			const char *source, *target, *type;
			uint64_t flags;
			const char *options;
		} mount;
		struct { const char *name; } hostname;

		struct { const char *path, *text; } write;
		struct { aspawn_call function; void *arg; } call;
		struct { int number, expected; unsigned long words[6]; } syscall;

		uint64_t room[7] __attribute__((aligned(8))); /* sets the size of the union */
	} u; /* the operands */
};
/* clang-format on */

PSYS_ASSERT(aspawn_action_has_64_bytes, sizeof(struct aspawn_action) == 64);

/* Internal: the common part of the macros below. */
/* clang-format off */
#ifdef __cplusplus
#define ASPAWN_MAKE(KIND, name, ...) ::aspawn_made(aspawn_action_##name, __VA_ARGS__)
#define ASPAWN_MAKE_PLAIN(KIND, name) ::aspawn_made(aspawn_action_##name)
#define ASPAWN_MAKE_CALL(KIND, number, a, b, c, d, e, f, marks, expected)                         \
	::aspawn_made(aspawn_action_syscall, number, ASPAWN_WORD(a), ASPAWN_WORD(b),              \
		      ASPAWN_WORD(c), ASPAWN_WORD(d), ASPAWN_WORD(e), ASPAWN_WORD(f), marks, expected)
#else
#define ASPAWN_MAKE(KIND, name, ...) { ASPAWN_ACTION_##KIND, 0, { .name = { __VA_ARGS__ } } }
#define ASPAWN_MAKE_PLAIN(KIND, name) { ASPAWN_ACTION_##KIND, 0, { .room = { 0 } } }
#define ASPAWN_MAKE_CALL(KIND, number, a, b, c, d, e, f, marks, expected)                         \
	{ ASPAWN_ACTION_##KIND, marks,                                                            \
	  { .syscall = { number, expected,                                                        \
			 { ASPAWN_WORD(a), ASPAWN_WORD(b), ASPAWN_WORD(c), ASPAWN_WORD(d),        \
			   ASPAWN_WORD(e), ASPAWN_WORD(f) } } } }
#endif
#define ASPAWN_WORD(argument) ((unsigned long)(argument)) /* of a number, or of a pointer */
/* clang-format on */

/* --- descriptors ------------------------------------------------------------
 *
 * For standard streams aspawn_command.std_in, .std_out and .std_err are usually enough. */

/* Makes to a copy of from: dup2(2). If both are equal, the action clears FD_CLOEXEC: the program
 * has the descriptor.
 * Errors: EBADF (from is not open, or to is RLIMIT_NOFILE or more). */
PSYS_API void aspawn_action_dup2(struct aspawn_action *action, int from, int to);
#define ASPAWN_DUP2(from, to) ASPAWN_MAKE(DUP2, dup2, from, to)

/*
 * Opens path as descriptor fd of the program: open(2).
 *
 * A path that blocks (a FIFO) blocks the child alone. mode is for PSYS_O_CREAT, otherwise 0. The
 * program gets the caller's /proc/self/mem, maps and other files of memory, unless memory is
 * copied.
 *
 * Details in C: PSYS_O_... are the same numbers as the libc's O_....
 * Errors: EBADF (fd is RLIMIT_NOFILE or more), ENOENT, EACCES, EISDIR, ELOOP, EMFILE and others of
 * open(2).
 */
PSYS_API void aspawn_action_open(struct aspawn_action *action, int fd, const char *path, int flags,
				 unsigned mode);
#define ASPAWN_OPEN(fd, path, flags, mode) ASPAWN_OPENAT(fd, PSYS_AT_FDCWD, path, flags, mode)

/* As ASPAWN_OPEN, relative to the directory dirfd or PSYS_AT_FDCWD: openat(2).
 * Errors: also EBADF, ENOTDIR (dirfd). */
PSYS_API void aspawn_action_openat(struct aspawn_action *action, int fd, int dirfd,
				   const char *path, int flags, unsigned mode);
#define ASPAWN_OPENAT(fd, dirfd, path, flags, mode) \
	ASPAWN_MAKE(OPENAT, openat, fd, dirfd, path, flags, mode)

/* As ASPAWN_OPENAT, with PSYS_RESOLVE_...: openat2(2), Linux 5.6.
 * Errors: also ENOSYS (older kernel), EINVAL (flags, mode or resolve), EXDEV, ELOOP, EAGAIN
 * (resolve does not allow the path). */
PSYS_API void aspawn_action_openat2(struct aspawn_action *action, int fd, int dirfd,
				    const char *path, int flags, unsigned mode, uint64_t resolve);
#define ASPAWN_OPENAT2(fd, dirfd, path, flags, mode, resolve) \
	ASPAWN_MAKE(OPENAT2, openat2, fd, dirfd, path, flags, mode, resolve)

/* Opens /dev/null for reading and writing. Errors: those of ASPAWN_OPEN. */
PSYS_API void aspawn_action_dev_null(struct aspawn_action *action, int fd);
#define ASPAWN_DEV_NULL(fd) ASPAWN_OPEN(fd, "/dev/null", PSYS_O_RDWR, 0)

/*
 * Makes a pipe(2): the program writes to fd, and the caller gets the other end, which the caller
 * closes.
 *
 * The caller's end is CLOEXEC and blocking: pipe(2).
 *
 * Details in C: The start stores the end; if it fails, it stores nothing.
 * Errors: EBADF (fd is RLIMIT_NOFILE or more). The start fails with EMFILE or ENFILE.
 */
PSYS_API void aspawn_action_output_pipe(struct aspawn_action *action, int fd, int *read_end);
#define ASPAWN_OUTPUT_PIPE(fd, read_end) ASPAWN_MAKE(OUTPUT_PIPE, output_pipe, fd, read_end)

/* As ASPAWN_OUTPUT_PIPE, but the program reads from fd. Errors: those of ASPAWN_OUTPUT_PIPE. */
PSYS_API void aspawn_action_input_pipe(struct aspawn_action *action, int fd, int *write_end);
#define ASPAWN_INPUT_PIPE(fd, write_end) ASPAWN_MAKE(INPUT_PIPE, input_pipe, fd, write_end)

/* Closes fd, which need not be open. Errors: none. */
PSYS_API void aspawn_action_close(struct aspawn_action *action, int fd);
#define ASPAWN_CLOSE(fd) ASPAWN_MAKE(CLOSE, close, fd)

/*
 * Closes all descriptors from first up. Most commands want ASPAWN_CLOSEFROM(3) near the end.
 *
 * With more than 1024 descriptors the start waits as with ASPAWN_ONLY_BELOW. Otherwise it does not
 * wait; with ASPAWN_CLOEXEC_FROM it never does.
 * Errors: those of ASPAWN_ONLY_BELOW.
 */
PSYS_API void aspawn_action_closefrom(struct aspawn_action *action, int first);
#define ASPAWN_CLOSEFROM(first) ASPAWN_MAKE(CLOSEFROM, closefrom, first)

/*
 * As ASPAWN_CLOSEFROM, and the child never has copies of these descriptors: the child keeps no file
 * busy that another thread writes and executes (ETXTBSY).
 *
 * A child that holds a file open for writing makes the exec of the file fail. The cost does not
 * depend on the number of the caller's descriptors. The start waits until the child has copied the
 * descriptors below the highest of earlier actions (close_range(2), Linux 5.9): microseconds, or
 * milliseconds if no processor is idle. Prefer low numbers.
 *
 * A use by a function that runs in the child, or by a symbolic link into /proc/self/fd, is not
 * detected: put ASPAWN_DUP2(fd, fd) before it. The child begins with copies of all descriptors if
 * an earlier action has a path that may name one (in /proc or /dev, or as fd/9).
 * Errors: ENOMEM, EMFILE.
 */
PSYS_API void aspawn_action_only_below(struct aspawn_action *action, int first);
#define ASPAWN_ONLY_BELOW(first) ASPAWN_MAKE(ONLY_BELOW, only_below, first)

/* Sets FD_CLOEXEC from first up: later actions can still use the descriptors. Errors: none. */
PSYS_API void aspawn_action_cloexec_from(struct aspawn_action *action, int first);
#define ASPAWN_CLOEXEC_FROM(first) ASPAWN_MAKE(CLOEXEC_FROM, cloexec_from, first)

/* --- environment --------------------------------------------------------------
 *
 * These change the program's environment, which begins as aspawn_command.envp.
 *
 * The caller's is not changed. The start fails with EINVAL if a name is empty or contains '='. */

/* Sets a variable. Errors: none. */
PSYS_API void aspawn_action_setenv(struct aspawn_action *action, const char *name,
				   const char *value);
#define ASPAWN_SETENV(name, value) ASPAWN_MAKE(SETENV, setenv, name, value)

/* Removes a variable. Errors: none. */
PSYS_API void aspawn_action_unsetenv(struct aspawn_action *action, const char *name);
#define ASPAWN_UNSETENV(name) ASPAWN_MAKE(UNSETENV, unsetenv, name)

/* Removes all variables. Errors: none. */
PSYS_API void aspawn_action_clearenv(struct aspawn_action *action);
#define ASPAWN_CLEARENV() ASPAWN_MAKE_PLAIN(CLEARENV, clearenv)

/* --- directory ------------------------------------------------------------------ */

/* Changes the directory: chdir(2). Errors: ENOENT, ENOTDIR, EACCES, ELOOP. */
PSYS_API void aspawn_action_chdir(struct aspawn_action *action, const char *path);
#define ASPAWN_CHDIR(path) ASPAWN_MAKE(CHDIR, chdir, path)

/* Makes fd the working directory: fchdir(2). Errors: EBADF, ENOTDIR, EACCES. */
PSYS_API void aspawn_action_fchdir(struct aspawn_action *action, int fd);
#define ASPAWN_FCHDIR(fd) ASPAWN_MAKE(FCHDIR, fchdir, fd)

/*
 * Sets the file mode creation mask: umask(2).
 *
 * The mask holds for files of later actions, too.
 * Errors: none.
 */
PSYS_API void aspawn_action_umask(struct aspawn_action *action, unsigned mask);
#define ASPAWN_UMASK(mask) ASPAWN_MAKE(UMASK, umask, mask)

/* --- sessions, process groups, terminals ------------------------------------------ */

/*
 * Makes a session without a controlling terminal, and a process group: setsid(2).
 *
 * The process leads the group, as a signal for the whole group requires.
 * Errors: EPERM (an earlier action has made the process a group leader).
 */
PSYS_API void aspawn_action_setsid(struct aspawn_action *action);
#define ASPAWN_SETSID() ASPAWN_MAKE_PLAIN(SETSID, setsid)

/*
 * Joins the process group pgid; 0 makes a new one: setpgid(2).
 *
 * The group is one of the caller's session. The process leads a new one, as a signal for the whole
 * group requires.
 * Errors: EPERM (no such group in the session; the process leads a session), EINVAL (pgid is
 * negative).
 */
PSYS_API void aspawn_action_setpgid(struct aspawn_action *action, int pgid);
#define ASPAWN_SETPGID(pgid) ASPAWN_MAKE(SETPGID, setpgid, pgid)

/* Makes fd the controlling terminal, after ASPAWN_SETSID(): ioctl_tty(2), TIOCSCTTY.
 * Errors: EBADF, ENOTTY, EPERM (not a session leader without a terminal, or the terminal is another
 * session's). */
PSYS_API void aspawn_action_controlling_terminal(struct aspawn_action *action, int fd);
#define ASPAWN_CONTROLLING_TERMINAL(fd) ASPAWN_MAKE(CONTROLLING_TERMINAL, controlling_terminal, fd)

/* Makes the group the foreground group of its terminal fd: tcsetpgrp(3).
 *
 * This happens before the program runs.
 * Errors: EBADF, ENOTTY. */
PSYS_API void aspawn_action_foreground(struct aspawn_action *action, int fd);
#define ASPAWN_FOREGROUND(fd) ASPAWN_MAKE(FOREGROUND, foreground, fd)

/* --- signals ----------------------------------------------------------------------
 *
 * ASPAWN_COMMAND_INHERIT_SIGNALS (aspawn_start()) says what the program has without these actions.
 * A set is a struct psys_sigset or a libc's sigset_t; SIGKILL and SIGSTOP in it have no effect.
 *
 * Caught signals are reset, as by execve(2). Of a set the first PSYS_SIGSET_SIZE bytes are read. */

/*
 * No signal is blocked, and none ignored.
 *
 * Also resets SIGHUP, SIGINT and SIGQUIT, which nohup(1) and shells ignore on purpose.
 * Errors: none.
 */
PSYS_API void aspawn_action_reset_signals(struct aspawn_action *action);
#define ASPAWN_RESET_SIGNALS() ASPAWN_MAKE_PLAIN(RESET_SIGNALS, reset_signals)

/*
 * The program begins with this mask.
 *
 * During the actions all signals stay blocked.
 * Errors: none.
 */
PSYS_API void aspawn_action_sigmask(struct aspawn_action *action, const void *set);
#define ASPAWN_SIGMASK(set) ASPAWN_MAKE(SIGMASK, sigmask, set)

/* Resets these signals to their default. Errors: none. */
PSYS_API void aspawn_action_signals_default(struct aspawn_action *action, const void *set);
#define ASPAWN_SIGNALS_DEFAULT(set) ASPAWN_MAKE(SIGNALS_DEFAULT, signals_default, set)

/* Ignores these signals. Errors: none. */
PSYS_API void aspawn_action_signals_ignore(struct aspawn_action *action, const void *set);
#define ASPAWN_SIGNALS_IGNORE(set) ASPAWN_MAKE(SIGNALS_IGNORE, signals_ignore, set)

/* Resets one signal to its default. Errors: EINVAL (SIGKILL, SIGSTOP). */
PSYS_API void aspawn_action_signal_default(struct aspawn_action *action, int signal);
#define ASPAWN_SIGNAL_DEFAULT(signal) ASPAWN_MAKE(SIGNAL_DEFAULT, signal_default, signal)

/* Ignores one signal. Errors: EINVAL (SIGKILL, SIGSTOP). */
PSYS_API void aspawn_action_signal_ignore(struct aspawn_action *action, int signal);
#define ASPAWN_SIGNAL_IGNORE(signal) ASPAWN_MAKE(SIGNAL_IGNORE, signal_ignore, signal)

/*
 * The program gets the signal when the thread that has started it ends; 0 means no signal. A change
 * of user clears the setting. ASPAWN_COMMAND_DIES_WITH_CALLER follows the process.
 *
 * This is PR_SET_PDEATHSIG of prctl(2). A private child gets the signal when its helper ends. The
 * exec of a set-user-ID program clears the setting too. Put this action after ASPAWN_USER.
 * Errors: ESRCH (the parent process has ended already).
 */
PSYS_API void aspawn_action_pdeathsig(struct aspawn_action *action, int signal);
#define ASPAWN_PDEATHSIG(signal) ASPAWN_MAKE(PDEATHSIG, pdeathsig, signal)

/* --- limits and scheduling ---------------------------------------------------------- */

/*
 * Sets a PSYS_RLIMIT_..., in the units of setrlimit(2); PSYS_RLIM64_INFINITY is no limit.
 *
 * Other limits are the caller's, even a RLIMIT_NOFILE that the caller has raised for itself: a
 * program that uses select(2) may need 1024.
 *
 * Details in C: A libc's RLIM_INFINITY may have only 32 bits.
 * Errors: EINVAL (invalid resource; soft is above hard), EPERM (hard is raised).
 */
PSYS_API void aspawn_action_rlimit(struct aspawn_action *action, int resource, uint64_t soft,
				   uint64_t hard);
#define ASPAWN_RLIMIT(resource, soft, hard) ASPAWN_MAKE(RLIMIT, rlimit, resource, soft, hard)

/*
 * Sets the nice value, from -20 to 19: setpriority(2).
 * Errors: EACCES (lower than RLIMIT_NICE allows).
 */
PSYS_API void aspawn_action_nice(struct aspawn_action *action, int value);
#define ASPAWN_NICE(value) ASPAWN_MAKE(NICE, nice, value)

/*
 * Sets PSYS_SCHED_... and a priority: sched_setscheduler(2).
 *
 * The priority is from 1 to 99 for FIFO and RR, otherwise 0.
 * Errors: EINVAL, EPERM.
 */
PSYS_API void aspawn_action_scheduler(struct aspawn_action *action, int policy, int priority);
#define ASPAWN_SCHEDULER(policy, priority) ASPAWN_MAKE(SCHEDULER, scheduler, policy, priority)

/*
 * Sets the processors that may be used: sched_setaffinity(2).
 *
 * The start fails with EINVAL if no processor is named.
 *
 * In C: mask may be a libc's cpu_set_t; size is in bytes, a multiple of sizeof(long) above 0.
 * Errors: EINVAL (none of these processors is allowed).
 */
PSYS_API void aspawn_action_affinity(struct aspawn_action *action, const void *mask, size_t size);
#define ASPAWN_AFFINITY(mask, size) ASPAWN_MAKE(AFFINITY, affinity, mask, size)

/* Sets class << PSYS_IOPRIO_CLASS_SHIFT | level: ioprio_set(2). Errors: EINVAL, EPERM. */
PSYS_API void aspawn_action_ioprio(struct aspawn_action *action, int value);
#define ASPAWN_IOPRIO(value) ASPAWN_MAKE(IOPRIO, ioprio, value)

/*
 * The higher, the sooner the OOM killer chooses the process: proc(5). [copy]
 *
 * The value is from -1000 (never) to 1000 (first): /proc/pid/oom_score_adj.
 * Errors: EACCES (lower than allowed), EINVAL (out of range), ENOENT (no /proc).
 */
PSYS_API void aspawn_action_oom_score_adj(struct aspawn_action *action, int value);
#define ASPAWN_OOM_SCORE_ADJ(value) ASPAWN_MAKE(OOM_SCORE_ADJ, oom_score_adj, value)

/* Sets the execution domain: personality(2). Errors: EINVAL. */
PSYS_API void aspawn_action_personality(struct aspawn_action *action, unsigned persona);
#define ASPAWN_PERSONALITY(persona) ASPAWN_MAKE(PERSONALITY, personality, persona)

/*
 * Joins the control group whose directory is open as fd: cgroups(7). [copy], unless the child
 * begins in the group: aspawn(7).
 *
 * The child begins in a group of version 2 (CLONE_INTO_CGROUP, Linux 5.7). The parent, a helper in
 * the caller's place, is suspended until the exec: a frozen group stops neither the caller nor a
 * queue, and the OOM killer of the group spares the caller. A full pids.max fails the clone, with
 * EAGAIN.
 * Errors: EBADF, ENOENT and ENOTDIR (not a control group), EACCES, EBUSY, ENODEV, EOPNOTSUPP.
 */
PSYS_API void aspawn_action_join_cgroup(struct aspawn_action *action, int fd);
#define ASPAWN_JOIN_CGROUP(fd) ASPAWN_MAKE(JOIN_CGROUP, join_cgroup, fd)

/*
 * Begins in a control group of its own, made below the group of version 2 whose directory is open
 * as parent_fd: cgroups(7). memory_max is bytes; pids_max counts processes and threads; cpu_max is
 * microseconds in each 100 ms, 1000 or more; 0 is no limit. Requires ASPAWN_OWNER_TREE. [copy],
 * unless the child can begin in the group: aspawn(7).
 *
 * Behind an action that replaces parent_fd, or a function that runs in the child, the action fails
 * with EINVAL.
 *
 * memory_max is without swap, cpu_max of all processors together. PSYS_RLIM64_INFINITY is no limit
 * either; the controller of each other limit must be in the parent's cgroup.subtree_control. For
 * other limits make a group yourself, and join it. If the OOM killer has ended the program, the
 * outcome is ASPAWN_OUTCOME_OUT_OF_MEMORY. Where there may be no groups, start again without the
 * action if the failure has its kind.
 *
 * The tree's helper makes the group, "aspawn-PID-N" with its number, before the clone of the child;
 * the caller does not wait for this. A wait for the tree returns when the group is removed. The
 * group stays if something is left inside: survivors, processes that were released, or groups that
 * the program made below; and if the helper was killed. The start fails with EINVAL if the owner is
 * another, or the command joins another group too.
 *
 * The failure names the controller's file, the call (mkdir, open) or the descriptor. ENOENT for
 * another than the file means that parent_fd is not a control group of version 2.
 * Errors: those of ASPAWN_JOIN_CGROUP, ENOENT (a limit's file: its controller is not in
 * cgroup.subtree_control), EAGAIN (cgroup.max.descendants), EINVAL (cpu_max is below 1000), EACCES,
 * EPERM, EROFS.
 */
PSYS_API void aspawn_action_new_cgroup(struct aspawn_action *action, int parent_fd,
				       uint64_t memory_max, uint64_t pids_max, uint64_t cpu_max);
#define ASPAWN_NEW_CGROUP(parent_fd, memory_max, pids_max, cpu_max) \
	ASPAWN_MAKE(NEW_CGROUP, new_cgroup, parent_fd, memory_max, pids_max, cpu_max)

/* --- credentials and sandboxes -------------------------------------------------------- */

/*
 * Becomes the user for good: sets the groups, group IDs and user IDs. [copy] An empty list leaves
 * no supplementary group. HOME, USER and PATH stay what they were.
 *
 * All three IDs are set, first those of the group: credentials(7). The process loses the
 * capabilities of root. The groups replace the caller's: getgrouplist(3). For another user set the
 * command's environment, or begin with ASPAWN_CLEARENV() and set HOME, USER and PATH. If the user
 * has too many processes for RLIMIT_NPROC, the exec fails with EAGAIN. The start fails with EINVAL
 * if an ID is -1, which is 4294967295 without a sign.
 *
 * Details in C: Users and groups are the libc's uid_t and gid_t.
 * Errors: EPERM (also: an ambient capability would be lost that ASPAWN_CAP_AMBIENT has added),
 * EINVAL (not mapped in this user namespace; too many groups), EAGAIN.
 */
PSYS_API void aspawn_action_user(struct aspawn_action *action, unsigned uid, unsigned gid,
				 const unsigned *groups, size_t count);
#define ASPAWN_USER(uid, gid, groups, count) ASPAWN_MAKE(USER, user, uid, gid, groups, count)

/* Sets the user IDs: setresuid(2). -1 leaves an ID as it is. [copy]
 *
 * -1 is 4294967295 without a sign.
 * Errors: EPERM (also as of ASPAWN_USER()), EINVAL, EAGAIN. */
PSYS_API void aspawn_action_resuid(struct aspawn_action *action, unsigned real, unsigned effective,
				   unsigned saved);
#define ASPAWN_RESUID(real, effective, saved) ASPAWN_MAKE(RESUID, resuid, real, effective, saved)

/* Sets the group IDs: setresgid(2). -1 leaves an ID as it is. [copy]
 *
 * -1 is 4294967295 without a sign.
 * Errors: EPERM, EINVAL. */
PSYS_API void aspawn_action_resgid(struct aspawn_action *action, unsigned real, unsigned effective,
				   unsigned saved);
#define ASPAWN_RESGID(real, effective, saved) ASPAWN_MAKE(RESGID, resgid, real, effective, saved)

/* Sets the supplementary groups: setgroups(2). Errors: EPERM, EINVAL. */
PSYS_API void aspawn_action_groups(struct aspawn_action *action, const unsigned *groups,
				   size_t count);
#define ASPAWN_GROUPS(list, count) ASPAWN_MAKE(GROUPS, groups, list, count)

/* This means all capabilities, for ASPAWN_CAP_DROP. */
#define ASPAWN_CAP_ALL (-1)

/*
 * Removes PSYS_CAP_... from the bounding set: prctl(2). ASPAWN_CAP_ALL empties the bounding,
 * inheritable and ambient sets: the program has no capability, even as root.
 *
 * This is PR_CAPBSET_DROP. Later actions have the caller's capabilities.
 * Errors: EPERM, EINVAL (no such capability).
 */
PSYS_API void aspawn_action_cap_drop(struct aspawn_action *action, int capability);
#define ASPAWN_CAP_DROP(capability) ASPAWN_MAKE(CAP_DROP, cap_drop, capability)

/*
 * Adds a capability of the process to the inheritable and ambient sets: the program keeps the
 * capability.
 *
 * This is PR_CAP_AMBIENT of prctl(2), Linux 4.3. For another user it comes after ASPAWN_USER(), and
 * PR_SET_KEEPCAPS before: a change of the user clears the ambient set.
 * Errors: EPERM (the process does not have the capability), EINVAL.
 */
PSYS_API void aspawn_action_cap_ambient(struct aspawn_action *action, int capability);
#define ASPAWN_CAP_AMBIENT(capability) ASPAWN_MAKE(CAP_AMBIENT, cap_ambient, capability)

/* Sets PSYS_SECBIT_...: capabilities(7). Errors: EPERM. */
PSYS_API void aspawn_action_securebits(struct aspawn_action *action, unsigned bits);
#define ASPAWN_SECUREBITS(bits) ASPAWN_MAKE(SECUREBITS, securebits, bits)

/*
 * No exec grants privileges any more: prctl(2).
 *
 * This is PR_SET_NO_NEW_PRIVS.
 * Errors: none.
 */
PSYS_API void aspawn_action_no_new_privs(struct aspawn_action *action);
#define ASPAWN_NO_NEW_PRIVS() ASPAWN_MAKE_PLAIN(NO_NEW_PRIVS, no_new_privs)

/*
 * Installs a filter, after ASPAWN_NO_NEW_PRIVS() or with CAP_SYS_ADMIN: seccomp(2). The filter must
 * allow write, rt_sigprocmask, exit_group, execve, and what later actions call.
 *
 * The start fails with EINVAL if the filter has more than 65535 instructions. Later actions, the
 * library's report to the parent, and the exec run under it. A filter that kills the child at
 * another call, after the exec has failed, costs the explanation alone.
 *
 * In C: An instruction is a struct psys_sock_filter or the kernel's struct sock_filter.
 * Errors: EACCES, EINVAL, ENOMEM, ENOSYS.
 */
PSYS_API void aspawn_action_seccomp(struct aspawn_action *action, const void *filter, size_t count);
#define ASPAWN_SECCOMP(filter, count) ASPAWN_MAKE(SECCOMP, seccomp, filter, count)

/*
 * Restricts later actions, the exec and the program, after ASPAWN_NO_NEW_PRIVS() or with
 * CAP_SYS_ADMIN: landlock_restrict_self(2), Linux 5.13.
 *
 * flags is 0, or PSYS_LANDLOCK_RESTRICT_SELF_....
 * Without PSYS_LANDLOCK_RESTRICT_SELF_LOG_NEW_EXEC_ON the audit log has no denials of the program.
 * landlock(7) says which kernel has which flags; those for the log need Linux 6.15.
 *
 * Details in C: ASPAWN_SYSCALL sets flags without a ruleset.
 * Errors: EBADF, EBADFD (not a ruleset), EINVAL (flags that this kernel does not know), EPERM,
 * E2BIG, ENOSYS, EOPNOTSUPP.
 */
PSYS_API void aspawn_action_landlock(struct aspawn_action *action, int ruleset_fd, unsigned flags);
#define ASPAWN_LANDLOCK(ruleset_fd, flags) ASPAWN_MAKE(LANDLOCK, landlock, ruleset_fd, flags)

/* --- roots, namespaces, mounts ---------------------------------------------------------- */

/* Changes the root: chroot(2). ASPAWN_CHDIR("/") usually follows.
 * Errors: EPERM, ENOENT, ENOTDIR, EACCES. */
PSYS_API void aspawn_action_chroot(struct aspawn_action *action, const char *path);
#define ASPAWN_CHROOT(path) ASPAWN_MAKE(CHROOT, chroot, path)

/*
 * Changes the root mount: pivot_root(2).
 *
 * The child needs a mount namespace of its own.
 * Errors: EPERM, EINVAL, EBUSY, ENOENT, ENOTDIR.
 */
PSYS_API void aspawn_action_pivot_root(struct aspawn_action *action, const char *new_root,
				       const char *put_old);
#define ASPAWN_PIVOT_ROOT(new_root, put_old) ASPAWN_MAKE(PIVOT_ROOT, pivot_root, new_root, put_old)

/* Makes new namespaces, PSYS_CLONE_NEW...: unshare(2). Errors: EPERM, EINVAL, ENOSPC,
 * ENOMEM, EUSERS. */
PSYS_API void aspawn_action_unshare(struct aspawn_action *action, uint64_t flags);
#define ASPAWN_UNSHARE(flags) ASPAWN_MAKE(UNSHARE, unshare, flags)

/*
 * Enters namespaces: setns(2). [copy] if type is 0 or contains PSYS_CLONE_NEWUSER or
 * PSYS_CLONE_NEWTIME.
 *
 * fd is a namespace or a pidfd; type is one PSYS_CLONE_NEW..., several for a pidfd, or 0 for any.
 * Errors: EBADF, EINVAL, EPERM, ESRCH.
 */
PSYS_API void aspawn_action_setns(struct aspawn_action *action, int fd, int type);
#define ASPAWN_SETNS(fd, type) ASPAWN_MAKE(SETNS, setns, fd, type)

/*
 * Mounts, or changes a mount: mount(2). Only target is needed.
 *
 * In C: The other strings may be NULL.
 * Errors: EPERM, EINVAL, ENODEV, ENOENT, ENOTDIR, EBUSY and errors of the file system.
 */
PSYS_API void aspawn_action_mount(struct aspawn_action *action, const char *source,
				  const char *target, const char *type, uint64_t flags,
				  const char *options);
#define ASPAWN_MOUNT(source, target, type, flags, options) \
	ASPAWN_MAKE(MOUNT, mount, source, target, type, flags, options)

/* Sets the host name: sethostname(2).
 *
 * Without ASPAWN_UNSHARE this is usually the name of the whole machine.
 * Errors: EPERM, EINVAL (longer than 64 bytes). */
PSYS_API void aspawn_action_hostname(struct aspawn_action *action, const char *name);
#define ASPAWN_HOSTNAME(name) ASPAWN_MAKE(HOSTNAME, hostname, name)

/* --- anything else ------------------------------------------------------------------------ */

/*
 * Writes to an existing file of /proc, /sys or a control group, by one write. [copy] if the path is
 * relative, may lead into /proc or through a descriptor, or has the name of a file that changes or
 * moves memory, such as oom_score_adj or cgroup.procs.
 *
 * Files of the task alone, such as /proc/self/uid_map, and files of /proc/sys are written on shared
 * memory. The task's alone are comm, timerslack_ns, autogroup, uid_map, gid_map, projid_map,
 * setgroups, loginuid, timens_offsets and attr/. If another path turns out to lead into /proc, by a
 * symbolic link or a mount, the action fails: name the file itself, or use ASPAWN_MEMORY_COPIED.
 * Errors: those of open(2) and write(2), EIO (only a part was written), EXDEV (the path leads into
 * /proc under another name).
 */
PSYS_API void aspawn_action_write(struct aspawn_action *action, const char *path, const char *text);
#define ASPAWN_WRITE(path, text) ASPAWN_MAKE(WRITE, write, path, text)

/*
 * Calls function(arg) in the child, with 16 KiB of stack. Declare the function with ASPAWN_CHILD,
 * and follow the rules of aspawn(3). It returns 0 or a negative error number, without exec or exit.
 * What arg points to must stay valid until aspawn_wait_started() has returned 0 or -ECANCELED.
 * Errors: what the function returns.
 */
PSYS_API void aspawn_action_call(struct aspawn_action *action, aspawn_call function, void *arg);
#define ASPAWN_CALL(function, arg) ASPAWN_MAKE(CALL, call, function, arg)

/* --- any system call ----------------------------------------------------------------------
 *
 * These are [copy], unless doc/syscalls.md marks the call as shared, or as shared with this
 * argument. For a refused call aspawn_start() fails with -EOPNOTSUPP.
 *
 * Refused is what ends or replaces the child (exit, execve), makes another (clone), or changes what
 * is the library's (ASPAWN_CLOSE, ASPAWN_DUP2 and ASPAWN_SIGMASK do that); on x86_64 also the
 * numbers of x32, and the other way round. The exec undoes what other calls do to memory, handlers
 * of signals and timers: execve(2) has the list. "Errors" also are EIO, for another result than the
 * expected one. aspawn_failure_name() is "prctl", "ioctl" and so on; of other calls "syscall", with
 * the number as the subject. */

/*
 * These marks say how ASPAWN_SYSCALL passes the argument at a place, from 0 to 5. An argument
 * without a mark is a number: a pointer would point to the child's memory, which may be another.
 *
 * ASPAWN_ARG_STRING  a pointer to a string, which is copied with its NUL
 * ASPAWN_ARG_BYTES   a pointer to bytes, which are copied; one for each action. What the call
 *                    stores there is lost. size is at most 1000000; 0: a number
 * ASPAWN_ARG_FD      a descriptor of the caller's; one for each action. Put an ASPAWN_DUP2(fd, fd)
 *                    before an action that uses a second one
 */
#define ASPAWN_ARG_STRING(place) (1U << (place))
#define ASPAWN_ARG_FD(place) (((place) + 1U) << 6)
#define ASPAWN_ARG_BYTES(place, size)                          \
	((size) >= 1U << 20 ? 7U << 9 : /* which is invalid */ \
			      ((size) != 0) * (((place) + 1U) << 9) | (unsigned)(size) << 12)

/* Instead of one result, 0 or a negative error number, ASPAWN_SYSCALL may expect: */
enum aspawn_expected {
	ASPAWN_EXPECTED_ANY = -2147483647,        /* an error is ignored */
	ASPAWN_EXPECTED_SUCCESS = -2147483647 - 1 /* any but an error */
};

/*
 * Makes the system call PSYS_NR_...: syscalls(2). marks has ASPAWN_ARG_STRING(place),
 * ASPAWN_ARG_BYTES(place, size) or ASPAWN_ARG_FD(place) for each of the six arguments that is no
 * number. expected is the only good result, ASPAWN_EXPECTED_SUCCESS, or ASPAWN_EXPECTED_ANY to
 * ignore errors.
 *
 * Numbers are those of syscall/syscall.h, or SYS_... of the libc: they depend on the architecture.
 * Arguments are numbers or pointers of a long's size. On 32-bit architectures an argument of 64
 * bits is two, in the order and at the places that syscall(2) describes; x32 and mips n32 have one
 * register for 64 bits, and cannot pass such an argument. What a structure points to is not copied.
 * Errors: those of the call.
 */
PSYS_API void aspawn_action_syscall(struct aspawn_action *action, int number, int64_t a1,
				    int64_t a2, int64_t a3, int64_t a4, int64_t a5, int64_t a6,
				    unsigned marks, int expected);
#define ASPAWN_SYSCALL(number, a1, a2, a3, a4, a5, a6, marks, expected) \
	ASPAWN_MAKE_CALL(SYSCALL, number, a1, a2, a3, a4, a5, a6, marks, expected)

/* Changes an attribute of the process: prctl(2). Errors: EINVAL, EPERM and others. */
PSYS_API void aspawn_action_prctl(struct aspawn_action *action, int option, int64_t arg2,
				  int64_t arg3, int64_t arg4, int64_t arg5);
#define ASPAWN_PRCTL(option, arg2, arg3, arg4, arg5)                         \
	ASPAWN_SYSCALL(PSYS_NR_prctl, option, arg2, arg3, arg4, arg5, 0, 0U, \
		       ASPAWN_EXPECTED_SUCCESS)

/*
 * Controls the device fd: ioctl(2). What the request stores is lost.
 *
 * In C: data points to size bytes; if size is 0, data is a number.
 *
 * Details in C: the function takes the number as a pointer.
 * Errors: those of the request; EBADF, ENOTTY.
 */
PSYS_API void aspawn_action_ioctl(struct aspawn_action *action, int fd, unsigned request,
				  const void *data, size_t size);
#define ASPAWN_IOCTL(fd, request, data, size)                     \
	ASPAWN_SYSCALL(PSYS_NR_ioctl, fd, request, data, 0, 0, 0, \
		       ASPAWN_ARG_FD(0) | ASPAWN_ARG_BYTES(2, size), ASPAWN_EXPECTED_SUCCESS)

/* Changes the descriptor fd, or what it refers to: fcntl(2). Errors: EBADF, EINVAL,
 * EPERM, EBUSY. */
PSYS_API void aspawn_action_fcntl(struct aspawn_action *action, int fd, int command, int64_t value);
#define ASPAWN_FCNTL(fd, command, value)                                             \
	ASPAWN_SYSCALL(PSYS_NR_fcntl, fd, command, value, 0, 0, 0, ASPAWN_ARG_FD(0), \
		       ASPAWN_EXPECTED_SUCCESS)

/*
 * Sets policy and parameters of scheduling: sched_setattr(2), Linux 3.14.
 *
 * The structure is the kernel's struct sched_attr, which begins with its own length.
 *
 * In C: data is a struct psys_sched_attr, or the kernel's struct sched_attr.
 * Errors: EINVAL, EPERM, E2BIG, EBUSY.
 */
PSYS_API void aspawn_action_sched_setattr(struct aspawn_action *action, const void *data,
					  size_t size);
#define ASPAWN_SCHED_SETATTR(data, size)                                                      \
	ASPAWN_SYSCALL(PSYS_NR_sched_setattr, 0, data, 0, 0, 0, 0, ASPAWN_ARG_BYTES(1, size), \
		       ASPAWN_EXPECTED_SUCCESS)

/*
 * Sets the NUMA memory policy for these nodes: set_mempolicy(2). The program inherits it.
 *
 * In C: nodes is a mask; size is in bytes, a multiple of sizeof(long), or 0 for no nodes.
 * Errors: EINVAL, ENOSYS.
 */
PSYS_API void aspawn_action_set_mempolicy(struct aspawn_action *action, int mode, const void *nodes,
					  size_t size);
#define ASPAWN_SET_MEMPOLICY(mode, nodes, size)                                            \
	ASPAWN_SYSCALL(PSYS_NR_set_mempolicy, mode, (size) == 0 ? 0 : ASPAWN_WORD(nodes),  \
		       (size) == 0 ? 0 : (size)*8 + 1, 0, 0, 0, ASPAWN_ARG_BYTES(1, size), \
		       ASPAWN_EXPECTED_SUCCESS)

/*
 * Manages keys and keyrings: keyctl(2).
 *
 * Operation 1, with 0 for the rest, makes a session keyring without a name.
 *
 * Details in C: The operations are PSYS_KEYCTL_.... A name is a string:
 * ASPAWN_SYSCALL(PSYS_NR_keyctl, ...). Errors: ENOSYS, EACCES, ENOKEY, EDQUOT, EINVAL, EPERM.
 */
PSYS_API void aspawn_action_keyctl(struct aspawn_action *action, int operation, int64_t arg2,
				   int64_t arg3, int64_t arg4, int64_t arg5);
#define ASPAWN_KEYCTL(operation, arg2, arg3, arg4, arg5)                         \
	ASPAWN_SYSCALL(PSYS_NR_keyctl, operation, arg2, arg3, arg4, arg5, 0, 0U, \
		       ASPAWN_EXPECTED_SUCCESS)

#ifdef __cplusplus
}

/* Internal: makes an action by its function, with the types of that function's parameters. */
template <typename Type> struct aspawn_exactly {
	typedef Type type;
};
template <typename... Types>
inline aspawn_action aspawn_made(void (*make)(aspawn_action *, Types...),
				 typename aspawn_exactly<Types>::type... arguments)
{
	aspawn_action action;

	make(&action, arguments...);
	return action;
}
#endif

#endif
