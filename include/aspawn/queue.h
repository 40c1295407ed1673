/* SPDX-License-Identifier: MIT */
/*
 * A queue of commands: submit without a system call, collect results in batches.
 *
 *	const struct aspawn_queue_options options = { .size = sizeof options, .running = 16 };
 *	const struct aspawn_result *results[16];
 *	struct aspawn_queue *queue;
 *	int count;
 *
 *	if (aspawn_queue_create(&queue, &options) < 0)
 *		return 1;
 *	for (uint64_t i = 0; i < 100; i++) {
 *		const struct aspawn_job job = { .size = sizeof job, .cookie = i, .out_size = 4096,
 *						.command = ASPAWN_COMMAND("uname", "-r") };
 *
 *		if (aspawn_queue_submit(queue, &job, NULL) < 0)
 *			break;
 *	}
 *	while ((count = aspawn_queue_wait(queue, results, 16, -1)) > 0) {
 *		for (int i = 0; i < count; i++)
 *			if (results[i]->outcome == ASPAWN_OUTCOME_RAN)
 *				printf("%s", results[i]->out);
 *		aspawn_queue_release(queue, results, count);
 *	}
 *	aspawn_queue_close(queue);
 *
 * struct aspawn_queue says how a queue works. The rules of aspawn/command.h hold for errors, times,
 * giving back and structures.
 */
#ifndef ASPAWN_QUEUE_H
#define ASPAWN_QUEUE_H

#include <aspawn/command.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The server of a queue is a process with the caller's memory and a small descriptor table of its
 * own. The server starts and reaps the jobs, collects their output, and enforces their time limits.
 * The caller gets no SIGCHLD of a job, and finds no job by wait(2). Jobs inherit descriptors only
 * with ASPAWN_QUEUE_LOCAL.
 *
 * SECURITY: server and jobs have the credentials, namespaces, filters, limits, directory, umask and
 * session of the thread that created the queue. Close the queue before the process restricts itself
 * (setuid, seccomp, landlock): otherwise the process shares memory with the unrestricted server.
 *
 * Details: a start costs the same whatever memory and descriptors the caller has. For a job with a
 * [copy] action (aspawn_action(3)) the server waits until the image is executed; for a tree its
 * helper waits. The server copies the memory for ASPAWN_MEMORY_COPIED, or if the image cannot
 * perform the actions. Meanwhile no other job starts: prefer aspawn_start() for many such jobs.
 *
 * At the end of the caller's process, or within seconds after its exec, the server kills all jobs
 * and ends. If somebody kills the server, its programs are killed too, except set-user-ID programs,
 * and all jobs, also those that wait, get ASPAWN_OUTCOME_LOST. The next submission makes a new
 * server, with the calling thread's credentials.
 *
 * Details: while the caller's process is stopped, jobs go on, and time limits pass. What the
 * programs of a killed server have started lives on, except of a tree. A caller that is a subreaper
 * or PID 1 gets the killed programs, or the helper of a tree, in wait(-1).
 *
 * In a forked process each function except aspawn_queue_close() returns -ESTALE.
 *
 * Details: there aspawn_queue_close() releases the copies of memory and descriptors. Call it before
 * the process drops privileges. If a signal handler has forked during aspawn_queue_submit(),
 * aspawn_queue_prepare(), aspawn_queue_wait() or aspawn_queue_drain(), that call returns -ESTALE in
 * the new process too.
 *
 * All functions are thread-safe, and return -EINVAL if queue is NULL. aspawn_queue_submit(),
 * aspawn_queue_cancel(), aspawn_queue_cancel_all(), aspawn_queue_release(), aspawn_queue_count(),
 * and with timeout 0 aspawn_queue_wait() are async-signal-safe.
 *
 * Details: a handler must not leave them by longjmp(3).
 */
struct aspawn_queue;
struct aspawn_result;

/* --- creation -------------------------------------------------------------------- */

/* The flags of a queue are: */
enum aspawn_queue_flags {
	/* Make no server, as user-mode emulators need: jobs are children of the calling process,
	 * with its current credentials, directory and descriptors. Only threads that wait for
	 * results start and reap jobs. The process must neither ignore SIGCHLD nor reap by
	 * wait(-1).
	 *
	 * Details: such a thread handles signals only while it sleeps. */
	ASPAWN_QUEUE_LOCAL = 1024,
	/* Make a descriptor, which is readable when results may be ready. */
	ASPAWN_QUEUE_FD = 2048
};

