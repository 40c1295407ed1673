/*
 * Commands: what happens between clone and exec, as data.
 *
 * A command names a program and, in an array of actions, what its process does
 * before: these descriptors, this directory, this group, these limits.
 * aspawn_command() starts it and returns at once; aspawn_started() tells whether
 * it execs, or which action failed and why; aspawn_wait() and aspawn_kill() are
 * for the rest of its life; aspawn_run() is all of that in one call.
 *
 * Every function here is async-signal-safe and thread-safe, uses no heap, and
 * returns a negative error number on failure. A child belongs to one thread at a
 * time. aspawn_command(3) lists the actions with their errors.
 */
#ifndef ASPAWN_COMMAND_H
#define ASPAWN_COMMAND_H

#include <aspawn/aspawn.h>
#include <syscall/file.h>
#include <syscall/process.h>
#include <syscall/security.h>
#include <syscall/signal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function of the caller's among the actions: 0, or a negative error number.
 * It follows the rules of ASPAWN_CHILD, and does not exec or exit. */
typedef int (*aspawn_call)(void *arg);

enum aspawn_action_kind {
	ASPAWN_ACTION_DUP2 = 1,
	ASPAWN_ACTION_OPEN,
	ASPAWN_ACTION_OPENAT2,
	ASPAWN_ACTION_PIPE,
	ASPAWN_ACTION_CLOSE,
	ASPAWN_ACTION_CLOSEFROM,
	ASPAWN_ACTION_CLOEXEC_FROM,
	ASPAWN_ACTION_CHDIR,
	ASPAWN_ACTION_FCHDIR,
	ASPAWN_ACTION_CHROOT,
	ASPAWN_ACTION_PIVOT_ROOT,
	ASPAWN_ACTION_SETSID,
	ASPAWN_ACTION_SETPGID,
	ASPAWN_ACTION_CONTROLLING_TERMINAL,
	ASPAWN_ACTION_FOREGROUND,
	ASPAWN_ACTION_SIGMASK,
	ASPAWN_ACTION_SIGNALS_DEFAULT,
	ASPAWN_ACTION_SIGNALS_IGNORE,
	ASPAWN_ACTION_UMASK,
	ASPAWN_ACTION_RLIMIT,
	ASPAWN_ACTION_NICE,
	ASPAWN_ACTION_SCHEDULER,
	ASPAWN_ACTION_AFFINITY,
	ASPAWN_ACTION_IOPRIO,
	ASPAWN_ACTION_RESUID,
	ASPAWN_ACTION_RESGID,
	ASPAWN_ACTION_GROUPS,
	ASPAWN_ACTION_USER,
	ASPAWN_ACTION_CAP_DROP,
	ASPAWN_ACTION_CAP_AMBIENT,
	ASPAWN_ACTION_SECUREBITS,
	ASPAWN_ACTION_NO_NEW_PRIVS,
	ASPAWN_ACTION_SECCOMP,
	ASPAWN_ACTION_LANDLOCK,
	ASPAWN_ACTION_PDEATHSIG,
	ASPAWN_ACTION_UNSHARE,
	ASPAWN_ACTION_SETNS,
	ASPAWN_ACTION_MOUNT,
	ASPAWN_ACTION_HOSTNAME,
	ASPAWN_ACTION_JOIN_CGROUP,
	ASPAWN_ACTION_OOM_SCORE_ADJ,
	ASPAWN_ACTION_WRITE,
	ASPAWN_ACTION_PERSONALITY,
	ASPAWN_ACTION_CALL,
};

/* Made by the macros below; what a member means depends on the kind. */
struct aspawn_action {
	int kind;
	int a, b, c;
	uint64_t u, v;
	const void *data; /* so many bytes; where size is 0, a text */
	size_t size;
	const char *text[3];
	void *pointer;
	aspawn_call call;
};

#define ASPAWN_ACTION_OF(kind, a, b, c, u, v, data, size, text)                              \
	{ ASPAWN_ACTION_##kind, (int)(a), (int)(b), (int)(c), (uint64_t)(u), (uint64_t)(v),  \
	  data, size, { text, NULL, NULL }, NULL, NULL }
#define ASPAWN_ACTION_INT(kind, a, b, c, u, v) ASPAWN_ACTION_OF(kind, a, b, c, u, v, NULL, 0, NULL)

