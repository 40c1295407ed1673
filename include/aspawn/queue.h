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
 * A server process, which shares the caller's memory, starts the jobs of a queue, collects their
 * output, ends them after their time limit, and reaps them. It has a small descriptor table of its
 * own. So the caller gets no SIGCHLD of a job, no wait of the caller finds a job, and no job
 * inherits a descriptor. A start costs the same whatever memory and descriptors the caller has.
 *
 * SECURITY: server and jobs have the credentials, namespaces, filters, limits, directory, umask and
 * session of the thread that created the queue. A process that restricts itself afterwards (setuid,
 * seccomp, landlock) would share its memory with a process that is not restricted: close the queue
 * first.
 *
 * For a job with a [copy] action (aspawn_action(3)) the server waits until the image is executed;
 * for a tree its helper waits. If the image cannot perform the actions, or with
 * ASPAWN_MEMORY_COPIED, the server copies the memory, and starts no other job meanwhile: use
 * aspawn_start() for many such jobs.
 *
 * If the caller's process ends, or executes another program, the server kills all jobs and ends,
 * after an exec within seconds. While the process is stopped, jobs go on, and time limits pass.
 *
 * If somebody kills the server, its programs are killed too, except set-user-ID programs. What they
 * have started lives on, except of a tree. A caller that is a subreaper or PID 1 gets the killed
 * programs, or the helper of a tree, in wait(-1). The next submission makes a new server, with the
 * credentials of the calling thread.
 *
 * A forked process has no queue: each function returns -ESTALE there, except aspawn_queue_close(),
 * which releases its copies of memory and descriptors, and which it calls before it drops
 * privileges. If a signal handler has forked during aspawn_queue_submit(), aspawn_queue_prepare(),
 * aspawn_queue_wait() or aspawn_queue_drain(), that call returns -ESTALE in the new process too.
 *
 * All functions are thread-safe. aspawn_queue_submit(), aspawn_queue_cancel(),
 * aspawn_queue_cancel_all(), aspawn_queue_release(), aspawn_queue_count(), and aspawn_queue_wait()
 * with timeout 0, are async-signal-safe, if a handler does not leave them by longjmp(3).
 */
struct aspawn_queue;
struct aspawn_result;

/* --- creation -------------------------------------------------------------------- */

/* A queue has these flags: */
enum aspawn_queue_flags {
	/* Make no server: jobs are children of the calling process, with its current credentials,
	 * directory and descriptors. A thread that waits for results starts and reaps them, and
	 * handles signals only while it sleeps. While no thread waits, no job starts. The process
	 * must neither ignore SIGCHLD nor reap by wait(-1). The flag is also for user-mode
	 * emulators, where no process can share memory. */
	ASPAWN_QUEUE_LOCAL = 1024,
	/* Make a descriptor that is readable when there may be results.
	 *
	 * In C: aspawn_queue_fd() returns the descriptor. */
	ASPAWN_QUEUE_FD = 2048
};

/* Zero is a good default for all members except size. */
struct aspawn_queue_options {
	/* sizeof(struct aspawn_queue_options) */
	uint64_t size __attribute__((aligned(8)));
	uint64_t flags; /* a sum of enum aspawn_queue_flags */
	/* The places for jobs, at most 32768, rounded up to a power of two; 0 means 256. A job has
	 * its place from the submission until its result is released. */
	uint32_t jobs;
	/* The jobs that run at the same time, at most 32768; 0 means 16. Each needs address space:
	 * 320 KiB and four times job_bytes. */
	uint32_t running;
	/* The bytes for each job's copies of command, environment and input, and for the output
	 * that is kept, at most 16 MiB; 0 means 32768. They are address space only until they are
	 * used. */
	uint32_t job_bytes;
	uint32_t delay_ms; /* the least time between two starts; 0 means none */
};

/*
 * Creates a queue and its server, with all memory in one mapping. The process gets two descriptors,
 * with ASPAWN_QUEUE_FD five, or four of a local queue. All are CLOEXEC and above 2.
 *
 * queue    Gets the queue. aspawn_queue_close() is the last function that takes it.
 * options  NULL means all defaults.
 *
 *   -EINVAL      queue is NULL, or a member of *options is invalid
 *   -EOPNOTSUPP  no process can share this memory (user-mode emulators), or the thread's children
 *                go to another pid namespace: use ASPAWN_QUEUE_LOCAL
 *   -ENOMEM, -EMFILE, -ENFILE, -EAGAIN  there is no memory, descriptor or process
 *   -ENOENT, -EACCES, -ENXIO  /dev/null cannot be opened (open(2)), a job's default input and
 *                             output
 */