/* Zero is a good default for all members except size. */
struct aspawn_queue_options {
	/* sizeof(struct aspawn_queue_options) */
	uint64_t size __attribute__((aligned(8)));
	uint64_t flags; /* a sum of enum aspawn_queue_flags */
	/* The places for jobs, at most 32768; 0 means 256. A job has a place from submission until
	 * its result is released.
	 *
	 * Details: the number is rounded up to a power of two. */
	uint32_t jobs;
	/* The jobs that run at a time, at most 32768; 0 means 16.
	 *
	 * Details: each needs address space, of 320 KiB and four times job_bytes. */
	uint32_t running;
	/* The bytes for copies of a job's command, environment and input, and for its output, at
	 * most 16 MiB; 0 means 32768.
	 *
	 * Details: unused bytes are address space only. */
	uint32_t job_bytes;
	uint32_t delay_ms; /* the least time between two starts; 0 means none */
};

/*
 * Creates a queue and its server.
 *
 * Details: all memory is one mapping. The process gets two descriptors, with ASPAWN_QUEUE_FD five,
 * or four of a local queue. All are CLOEXEC and above 2.
 *
 * options  NULL means all defaults.
 *
 *   -EINVAL      a member of *options is invalid
 *   -EOPNOTSUPP  there can be no server in user-mode emulators, or if the thread's children go to
 *                another pid namespace: use ASPAWN_QUEUE_LOCAL
 *   -ENOMEM, -EMFILE, -ENFILE, -EAGAIN  there is no memory, descriptor or process
 *   -ENOENT, -EACCES, -ENXIO  /dev/null, the jobs' default, cannot be opened
 */
PSYS_API PSYS_MUST_CHECK int aspawn_queue_create(struct aspawn_queue **queue,
						 const struct aspawn_queue_options *options);

/*
 * Kills all jobs with their process groups or trees, ends the server, and gives back all results,
 * memory and descriptors. No other thread may use the queue any more.
 *
 * Details: set-user-ID programs may survive. The call returns -EINVAL if queue is NULL.
 */
PSYS_API int aspawn_queue_close(struct aspawn_queue *queue);

/* --- submission --------------------------------------------------------------------- */

/* The flags of a job are: */
enum aspawn_job_flags {
	ASPAWN_JOB_TAIL = 4096 /* keep the last bytes of longer output, not the first */
};

/* Zero is a good default for all members except size, and command or prepared. */
struct aspawn_job {
	/* sizeof(struct aspawn_job) */
	uint64_t size __attribute__((aligned(8)));
	uint64_t flags;  /* a sum of enum aspawn_job_flags */
	uint64_t cookie; /* the caller's, for any use; the result has it too */

	/* A job has no handle: pool, owners except ASPAWN_OWNER_TREE, and
	 * ASPAWN_COMMAND_STARTED_FD, _NO_PIDFD, _NONBLOCK and _DIES_WITH_CALLER have no effect.
	 * Each stream is ASPAWN_STREAM_DEFAULT or _NULL; std_err may be ASPAWN_STREAM_STDOUT.
	 *
	 * Details: ASPAWN_COMMAND_INHERIT_SIGNALS takes the signal mask and the ignored signals
	 * from the thread that created the queue. A tree ends with the program, the time limit, a
	 * cancellation, the queue, the server and the caller's process; other jobs go on
	 * meanwhile.
	 *
	 * The submission sends copies of the descriptors above 2 that actions use, at most 253,
	 * which keep their numbers and are CLOEXEC; the caller may then close its own.
	 * ASPAWN_DUP2(fd, fd) gives a descriptor to the program, or to an ASPAWN_CALL.
	 *
	 * Details: the uses of an ASPAWN_CALL are not detected. What its argument points to must
	 * stay valid until the job has ended. A number that an earlier action has replaced or
	 * closed is not the caller's. After an ASPAWN_CALL no use is detected, as the call may have
	 * opened the number. A local queue sends nothing: actions use the table of the thread that
	 * starts the job. */
	const struct aspawn_command *command;
	char *const *argv; /* replaces the prepared arguments, unless NULL */
	/* The standard input; NULL means /dev/null.
	 *
	 * Details: a file in memory has a copy. If the file cannot be made, the job fails at
	 * ASPAWN_STEP_STREAMS with the subject "input": -EFBIG beyond RLIMIT_FSIZE. */
	const void *input;
	size_t input_size;
	/* This many bytes of standard output and standard error are kept, with a NUL; the rest is
	 * dropped. 0 means /dev/null. */
	size_t out_size, err_size;

	/* As for aspawn_run(), from the job's start, for the job's process group or tree.
	 *
	 * Details: if an ASPAWN_SETPGID() has moved the program to another group, the signals go to
	 * the program alone. */
	int64_t time_limit_ms __attribute__((aligned(8)));
	int64_t grace_ms __attribute__((aligned(8)));

