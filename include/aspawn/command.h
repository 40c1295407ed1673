/*
 * Commands: start a program without suspending the caller, wait for it, talk to it.
 *
 *	char text[4096];
 *	struct aspawn_io io = { .size = sizeof io, .out = { .data = text, .size = sizeof text } };
 *
 *	if (aspawn_run(ASPAWN_COMMAND("uname", "-sr"), &io) == 0 && io.status == 0)
 *		printf("%s", text);
 *
 * From the smallest use to the largest:
 *
 *   aspawn_run()      starts a command, feeds it, collects its output, waits: one call
 *   aspawn_start()    starts it and returns at once; then aspawn_wait_started(),
 *                     aspawn_kill(), aspawn_communicate(), aspawn_wait()
 *   actions           what the new process does before it executes: aspawn/action.h
 *   aspawn_pool       keeps the memory of ended children for the next ones
 *   aspawn()          the primitive below all this: a function of yours in the child,
 *                     aspawn/aspawn.h
 *
 * Errors: every function that returns int returns 0, or a negative error number of
 * syscall/errno.h (-PSYS_ENOENT, the same as -ENOENT of a libc). -ECANCELED means one
 * thing everywhere: the program was never executed, and a struct aspawn_failure says why.
 * Any other error is the call's own.
 *
 * Structures: a structure that begins with size may grow with a later version. Zero it, and
 * set size to its sizeof; an older or newer library then knows which members there are.
 * The others have the same size for ever.
 *
 * Every function is async-signal-safe and thread-safe, uses no heap, and changes neither
 * errno nor a signal handler. A handler that runs meanwhile does not end a call: none returns
 * -EINTR. A child may be passed from thread to thread, but is used by one at a time; to be
 * able to cancel a wait, poll pidfd instead. A time is in milliseconds; as a function's
 * argument, negative means no limit and 0 means at once.
 *
 * After fork(2) the new process has copies of the handles of its parent's children. It may
 * only call aspawn_release() on them and close in_fd, out_fd and err_fd. Its copy of a pool
 * works. A process that is forked while another thread is in aspawn_start(), and does not
 * execute, holds the other ends of that child's pipes: exclude that with a lock.
 */
#ifndef ASPAWN_COMMAND_H
#define ASPAWN_COMMAND_H

#include <aspawn/action.h>
#include <aspawn/version.h>
#include <syscall/errno.h> /* PSYS_E..., psys_errname() */