PSYS_API PSYS_MUST_CHECK int aspawn_queue_create(struct aspawn_queue **queue,
						 const struct aspawn_queue_options *options);

/*
 * Kills all jobs with their process groups or trees, except set-user-ID programs, which run on. It
 * ends the server before it returns, and gives memory and descriptors back: results that were not
 * released are gone. No other thread may use the queue during the call or after it.
 *   -EINVAL  queue is NULL
 */
PSYS_API int aspawn_queue_close(struct aspawn_queue *queue);

/* --- submission --------------------------------------------------------------------- */

/* A job has this flag: */
enum aspawn_job_flags {
	ASPAWN_JOB_TAIL = 4096 /* keep the last bytes of longer output, not the first */
};

/* Zero is a good default for all members except size, and command or prepared. */
struct aspawn_job {
	/* sizeof(struct aspawn_job) */
	uint64_t size __attribute__((aligned(8)));
	uint64_t flags;  /* a sum of enum aspawn_job_flags */
	uint64_t cookie; /* the caller's, for any use; the result has it too */

	/* The command. A job has no handle, so these members have no effect: pool, any owner except
	 * ASPAWN_OWNER_TREE, and all flags except ASPAWN_COMMAND_SHELL_ON_ENOEXEC,
	 * _RELATIVE_TO_CALLER, _TREE_OR_GROUP and _INHERIT_SIGNALS. With the last a job has the
	 * signal mask and the ignored signals of the thread that created the queue. A tree ends
	 * with its program, its time limit, its cancellation, the queue, its server and the
	 * caller's process; other jobs go on meanwhile. Each stream is ASPAWN_STREAM_DEFAULT or
	 * _NULL; std_err may be ASPAWN_STREAM_STDOUT.
	 *
	 * A descriptor above 2 that an action uses is the caller's, unless an earlier action has
	 * replaced or closed the number. A copy is sent with each job, at most 253, and has the
	 * caller's number and FD_CLOEXEC there; the caller may close its own when the submission
	 * has returned. ASPAWN_DUP2(fd, fd) gives it to the program. It is also needed before an
	 * ASPAWN_CALL, after which no use is detected, as the call may have opened the number. A
	 * local queue sends nothing: actions use the table of the thread that starts the job. What
	 * the argument of an ASPAWN_CALL points to must stay valid until the job has ended. */
	const struct aspawn_command *command;
	char *const *argv; /* with prepared: instead of the prepared arguments, unless NULL */
	/* The standard input: a file in memory, to which these bytes are copied. NULL means
	 * /dev/null. If the file cannot be made, the job fails at ASPAWN_STEP_STREAMS with the
	 * subject "input": -EFBIG beyond RLIMIT_FSIZE. */
	const void *input;
	size_t input_size;
	/* The bytes of standard output and standard error to keep, with a NUL; the rest is read and
	 * dropped. 0 means none: the stream is /dev/null. */
	size_t out_size, err_size;

	/* As for aspawn_run(), from the job's start. The signals go to the job's process group, or
	 * to all of a tree, or to the program alone if an ASPAWN_SETPGID() has moved it to another
	 * group. */
	int64_t time_limit_ms __attribute__((aligned(8)));
	int64_t grace_ms __attribute__((aligned(8)));

	/* The number of aspawn_queue_prepare(), instead of a command; 0 means none. */
	int64_t prepared __attribute__((aligned(8)));

	/* At most key_limit jobs with the same key run at the same time; later jobs pass the ones
	 * that wait. 0 means no key, and no limit. */
	uint32_t key, key_limit;

	/* From 0 to ASPAWN_MOST_PRIORITY. Waiting jobs with the highest number start first, and
	 * jobs with the same number in the order of their submission. */
	int priority;
	int reserved; /* 0 */
};

/* The highest priority of a job. */
enum { ASPAWN_MOST_PRIORITY = 7 };

