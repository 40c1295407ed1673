/* SPDX-License-Identifier: MIT */
/*
 * Commands: start a program without suspending the caller, feed it, collect its output, wait.
 *
 *  *	char text[4096];
 *  *	struct aspawn_io io = {
 *  *		.size = sizeof io,
 *  *		.out = text,
 *  *		.out_size = sizeof text,
 *  *		.time_limit_ms = 10000,
 *  *	};
 *
 *  *	if (aspawn_run(ASPAWN_COMMAND("uname", "-sr"), &io) == 0 && io.status == 0)
 *  *		printf("%s", text);
 *
 * From the simplest use to the most general:
 *
 *   aspawn_run()      one call starts a command, feeds it, collects its output and waits
 *   aspawn_start()    starts a command and returns at once; then aspawn_wait_started(),
 *                     aspawn_kill(), aspawn_communicate(), aspawn_wait()
 *   actions           what the child does before its exec: aspawn/action.h
 *   aspawn_pool       keeps the memory of ended children for later ones
 *   aspawn()          the primitive below: runs the caller's function in the child,
 *                     aspawn/aspawn.h
 *
 * These rules hold here and for queues:
 *
 * Errors. A function that returns int returns 0, or what its comment says, or a negative error
 * number: -ENOENT of errno(3), for strerror(-r); -PSYS_ENOENT of syscall/errno.h is the same. errno
 * is not changed. -ECANCELED means that the program was never executed; a struct aspawn_failure
 * says why. -EINVAL, -E2BIG and -EOPNOTSUPP have a failure too, which names what is invalid: after
 * aspawn_start(), ask aspawn_wait_started(). No call returns -EINTR: a signal handler runs, and the
 * call goes on.
 *
 * Times are in milliseconds. A function's timeout_ms: negative means no limit, and 0 means that the
 * call does not wait; after -ETIMEDOUT nothing has changed, and the call may be repeated. A member
 * named ..._limit_ms: 0 means no limit. A member named grace_ms: 0 means one second,
 * ASPAWN_GRACE_NONE no time. Other negative numbers in members are -EINVAL.
 *
 * Giving back. A function named ...release...() gives memory and descriptors back, and ends no
 * program. Only the kill functions, a limit that has passed, and closing a queue end programs.
 *
 * Structures. A structure that begins with size may have more members in a later version. Zero the
 * structure, and set size to the sizeof: an older or newer library then knows the members. A size
 * that is too small, an unknown flag or value, and a reserved member other than 0 are -EINVAL;
 * unknown members other than 0 are -E2BIG. No two flags of commands, runs, queues and jobs are the
 * same number: a flag in the wrong place is -EINVAL. The other structures never change. A function
 * copies the arguments, unless the comment says otherwise: the caller may change or free them when
 * the call has returned. An array with a count of 0 may be NULL or not.
 *
 * Threads and signals. Every function is async-signal-safe and thread-safe, uses no heap, and
 * changes no signal handler. A handle may be passed from thread to thread, but only one thread at a
 * time may use the handle; to be able to cancel a wait, poll ended_fd instead. A handle that is
 * NULL or no child, or was waited for, is -EINVAL.
 *
 * Helpers. A private child, a child with a [copy] action (aspawn/action.h), and a child that begins
 * in a control group have a helper until their end. The helper is a process of the library: it
 * shares the caller's memory, keeps the caller's old privileges, and counts for RLIMIT_NPROC. A
 * process must give up privileges, or enter a sandbox, before it starts children with helpers, or
 * after their end.
 *
 * fork(2). A forked process may only call aspawn_release() on its copies of handles, and close
 * in_fd, out_fd, err_fd and pty_fd. Its copy of a pool works. A process that is forked while
 * another thread is in aspawn_start() holds the other ends of the child's pipes until an exec:
 * exclude such forks with a lock.
 */
#ifndef ASPAWN_COMMAND_H
#define ASPAWN_COMMAND_H

#include <aspawn/action.h>
#include <aspawn/version.h>
#include <syscall/errno.h> /* PSYS_E... */