	/* Takes a number of aspawn_queue_prepare() instead of a command, or is 0. */
	int64_t prepared __attribute__((aligned(8)));

	/* At most key_limit jobs with this key run at a time, and later jobs pass waiting jobs; 0
	 * in either means no limit. */
	uint32_t key, key_limit;

	/* The number is from 0 to ASPAWN_MOST_PRIORITY. The job with the highest number starts
	 * first, of the same number the oldest. */
	int priority;
	int reserved; /* 0 */
};

/* The highest priority of a job. */
enum { ASPAWN_MOST_PRIORITY = 7 };

/*
 * Copies a job to a place of the queue, usually without a system call.
 *
 * failure  Gets the invalid member or action; may be NULL.
 *
 * Details: system calls wake a sleeping server, look once a second if somebody has stopped it, send
 * descriptors, and, on 32-bit architectures or without the kernel's vDSO, read the clock. The call
 * blocks only to replace a killed server. After -EINVAL, -E2BIG and -EOPNOTSUPP failure has the
 * invalid member, such as "job.priority" or "std_in", or the index of the invalid action, otherwise
 * error 0.
 *
 * Returns the job's ticket, greater than 0, which no other job of the queue ever has.
 *   -EINVAL  job is NULL; a member of job or of its command is invalid; an action makes a pipe
 *   -E2BIG   the job needs more than job_bytes or 253 descriptors
 *   -EAGAIN  the queue is full: take and release results, and submit again
 *   -EBADF   an action uses a descriptor that is not open
 *
 * Other errors are those of sendmsg(2), and of aspawn_queue_create() for a new server.
 *
 * Details: a ticket is never the number of a prepared command. Exactly one of command and prepared
 * must be set, and argv only with prepared. input may be NULL only if input_size is 0. A stream
 * with input, or with output to keep, must be ASPAWN_STREAM_DEFAULT, and memory must not be
 * ASPAWN_MEMORY_SUSPENDED. The subject of -E2BIG is "job_bytes"; -E2BIG and -EOPNOTSUPP are
 * returned too as by aspawn_start(). -EAGAIN is also returned if the server has not yet received
 * the descriptors of some hundred jobs, or another thread is releasing a result. No failure says
 * which descriptor is not open. -ENOTSOCK means that the job uses descriptors, and the queue's
 * creation could make no socketpair(2). -ETOOMANYREFS means that the user has sent more descriptors
 * than RLIMIT_NOFILE, by any socket, that nobody has received, and has neither CAP_SYS_RESOURCE nor
 * CAP_SYS_ADMIN: wait for results.
 */
PSYS_API int64_t aspawn_queue_submit(struct aspawn_queue *queue, const struct aspawn_job *job,
				     struct aspawn_failure *failure);

/*
 * Copies a command to a place of the queue for many jobs, which then copy only their arguments.
 *
 * Details: the command has what is the same in all of them, above all the environment.
 *
 * Returns a number greater than 0 for the member prepared of jobs. Errors are those of
 * aspawn_queue_submit().
 */
PSYS_API PSYS_MUST_CHECK int64_t aspawn_queue_prepare(struct aspawn_queue *queue,
						      const struct aspawn_command *command,
						      struct aspawn_failure *failure);

/*
 * Gives the place of a prepared command back. No job with the command may wait or run.
 *   -EINVAL  prepared is no prepared command
 */
PSYS_API int aspawn_queue_release_prepared(struct aspawn_queue *queue, int64_t prepared);

/*
 * Keeps a job from starting, or ends the job as its time limit does, and does not wait. The outcome
 * is ASPAWN_OUTCOME_CANCELLED, unless the job ends by itself first.
 *
 * Details: no more output is awaited of a job that ends by itself first. The result still has to
 * be taken.
 *   -ESRCH   the job has ended, or no job has the ticket
 */
PSYS_API int aspawn_queue_cancel(struct aspawn_queue *queue, int64_t ticket);

/*
 * Cancels all jobs submitted before the call.
 *
 * Details: the call looks at each place of the queue, and returns -EINVAL if queue is NULL.
 */
PSYS_API int aspawn_queue_cancel_all(struct aspawn_queue *queue);

/* --- results -------------------------------------------------------------------------- */

/* A result is read-only, and valid until aspawn_queue_release().
 *
 * Details: the queue owns the result. A later version may add members at the end. */