/*
 * Copies a job to a place of the queue. The call makes system calls only to wake a sleeping server,
 * to look once a second if somebody has stopped it, to send descriptors, and, on 32-bit
 * architectures or without the kernel's vDSO, to read the clock. It blocks only to make a new
 * server for one that was killed.
 *
 * failure  Gets the invalid member, such as "job.priority" or "std_in", or the index of the invalid
 *          action; its error is 0 unless the call fails with -EINVAL, -E2BIG or -EOPNOTSUPP. May be
 *          NULL.
 *
 * Returns the job's ticket, greater than 0, which no other job or prepared command of the queue
 * ever has.
 *   -EINVAL  queue or job is NULL; a member of *job is invalid; not exactly one of command and
 *            prepared is set, or argv without prepared; prepared is no prepared command; input is
 *            NULL and input_size is not 0; input, or output to keep, is for a stream that is not
 *            ASPAWN_STREAM_DEFAULT; the command is invalid for aspawn_start(), or its streams for a
 *            job, or memory is ASPAWN_MEMORY_SUSPENDED; an action makes a pipe
 *   -E2BIG   the job needs more than job_bytes, which is the subject of the failure then, or more
 *            than 253 descriptors of the caller; or as for aspawn_start()
 *   -EOPNOTSUPP  as for aspawn_start()
 *   -EAGAIN  the queue is full, or the server has not yet received the descriptors of some hundred
 *            jobs: take and release results, and submit again. Or another thread is just releasing
 *            a result
 *   -EBADF   an action uses a descriptor that is not open; the failure does not say which
 *   -ENOTSOCK  the job uses descriptors of the caller, and no socketpair(2) was possible at the
 *            queue's creation
 *   -ETOOMANYREFS  the user has sent more descriptors than RLIMIT_NOFILE, by any socket, that
 *            nobody has received, and has neither CAP_SYS_RESOURCE nor CAP_SYS_ADMIN: wait for
 *            results
 *   -ESTALE  this process is a forked copy, and has no queue
 *
 * Other errors are those of sendmsg(2), and of aspawn_queue_create() if a new server is made.
 */
PSYS_API int64_t aspawn_queue_submit(struct aspawn_queue *queue, const struct aspawn_job *job,
				     struct aspawn_failure *failure);

/*
 * Copies a command to a place of the queue, for many jobs, which then copy only their arguments: it
 * has what is the same in all of them, above all the environment.
 *
 * Returns a number greater than 0 for the jobs' member prepared. Errors are those of
 * aspawn_queue_submit().
 */
PSYS_API PSYS_MUST_CHECK int64_t aspawn_queue_prepare(struct aspawn_queue *queue,
						      const struct aspawn_command *command,
						      struct aspawn_failure *failure);

/*
 * Gives the place of a prepared command back. No job with the command may wait or run.
 *   -EINVAL  queue is NULL, or prepared is no prepared command
 *   -ESTALE  as for aspawn_queue_submit()
 */
PSYS_API int aspawn_queue_release_prepared(struct aspawn_queue *queue, int64_t prepared);

/*
 * Keeps a job from starting, or ends it as after its time limit, and does not wait. The result
 * still has to be taken: ASPAWN_OUTCOME_CANCELLED, unless the job ends by itself first: then no
 * more of its output is awaited.
 *   -ESRCH   the job has ended, or no job has the ticket
 *   -EINVAL  queue is NULL
 *   -ESTALE  as for aspawn_queue_submit()
 */
PSYS_API int aspawn_queue_cancel(struct aspawn_queue *queue, int64_t ticket);

/*
 * Cancels all jobs submitted before the call, as aspawn_queue_cancel() does. The call looks at each
 * place of the queue.
 *   -EINVAL, -ESTALE  as for aspawn_queue_cancel()
 */
PSYS_API int aspawn_queue_cancel_all(struct aspawn_queue *queue);

/* --- results -------------------------------------------------------------------------- */

/* A result is the queue's and read-only, and valid until aspawn_queue_release(). A later version
 * may add members at the end. */
