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
 * The commands are started by a server: a process that shares the caller's memory, but has its own
 * small descriptor table and is the parent of all jobs. So the jobs raise no SIGCHLD in the
 * caller's process, no wait of the caller finds them, and they inherit no descriptor of the caller.
 * A start costs the same however many descriptors and however much memory the caller has. A job
 * with a [copy] action (aspawn/action.h), for example one of another user, begins in the library's
 * image, for which the server waits, or the helper of a tree. With ASPAWN_MEMORY_COPIED, or where the
 * image cannot perform the actions, it begins in a copy of the caller's memory, at fork(2)'s cost.
 *
 * SECURITY: the server keeps the credentials, namespaces, filters and limits that the calling
 * thread had at the creation of the queue. A process that restricts itself afterwards (setuid,
 * seccomp, landlock) would share its memory with a process that is not restricted: close the queue
 * first. aspawn_queue_close() ends the server before it returns.
 *
 * The rules of aspawn/command.h hold for errors, times, giving back, structures and threads, but
 * not every function is async-signal-safe: aspawn_queue_submit(), aspawn_queue_cancel(),
 * aspawn_queue_cancel_all(), aspawn_queue_release() and aspawn_queue_count() are, as is
 * aspawn_queue_wait() with timeout 0; a handler must not leave them by longjmp.
 *
 * After fork(2) the new process has no queue: each function returns -ESTALE there, except
 * aspawn_queue_close(), which releases its copies of memory and descriptors. If a signal handler has
 * forked during aspawn_queue_submit(), aspawn_queue_prepare(), aspawn_queue_wait() or
 * aspawn_queue_drain(), that call returns -ESTALE in the new process too.
 */
#ifndef ASPAWN_QUEUE_H
#define ASPAWN_QUEUE_H

#include <aspawn/command.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A queue and its server: aspawn_queue_create(). */
struct aspawn_queue;
struct aspawn_result;

/* --- creation -------------------------------------------------------------------- */

/* How a queue is served and polled. */
enum aspawn_queue_flags {
	/* Make no server: jobs are children of the calling process. A thread in aspawn_queue_wait()
	 * or aspawn_queue_drain() starts and reaps them; the thread handles signals only while it
	 * sleeps. While no thread waits, no job starts. For user-mode emulators, where no process
	 * can share memory, and for jobs that must have the caller's current credentials, directory
	 * and descriptors. The process must not ignore SIGCHLD nor reap by wait(-1). */
	ASPAWN_QUEUE_LOCAL = 1024,
	/* Make the descriptor of aspawn_queue_fd(). */
	ASPAWN_QUEUE_FD = 2048
};

/* Zero is a good default for everything but size. */
struct aspawn_queue_options {
	/* sizeof(struct aspawn_queue_options) */
	uint64_t size __attribute__((aligned(8)));
	uint64_t flags; /* a sum of enum aspawn_queue_flags */
	/* Places for jobs, each taken from submit to release; rounded up to a power of two; 0: 256;
	 * at most 32768. */
	uint32_t jobs;
	/* Jobs that run at the same time, at most 32768; 0: 16. Address space for each: 320 KiB
	 * and four times job_bytes. */
	uint32_t running;
	/* Bytes for each job: copies of command, environment and input, and the output kept.
	 * Address space only until it is used. 0: 32768; at most 16 MiB. */
	uint32_t job_bytes;
	uint32_t delay_ms; /* least time between two starts; 0: none */
};

/*
 * Creates a queue and its server. All memory is one mapping, made here. The caller's process gets
 * two descriptors, with ASPAWN_QUEUE_FD five, or four of a local queue; all are CLOEXEC and above 2.
 *
 * queue    out: for the other functions, of which aspawn_queue_close() is the last
 * options  NULL: defaults
 *
 *   -EINVAL      queue is NULL; a number is too large
 *   -EOPNOTSUPP  no process can share this memory (user-mode emulators), or the thread's children
 *                go to another pid namespace: use ASPAWN_QUEUE_LOCAL
 *   -ENOMEM, -EMFILE, -ENFILE, -EAGAIN  no memory, descriptor or process
 *   -ENOENT and other errors of open(2) for /dev/null, a job's default input and output
 */
PSYS_API PSYS_MUST_CHECK int aspawn_queue_create(struct aspawn_queue **queue,
						 const struct aspawn_queue_options *options);

/*
 * Ends the queue: kills all jobs with their process groups or trees, ends the server, and gives
 * memory and descriptors back. No other thread may use the queue during or after the call. When the
 * call returns there is no server. Results that were not released are gone. A job that may not be
 * killed (set-user-ID programs) runs on.
 *   -EINVAL  queue is NULL
 */