#ifdef __cplusplus
extern "C" {
#endif

/* --- a command ---------------------------------------------------------------- */

/* The numbers of standard streams are: */
enum aspawn_stream {
	/* As ASPAWN_STREAM_INHERIT; a run and a job have other defaults. */
	ASPAWN_STREAM_DEFAULT = 0,
	ASPAWN_STREAM_NULL = -1, /* /dev/null */
	/* the stream is a new pipe to in_fd, out_fd or err_fd */
	ASPAWN_STREAM_PIPE = -2,
	/* For standard error alone: the stream is the same as standard output.
	 *
	 * Details: if an action opens a file as 1, add ASPAWN_DUP2(1, 2) after it. */
	ASPAWN_STREAM_STDOUT = -3,
	ASPAWN_STREAM_INHERIT = -4, /* the stream is the caller's of the same number */
	/* The stream is a new pseudoterminal (pty(7)), the same for all streams with this number.
	 * The other end is pty_fd. The child leads a new session with this controlling terminal, in
	 * the foreground.
	 *
	 * Details: so job control, Ctrl-C and password prompts work, and ASPAWN_SETSID() or
	 * ASPAWN_SETPGID() fails with EPERM. The caller opens the terminal: the child needs no
	 * /dev, and may change its root or user. But /dev/pts/N belongs to the caller's user, and
	 * another user cannot open the terminal by this name, as screen(1) does. */
	ASPAWN_STREAM_PTY = -5
};

/* The owners of a child are: */
enum aspawn_owner {
	/* The child is an ordinary child of the caller's process, and raises SIGCHLD. */
	ASPAWN_OWNER_CALLER = 0,
	/* The parent is a helper (aspawn(7)), for programs with other child watchers: the child
	 * raises no SIGCHLD, and only the library's waits find it, even if SIGCHLD is ignored.
	 * ASPAWN_MEMORY_SUSPENDED excludes this owner. */
	ASPAWN_OWNER_PRIVATE = 1,
	/* The child is private, and all descendants end with the tree, in spite of setsid(2),
	 * nohup(1) and double forks. The tree ends at the program's end, at a time limit, when it
	 * is killed, and with ASPAWN_COMMAND_DIES_WITH_CALLER at the caller's end. aspawn(7) says
	 * what escapes. */
	ASPAWN_OWNER_TREE = 2
};

/* The kinds of memory until the exec are: */
enum aspawn_memory {
	/* The child has the caller's memory, or the image's for a [copy] action (aspawn(7)).
	 *
	 * Details: the cost does not depend on the size of the caller's memory. */
	ASPAWN_MEMORY_SHARED = 0,
	/* The calling thread is suspended until the exec, as by vfork(2), for debuggers, which
	 * otherwise remove the caller's breakpoints. A [copy] action copies the memory.
	 *
	 * Details: a frozen control group suspends the caller too. Very long arguments and
	 * environments are not copied, except with ASPAWN_COMMAND_SHELL_ON_ENOEXEC. */
	ASPAWN_MEMORY_SUSPENDED = 1,
	/* The child has a copy, as by fork(2) and at its cost, for valgrind(1), and for security
	 * monitors that forbid programs without a file.
	 *
	 * Details: what a function stores that runs in the child does not reach the caller. */
	ASPAWN_MEMORY_COPIED = 2
};

/* The flags of a command are: */
enum aspawn_command_flags {
	/* Make started_fd, for callers that poll for a successful exec.
	 *
	 * Details: for a failure ended_fd is enough, as a child that fails ends. A wait for the
	 * exec needs no descriptor. */
	ASPAWN_COMMAND_STARTED_FD = 1,
	/* Give a file that the kernel cannot execute (ENOEXEC) to /bin/sh, as execvp(3) does. */
	ASPAWN_COMMAND_SHELL_ON_ENOEXEC = 2,
	/* Resolve a relative file, and relative entries of search_path, against the caller's
	 * directory, not the one that the actions change to.
	 *
	 * Details: if the actions change the root, the path of the caller's directory is looked up
	 * there. */
	ASPAWN_COMMAND_RELATIVE_TO_CALLER = 4,
	/* Make no pidfd, for callers that wait by pid or lack descriptors: ended_fd is -1.
	 *
	 * Details: a wait with a timeout then checks the child every 5 milliseconds. */
	ASPAWN_COMMAND_NO_PIDFD = 8,
	/* Set O_NONBLOCK of the caller's ends of all pipes and the terminal; the program's ends
	 * block. */
	ASPAWN_COMMAND_NONBLOCK = 16,
	/* Kill the child (SIGKILL) when the caller's process ends, but not at the caller's exec.
	 * Descendants live on, except those of a tree. The owner is ASPAWN_OWNER_PRIVATE, unless it
	 * is ASPAWN_OWNER_TREE.
	 *
	 * Details: a release of the handle does not kill the child either. */
	ASPAWN_COMMAND_DIES_WITH_CALLER = 32,
	/* Where /proc has no lists of children (CONFIG_PROC_CHILDREN), end the process group of a
	 * private child instead of a tree. Without the flag the command fails there with
	 * EOPNOTSUPP.
	 *
	 * Details: the child leads a group, unless the command has ASPAWN_SETSID() or
	 * ASPAWN_SETPGID().
	 *
	 * Details in C: The failure's step is ASPAWN_STEP_CLONE; ASPAWN_FACT_OWNER tells the
	 * owner. */
	ASPAWN_COMMAND_TREE_OR_GROUP = 64,
	/* Begin the program with the calling thread's signal mask, and ignore all signals that the
	 * caller ignores. Otherwise no signal is blocked, and SIGPIPE, SIGXFSZ, SIGCHLD,
	 * SIGTERM, SIGALRM, SIGUSR1 and SIGUSR2 have their default actions; other ignored signals
	 * stay ignored.
	 *
	 * Details: servers ignore these seven for themselves; nohup(1) and shells ignore SIGHUP,
	 * SIGINT and SIGQUIT on purpose. */
	ASPAWN_COMMAND_INHERIT_SIGNALS = 128
};

/*
 * Zero the structure, and set size and argv or file; zero is a good default for the rest. The start
 * copies all except the pool.
 */
struct aspawn_command {
	/* sizeof(struct aspawn_command) */
	uint64_t size __attribute__((aligned(8)));
	uint64_t flags; /* a sum of enum aspawn_command_flags */

	/* The program; NULL means argv[0]. A name without a slash is searched for in search_path.
	 *
	 * Details: a relative path begins in the directory that the actions change to. */
	const char *file;
	char *const *argv; /* the arguments, which end with NULL; NULL means only file */
	/* The environment ends with NULL; NULL means the caller's environ, which no other thread
	 * may change during the call. Actions such as ASPAWN_SETENV() change the copy.
	 *
	 * Details: without a libc environ is empty. */
	char *const *envp;
	/* The format is that of PATH. NULL means PATH of the program's environment after the
	 * actions, or "/bin:/usr/bin" without a PATH.
	 *
	 * Details: an empty directory is the current directory. */
	const char *search_path;

	/* What the child does before the exec: aspawn_action(3). */
	const struct aspawn_action *actions;
	size_t action_count;

	/* The child's memory is from this pool; NULL means a new mapping.
	 *
	 * Details: a mapping costs some system calls. */
	struct aspawn_pool *pool;

	/* Each is an enum aspawn_stream, or a descriptor of the caller above 2. The program also
	 * has the caller's descriptors without FD_CLOEXEC, unless an action closes them.
	 *
	 * Details: the streams are made before the actions, which may replace them. 1 for std_out
	 * and 2 for std_err are ASPAWN_STREAM_INHERIT. A descriptor stays open in the caller, with
	 * O_NONBLOCK unchanged. */
	int std_in, std_out, std_err;
	int owner;  /* an enum aspawn_owner */
	int memory; /* an enum aspawn_memory */
	/* The size of a terminal is in characters; 0 means 24 rows and 80 columns.
	 *
	 * Details: each is at most 65535. */
	unsigned pty_rows, pty_columns;

	/* A time limit, a cancellation and the end of a tree send this signal first; 0 means
	 * SIGTERM.
	 *
	 * Details: a SIGCONT for stopped programs follows. SIGKILL and SIGSTOP are invalid.
	 *
	 * Details: the program begins with the default action for this signal, and does not block
	 * the signal, even with ASPAWN_COMMAND_INHERIT_SIGNALS: nohup(1) and a shell's & ignore
	 * SIGINT and SIGQUIT, which would then end nothing. */
	int stop_signal;
	int reserved; /* 0 */
};

#ifndef __cplusplus
/*
 * Makes an array of arguments for aspawn_command.argv. In a function the array lasts until the } of
 * its block; it cannot initialize a static command.
 *
 *  *	struct aspawn_command command = {
 *  *		.size = sizeof command,
 *  *		.argv = ASPAWN_ARGV("check_http", "-H", host),
 *  *		.std_out = ASPAWN_STREAM_PIPE,
 *  *	};
 *
 * In C++: auto args = ASPAWN_ARGV("check_http", "-H", host); command.argv = args;
 */
#define ASPAWN_ARGV(...) ((char *const *)(uintptr_t)(const char *const[]){ __VA_ARGS__, NULL })
/* Makes a pointer to a const struct aspawn_command with these arguments and defaults for the rest.
 * The pointer is valid until the end of the block; in C++ until the end of the expression. */
#define ASPAWN_COMMAND(...)                                                     \
	(&(const struct aspawn_command){ .size = sizeof(struct aspawn_command), \
					 .argv = ASPAWN_ARGV(__VA_ARGS__) })
#endif

/* --- what failed ------------------------------------------------------------------ */

/* The steps other than actions are: */
enum aspawn_step {
	ASPAWN_STEP_NONE = -1, /* Nothing failed, or the step is not known. */
	/* The child could not copy the descriptors (ASPAWN_ONLY_BELOW). */
	ASPAWN_STEP_DESCRIPTORS = -2,
	/* A standard stream failed, or the process group of ASPAWN_IO_KILL_GROUP.
	 *
	 * Details: this step also makes the process group of ASPAWN_COMMAND_TREE_OR_GROUP. With the
	 * subject "/dev/ptmx" the start could not make the terminal. */
	ASPAWN_STEP_STREAMS = -3,
	ASPAWN_STEP_SEARCH = -4, /* The file was not found in the search path. */
	/* execve(2) failed. ENOEXEC: the file is no program, and has no "#!"
	 * (ASPAWN_COMMAND_SHELL_ON_ENOEXEC).
	 *
	 * Details: after a search the subject is the name. EACCES: the file, or a script's
	 * interpreter, may not be executed. */
	ASPAWN_STEP_EXEC = -5,
	/* The file exists, but not the interpreter that the ELF header or first line names.
	 *
	 * Details: a first line is the subject. */
	ASPAWN_STEP_INTERPRETER = -6,
	/* A member is invalid, and is the subject, such as "std_in" or "io.out"; "size" was usually
	 * not set.
	 *
	 * Details: an invalid action has its index instead. */
	ASPAWN_STEP_ARGUMENT = -7,
	/* A helper could not clone the child (clone(2)). EOPNOTSUPP: a tree needs /proc of its own
	 * pid namespace, with lists of children.
	 *
	 * Details: ECHILD means that a signal killed the helper before. The start itself fails with
	 * an error of the caller's own clone. */
	ASPAWN_STEP_CLONE = -8
};

/* A struct aspawn_failure says what failed.
 *
 * Details: the structure has 128 bytes on every architecture, and no pointer. */
struct aspawn_failure {
	int step; /* Tells the index of the action, from 0, or the enum aspawn_step. */
	/* Tells a negative error number, or is 0 if nothing failed. -ECHILD means that a signal
	 * killed the child. */
	int error;
	uint32_t kind;     /* Tells the action's enum aspawn_action_kind; 0 for the other steps. */
	uint32_t reserved; /* 0 */
	/* Tells the path, name or number that failed, or the end of a long name.
	 *
	 * Details: otherwise the text is empty. It ends with a NUL. If aspawn_wait_started() is
	 * repeated, or follows a wait, the last 39 bytes are stored. */
	char subject[112];
};

PSYS_ASSERT(aspawn_failure_has_128_bytes, sizeof(struct aspawn_failure) == 128);

/*
 * Returns the name of the failed action or step, such as "chdir" or "exec", or "". No later version
 * changes a name.
 *
 * Details: a step has the name of its constant, in lower case. An ASPAWN_SYSCALL has the name of
 * the action for its call, such as "prctl", or "syscall". The name is empty, never NULL, if failure
 * is NULL, its error is 0, or the step or the action's kind is not known.
 */
PSYS_API const char *aspawn_failure_name(const struct aspawn_failure *failure);

/*
 * Formats a failure as snprintf(3) does, in at most 255 bytes and a NUL, such as: action 2, chdir
 * "/srv/checks": ENOENT.
 *
 * Details: failure may be NULL. The text is empty if nothing failed. Control characters of the
 * subject are written as in C: "/bin/sh\r" of a script with the line ends of DOS. Later versions
 * may change the wording.
 */
PSYS_API size_t aspawn_failure_text(char *to, size_t size, const struct aspawn_failure *failure);

/*
 * Formats a status as aspawn_failure_text() does, in at most 63 bytes: "exit 3", "killed by SIGABRT
 * (core dumped)"; -1 is "no status".
 *
 * Details: a signal without a name is "killed by signal 40".
 */
PSYS_API size_t aspawn_status_text(char *to, size_t size, int status);

/* --- run: from start to end in one call ---------------------------------------------- */

/* The outcomes of a run or a job are: */
enum aspawn_outcome {
	ASPAWN_OUTCOME_NONE = 0, /* the call itself failed */
	/* The program ended by itself or by a signal of another process. */
	ASPAWN_OUTCOME_RAN = 1,
	ASPAWN_OUTCOME_NOT_STARTED = 2, /* the program was never executed */
	ASPAWN_OUTCOME_TIMED_OUT = 3,   /* the library ended the program at its time limit */
	/* The library ended the program because a buffer was full. */
	ASPAWN_OUTCOME_FULL = 4,
	/* The library ended the program because a sink returned a negative number, the job was
	 * cancelled, or the tree was killed while the program ran. */
	ASPAWN_OUTCOME_CANCELLED = 5,
	/* Nobody knows how the program ended or, for a job, if it was executed.
	 *
	 * Details: a run fails with ECHILD, EPERM or EOWNERDEAD. Of a job somebody has killed the
	 * server or the tree's helper, or, in a local queue, another wait has reaped the
	 * program. */
	ASPAWN_OUTCOME_LOST = 6,
	/* The OOM killer ended the program in the control group of its ASPAWN_NEW_CGROUP or, for a
	 * run, ASPAWN_JOIN_CGROUP.
	 *
	 * Details: a group that is joined must be the program's own. Otherwise the OOM killer may
	 * have ended a neighbour, and somebody else the program. If the OOM killer ended only what
	 * the program had started, only the group's memory.events says so.
	 *
	 * Details in C: aspawn_oom_kills() reads memory.events. */
	ASPAWN_OUTCOME_OUT_OF_MEMORY = 7
};

/* The flags of a run are: */
enum aspawn_io_flags {
	/* Signal the program's whole process group, since killing a shell does not kill the shell's
	 * commands. A program in its own group cannot read from the caller's terminal, or get
	 * Ctrl-C there. When the program has ended after a signal, the rest of the group gets
	 * SIGKILL.
	 *
	 * Details: a program that ends by itself leaves its group running. The run makes the
	 * program the leader of a group, unless the command has ASPAWN_SETSID() or
	 * ASPAWN_SETPGID(). */
	ASPAWN_IO_KILL_GROUP = 256,
	/* Read and drop output that does not fit in a buffer, and do not end the program. */
	ASPAWN_IO_DROP_EXCESS = 512
};

/* As grace_ms this sends SIGKILL at once, without the command's stop_signal. */
enum { ASPAWN_GRACE_NONE = -1 };

/* Zero the structure, and set size. Each run sets all results, which begin with outcome.
 *
 * Details: no result is set if size is too small. */
struct aspawn_io {
	/* sizeof(struct aspawn_io) */
	uint64_t size __attribute__((aligned(8)));
	uint64_t flags; /* a sum of enum aspawn_io_flags */

	/* The library writes these bytes to standard input, and then closes the pipe. NULL means no
	 * input.
	 *
	 * Details: what the program does not read is dropped, and no SIGPIPE reaches the caller.
	 *
	 * Details: a terminal gets the input as if somebody had typed it, and then Ctrl-D. A
	 * terminal echoes the input to the output, a Ctrl-C in it is a signal, and the kernel drops
	 * what is beyond the 4095th byte of a line, and perhaps parts of the echo, but not of the
	 * input. A program in raw mode, such as an editor, gets later input unmodified. Without
	 * input a program that reads from the terminal gets the end of file. If only std_in is a
	 * terminal, nobody reads what the program writes to /dev/tty: the program blocks when the
	 * terminal is full. */
	const void *input;
	size_t input_size;

	/* These buffers are for standard output and standard error. Each gets at most its size - 1
	 * bytes, and always a NUL, also if the call fails. More output ends the program. Size 0
	 * means no buffer. If std_err is ASPAWN_STREAM_STDOUT, out gets both. */
	void *out, *err;
	size_t out_size, err_size;
	/* This function gets output of any length: standard output unless it has a buffer, and
	 * standard error if std_err is ASPAWN_STREAM_PIPE and has no buffer. stream is 1 or 2. A
	 * negative number that the function returns ends the program, and is what the run returns.
	 * With NULL such output of a pipe is dropped.
	 *
	 * Details: count is from 1 to 4096, and bytes is valid during the call. outcome
	 * distinguishes the function's number from other errors. After this number the function is
	 * not called again. It must not leave by longjmp(3) or an exception. It runs on the calling
	 * thread, and may use malloc(3) and stdio(3). Output of a terminal is standard error only
	 * if std_out is something else; it has "\r\n" where the program wrote "\n". */
	int (*sink)(void *arg, int stream, const void *bytes, size_t count);
	void *arg; /* the sink gets this as its first argument */

	/* The time from the call to the command's stop_signal, for the program, its group
	 * (ASPAWN_IO_KILL_GROUP) or the whole tree (ASPAWN_OWNER_TREE). 0 means no limit.
	 *
	 * Details: the signal also follows a full buffer and a negative number of the sink. What
	 * else the program has started runs on. */
	int64_t time_limit_ms __attribute__((aligned(8)));
	/* The time from the stop_signal to SIGKILL, and from the program's end to the end of output
	 * if another process holds the pipe. 0 means one second; with ASPAWN_GRACE_NONE SIGKILL is
	 * sent at once. */
	int64_t grace_ms __attribute__((aligned(8)));

	/* An enum aspawn_outcome. */
	int outcome;
	/* Tells the status as wait(2) stores it; -1 means no status.
	 *
	 * Details: a program that was not executed has a status too. WCOREDUMP() tells if core was
	 * dumped; the kernel does not record why it was not. */
	int status;
	size_t out_length, err_length; /* tell the bytes in the buffers, without the NUL */
	/* All bytes that the program wrote. */
	uint64_t out_total __attribute__((aligned(8)));
	uint64_t err_total __attribute__((aligned(8)));
	/* Tells why the program was not executed, or which member is invalid; otherwise the error
	 * is 0. */
	struct aspawn_failure failure;
	struct psys_rusage usage; /* as aspawn_wait() stores it */
	/* Tells the most bytes that the cgroup of an ASPAWN_NEW_CGROUP ever had; 0 means not known.
	 *
	 * Details: page cache and memory of the kernel count. The number is not known without an
	 * ASPAWN_NEW_CGROUP, or without memory.peak (Linux 5.19, memory controller). */
	uint64_t memory_peak __attribute__((aligned(8)));
	/* Tells which output was lost when the grace had passed: the sum of 1 for standard output
	 * and 2 for standard error. */
	int cut;
	int survivor; /* tells the pid of a program that could not be ended (-EPERM), or is 0 */
};

/*
 * Starts and feeds a command, collects the output, ends the command after a time limit, and waits
 * for the end. The call makes no other thread, and leaves nothing to release.
 *
 * The call lasts at most time_limit_ms plus twice grace_ms, the sink's time, and ten seconds if the
 * program may not be killed.
 *
 * command  As for aspawn_start(). ASPAWN_STREAM_DEFAULT is a pipe if there is input, a buffer or,
 *          for standard output, a sink. Otherwise standard input is /dev/null, and the others are
 *          the caller's.
 *
 * Details: the kernel's time to end a killed process is added. The return closes the terminal, so
 * that the terminal's foreground gets SIGHUP.
 *
 * Returns 0 if the program was executed and has ended, or the negative number of a sink.
 *   -ECANCELED  the program was never executed: io->failure says why
 *   -ETIMEDOUT, -ENOBUFS  the library ended the program after time_limit_ms, or because a buffer
 *               was full
 *   -EPERM      the program runs as another user, whom the caller may not signal, and runs on as
 *               io->survivor
 *   -ECHILD, -ENOTEMPTY, -EOWNERDEAD  as for aspawn_wait()
 *   -EINVAL, -E2BIG  io is NULL; the member in io->failure is invalid, or its stream goes elsewhere
 *
 * Other errors are those of aspawn_start().
 *
 * Details: in a sandbox errors of ppoll(2) and waitid(2) are possible. -EPERM is returned if the
 * program has not ended ten seconds after SIGKILL. The caller has to reap the program by wait(2),
 * unless it is private. With -ECHILD the output is complete. -ENOTEMPTY comes before -ETIMEDOUT and
 * the like, which io->outcome tells.
 */
PSYS_API PSYS_MUST_CHECK int aspawn_run(const struct aspawn_command *command, struct aspawn_io *io);

/*
 * Formats *io and what its run has returned, as aspawn_failure_text() does, in at most 319 bytes:
 * "exit 3", "timed out, killed by SIGTERM", "EMFILE", or "not started: " and the failure.
 *
 * Details: the text is empty if io is NULL.
 */
PSYS_API size_t aspawn_io_text(char *to, size_t size, int result, const struct aspawn_io *io);

/*
 * Returns the name of an outcome, such as "timed_out", which no later version changes.
 *
 * Details: the name of ASPAWN_OUTCOME_TIMED_OUT is "timed_out". It is empty, never NULL, if the
 * number is not an outcome.
 */
PSYS_API const char *aspawn_outcome_name(int outcome);

/* --- find: which file a command would execute ------------------------------------------ */

/*
 * Stores the path of the file that the command would execute in to, and starts nothing.
 *
 * action   Gets the index of the first action that may change the answer, or ASPAWN_STEP_NONE; may
 *          be NULL.
 *
 * Details: the file or an interpreter is missing (-ENOENT). The caller may not execute the file, or
 * the file is not regular (-EACCES). There are too many symbolic links, or more than five
 * interpreters (-ELOOP). The name or the path is too long (-ENAMETOOLONG).
 *
 * Details: the search follows what the actions change of PATH and of the directory. The search
 * looks at permissions, at the type of the file, and at the interpreters of a script that the
 * caller may read, but not at the format of the file. Before Linux 5.8 the permissions are those of
 * the caller's real user and group, as for access(2).
 *
 * Details: actions may change the answer if they change users, capabilities, roots, mounts or
 * namespaces, or restrict the child; ASPAWN_FCHDIR, ASPAWN_WRITE, ASPAWN_CALL, ASPAWN_SYSCALL and
 * its short forms; and an ASPAWN_CHDIR that may fail. With ASPAWN_STEP_NONE the child finds the
 * same file, unless an action fails or a file changes meanwhile. *action is stored also if the
 * search fails; the path is empty then. Otherwise the path is absolute, or relative to the caller's
 * directory.
 *
 *   -ENOENT, -EACCES, -ELOOP, -ENAMETOOLONG  execve(2) would fail with this error
 *   -ERANGE  to is NULL, or size is less than 4096 (PATH_MAX)
 *   -EINVAL, -E2BIG, -EOPNOTSUPP  the command is invalid, as for aspawn_start()
 *
 * Other errors are those of access(2) and stat(2).
 */
PSYS_API PSYS_MUST_CHECK int aspawn_find(char *to, size_t size,
					 const struct aspawn_command *command, int *action);

/* --- start: a child and its handle --------------------------------------------------- */

/*
 * All descriptors are CLOEXEC; -1 means no descriptor.
 *
 * Call aspawn_wait(), aspawn_communicate() or aspawn_release() for every child, also if its program
 * was never executed: otherwise a zombie is left, or memory. The call closes ended_fd and
 * started_fd. Remove both from epoll(7) before: epoll reports a descriptor until the last copy,
 * perhaps a child's, is closed. To never wait, start a private child with a pool, and call
 * aspawn_release().
 *
 * Details: a handle points only to the pool, and has 128 bytes on every architecture. A handle may
 * be moved between two calls, if only one copy is used. A closed descriptor becomes -1. A child
 * before its exec may have copies of descriptors. in_fd, out_fd, err_fd and pty_fd are above 2. A
 * handle of zeros is no child, and aspawn_release() does nothing with it.
 *
 * Details: after aspawn_release(), waitpid(2) has to reap the child unless it is private.
 */
struct aspawn_child {
	/* Becomes readable when the child has ended, and is for poll(2) only, as it may be a
	 * helper's. Then call aspawn_ended(). If this returns 0, somebody has killed the helper:
	 * stop polling, and call aspawn_ended() from a timer, also if ended_fd is -1.
	 *
	 * Details: ended_fd is -1 if not requested, or not supported (before Linux 5.2). On Linux
	 * 5.2 ended_fd is always readable. */
	int ended_fd;
	/* Becomes readable, or hangs up, when the exec may have happened. Do not read: call
	 * aspawn_wait_started() with timeout 0, and poll on after -ETIMEDOUT. Call it also when
	 * ended_fd is readable.
	 *
	 * Details: a process that another thread forked meanwhile delays the hang-up. started_fd is
	 * -1 without ASPAWN_COMMAND_STARTED_FD. */
	int started_fd;
	/* The caller, or aspawn_communicate(), closes these ends of the pipes. */
	int in_fd, out_fd, err_fd;
	/* The caller closes this end of the terminal too. read(2) fails with EIO when no process
	 * has the terminal any more.
	 *
	 * Details: if the last copy is closed before the program ends, the leader of the session
	 * and the foreground process group get SIGHUP. */
	int pty_fd;
	unsigned char own[104] __attribute__((aligned(8))); /* internal */
};

PSYS_ASSERT(aspawn_child_has_128_bytes, sizeof(struct aspawn_child) == 128);

/*
 * Starts a command, and returns when the child exists. What fails in the child, such as finding the
 * program, is an error of aspawn_wait_started().
 *
 * The call takes some microseconds, with these exceptions:
 * - With ASPAWN_ONLY_BELOW, or ASPAWN_CLOSEFROM and more than 1024 descriptors, it waits for the
 *   child's own descriptor table: milliseconds if no processor is idle.
 * - If memory is copied (aspawn(7)), it takes as long as fork(2).
 * - With ASPAWN_MEMORY_SUSPENDED, in user-mode emulators, and with a [copy] action
 *   (aspawn_action(3)) where no helper is possible, it waits for the exec.
 *
 * child    Gets the handle; may be uninitialized.
 *
 *   -EINVAL     an argument, a member or an action is invalid
 *   -E2BIG      an unknown member is not 0
 *   -ENOMEM, -EOVERFLOW  there is no memory for the child or the stack (mmap(2))
 *   -EMFILE, -ENFILE  there is no descriptor for the pidfd, a pipe or a terminal
 *   -EAGAIN     RLIMIT_NPROC or the system's limits are reached (clone(2))
 *   -EOPNOTSUPP  no process can share the memory (user-mode emulators), which a private child or a
 *               tree needs
 *   -ENOENT, -ENODEV, -ENOSPC, -ENOTTY  there can be no terminal
 *
 * Other errors are those of clone(2), and for a terminal of open(2). After an error there is no
 * child and no open descriptor. After -EINVAL, -E2BIG and -EOPNOTSUPP, or if there can be no
 * terminal, aspawn_wait_started() says what is invalid.
 *
 * Details: if the child is stopped before its exec, only SIGKILL ends the wait for the exec.
 *
 * Details: -EINVAL is returned too if file and argv[0] are NULL. -EOVERFLOW means that the sizes
 * are more than an address can hold. -E2BIG is returned too for more than ten million actions, and
 * for more than a million bytes in an action's array. -EAGAIN is returned too if another thread
 * changed the command, or the environment, during the call. -EOPNOTSUPP is returned too for an
 * ASPAWN_SYSCALL whose call cannot be an action, such as execve(2): the failure has the number of
 * the call. A pipe or terminal needs two descriptors during the call. A terminal needs /dev/ptmx
 * (-ENOENT), /dev/pts beside it (-ENODEV), fewer terminals than /proc/sys/kernel/pty/max (-ENOSPC),
 * and Linux 4.13 (-ENOTTY).
 */
PSYS_API PSYS_MUST_CHECK int aspawn_start(struct aspawn_child *child,
					  const struct aspawn_command *command);

/*
 * Waits until the program has been executed or the child has failed. The call may be repeated, also
 * after aspawn_wait() and aspawn_communicate().
 *
 * failure  Gets what failed, or error 0; may be NULL.
 *
 * Returns 0 if the program was executed.
 *   -ECANCELED  the program was never executed: *failure says why. Wait for the child nevertheless
 *   -ETIMEDOUT  the child has neither executed nor failed
 *   -ESTALE     aspawn_release() has lost the answer, or this process is a fork
 *   -EINVAL     the handle has neither a child nor the answer of a former child
 *
 * Details: 0 is returned too if a signal killed the child within execve(2). An error of
 * aspawn_start() that has a failure, but no child, gives -ECANCELED too. The wait is a futex(2),
 * for CLONE_CHILD_CLEARTID of clone(2).
 */
PSYS_API int aspawn_wait_started(struct aspawn_child *child, struct aspawn_failure *failure,
				 int64_t timeout_ms);

/*
 * Waits for the child's end, or the end of all processes of a tree. The call reaps the child,
 * closes ended_fd and started_fd, and frees the memory; the caller closes in_fd, out_fd, err_fd and
 * pty_fd. To be able to cancel a wait, poll ended_fd, and then call aspawn_ended().
 *
 * A program that fills a pipe never ends: read first, or call aspawn_communicate().
 *
 * Details: without a pidfd, before Linux 5.4, and after aspawn_release(), the call waits by pid. No
 * other wait may reap the child then, as its number could be used again: waitid(2).
 *
 * status  Gets the program's status as wait(2) stores it, for PSYS_WIFEXITED(); may be NULL.
 * usage   Gets the resources of the program and what it has waited for (getrusage(2)); may be NULL.
 *         ru_maxrss is at least the caller's own peak: aspawn(7).
 *
 * Returns 0 if the program ran, and the child, or all of the tree, is gone.
 *   -ECANCELED   the program was never executed: aspawn_wait_started() says why. The child is
 *                reaped; *status is exit 127 or the fatal signal
 *   -ETIMEDOUT   the child still runs
 *   -ECHILD      before Linux 6.15, or without a pidfd: another wait has reaped the child, or
 *                SIGCHLD is ignored
 *   -ENOTEMPTY   some processes of a tree could not be ended: aspawn(7). *status is -1 if the
 *                program is among them
 *   -EOWNERDEAD  somebody has killed the helper of a tree; the tree goes on
 *   -EINVAL      child is NULL or no child, or was waited for
 *
 * After an error other than -ETIMEDOUT and -EINVAL the handle has no child.
 *
 * Details: -ENOTEMPTY is returned for set-user-ID programs, and for processes that hang in the
 * kernel. After -ECHILD and -EOWNERDEAD *status and *usage are untouched. From Linux 6.15 on a
 * pidfd keeps the status of a reaped child: the call succeeds, and *usage is all zero.
 * aspawn_describe(child, ASPAWN_FACT_SURVIVORS) counts the processes of -ENOTEMPTY. The call gives
 * up when no process has ended for ten seconds, or for one second if no process may be signalled.
 * The library itself kills a helper that a tracer or freezer blocks: -EOWNERDEAD.
 */
PSYS_API int aspawn_wait(struct aspawn_child *child, int *status, struct psys_rusage *usage,
			 int64_t timeout_ms);

/*
 * Returns 1 if the child, or all of its tree, has ended, and 0 if not. The call neither blocks nor
 * reaps the child (waitid(2), WNOWAIT), whose process group can still be killed.
 *   -ECHILD, -EOWNERDEAD, -EINVAL  as for aspawn_wait()
 */
PSYS_API int aspawn_ended(struct aspawn_child *child);

/*
 * Does, and returns, what aspawn_run() does after the start, with the pipes and the terminal of the
 * handle. Each output without a buffer goes to the sink. Before the call store -1 in the handle for
 * each pipe that is closed or kept. -EINVAL and -E2BIG change only the results. Otherwise pipes and
 * terminal are closed on return, a failure kills the child, and the child is reaped, except after
 * -EPERM.
 *   -EPERM   as for aspawn_run(): aspawn_wait() reaps the child later
 *   -EINVAL  io is invalid; child is no child, or was waited for; input, or a buffer, has no pipe
 *            or terminal
 *
 * Other errors are those of aspawn_run(), except errors of the start.
 *
 * Details: closed descriptors become -1.
 */
PSYS_API PSYS_MUST_CHECK int aspawn_communicate(struct aspawn_child *child, struct aspawn_io *io);

/*
 * Sets the size of the terminal, in characters.
 *
 * Details: the size may be set after the program's end, too. If the size changes, the foreground
 * process group gets SIGWINCH (ioctl_tty(2), TIOCSWINSZ).
 *   -EINVAL  the child has no terminal; rows or columns is more than 65535
 *   -EBADF   pty_fd is closed, or -1
 */
PSYS_API int aspawn_resize(struct aspawn_child *child, unsigned rows, unsigned columns);

/*
 * Gives back everything except the process, the pipes and the terminal, for callers that reap the
 * child by waitpid(2) or not at all. The call may be repeated.
 *
 * Without a pool the call waits for the exec, or, for a private child, returns at once, and has to
 * be repeated after the child's end.
 *
 * Details: ended_fd and started_fd are closed. A pool gets the memory, and reuses the memory when
 * the child has left. After aspawn_wait() the call does nothing. The call waits at most a second
 * for a helper's clone of the child, and returns -EINVAL if child is NULL.
 *
 * After the call aspawn_ended(), aspawn_wait() and the kill functions work by pid, until the child
 * is reaped. Nobody ends the rest of a tree at the program's end.
 *
 * Details: these functions no longer know if the program was executed. A private child of a pool
 * cannot be waited for (-ECHILD).
 */
PSYS_API int aspawn_release(struct aspawn_child *child);

/*
 * Returns the child's number, valid until the child is reaped; a private child is reaped at its
 * end.
 *
 * aspawn_pid(), aspawn_pidfd(), aspawn_kill() and aspawn_kill_group() wait until a helper has
 * cloned the child (microseconds), but fail with -EAGAIN after a second.
 *   -EAGAIN     the helper is stopped or frozen
 *   -ECANCELED  the child could not be cloned: aspawn_wait_started() says why
 *   -ESRCH      aspawn_release() was called before the number was known
 *
 * Details: aspawn_describe() returns the number without waiting. To send a signal, use
 * aspawn_kill().
 */
PSYS_API PSYS_MUST_CHECK int aspawn_pid(struct aspawn_child *child);

/*
 * Returns a new CLOEXEC pidfd of the child, which the caller closes, for setns(2) and the like.
 *   -ESRCH  the child is reaped
 *   -EAGAIN, -ECANCELED  as for aspawn_pid()
 *
 * Other errors are those of pidfd_open(2), Linux 5.3.
 */
PSYS_API PSYS_MUST_CHECK int aspawn_pidfd(struct aspawn_child *child);

/*
 * Sends the signal to the child alone, by a pidfd (pidfd_send_signal(2), Linux 5.1), never to
 * another process with the same number. Until the exec all signals except SIGKILL and SIGSTOP stay
 * pending.
 *
 * Details: without a pidfd the call uses kill(2), after waitid(2) has shown that the child is not
 * reaped. If another thread reaps the child in between, another process may get the signal.
 *
 * signal  With 0 the call only checks if a signal could be sent. Until an ended child is reaped,
 *         the call returns 0: ask aspawn_ended().
 *   -EINVAL  the signal is invalid
 *   -ESRCH   the child is reaped, or could not be cloned
 *   -EPERM   the child runs as another user, whom the caller may not signal
 *   -EAGAIN  as for aspawn_pid()
 */
PSYS_API int aspawn_kill(struct aspawn_child *child, int signal);

/*
 * Sends the signal to the process group that the child leads after ASPAWN_SETPGID(0) or
 * ASPAWN_SETSID(), or, without such a group, to the child alone. Processes in groups of their own
 * (daemons, jobs of an interactive shell) and processes of another user do not get the signal.
 *
 * To end a command with its processes, send SIGTERM, wait for ended_fd or a grace period, and send
 * SIGKILL. Call aspawn_wait() last: later another process group may have the number.
 *
 * Details: a private child is reaped at its end. Its process group is then reached from Linux 6.9
 * on, if a kill function (signal 0 will do) or aspawn_pidfd() was called before. If SIGCHLD is
 * ignored, any child is reaped at its end; its process group is reached from Linux 6.9 on. Before
 * Linux 6.9, and without a pidfd, the call uses kill(2) as aspawn_kill() does; aspawn_kill_cgroup()
 * is safe.
 *   -EINVAL, -ESRCH, -EAGAIN  as for aspawn_kill()
 *   -EPERM  the caller may not signal any member
 */
PSYS_API int aspawn_kill_group(struct aspawn_child *child, int signal);

/*
 * Ends a tree (ASPAWN_OWNER_TREE): sends the command's stop_signal to all processes, and after the
 * grace SIGKILL until no process is left. Set-user-ID programs, and processes that services start,
 * may survive: aspawn(7). The call may be repeated with a shorter grace.
 *
 * Details: the call does not wait for the end. The stop_signal reaches sixteen generations, but no
 * process that /proc hides (hidepid). For a tree in a control group the call may wait as
 * aspawn_pid() does.
 *
 * grace_ms       0 means one second, and ASPAWN_GRACE_NONE no grace.
 *   -EINVAL      child is no tree; grace_ms is less than ASPAWN_GRACE_NONE
 *   -ESRCH       the tree has ended, or cannot be reached after aspawn_release()
 *   -EOWNERDEAD  somebody has killed the helper: use the other kill functions
 *   -EAGAIN      in a control group, as for aspawn_pid()
 */
PSYS_API int aspawn_kill_tree(struct aspawn_child *child, int64_t grace_ms);

/*
 * Sends SIGKILL to all processes of the control group (version 2, cgroups(7)) whose directory is
 * open as cgroup_fd, and of those below. After ASPAWN_JOIN_CGROUP(cgroup_fd) only processes that
 * were moved to another control group escape.
 *   -EBADF       cgroup_fd is not open
 *   -ENOENT, -ENOTDIR  the directory is the root or no control group of version 2, or Linux is
 *                older than 5.14
 *   -EACCES      the caller may not write to cgroup.kill
 *   -EOPNOTSUPP  the control group is threaded
 *
 * Details: the call does not wait for the end. Processes that are forked meanwhile get the signal
 * too: this is the surest way to end all that a command started. The control group may be used
 * again.
 */
PSYS_API int aspawn_kill_cgroup(int cgroup_fd);

/*
 * Returns how many processes the OOM killer has ended in the control group, and with version 2 in
 * those below. A higher number after a command with ASPAWN_JOIN_CGROUP(cgroup_fd) says why it
 * ended: aspawn_run() compares.
 *   -EBADF  cgroup_fd is not open
 *   -ENOENT, -ENOTDIR  the directory is no control group or has no memory controller, as the root
 *           of version 2, or Linux is older than 4.13
 */
PSYS_API PSYS_MUST_CHECK int aspawn_oom_kills(int cgroup_fd);

/* --- what happened: for diagnosis and tests --------------------------------------------- */

/* aspawn_describe() knows these facts. The mode is an enum aspawn_clone_mode; the owner, the
 * helper, the reason and the outcome are the enumerations of these names. */
enum aspawn_fact {
	ASPAWN_FACT_PID = 1,    /* the child's number; 0 if not known yet, or waited for */
	ASPAWN_FACT_MODE = 2,   /* how it was cloned */
	ASPAWN_FACT_OWNER = 3,  /* whose child it is */
	ASPAWN_FACT_HELPER = 4, /* what its helper is */
	ASPAWN_FACT_REASON = 5, /* why memory was copied */
	/* how many processes of a tree survive, after ENOTEMPTY of a wait */
	ASPAWN_FACT_SURVIVORS = 6,
	/* why it ended; ASPAWN_OUTCOME_NONE before the wait */
	ASPAWN_FACT_OUTCOME = 7
};

/* A child is cloned by the first method that the kernel and seccomp filters allow: */
enum aspawn_clone_mode {
	ASPAWN_MODE_NONE = 0,   /* a helper has not cloned it yet */
	ASPAWN_MODE_CLONE3 = 1, /* by clone3 (Linux 5.5); the kernel reset the handlers */
	ASPAWN_MODE_CLONE = 2,  /* by clone; the child reset the handlers */
	/* CLONE_VFORK: the caller was suspended, by ASPAWN_MEMORY_SUSPENDED or as a fallback; or
	 * the helper of a child that begins in a control group */
	ASPAWN_MODE_VFORK = 3,
	/* Memory was copied: also in user-mode emulators, and before Linux 5.19 if children go to
	 * another time namespace. */
	ASPAWN_MODE_FORK = 4,
	ASPAWN_MODE_IMAGE = 5 /* the child executed the image first, for a [copy] action */
};

/* A helper is the parent of a private child, or waits for an exec in the caller's place: */
enum aspawn_helper {
	ASPAWN_HELPER_NONE = 0, /* the caller has cloned the child itself */
	/* The library reaps the helper. Until then the helper is a zombie, which wait(2) finds only
	 * with __WALL or __WCLONE. */
	ASPAWN_HELPER_WAITED_FOR = 1,
	ASPAWN_HELPER_AUTOREAPED = 2 /* the kernel reaps it (Linux 7.1) */
};

/* A child begins in a copy of the memory for one of these reasons: */
enum aspawn_reason {
	ASPAWN_REASON_NONE = 0,    /* the memory was not copied, or the command asks for a copy */
	ASPAWN_REASON_COMMAND = 1, /* an action or path that works only in the caller's process */
	/* the exec of the image would change the caller's IDs, capabilities or flags, or exceed
	 * its limits */
	ASPAWN_REASON_CALLER = 2,
	ASPAWN_REASON_SYSTEM = 3, /* the kernel, a filter or a security module refused it */
	ASPAWN_REASON_BUILD = 4   /* the library was built without the image */
};

/*
 * Returns a fact about a child, and never waits.
 *
 * Details: the number, the mode and the reason of a child with a helper may be 0 until aspawn_pid()
 * or aspawn_wait_started() has returned 0 or more. After aspawn_wait() the number is 0; the other
 * facts stay. Later versions may have more facts.
 *   -EINVAL  the child was never started; the fact is unknown
 */
PSYS_API int aspawn_describe(const struct aspawn_child *child, int fact);

/* --- pool: many children ------------------------------------------------------------------ */

/*
 * A pool keeps the memory on which children run until their exec: later starts usually map nothing.
 * Zero a pool before the first use, and do not move or free the pool before aspawn_pool_release()
 * has returned 0. Any number of threads and signal handlers may share a pool, without a lock; one
 * pool for the whole program is usual. A forked process can use its copy of a pool.
 *
 * A pool keeps about 64 stacks, each of at most 1 MiB. A larger stack, for long arguments, is
 * unmapped after use.
 *
 * Details: the structure always has 64 bytes.
 *
 *  *	static struct aspawn_pool pool;
 *  *	struct aspawn_command command = { .size = sizeof command, .argv = argv, .pool = &pool };
 */
struct aspawn_pool {
	unsigned char own[64] __attribute__((aligned(8))); /* internal */
};

PSYS_ASSERT(aspawn_pool_has_64_bytes, sizeof(struct aspawn_pool) == 64);

/*
 * Unmaps the memory of the pool that no handle, child or helper uses, and waits at most a second
 * for each helper whose child has been waited for. The call ends no program. The pool may be used
 * again.
 *
 * Returns 0 if all memory is unmapped.
 *   -EBUSY   some memory is in use: wait for the children, and call again
 *   -EINVAL  pool is NULL
 *
 * Details: a process that was forked while another thread was starting a child always gets -EBUSY.
 */
PSYS_API int aspawn_pool_release(struct aspawn_pool *pool);

/* The sizes of the first version, on which an older library and a newer caller agree. */
PSYS_ASSERT(aspawn_command_has_size,
	    sizeof(struct aspawn_command) == (sizeof(void *) == 8 ? 112 : 80));
PSYS_ASSERT(aspawn_io_has_its_size,
	    sizeof(struct aspawn_io) ==
		    16 + 8 * __SIZEOF_POINTER__ + 16 + 8 + 2 * __SIZEOF_POINTER__ + 16 + 128 +
			    18 * PSYS_KERNEL_LONG_BITS / 8 /* psys_rusage */ + 16);

#ifdef __cplusplus
}

/* What ASPAWN_ARGV and ASPAWN_COMMAND make in C++. */
/* clang-format off */
template <size_t Count> struct aspawn_argv {
	const char *strings[Count + 1];

	operator char *const *() const & { return const_cast<char *const *>(strings); }
	operator char *const *() const && = delete; /* would dangle after the expression */
};
/* clang-format on */

template <size_t Count> struct aspawn_args {
	aspawn_argv<Count> argv;
	mutable aspawn_command command;

	operator const aspawn_command *() const
	{
		command = aspawn_command();
		command.size = sizeof command;
		command.argv = argv;
		return &command;
	}
};

template <typename... Strings>
inline aspawn_argv<sizeof...(Strings) + 1> ASPAWN_ARGV(const char *first, Strings... rest)
{
	return { { first, rest..., nullptr } };
}

template <typename... Strings>
inline aspawn_args<sizeof...(Strings) + 1> ASPAWN_COMMAND(const char *first, Strings... rest)
{
	return { ASPAWN_ARGV(first, rest...), aspawn_command() };
}
#endif

#endif