/* --- descriptors -------------------------------------------------------- */

/* dup2(from, to). Of equal ones: the descriptor stays open in the program. */
#define ASPAWN_DUP2(from, to) ASPAWN_ACTION_INT(DUP2, from, to, 0, 0, 0)
/* Opens path (openat(2)), as descriptor fd of the program. */
#define ASPAWN_OPEN(fd, path, flags, mode) \
	ASPAWN_OPENAT(fd, PSYS_AT_FDCWD, path, flags, mode)
#define ASPAWN_OPENAT(fd, dirfd, path, flags, mode) \
	ASPAWN_ACTION_OF(OPEN, fd, dirfd, flags, mode, 0, path, 0, NULL)
/* The same by openat2(2), with its resolve flags. Linux 5.6. */
#define ASPAWN_OPENAT2(fd, dirfd, path, flags, mode, resolve) \
	ASPAWN_ACTION_OF(OPENAT2, fd, dirfd, flags, mode, resolve, path, 0, NULL)
#define ASPAWN_DEV_NULL(fd) ASPAWN_OPEN(fd, "/dev/null", PSYS_O_RDWR, 0)
/*
 * A new pipe: the program has an end as its descriptor fd, the caller the other,
 * CLOEXEC, in *end, which is untouched if aspawn_command() fails.
 */
#define ASPAWN_PIPE_FROM(fd, read_end) \
	{ ASPAWN_ACTION_PIPE, (int)(fd), 1, 0, 0, 0, NULL, 0, { NULL, NULL, NULL }, read_end, NULL }
#define ASPAWN_PIPE_TO(fd, write_end) \
	{ ASPAWN_ACTION_PIPE, (int)(fd), 0, 0, 0, 0, NULL, 0, { NULL, NULL, NULL }, write_end, NULL }
/* Closes fd. One that is not open is no error. */
#define ASPAWN_CLOSE(fd) ASPAWN_ACTION_INT(CLOSE, fd, 0, 0, 0, 0)
/*
 * Closes all from first up.
 *
 * The cost does not depend on how many descriptors the caller has: the child
 * begins with its parent's table, and the first thing it does is to take a copy
 * that ends above the descriptors that actions before this one name
 * (close_range(2), Linux 5.9), or of all if one has a path that may lead to a descriptor,
 * as /proc, /dev/stdin or fd/9. Prefer low numbers. If an earlier ASPAWN_CALL needs a
 * descriptor, keep it with ASPAWN_DUP2(fd, fd); for a symbolic link of another name to
 * /proc/self/fd there is ASPAWN_COMMAND_COPY_DESCRIPTORS.
 * aspawn_command() does not return before the child has that copy. If the child is stopped
 * before, it waits with the caller's signal mask; with ASPAWN_COMMAND_VFORK only SIGKILL
 * ends that wait.
 */
#define ASPAWN_CLOSEFROM(first) ASPAWN_ACTION_INT(CLOSEFROM, first, 0, 0, 0, 0)
/* Those from first up are closed by the exec, and no sooner. */
#define ASPAWN_CLOEXEC_FROM(first) ASPAWN_ACTION_INT(CLOEXEC_FROM, first, 0, 0, 0, 0)

/* --- directories and mounts --------------------------------------------- */

#define ASPAWN_CHDIR(path) ASPAWN_ACTION_OF(CHDIR, 0, 0, 0, 0, 0, path, 0, NULL)
#define ASPAWN_FCHDIR(fd) ASPAWN_ACTION_INT(FCHDIR, fd, 0, 0, 0, 0)
#define ASPAWN_CHROOT(path) ASPAWN_ACTION_OF(CHROOT, 0, 0, 0, 0, 0, path, 0, NULL)
#define ASPAWN_PIVOT_ROOT(new_root, put_old) \
	ASPAWN_ACTION_OF(PIVOT_ROOT, 0, 0, 0, 0, 0, new_root, 0, put_old)
/* mount(2): source, type and options may be NULL. */
#define ASPAWN_MOUNT(source, target, type, flags, options)                        \
	{ ASPAWN_ACTION_MOUNT, 0, 0, 0, (uint64_t)(flags), 0, target, 0,         \
	  { source, type, options }, NULL, NULL }