#ifdef __cplusplus
extern "C" {
#endif

/* --- a command ---------------------------------------------------------------- */

/* Where a standard stream of the program comes from or goes to. A number above 2 is a
 * descriptor of the caller's, which stays open there. */
enum aspawn_stream {
	ASPAWN_INHERIT = 0, /* the caller's own */
	ASPAWN_NULL = -1,   /* /dev/null */
	/* a new pipe, whose other end is in aspawn_child.in_fd, .out_fd, .err_fd */
	ASPAWN_PIPE = -2,
	/* Of std_err alone: the same as std_out, in the order written. Not as what an action
	 * opens as 1: that takes an ASPAWN_DUP2(1, 2) after it. */
	ASPAWN_TO_STDOUT = -3
};

enum aspawn_command_flags {
	/* Make aspawn_child.started_fd, to poll for the start. Not needed to learn of failures: a
	 * child that fails ends, and its pidfd is readable. It is for those who must know of
	 * success too; aspawn_wait_started() needs none, and waits at no cost. */
	ASPAWN_COMMAND_STARTED_FD = 1,
	/* Give a file that the kernel cannot execute (ENOEXEC) to /bin/sh, as execvp(3) does. */
	ASPAWN_COMMAND_SHELL_ON_ENOEXEC = 2,
	/* A relative file, or search path, begins in the caller's directory, not in the one
	 * that the actions change to. Cannot reach it after a change of the root. */
	ASPAWN_COMMAND_RELATIVE_TO_CALLER = 4,
	/* The caller promises that no thread opens, closes or duplicates a descriptor until
	 * aspawn_wait_started() has answered. With ASPAWN_CLOSEFROM, and no pipe,
	 * aspawn_start() then does not wait for the child to copy its descriptors. */
	ASPAWN_COMMAND_DESCRIPTORS_UNCHANGED = 8,
	/* Suspend the calling thread until the exec, as vfork(2) does. For debuggers, which
	 * otherwise lose breakpoints of the caller; and for very long argv and envp, which
	 * are not copied then, except with ASPAWN_COMMAND_SHELL_ON_ENOEXEC. */
	ASPAWN_COMMAND_VFORK = 16,
	/* Make no pidfd: aspawn_child.pidfd is -1. For callers that wait by pid, or may be
	 * out of descriptors. */
	ASPAWN_COMMAND_NO_PIDFD = 32,
	/* Begin the child in a copy of the memory, as fork(2) does and at its cost: what an
	 * ASPAWN_CALL stores does not reach the caller. For valgrind. */
	ASPAWN_COMMAND_FORK = 64,
	/* With ASPAWN_CLOSEFROM: copy all descriptors all the same, at their cost, for an
	 * action whose path leads to one through a symbolic link. */
	ASPAWN_COMMAND_COPY_ALL_DESCRIPTORS = 128,
	/* The caller's ends of all pipes are O_NONBLOCK; the program's are blocking. */
	ASPAWN_COMMAND_NONBLOCK = 256,
	/*
	 * The child is nobody else's business: no SIGCHLD, nothing for any wait of the caller's
	 * process, not even wait(-1), also if SIGCHLD is ignored. Only aspawn_wait() and the like
	 * know of it. Its parent is a helper process, which ASPAWN_PDEATHSIG follows. Its memory
	 * is in use until it has ended. Not with ASPAWN_COMMAND_VFORK. See aspawn_start(3),
	 * "Private children".
	 */
	ASPAWN_COMMAND_PRIVATE = 512
};

/*
 * A program and how to start it. Only size and argv (or file) must be set; zero everywhere
 * else is a good default. Everything is the caller's. aspawn_start() and aspawn_run()
 * copy all of it, with what it points to except the pool and the stack, so that it may
 * change and go as soon as the call has returned.
 */
struct aspawn_command {
	/* sizeof(struct aspawn_command) */
	uint64_t size __attribute__((aligned(8)));
	uint64_t flags; /* enum aspawn_command_flags */

	/* The program; NULL: argv[0]. Without a slash it is searched for in search_path, by the
	 * child, so that a failure names it. Relative with a slash: from the directory that the
	 * actions change to. */
	const char *file;
	char *const *argv; /* ends with NULL; NULL: only file. ASPAWN_ARGV() writes one */
	/* The environment, ends with NULL. NULL: the caller's environ, as it is during the
	 * call (empty in a program without a libc). ASPAWN_SETENV() and the like change it. */
	char *const *envp;
	/* Directories to search file in, as of PATH; not the program's own path. NULL: PATH of the program's environment, after the actions;
	 * if there is none, "/bin:/usr/bin". */
	const char *search_path;

	const struct aspawn_action *actions; /* in their order; NULL if action_count is 0 */
	size_t action_count;

	/* The child begins on memory of the caller's process, until it executes: that of the
	 * pool, or of the stack, which no other child may be using. The stack may not move or go
	 * before the child has been waited for or released, the pool as aspawn_pool_trim()
	 * says. Both NULL: a mapping for this child alone, some system calls more. */
	struct aspawn_pool *pool;
	struct Stack_t *stack;

	/* enum aspawn_stream, or a descriptor above 2; made before the actions, which may
	 * replace them. 1 for std_out, and 2 for std_err, are the same as ASPAWN_INHERIT; any
	 * other number from 0 to 2 but 0, which always means ASPAWN_INHERIT, is -EINVAL. */
	int std_in, std_out, std_err;
	int reserved; /* 0 */
};

enum { ASPAWN_COMMAND_SIZE_VER0 = 32 + 8 * sizeof(void *) }; /* of the first version */

#ifndef __cplusplus
/*
 * Arguments as an array, for aspawn_command.argv. In a function it lasts until the } of
 * its block, so not beyond an if { }, and cannot initialize a static command:
 *
 *	struct aspawn_command command = {
 *		.size = sizeof command,
 *		.argv = ASPAWN_ARGV("check_http", "-H", host),
 *		.std_out = ASPAWN_PIPE,
 *	};
 *
 * In C++: auto args = ASPAWN_ARGV("check_http", "-H", host); command.argv = args;
 */
#define ASPAWN_ARGV(...) ((char *const *)(uintptr_t)(const char *const[]){ __VA_ARGS__, NULL })
/* A whole command of nothing but arguments: a const struct aspawn_command *, which lasts as
 * long as the block; in C++ as long as the expression, which is the call. */
#define ASPAWN_COMMAND(...)                                                     \
	(&(const struct aspawn_command){ .size = sizeof(struct aspawn_command), \
					 .argv = ASPAWN_ARGV(__VA_ARGS__) })
#endif

/* --- what failed ------------------------------------------------------------------ */

/* Where a command failed: the index of an action, from 0, or one of these. */
enum aspawn_step {
	ASPAWN_STEP_NONE = -1,        /* nothing failed, or it is not known where */
	ASPAWN_STEP_DESCRIPTORS = -2, /* to copy the descriptors, for ASPAWN_CLOSEFROM */
	/* std_in, std_out, std_err, or the group of ASPAWN_IO_KILL_GROUP */
	ASPAWN_STEP_STREAMS = -3,
	ASPAWN_STEP_SEARCH = -4,     /* file is nowhere in the search path */
	ASPAWN_STEP_EXEC = -5,       /* execve(2) */
	ASPAWN_STEP_INTERPRETER = -6 /* file is there, but not what its first line, or its
				       * ELF header, names to interpret it */
};

/* 128 bytes on every architecture, for ever; a copy of it is complete. */
struct aspawn_failure {
	int step;      /* index of the action, or enum aspawn_step */
	int error;     /* negative; 0: nothing failed. -ECHILD: the child died there, of a signal */
	uint32_t kind; /* enum aspawn_action_kind of the action; 0 for the other steps */
	uint32_t reserved;
	/* The path, name or number that failed, with a NUL; its end if it is longer, empty if
	 * there is none. Whole when the answer is given first; the handle keeps its last 39
	 * bytes. */
	char subject[112];
};

typedef char aspawn_failure_has_128_bytes[sizeof(struct aspawn_failure) == 128 ? 1 : -1];

/*
 * Writes a failure as text, for people: action 2, chdir "/srv/checks": ENOENT, or
 * search "unmae": ENOENT. As snprintf(3): at most size - 1 bytes and a NUL (nothing if size
 * is 0), and returns the length of the whole text, which is at most 255. No failure, or
 * NULL: an empty text and 0.
 */
PSYS_API size_t aspawn_failure_text(char *to, size_t size, const struct aspawn_failure *failure);

/* The same for a status as of aspawn_wait(): "exit 3", "killed by SIGSEGV", "killed by
 * SIGABRT (core dumped)", "killed by signal 40"; -1: "no status". At most 63 bytes. */
PSYS_API size_t aspawn_status_text(char *to, size_t size, int status);

/* --- run: from start to end in one call ---------------------------------------------- */

/*
 * Where output goes. All zero: nothing is wanted (aspawn_run() lets the program inherit
 * the caller's stream; of a pipe that exists, everything is read and dropped).
 * The same size for ever.
 */
struct aspawn_output {
	/* Without a sink, the output is stored here, at most size - 1 bytes, and a NUL after
	 * it. With a sink, a buffer to read into; NULL: a small one of the library's own. */
	void *data;
	size_t size;   /* bytes at data; more output than fits ends the program: -ENOBUFS */
	size_t length; /* result: bytes of output, without the NUL */
	/* Called with each piece of output, on the calling thread, where it may use malloc and
	 * stdio. 0 or positive: go on. A negative number ends the program, and is what the call
	 * returns. bytes is valid during the call; count is never 0. It must return: no
	 * longjmp, no exception. */
	int (*sink)(void *arg, const void *bytes, size_t count);
	void *arg;
};

/* What became of a command. */
enum aspawn_end {
	ASPAWN_END_UNKNOWN = 0, /* the call failed before there was a child, or lost it */
	ASPAWN_END_RAN,         /* it ran, and ended by itself or by another's signal */
	ASPAWN_END_NOT_STARTED, /* it was never executed: failure says why */
	ASPAWN_END_TIMED_OUT,   /* it was ended: timeout_ms had passed */
	ASPAWN_END_FULL,        /* it was ended: more output than data holds */
	ASPAWN_END_SINK         /* it was ended: a sink returned an error */
};

enum aspawn_io_flags {
	/* Send the signals of a timeout, and the like, to the program's whole process group: a
	 * shell's commands do not end with it. aspawn_run() makes the program the leader of a
	 * group, unless it has an ASPAWN_SETSID() or ASPAWN_SETPGID(). */
	ASPAWN_IO_KILL_GROUP = 1,
	/* aspawn_run(): without input the program has the caller's standard input; otherwise
	 * it has /dev/null, so that it does not wait for a terminal. */
	ASPAWN_IO_INHERIT_INPUT = 2,
	/* Output that does not fit in data is read and dropped, and does not end the program;
	 * length counts all of it. */
	ASPAWN_IO_DROP_EXCESS = 4
};

/* What to feed, where to collect, how long; and what came of it. */
struct aspawn_io {
	/* sizeof(struct aspawn_io) */
	uint64_t size __attribute__((aligned(8)));
	uint64_t flags; /* enum aspawn_io_flags */

	const void *input; /* for standard input, which is closed after it; NULL: none */
	size_t input_size; /* bytes */
	struct aspawn_output out, err;

	/* From the call on, until SIGTERM, to the program alone; to all of its group with
	 * ASPAWN_IO_KILL_GROUP. 0 or negative: no limit (unlike a function's argument). */
	int64_t timeout_ms __attribute__((aligned(8)));
	/* From SIGTERM to SIGKILL; and from the program's end, as long as other processes still
	 * hold its output open. 0: one second. Negative: none, SIGKILL at once. */
	int64_t grace_ms __attribute__((aligned(8)));

	/* The results, always stored if the call got past -EINVAL and -E2BIG. */
	int end;    /* enum aspawn_end */
	int status; /* as of aspawn_wait(), also of a program that was not executed; -1: none */
	struct aspawn_failure failure;
	struct psys_rusage usage;
};

enum {
	/* of the first version */
	ASPAWN_IO_SIZE_VER0 = 16 + 12 * sizeof(void *) + 16 + 8 + sizeof(struct psys_rusage) + 128
};

/*
 * Runs a command from start to end: aspawn_start(), aspawn_communicate(), aspawn_wait().
 * The calling thread is blocked; no other thread is made. SIGPIPE of a program that does
 * not read its input does not reach the caller.
 *
 * command  as for aspawn_start(). std_in, std_out and std_err that are ASPAWN_INHERIT become what *io
 *          asks for: a pipe, if there is input or an output; otherwise /dev/null for std_in.
 * io       must not be NULL
 *
 * A program that ends while another process still holds its output open is read from for
 * grace_ms more.
 *
 * 0 means that the program was executed and has ended: whether it succeeded is in
 * io->status. On failure everything has been ended, reaped and closed.
 *   -ECANCELED  it was never executed: io->failure (ASPAWN_END_NOT_STARTED)
 *   -ETIMEDOUT  ended, its time was over (ASPAWN_END_TIMED_OUT)
 *   -ENOBUFS    ended, its output did not fit (ASPAWN_END_FULL). What fits is in data.
 *   what a sink returned (ASPAWN_END_SINK)
 *   -EPERM      it had to be ended, but has become another user's: it runs on, and is not
 *               reaped (ASPAWN_END_UNKNOWN)
 *   -ECHILD     it ran, but another has reaped it, or SIGCHLD is ignored: the output is
 *               complete, status and usage are not known (ASPAWN_END_UNKNOWN)
 *   -EINVAL, -E2BIG  of *io: NULL, size is less than the first version's, or larger than
 *               known and not zero beyond; an unknown flag; input NULL and input_size not
 *               0, data NULL without a sink and size not 0; input, or an output, for a
 *               stream that command sends elsewhere
 *   and what aspawn_start() returns
 * Rests on ppoll(2), waitid(2), pipe(7).
 */
PSYS_API PSYS_MUST_CHECK int aspawn_run(const struct aspawn_command *command, struct aspawn_io *io);

/*
 * The outcome of aspawn_run() or aspawn_communicate() as one text, for people: "exit 3",
 * "timed out, killed by SIGTERM", "not started: search \"unmae\": ENOENT", "EMFILE". result
 * is what the call returned. As aspawn_failure_text(), at most 319 bytes; "" of NULL.
 */
PSYS_API size_t aspawn_io_text(char *to, size_t size, int result, const struct aspawn_io *io);

/* --- start: a child to deal with yourself ----------------------------------------------- */

/*
 * A child, from aspawn_start() to aspawn_wait(). It may be moved by memcpy between any two
 * calls, if only one copy is used; it points to nothing of the caller's except the pool and
 * the stack. All zero is no child too: aspawn_release() of it does nothing, and its
 * descriptors, 0, are none. 128 bytes on every architecture, for ever.
 */
struct aspawn_child {
	pid_t pid; /* 0: no child, or waited for */
	/* CLOEXEC, the library's to close; readable when the child has ended. -1: not wanted,
	 * or not supported: poll(2) ignores that, so call aspawn_ended() from a timer.
	 * pidfd_open(2), Linux 5.3 to poll. Remove both from poll(2)'s array or epoll(7) before a
	 * call that closes them, aspawn_wait(), aspawn_communicate() or aspawn_release(): a
	 * child on its way to its exec may hold a copy, and epoll reports a descriptor until
	 * its last copy is closed. */
	int pidfd;
	/* CLOEXEC, the library's to close; -1 without ASPAWN_COMMAND_STARTED_FD. Readable when
	 * the child has failed, or is about to execute, and hung up when it has: ask
	 * aspawn_wait_started() with timeout 0, and poll on if it does not know, which reads
	 * what was there. A process that another thread forked meanwhile delays the hang-up:
	 * ask also when pidfd is readable. */
	int started_fd;
	/* The caller's ends of pipes (ASPAWN_PIPE), CLOEXEC: in_fd to write to, out_fd and err_fd
	 * to read from; above 2. -1: none. The caller closes them; only aspawn_communicate()
	 * does otherwise. Who takes one over, or closes it early, stores -1 here. */
	int in_fd, out_fd, err_fd;
	uint64_t own[13] __attribute__((aligned(8))); /* the library's */
};

typedef char aspawn_child_has_128_bytes[sizeof(struct aspawn_child) == 128 ? 1 : -1];

/*
 * Starts a command, and returns when the child exists: before its actions, and before the
 * program is executed, whose failure is therefore not an error here.
 *
 * It takes some microseconds, whatever the actions do, with these exceptions. With
 * ASPAWN_CLOSEFROM it waits until the child has run its first system call, which is before
 * all actions and touches no file; if the child is stopped or frozen there, signals are
 * handled meanwhile. With a [copy] action or ASPAWN_COMMAND_FORK it costs what fork(2)
 * does. With ASPAWN_COMMAND_VFORK it waits for the exec, and while the child is stopped
 * only SIGKILL ends that; so it does in user-mode emulators.
 *
 * child    out: for the functions below; at last aspawn_wait(), or aspawn_release() if the
 *          caller reaps by pid. It may be uninitialized.
 * command  copied
 *
 * On failure there is no child, no descriptor is open, and *child is no child: its pid is 0,
 * its descriptors are -1, and aspawn_release() of it does nothing.
 *   -EINVAL     (most often: size was not set.) child or command is NULL; file and argv[0] are NULL; both pool and stack
 *               are given; a stream is an invalid number, or ASPAWN_TO_STDOUT for another
 *               than std_err; actions and action_count are not both 0, or both not 0; an
 *               unknown flag or kind of action; an invalid argument of an action
 *               (aspawn/action.h); size is less than ASPAWN_COMMAND_SIZE_VER0; reserved is
 *               not 0
 *   -E2BIG      size is larger than known and not zero beyond; an action with an array of
 *               more than a million bytes; more than ten million actions
 *   -EBUSY      a child still runs on command->stack
 *   -ENOMEM     no memory for the stack (mmap(2)) or the child
 *   -EMFILE, -ENFILE  no descriptor for a pipe or the pidfd
 *   -EAGAIN     RLIMIT_NPROC or the system's limits (clone(2)); or another thread changed
 *               the command, or the environment, during the call
 *   -EOVERFLOW  the sizes' sum is more than an address can hold
 *   and what else clone(2) returns
 */
PSYS_API PSYS_MUST_CHECK int aspawn_start(struct aspawn_child *child,
					  const struct aspawn_command *command);

/*
 * Waits until it is known whether the program is executed; timeout_ms as everywhere. May be
 * repeated, also after aspawn_wait() and aspawn_communicate(); failure->subject then holds its
 * last 39 bytes.
 *
 * failure  out, may be NULL; error is 0 unless -ECANCELED is returned
 *
 *   0           it is executing, or was killed by a signal during execve(2) itself, which
 *               cannot be told apart
 *   -ECANCELED  it never will be: *failure says why
 *   -ETIMEDOUT  not known yet
 *   -ESTALE     not known any more: another child has used command.stack since, or
 *               aspawn_release() was called
 *   -EINVAL     child is NULL or no child
 * Rests on futex(2), CLONE_CHILD_CLEARTID.
 */
PSYS_API int aspawn_wait_started(struct aspawn_child *child, struct aspawn_failure *failure,
				 int64_t timeout_ms);

/*
 * Waits for the child's end, reaps it, closes pidfd and started_fd, and returns its memory to
 * the pool. It reads no pipe: a program that fills one never ends, so read first, or use
 * aspawn_communicate(). child.in_fd, out_fd and err_fd stay open: close them yourself.
 *
 * status  out, may be NULL: as of wait(2), for WIFEXITED() or PSYS_WIFEXITED() and so on,
 *         or aspawn_status_text()
 * usage   out, may be NULL: what it and its reaped children used; KiB, bytes and times as
 *         in getrusage(2)
 *
 *   0           it ran, and is reaped
 *   -ECANCELED  it is reaped, and was never executed: *status is exit 127, or the signal
 *               that ended it before, and aspawn_wait_started() says why
 *   -ETIMEDOUT  still running, nothing has changed
 *   -ECHILD     another has reaped it, or SIGCHLD is ignored; *status and *usage are
 *               untouched
 *   -EINVAL     child is NULL or no child, or was waited for
 * After 0, -ECANCELED and -ECHILD pid is 0, and pidfd and started_fd are -1.
 * Without a pidfd, or after aspawn_release(), it goes by the number: if another reaps the
 * child and a new one of this process gets its number, that one is waited for.
 * Without a pidfd that can be polled (before Linux 5.3) a timeout is looked at every 5 ms.
 * Rests on waitid(2).
 */
PSYS_API int aspawn_wait(struct aspawn_child *child, int *status, struct psys_rusage *usage,
			 int64_t timeout_ms);

/*
 * Returns 1 if the child has ended, 0 if not; it is not reaped, so that its group can still
 * be killed. Never blocks.
 *   -ECHILD  another has reaped it, or SIGCHLD is ignored
 *   -EINVAL  child is NULL or no child, or was waited for
 * Rests on waitid(2), WNOWAIT.
 */
PSYS_API int aspawn_ended(struct aspawn_child *child);

/*
 * Feeds and collects through child.in_fd, out_fd and err_fd, waits for the child's end, ends it where
 * *io says so, and reaps it: all of aspawn_run() but the start. On return the three
 * descriptors are closed and -1, and the child is released, also on failure (it is
 * killed then), except after -EINVAL and -E2BIG, which change nothing.
 *
 * Returns what aspawn_run() does, without the errors of the start. -EINVAL also: child is
 * NULL or no child, or was waited for; input without child.in_fd, or an output without
 * child.out_fd or child.err_fd.
 */
PSYS_API PSYS_MUST_CHECK int aspawn_communicate(struct aspawn_child *child, struct aspawn_io *io);

/*
 * Releases everything but the process: closes pidfd and started_fd, and returns the memory
 * to the pool, which gives it out again when the child has left it. Without a pool and a
 * stack it waits for that, at most until the exec. For callers that reap by pid, with
 * waitpid(2): somebody must. May be repeated; after aspawn_wait() it does nothing.
 * aspawn_ended(), aspawn_wait() and the kills go on to work, by the number, as long as nobody
 * else reaps; that the program was never executed is not known any more.
 *   -EINVAL  child is NULL
 */
PSYS_API int aspawn_release(struct aspawn_child *child);

/*
 * Sends the signal to the child, through its pidfd: never to another process that got the
 * number later. 0 sends nothing, and says whether it could, also to one that has ended and
 * is not reaped. It misses what the child has started. Before the exec all signals but
 * SIGKILL and SIGSTOP wait until then.
 *   -EINVAL  child is NULL or no child, or was waited for; no such signal
 *   -ESRCH   it has been reaped by another
 *   -EPERM   it runs as another user
 * Rests on pidfd_send_signal(2), Linux 5.1; without, on waitid(2) and kill(2): then another
 * thread that reaps it at the same moment can redirect the signal.
 */
PSYS_API int aspawn_kill(struct aspawn_child *child, int signal);

/*
 * Sends the signal to the process group that the child leads, after ASPAWN_SETPGID(0) or
 * ASPAWN_SETSID(); to the child alone if it leads none, or not yet. It misses processes that
 * have made a group or session of their own (daemons, the jobs of an interactive shell) and
 * those of another user. It works until the child has been waited for, also when it has
 * ended. So to end a whole tree: send SIGTERM; do not wait for the child, even if its
 * pidfd is readable; after a grace send SIGKILL; then aspawn_wait().
 *   -EINVAL, -ESRCH, -EPERM  as of aspawn_kill()
 * Rests on kill(2), after a look whether the child has been reaped: in a process with
 * another waitpid(-1) that can be too late, and aspawn_kill_cgroup() is safe.
 */
PSYS_API int aspawn_kill_group(struct aspawn_child *child, int signal);

/*
 * Kills (SIGKILL) every process of the control group whose directory is open as cgroup_fd,
 * and of all groups below it: also those that are forked meanwhile, and those that have
 * changed their session. With ASPAWN_JOIN_CGROUP(cgroup_fd) this is the surest way to
 * end a command with all that it started. It misses only processes that have been moved to
 * another group. It does not wait for their end. Make a new group for the next command: on
 * Linux 6.18 a child that begins in one that was killed before is killed too.
 *   -EBADF       no such descriptor
 *   -ENOENT      not a control group of version 2, the root, or before Linux 5.14
 *   -EACCES      cgroup.kill may not be written
 *   -EOPNOTSUPP  a threaded group
 * Rests on cgroups(7), cgroup.kill.
 */
PSYS_API int aspawn_kill_cgroup(int cgroup_fd);

/* --- pool: many children ------------------------------------------------------------------ */

/*
 * Memory for children to begin on, kept from one to the next: with it a start maps nothing.
 * {0} before its first use. Any number of threads may use one at the same time; no lock is
 * taken, so it works in signal handlers and after fork(2). It must not move while a
 * child runs in its memory, also a released one, and may go when aspawn_pool_trim() has
 * returned 0. 64 bytes for ever.
 *
 *	static struct aspawn_pool pool;
 *	struct aspawn_command command = { .size = sizeof command, .argv = argv, .pool = &pool };
 */
struct aspawn_pool {
	uint64_t own[8] __attribute__((aligned(8)));
};

typedef char aspawn_pool_has_64_bytes[sizeof(struct aspawn_pool) == 64 ? 1 : -1];

/*
 * Unmaps what no child uses: in a quiet moment, or at last.
 *   0        nothing is left, and the pool may go
 *   -EBUSY   some is in use; the rest is unmapped. Also after a fork(2) beside a thread
 *            that was starting a child
 *   -EINVAL  pool is NULL
 */
PSYS_API int aspawn_pool_trim(struct aspawn_pool *pool);

/* The sizes that an older library and a newer caller agree on. */
typedef char
	aspawn_command_has_size[sizeof(struct aspawn_command) == ASPAWN_COMMAND_SIZE_VER0 ? 1 : -1];
typedef char aspawn_io_has_its_size[sizeof(struct aspawn_io) == ASPAWN_IO_SIZE_VER0 ? 1 : -1];

#ifdef __cplusplus
}

/* What ASPAWN_ARGV and ASPAWN_COMMAND make in C++. */
/* clang-format off */
template <size_t Count> struct aspawn_argv {
	const char *strings[Count + 1];

	operator char *const *() const & { return const_cast<char *const *>(strings); }
	operator char *const *() const && = delete; /* it would not outlive the expression */
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