PSYS_API int aspawn_queue_close(struct aspawn_queue *queue);

/* --- submission --------------------------------------------------------------------- */

/* What is kept of a job's output. */
enum aspawn_job_flags {
	ASPAWN_JOB_TAIL = 4096 /* of longer output keep the last bytes, not the first */
};

/* A command for a queue. Zero is a good default for everything but size, and command or prepared. */
struct aspawn_job {
	/* sizeof(struct aspawn_job) */
	uint64_t size __attribute__((aligned(8)));
	uint64_t flags;  /* a sum of enum aspawn_job_flags */
	uint64_t cookie; /* the caller's, for any use: aspawn_result.cookie */

	/* The program. A job has no handle, so these members of the command have no effect: pool,
	 * any owner but ASPAWN_OWNER_TREE, and of flags all except
	 * ASPAWN_COMMAND_SHELL_ON_ENOEXEC, _RELATIVE_TO_CALLER, _TREE_OR_GROUP and
	 * _INHERIT_SIGNALS. A tree ends with its program, its time limit, its cancellation, the
	 * queue, its server and the caller's process; others go on meanwhile. memory is
	 * ASPAWN_MEMORY_SHARED or _COPIED.
	 * Pipe actions are not allowed. Each stream is ASPAWN_STREAM_DEFAULT or _NULL; std_err may
	 * be ASPAWN_STREAM_STDOUT. Only a stream that is ASPAWN_STREAM_DEFAULT may be input, or be
	 * kept.
	 *
	 * A descriptor above 2 that an action uses, and that no earlier action replaces or closes,
	 * is the caller's: a copy is sent along, also for each job of a prepared command, and the
	 * job has it under the caller's number, with FD_CLOEXEC. The caller may close its own when
	 * the submission returns. At most 253 for a job. 0 to 2 are the job's streams. A use after
	 * an ASPAWN_CALL, which may have opened the number, is not detected: put ASPAWN_DUP2(fd,
	 * fd) before the call. With ASPAWN_QUEUE_LOCAL nothing is sent: actions use the table of
	 * the thread that starts the job. */
	const struct aspawn_command *command;
	char *const *argv; /* with prepared: replaces the prepared arguments; NULL: does not */
	/* Standard input, copied: a file in memory. NULL: /dev/null. If the file cannot be made,
	 * the job fails at ASPAWN_STEP_STREAMS with the subject "input": -EFBIG beyond
	 * RLIMIT_FSIZE. */
	const void *input;
	size_t input_size;
	/* Bytes to keep of standard output and standard error, with a NUL as in struct aspawn_io.
	 * The rest is read and dropped. 0: keep none. */
	size_t out_size, err_size;

	/* From the start to the command's stop_signal, which goes to the job's process group, or to all
	 * of a tree, or to the program alone if an ASPAWN_SETPGID() has moved it to another group;
	 * and from there to SIGKILL, also the time after the program's end in which output is still
	 * read if another process holds the pipe. */
	int64_t time_limit_ms __attribute__((aligned(8)));
	int64_t grace_ms __attribute__((aligned(8)));

	/* From aspawn_queue_prepare(), instead of a command, which is NULL then; 0: none. */
	int64_t prepared __attribute__((aligned(8)));

	/* Of the jobs with the same key, at most key_limit run at the same time; key 0: no key,
	 * key_limit 0: no limit. A job that has to wait for its key lets later jobs pass. */
	uint32_t key, key_limit;

	/* Of the jobs that wait, those with the highest number start first, from 0 to
	 * ASPAWN_MOST_PRIORITY; those with the same in the order of their submission. */
	int priority;
	int reserved; /* 0 */
};

/* The highest aspawn_job.priority. */
enum { ASPAWN_MOST_PRIORITY = 7 };