#define ASPAWN_UNSHARE(flags) ASPAWN_ACTION_INT(UNSHARE, 0, 0, 0, flags, 0)
/* [copy], below, if type is 0 or has PSYS_CLONE_NEWUSER or PSYS_CLONE_NEWTIME. */
#define ASPAWN_SETNS(fd, type) ASPAWN_ACTION_INT(SETNS, fd, type, 0, 0, 0)
#define ASPAWN_HOSTNAME(name) ASPAWN_ACTION_OF(HOSTNAME, 0, 0, 0, 0, 0, name, 0, NULL)
#define ASPAWN_UMASK(mask) ASPAWN_ACTION_INT(UMASK, mask, 0, 0, 0, 0)

/* --- sessions, groups and terminals ------------------------------------- */

#define ASPAWN_SETSID() ASPAWN_ACTION_INT(SETSID, 0, 0, 0, 0, 0)
/* 0: a group of its own */
#define ASPAWN_SETPGID(pgid) ASPAWN_ACTION_INT(SETPGID, pgid, 0, 0, 0, 0)
/* After ASPAWN_SETSID(): the terminal fd is the session's (TIOCSCTTY). */
#define ASPAWN_CONTROLLING_TERMINAL(fd) ASPAWN_ACTION_INT(CONTROLLING_TERMINAL, fd, 0, 0, 0, 0)
/* The process's group is the foreground one of the terminal fd (tcsetpgrp). */
#define ASPAWN_FOREGROUND(fd) ASPAWN_ACTION_INT(FOREGROUND, fd, 0, 0, 0, 0)

/* --- signals ------------------------------------------------------------- */

/* const struct psys_sigset *. Without: the mask of the thread that calls. */
#define ASPAWN_SIGMASK(set) ASPAWN_ACTION_OF(SIGMASK, 0, 0, 0, 0, 0, set, PSYS_SIGSET_SIZE, NULL)
/* What has a handler is always reset; these also if they are ignored. */
#define ASPAWN_SIGNALS_DEFAULT(set) \
	ASPAWN_ACTION_OF(SIGNALS_DEFAULT, 0, 0, 0, 0, 0, set, PSYS_SIGSET_SIZE, NULL)
#define ASPAWN_SIGNALS_IGNORE(set) \
	ASPAWN_ACTION_OF(SIGNALS_IGNORE, 0, 0, 0, 0, 0, set, PSYS_SIGSET_SIZE, NULL)
/*
 * The signal when the parent dies (PR_SET_PDEATHSIG), which the kernel sends
 * when the thread that called aspawn_command() ends, and forgets when the user
 * changes: put it behind ASPAWN_USER. A parent whose last thread has ended before is
 * an error of this action, ESRCH; that only the thread has is not known.
 */
#define ASPAWN_PDEATHSIG(signal) ASPAWN_ACTION_INT(PDEATHSIG, signal, 0, 0, 0, 0)

/* --- limits and scheduling ----------------------------------------------- */

#define ASPAWN_RLIMIT(resource, soft, hard) ASPAWN_ACTION_INT(RLIMIT, resource, 0, 0, soft, hard)
#define ASPAWN_NICE(value) ASPAWN_ACTION_INT(NICE, value, 0, 0, 0, 0)
#define ASPAWN_SCHEDULER(policy, priority) ASPAWN_ACTION_INT(SCHEDULER, policy, priority, 0, 0, 0)
/* A mask of so many bytes, a multiple of a long's. */
#define ASPAWN_AFFINITY(mask, size) ASPAWN_ACTION_OF(AFFINITY, 0, 0, 0, 0, 0, mask, size, NULL)
/* class << PSYS_IOPRIO_CLASS_SHIFT | level */
#define ASPAWN_IOPRIO(value) ASPAWN_ACTION_INT(IOPRIO, value, 0, 0, 0, 0)
/* From -1000 to 1000. [copy] */
#define ASPAWN_OOM_SCORE_ADJ(value) ASPAWN_ACTION_INT(OOM_SCORE_ADJ, value, 0, 0, 0, 0)
#define ASPAWN_PERSONALITY(persona) ASPAWN_ACTION_INT(PERSONALITY, 0, 0, 0, persona, 0)
/*
 * The control group (version 2) whose directory fd is: the child begins in it
 * (CLONE_INTO_CGROUP), or writes to its cgroup.procs where that is not possible. [copy]
 * The OOM killer ends every process that shares the memory of its victim, the caller too.
 * Never under CLONE_VFORK: a frozen group would suspend the caller for good.
 */