struct aspawn_result {
	uint64_t cookie __attribute__((aligned(8))); /* the job's */
	int64_t ticket __attribute__((aligned(8)));  /* the job's */
	/* Tells an enum aspawn_outcome, never ASPAWN_OUTCOME_NONE or _FULL.
	 *
	 * Details: ASPAWN_OUTCOME_LOST is also that of a tree whose helper somebody has killed: its
	 * program is killed, and what the program has started lives on. */
	int outcome;
	int pid;    /* tells the number of the process; 0 means no process */
	int status; /* as for aspawn_run() */
	/* How many processes of a tree could not be ended. Without a tree 1 means that the caller
	 * may not signal the program, which runs on as pid.
	 *
	 * Details: this happens after a set-user-ID exec. The result then has no status. The server
	 * reaps the program; the caller reaps a child of a local queue. */
	int survivors;
	/* These have the output that was kept, with a NUL, or are NULL. The lengths are without the
	 * NUL; the totals count what the program wrote. */
	const char *out, *err;
	size_t out_length, err_length;
	uint64_t out_total __attribute__((aligned(8)));
	uint64_t err_total __attribute__((aligned(8)));
	/* The times are nanoseconds of CLOCK_MONOTONIC; 0 if the job did not get so far.
	 *
	 * Details: executed_ns is the moment before the exec. The number is also 0 if the program
	 * began with memory of its own ([copy] actions, ASPAWN_MEMORY_COPIED). */
	int64_t submitted_ns __attribute__((aligned(8)));
	int64_t started_ns __attribute__((aligned(8)));
	int64_t executed_ns __attribute__((aligned(8)));
	int64_t ended_ns __attribute__((aligned(8)));
	struct aspawn_failure failure; /* why the program was not executed; otherwise error is 0 */
	/* As for aspawn_run().
	 *
	 * Details: cut is 0 if the library has ended the program, and awaits no output. */
	struct psys_rusage usage;
	uint64_t memory_peak __attribute__((aligned(8)));
	int cut;
};

/*
 * Takes up to count results, the oldest first, and waits for the first.
 *
 * Details: several threads may wait: each result goes to one thread. results gets pointers, for
 * aspawn_queue_release().
 *
 * Returns the number of results, which is 0 after timeout_ms.
 *   -ECHILD   there is no result, and no job waits or runs
 *   -EINVAL   results is NULL, or count is not positive
 */
PSYS_API int aspawn_queue_wait(struct aspawn_queue *queue, const struct aspawn_result **results,
			       int count, int64_t timeout_ms);

/*
 * Gives results back, whose places later jobs use.
 *   -EINVAL  a pointer is no result that was taken
 */
PSYS_API int aspawn_queue_release(struct aspawn_queue *queue, const struct aspawn_result **results,
				  int count);

/* Formats a result as aspawn_io_text() does. */
PSYS_API size_t aspawn_result_text(char *to, size_t size, const struct aspawn_result *result);

/*
 * Returns a descriptor of the queue for poll(2) and epoll(7). The descriptor is readable when
 * results may be ready, or the server was killed (Linux 5.3), until aspawn_queue_wait() with
 * timeout 0 has returned less than asked for. A thread that only polls must call
 * aspawn_queue_count() each second, which continues a server that a job has stopped (SIGSTOP).
 *
 * Details: the functions that wait, submit and cancel continue a stopped server too. The descriptor
 * does not show that the server is stopped. Before Linux 5.3 wait with a timeout.
 *   -EBADF   the queue was created without ASPAWN_QUEUE_FD
 */
PSYS_API int aspawn_queue_fd(struct aspawn_queue *queue);

/*
 * Waits until no job waits or runs, also if results are left.
 *   -ETIMEDOUT  a job waits or runs
 */
PSYS_API int aspawn_queue_drain(struct aspawn_queue *queue, int64_t timeout_ms);

/* aspawn_queue_count() returns one of these numbers: */
enum aspawn_count {
	ASPAWN_COUNT_WAITING = 1, /* tells how many jobs were not started */
	ASPAWN_COUNT_RUNNING = 2, /* tells how many jobs run */
	ASPAWN_COUNT_ENDED = 3,   /* tells how many results were not taken */
	/* Tells how many servers were made: more than 1 if one was killed. */
	ASPAWN_COUNT_SERVERS = 4
};

/*
 * Returns a number of jobs or servers.
 *
 * Details: the number is exact, but not of the same moment as another one.
 *   -EINVAL  what is unknown
 */
PSYS_API int aspawn_queue_count(struct aspawn_queue *queue, int what);

/* The sizes of the first version, on which an older library and a newer caller agree. */
PSYS_ASSERT(aspawn_queue_options_has_its_size, sizeof(struct aspawn_queue_options) == 32);
PSYS_ASSERT(aspawn_job_has_its_size, sizeof(struct aspawn_job) == 64 + 6 * __SIZEOF_POINTER__);

#ifdef __cplusplus
}
#endif

#endif