/*
 * Copies a job to the queue and returns. No system call, except to wake a sleeping server, to look
 * once a second if somebody has stopped it, to send descriptors of the caller if the job uses any,
 * and, on 32-bit architectures or without the kernel's vDSO, to read the clock. Never blocks,
 * unless the job's server was killed: then the call makes a new one.
 *
 * failure  out, may be NULL: after -EINVAL, -E2BIG and -EOPNOTSUPP the invalid member, as
 *          "job.priority" or "std_in", or the index of the invalid action; otherwise its error is 0
 *
 * Returns the ticket of the job, greater than 0, for aspawn_queue_cancel(). It has 64 bits, and no
 * other job or prepared command of the queue ever has the same.
 *   -EAGAIN  the queue is full: take and release results; or another thread is just now
 *            releasing one; or the server has not yet started some hundred jobs with descriptors
 *            of the caller, and the socket is full
 *   -ETOOMANYREFS  without CAP_SYS_RESOURCE and CAP_SYS_ADMIN: the user has sent more descriptors
 *            than RLIMIT_NOFILE, by any socket, that nobody has received: wait for results
 *   -EINVAL  queue or job is NULL; not exactly one of command and prepared is set, or argv
 *            without prepared; prepared is no prepared command; input is NULL and input_size not
 *            0; priority is out of range; what is input or to be kept has no stream for it; the
 *            command is invalid for aspawn_start(), or has what a job cannot have
 *   -EBADF   an action uses a descriptor of the caller that is not open
 *   -E2BIG   the job needs more than job_bytes, which is the subject of the failure then, or more
 *            than 253 descriptors of the caller; or as of aspawn_start()
 *   -EOPNOTSUPP  an action makes a call that cannot be one (ASPAWN_SYSCALL)
 *   -ENOTSOCK  the job uses descriptors of the caller, and the kernel, or a filter, had no
 *            socketpair(2) at the queue's creation
 *   -ESTALE  this process is a forked copy, and has no queue
 *   other errors of sendmsg(2), if the job uses descriptors of the caller
 *   and, if the server had to be made anew, errors of aspawn_queue_create()
 */
PSYS_API int64_t aspawn_queue_submit(struct aspawn_queue *queue, const struct aspawn_job *job,
				     struct aspawn_failure *failure);

/*
 * Copies a command to the queue for many jobs, which then copy only their arguments: for what is
 * the same in all of them, above all the environment. Takes one of the queue's places. Checks,
 * failure and errors are those of aspawn_queue_submit().
 *
 * Returns a number greater than 0 for aspawn_job.prepared.
 */
PSYS_API PSYS_MUST_CHECK int64_t aspawn_queue_prepare(struct aspawn_queue *queue,
						      const struct aspawn_command *command,
						      struct aspawn_failure *failure);

/*
 * Gives the place of a prepared command back. No job of it may wait or run.
 *   -EINVAL  queue is NULL; prepared is no prepared command
 *   -ESTALE  as of aspawn_queue_submit()
 */
PSYS_API int aspawn_queue_release_prepared(struct aspawn_queue *queue, int64_t prepared);

/*
 * Cancels a job. One that was not started never starts; one that runs gets its stop_signal, and
 * SIGKILL after its grace, as after its time limit. Its result still has to be taken:
 * ASPAWN_OUTCOME_CANCELLED, unless it ends by itself first: then no more output is awaited. Does
 * not wait.
 *   0        requested
 *   -ESRCH   the job has ended, or the ticket is no job's
 *   -EINVAL  queue is NULL
 *   -ESTALE  as of aspawn_queue_submit()
 */
PSYS_API int aspawn_queue_cancel(struct aspawn_queue *queue, int64_t ticket);

/*
 * Cancels all jobs submitted before the call, and none after it. Looks at each place of the queue.
 *   -EINVAL  queue is NULL
 *   -ESTALE  as of aspawn_queue_submit()
 */
PSYS_API int aspawn_queue_cancel_all(struct aspawn_queue *queue);

/* --- results -------------------------------------------------------------------------- */

/* The library's: read-only, and valid until aspawn_queue_release(). A later version may add
 * members at the end. */
struct aspawn_result {
	uint64_t cookie __attribute__((aligned(8))); /* aspawn_job.cookie */
	int64_t ticket __attribute__((aligned(8)));  /* as aspawn_queue_submit() returned it */
	/* enum aspawn_outcome, never NONE or FULL. After LOST a program that had started was killed
	 * with the server, unless it has changed its credentials by a set-user-ID exec; what it has
	 * started lives on, except of a tree. A caller that is a subreaper or PID 1 gets the program,
	 * or the helper of a tree, in wait(-1). LOST is also a tree whose helper somebody has killed:
	 * its program is killed, and what that has started lives on. */
	int outcome;
	int pid;    /* of the process; 0: there was none */
	int status; /* as wait(2) stores it; -1: none */
	/* How many processes could not be ended: of a tree as ASPAWN_FACT_SURVIVORS; of another job 1 if
	 * the program, pid, may not be killed: it runs on as a set-user-ID program, and has no status. */
	int survivors;
	/* What was kept, with a NUL; NULL: nothing was to be kept. The bytes kept, without the NUL,
	 * and the bytes that the program wrote. */
	const char *out, *err;
	size_t out_length, err_length;
	uint64_t out_total __attribute__((aligned(8)));
	uint64_t err_total __attribute__((aligned(8)));
	/* Nanoseconds of CLOCK_MONOTONIC; 0 if the job did not reach this point. executed_ns is the
	 * moment before the exec; 0 also for a program that began with memory of its own: [copy]
	 * actions, ASPAWN_MEMORY_COPIED. */
	int64_t submitted_ns __attribute__((aligned(8)));
	int64_t started_ns __attribute__((aligned(8)));
	int64_t executed_ns __attribute__((aligned(8)));
	int64_t ended_ns __attribute__((aligned(8)));
	struct aspawn_failure failure; /* error is 0 unless the program was never executed */
	struct psys_rusage usage;      /* as aspawn_wait() stores it */
	uint64_t memory_peak __attribute__((aligned(8))); /* as in struct aspawn_io */
	/* As in struct aspawn_io; 0 if the library has ended the program, after which it awaits no
	 * output. */
	int cut;
};