#define ASPAWN_JOIN_CGROUP(fd) ASPAWN_ACTION_INT(JOIN_CGROUP, fd, 0, 0, 0, 0)

/* --- credentials ----------------------------------------------------------
 *
 * [copy] These change state of the shared memory (dumpable, oom_score_adj, who the OOM
 * killer ends), or would run with new credentials on memory that the parent can write.
 * A command that has one of them begins in a copy of the memory, at fork(2)'s cost. */

/* As setresuid(2), setresgid(2): -1 leaves one as it is. [copy] */
#define ASPAWN_RESUID(real, effective, saved) ASPAWN_ACTION_INT(RESUID, real, effective, saved, 0, 0)
#define ASPAWN_RESGID(real, effective, saved) ASPAWN_ACTION_INT(RESGID, real, effective, saved, 0, 0)
/* const unsigned groups[count]. count 0: none. */
#define ASPAWN_GROUPS(groups, count) \
	ASPAWN_ACTION_OF(GROUPS, 0, 0, 0, count, 0, groups, (count) * sizeof(unsigned), NULL)
/* Groups, group, user, in this order, and for good; neither may be -1. [copy] */
#define ASPAWN_USER(uid, gid, groups, count) \
	ASPAWN_ACTION_OF(USER, uid, gid, 0, count, 0, groups, (count) * sizeof(unsigned), NULL)
/* Out of the bounding set. */
#define ASPAWN_CAP_DROP(capability) ASPAWN_ACTION_INT(CAP_DROP, capability, 0, 0, 0, 0)
/* Into the inheritable and the ambient set: the program has it, if the child does. */
#define ASPAWN_CAP_AMBIENT(capability) ASPAWN_ACTION_INT(CAP_AMBIENT, capability, 0, 0, 0, 0)
#define ASPAWN_SECUREBITS(bits) ASPAWN_ACTION_INT(SECUREBITS, 0, 0, 0, bits, 0)
#define ASPAWN_NO_NEW_PRIVS() ASPAWN_ACTION_INT(NO_NEW_PRIVS, 0, 0, 0, 0, 0)
/* const struct psys_sock_filter filter[count]. Actions behind it, and the exec,
 * are made under it. */
#define ASPAWN_SECCOMP(filter, count)                                    \
	ASPAWN_ACTION_OF(SECCOMP, 0, 0, 0, count, 0, filter,             \
			 (count) * sizeof(struct psys_sock_filter), NULL)
#define ASPAWN_LANDLOCK(ruleset_fd) ASPAWN_ACTION_INT(LANDLOCK, ruleset_fd, 0, 0, 0, 0)

/* --- anything else -------------------------------------------------------- */

/* Writes the text to the file path, which exists, in one write(2). Not to what concerns
 * the memory, which is the parent's too: oom_score_adj, the cgroup.procs of a group with
 * a limit of memory. */
#define ASPAWN_WRITE(path, text) ASPAWN_ACTION_OF(WRITE, 0, 0, 0, 0, 0, path, 0, text)
/* Calls function(arg), which has 16 KiB of stack. What arg points to is not copied. It
 * must not join a cgroup with a limit of memory: the OOM killer would end the parent too. */
#define ASPAWN_CALL(function, arg) \
	{ ASPAWN_ACTION_CALL, 0, 0, 0, 0, 0, NULL, 0, { NULL, NULL, NULL }, arg, function }

/* --- a command ------------------------------------------------------------ */

/* aspawn_child.fd is a descriptor to poll for the start. */
#define ASPAWN_COMMAND_POLL UINT64_C(1)
/* A file that the kernel cannot execute (ENOEXEC) is given to /bin/sh. */
#define ASPAWN_COMMAND_SHELL UINT64_C(2)
/* A relative file or search path is the parent's, not of the directory that the
 * actions have gone to. Of no use with a new root. */
#define ASPAWN_COMMAND_PARENT_DIRECTORY UINT64_C(4)
/* No thread opens, closes or duplicates a descriptor until aspawn_started()
 * has answered: with ASPAWN_CLOSEFROM the call need not wait for the child. */