struct aspawn_result {
	uint64_t cookie __attribute__((aligned(8))); /* the job's */
	int64_t ticket __attribute__((aligned(8)));  /* as aspawn_queue_submit() returned it */
	/* An enum aspawn_outcome, never ASPAWN_OUTCOME_NONE or _FULL. ASPAWN_OUTCOME_LOST is also
	 * that of a tree whose helper somebody has killed: its program is killed, and what the
	 * program has started lives on. */
	int outcome;
	int pid;    /* the number of the process; 0 if there was none */
	int status; /* as wait(2) stores it; -1 if there is none */
	/* How many processes of a tree could not be ended. For another job it is 1 if the program
	 * may not be killed, since it runs as another user after a set-user-ID exec: it runs on as
	 * pid, and has no status. The server reaps it; the caller reaps a child of a local
	 * queue. */
	int survivors;
	/* The output that was kept, with a NUL; NULL if nothing was to be kept. The lengths are
	 * without the NUL; the totals are the bytes that the program wrote. */
	const char *out, *err;
	size_t out_length, err_length;
	uint64_t out_total __attribute__((aligned(8)));
	uint64_t err_total __attribute__((aligned(8)));
	/* Nanoseconds of CLOCK_MONOTONIC; 0 if the job did not reach this point. executed_ns is the
	 * moment before the exec; it is also 0 if the program began with memory of its own ([copy]
	 * actions, ASPAWN_MEMORY_COPIED). */
	int64_t submitted_ns __attribute__((aligned(8)));
	int64_t started_ns __attribute__((aligned(8)));
	int64_t executed_ns __attribute__((aligned(8)));
	int64_t ended_ns __attribute__((aligned(8)));
	struct aspawn_failure failure; /* why the program was not executed; otherwise error is 0 */
	struct psys_rusage usage;      /* as aspawn_wait() stores it */
	uint64_t memory_peak __attribute__((aligned(8))); /* as for aspawn_run() */
	/* As for aspawn_run(); 0 if the library has ended the program, after which it awaits no
	 * output. */
	int cut;
};

/*
 * Takes up to count results, the oldest first, and waits for the first of them. Several threads may
 * wait: each result goes to one of them.
 *
 * results  Gets pointers, for aspawn_queue_release().
 *
 * Returns the number of results, which is 0 after timeout_ms.
 *   -ECHILD   there is no result, and no job waits or runs
 *   -EINVAL   queue or results is NULL, or count is not positive
 *   -ESTALE   as for aspawn_queue_submit()
 */
PSYS_API int aspawn_queue_wait(struct aspawn_queue *queue, const struct aspawn_result **results,
			       int count, int64_t timeout_ms);

/*
 * Gives results back, whose places and memory later jobs use.
 *   -EINVAL  queue is NULL, or a pointer is no result that was taken
 *   -ESTALE  as for aspawn_queue_submit()
 */
PSYS_API int aspawn_queue_release(struct aspawn_queue *queue, const struct aspawn_result **results,
				  int count);

/* Formats a result for people, as aspawn_io_text() does. */
PSYS_API size_t aspawn_result_text(char *to, size_t size, const struct aspawn_result *result);

/*
 * Returns a descriptor for poll(2) and epoll(7), which the queue owns. It is readable when there
 * may be results, or when the server was killed, from Linux 5.3 on: before, wait with a timeout.
 * Then call aspawn_queue_wait() with timeout 0 until it returns less than asked for: this makes the
 * descriptor unreadable.
 *
 * The descriptor does not show that a job has stopped the server (SIGSTOP). The functions that
 * wait, submit, cancel and count continue the server, if one of them is called each second: a
 * thread that only polls calls aspawn_queue_count().
 *   -EBADF   the queue was created without ASPAWN_QUEUE_FD
 *   -EINVAL  queue is NULL
 *   -ESTALE  as for aspawn_queue_submit()
 */
PSYS_API int aspawn_queue_fd(struct aspawn_queue *queue);

/*
 * Waits until no job waits or runs. Results may be left to be taken.
 *   -ETIMEDOUT  a job still waits or runs
 *   -EINVAL     queue is NULL
 *   -ESTALE     as for aspawn_queue_submit()
 */
PSYS_API int aspawn_queue_drain(struct aspawn_queue *queue, int64_t timeout_ms);

/* aspawn_queue_count() returns one of these numbers: */
enum aspawn_count {
	ASPAWN_COUNT_WAITING = 1, /* jobs that were submitted, and not started */
	ASPAWN_COUNT_RUNNING = 2, /* jobs that run */
	ASPAWN_COUNT_ENDED = 3,   /* jobs that have ended, whose results were not taken */
	ASPAWN_COUNT_SERVERS = 4  /* servers that were made: more than 1 if one was killed */
};

/*
 * Returns a number, which is exact, but not of the same moment as another one.
 *   -EINVAL  queue is NULL, or what is unknown
 *   -ESTALE  as for aspawn_queue_submit()
 */
PSYS_API int aspawn_queue_count(struct aspawn_queue *queue, int what);

/* The sizes of the first version, on which an older library and a newer caller agree. */
PSYS_ASSERT(aspawn_queue_options_has_its_size, sizeof(struct aspawn_queue_options) == 32);
PSYS_ASSERT(aspawn_job_has_its_size, sizeof(struct aspawn_job) == 64 + 6 * __SIZEOF_POINTER__);

#ifdef __cplusplus
}
#endif

#endif