/*
 * Takes up to count results, the oldest first, and waits for the first of them. Several threads may
 * wait: each result goes to one of them.
 *
 * results  out: pointers, to be given to aspawn_queue_release()
 *
 * Returns the number of results.
 *   0         none within timeout_ms
 *   -ECHILD   there is none, and no job waits or runs
 *   -EINVAL   queue or results is NULL, or count is not positive
 *   -ESTALE   this process is a forked copy, and has no queue
 * If the server was killed, the outcome of its jobs is ASPAWN_OUTCOME_LOST.
 */
PSYS_API int aspawn_queue_wait(struct aspawn_queue *queue, const struct aspawn_result **results,
			       int count, int64_t timeout_ms);

/*
 * Gives results back, whose places and memory later jobs use.
 *   -EINVAL  queue is NULL; a pointer is no taken result
 *   -ESTALE  as of aspawn_queue_submit()
 */
PSYS_API int aspawn_queue_release(struct aspawn_queue *queue, const struct aspawn_result **results,
				  int count);

/* Formats the outcome for people: "exit 3", "timed out, killed by SIGTERM", "not started: search
 * \"unmae\": ENOENT", "cancelled", "lost". As aspawn_failure_text(); at most 319 bytes. */
PSYS_API size_t aspawn_result_text(char *to, size_t size, const struct aspawn_result *result);

/*
 * Returns a descriptor for poll(2) and epoll(7), which the queue owns: readable when there may be
 * results, or when the server was killed. Then call aspawn_queue_wait() with timeout 0 until it
 * returns less than asked for: this makes the descriptor unreadable. It does not show that a job
 * has stopped the server (SIGSTOP). The functions that wait, submit, cancel and count continue the
 * server, if one of them is called each second: a thread that only polls calls
 * aspawn_queue_count().
 *   -EBADF   the queue was created without ASPAWN_QUEUE_FD
 *   -EINVAL  queue is NULL
 *   -ESTALE  as of aspawn_queue_submit()
 */
PSYS_API int aspawn_queue_fd(struct aspawn_queue *queue);

/*
 * Waits until no job waits or runs; results may be there.
 *   -ETIMEDOUT  a job still waits or runs
 *   -EINVAL     queue is NULL
 *   -ESTALE     as of aspawn_queue_submit()
 */
PSYS_API int aspawn_queue_drain(struct aspawn_queue *queue, int64_t timeout_ms);

/* What aspawn_queue_count() can be asked. */
enum aspawn_count {
	ASPAWN_COUNT_WAITING = 1, /* jobs submitted, not started */
	ASPAWN_COUNT_RUNNING = 2, /* jobs that run */
	ASPAWN_COUNT_ENDED = 3,   /* jobs that have ended, whose results were not taken */
	ASPAWN_COUNT_SERVERS = 4  /* servers that were made: more than 1 if one was killed */
};

/*
 * Returns a number: exact, but not of the same moment as another one.
 *   -EINVAL  queue is NULL, or what is unknown
 *   -ESTALE  as of aspawn_queue_submit()
 */
PSYS_API int aspawn_queue_count(struct aspawn_queue *queue, int what);

/* The sizes of the first version, on which an older library and a newer caller agree. */
PSYS_ASSERT(aspawn_queue_options_has_its_size, sizeof(struct aspawn_queue_options) == 32);
PSYS_ASSERT(aspawn_job_has_its_size, sizeof(struct aspawn_job) == 64 + 6 * __SIZEOF_POINTER__);

#ifdef __cplusplus
}
#endif

#endif