#define ASPAWN_COMMAND_STILL UINT64_C(8)
/* As ASPAWN_VFORK: suspend the caller until the exec, except with [copy] actions. argv and
 * envp, however long, are not copied then, except for ASPAWN_COMMAND_SHELL. A caller whose
 * child is stopped or frozen meanwhile can only be killed. */
#define ASPAWN_COMMAND_VFORK UINT64_C(16)
/* aspawn_child.pidfd is -1: for callers that wait by pid, or may be out of descriptors. */
#define ASPAWN_COMMAND_NO_PIDFD UINT64_C(32)
/* The child begins in a copy of the memory, as by fork(2), at its cost: what an
 * ASPAWN_CALL stores does not reach the caller. */
#define ASPAWN_COMMAND_FORK UINT64_C(64)
/* With ASPAWN_CLOSEFROM: copy all descriptors all the same, at their cost, for an action
 * whose path leads to one by a symbolic link. */
#define ASPAWN_COMMAND_COPY_DESCRIPTORS UINT64_C(128)

struct aspawn_command {
	size_t size;       /* sizeof(struct aspawn_command): it may grow */
	uint64_t flags;    /* ASPAWN_COMMAND_... */
	const char *file;  /* searched for if it has no slash */
	char *const *argv; /* NULL: only file */
	char *const *envp; /* NULL: empty */
	const char *path;  /* of the search; NULL: PATH in envp, or "/bin:/usr/bin" */
	const struct aspawn_action *actions;
	size_t action_count;
};

/* Where it failed: the index of an action, or one of these. */
enum {
	ASPAWN_STEP_NONE = -1,
	ASPAWN_STEP_CLONE = -2,       /* no child */
	ASPAWN_STEP_DESCRIPTORS = -3, /* no descriptor table of its own, for ASPAWN_CLOSEFROM;
				       * or aspawn_run()'s own streams and group */
	ASPAWN_STEP_SEARCH = -4,      /* not found in the search path */
	ASPAWN_STEP_EXEC = -5,
	ASPAWN_STEP_INTERPRETER = -6, /* the file is there, what is to interpret it is not */
};

struct aspawn_failure {
	int step;
	int error; /* positive, PSYS_E...; PSYS_ECHILD: the child died there, or
		    * where is not known (ASPAWN_STEP_NONE) */
};

struct exec_watch; /* the library's own */

struct aspawn_child {
	pid_t pid; /* 0: none, or waited for */
	/* aspawn_wait() and aspawn_release() close these two. Take them out of epoll before:
	 * a child on its way to its exec may hold a copy, and epoll reports a descriptor until
	 * its last copy is closed. */
	int pidfd; /* CLOEXEC; -1: not requested or not supported */
	/* CLOEXEC; -1 without ASPAWN_COMMAND_POLL. Readable, or hung up, when aspawn_started()
	 * may know the answer: call it with a timeout of 0, and poll again if it does not. A
	 * process forked by another thread may hold the pipe's end back: ask again at other
	 * events too. */
	int fd;
	/* The library's own. The Stack_t stays where it is until aspawn_wait(). */
	int report, state, copied;
	struct exec_watch *watch;
	const struct Stack_t *stack;
	struct aspawn_failure failure;
};

/*
 * Starts the command on the stack, and returns 0 at once. All of *command is
 * copied: it may change, and go, when the call has returned. *child is for the
 * functions below, and at last for aspawn_wait(), which releases it.
 *
 * On failure there is no child and *child is untouched.
 *   -EINVAL  child, stack, command or its file is NULL, actions is NULL and
 *            action_count is not 0, an unknown flag or kind of action, an action
 *            with a negative descriptor, a NULL that it needs, a signal that is
 *            none, or sizes that do not fit; size is less than the first version's
 *   -E2BIG   size is larger than known and not zero beyond; an array of more than a
 *            million bytes in an action; more than ten million actions
 *   -EAGAIN  also: another thread changed the command, or the environment, meanwhile
 * and those of aspawn_with().
 */
PSYS_API int aspawn_command(struct aspawn_child *child, struct Stack_t *stack,
			    const struct aspawn_command *command);

/*
 * Waits until the program runs: 0. If the command failed before that, returns
 * the negative error and stores where in *failure, if that is not NULL. timeout
 * is a time from now; NULL: for ever.
 * These have no step (ASPAWN_STEP_NONE):
 *   -ETIMEDOUT  not known yet
 *   -ESTALE     the stack has had another child since, and there was no
 *               ASPAWN_COMMAND_POLL
 *   -EINVAL     child is no child; timeout is no time
 */
PSYS_API int aspawn_started(struct aspawn_child *child, struct aspawn_failure *failure,
			    const struct psys_timespec *timeout);

/*
 * Waits for the end, at most for timeout, a time from now (NULL: for ever), and
 * reaps the child: *status is as wait(2) has it (PSYS_WIFEXITED ...), 127 exited
 * if the command failed; *usage, if not NULL, is what it used. Closes pidfd and
 * fd; aspawn_started() goes on to answer.
 *   -ETIMEDOUT  still running
 *   -ECHILD     somebody else has reaped it, or SIGCHLD is ignored: released too
 *   -EINVAL     child is no child, or waited for already; timeout is no time
 */
PSYS_API int aspawn_wait(struct aspawn_child *child, int *status, struct psys_rusage *usage,
			 const struct psys_timespec *timeout);

/*
 * Closes what the child's handle has open, and waits for nothing: for callers that wait by
 * pid. aspawn_wait() and aspawn_kill() go on to work, by the pid. May be repeated.
 *   -EINVAL  child is no child
 */
PSYS_API int aspawn_release(struct aspawn_child *child);

/*
 * Sends the signal, through the pidfd: never to another process of the same
 * number. 0 asks whether that would be allowed.
 *   -EINVAL  child is no child, or waited for; no such signal
 *   -ESRCH, -EPERM  kill(2)
 */
PSYS_API int aspawn_kill(struct aspawn_child *child, int signal);

/*
 * "action 2, setsid: EPERM", "exec: ENOENT". At most size - 1 bytes and a NUL;
 * returns the length of the whole. command may be NULL: then without the name. Without
 * a failure (NULL, or error 0) the text is empty.
 */
PSYS_API size_t aspawn_failure_text(char *to, size_t size, const struct aspawn_failure *failure,
				    const struct aspawn_command *command);

/* --- a whole life --------------------------------------------------------- */

/* Signals go to the process group, which the command is made the leader of. */
#define ASPAWN_RUN_GROUP UINT64_C(1)

/* In: what to feed and where to collect. Out: what became of it. */
struct aspawn_run {
	size_t size;    /* sizeof(struct aspawn_run): it may grow */
	uint64_t flags; /* ASPAWN_RUN_... */
	/* Standard input: NULL and 0: /dev/null. */
	const void *input;
	size_t input_size;
	/* Standard output and error; NULL and 0: the caller's own. No NUL is added. */
	void *output;
	size_t output_size;
	void *error;
	size_t error_size;
	/* From the start; NULL: none. When it has passed, or a buffer is full and
	 * more comes: SIGTERM, and after grace SIGKILL. */
	const struct psys_timespec *timeout;
	/* Also how long a pipe that a grandchild holds is read from after the
	 * child's end. NULL: a second. */
	const struct psys_timespec *grace;

	size_t output_length, error_length; /* out: bytes collected */
	int status;                         /* out: as of aspawn_wait() */
	struct psys_rusage usage;           /* out */
	/* out: step is ASPAWN_STEP_NONE if it ran; error then says why it was ended, if it was */
	struct aspawn_failure failure;
};

/*
 * Runs the command to its end: 0 if it ran, whatever its status. The caller is
 * blocked meanwhile; no thread is made and no signal handler set.
 *   -ETIMEDOUT   ended for its timeout
 *   -ENOBUFS     ended because it wrote more than fits
 *   -ECHILD      it ran, and somebody else reaped it, or SIGCHLD is ignored: what it
 *                wrote is there, its status is not (ASPAWN_STEP_NONE)
 *   -EINVAL, -E2BIG  of *run, as for aspawn_command(); a buffer NULL with a size
 * and those of aspawn_command(), pipe2(2), and the command's failure, which
 * run->failure has the place of (ASPAWN_STEP_CLONE: no child).
 */
PSYS_API int aspawn_run(struct aspawn_run *run, struct Stack_t *stack,
			const struct aspawn_command *command);

#ifdef __cplusplus
}
#endif

#endif
