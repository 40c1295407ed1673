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
 *	for (uint64_t i = 0; i < 100; i++)
 *		aspawn_queue_submit(queue, &(struct aspawn_job){
 *			.size = sizeof(struct aspawn_job), .flags = ASPAWN_JOB_OUTPUT, .cookie = i,
 *			.command = ASPAWN_COMMAND("uname", "-r") });
 *	while ((count = aspawn_queue_wait(queue, results, 16, -1)) > 0) {
 *		for (int i = 0; i < count; i++)
 *			printf("%.*s", (int)results[i]->out_size, results[i]->out);
 *		aspawn_queue_release(queue, results, count);
 *	}
 *	aspawn_queue_close(queue);
 *
 * The commands are started by a server: a process that shares the caller's memory, but has its own
 * small descriptor table and is the parent of all jobs. So the jobs raise no SIGCHLD in the
 * caller's process, no wait of the caller's sees them, they inherit no descriptor of the caller's,
 * and a start costs the same however many descriptors the caller has, and however much memory. A job
 * with a [copy] action (aspawn/action.h), as of another user, begins in the library's image, for which
 * the server waits. With ASPAWN_COMMAND_FORK or _NO_IMAGE, or where the image cannot perform the
 * actions, it begins in a copy of the caller's memory, at fork(2)'s cost.
 *
 * SECURITY: the server keeps the credentials, namespaces, filters and limits that the calling
 * thread had at the creation of the queue. A process that restricts itself afterwards (setuid,
 * seccomp, landlock) would share its memory with a process that is not restricted: close the queue
 * first. aspawn_queue_close() ends the server before it returns.
 *
 * Errors, structures with a size, and times are as in aspawn/command.h. Every function is
 * thread-safe. aspawn_queue_submit(), aspawn_queue_cancel(), aspawn_queue_cancel_all(),
 * aspawn_queue_release() and aspawn_queue_count() are also async-signal-safe, as is
 * aspawn_queue_wait() with timeout 0; a handler must not leave them by longjmp.
 *
 * After fork(2) the new process has no queue: each function returns -ESTALE there, also one that a
 * signal handler has forked in; aspawn_queue_close() releases its copies of memory and descriptors.
 */
#ifndef ASPAWN_QUEUE_H
#define ASPAWN_QUEUE_H

#include <aspawn/command.h>

#ifdef __cplusplus
extern "C" {
#endif

struct aspawn_queue; /* opaque */
struct aspawn_result;

/* --- creation -------------------------------------------------------------------- */

enum aspawn_queue_flags {
	/* Make no server: jobs are children of the calling process, started by the thread in
	 * aspawn_queue_serve(), or, while there is none, by the threads in aspawn_queue_wait() and
	 * aspawn_queue_drain(), which handle signals only while they sleep. Where no process can
	 * share memory (user-mode emulators), and for jobs that must have the caller's current
	 * credentials, directory and descriptors. The process must not ignore SIGCHLD nor reap by
	 * wait(-1). */
	ASPAWN_QUEUE_LOCAL = 1,
	/* Make the descriptor of aspawn_queue_fd(). */
	ASPAWN_QUEUE_FD = 2
};

/* Zero is a good default for everything but size. */
struct aspawn_queue_options {
	/* sizeof(struct aspawn_queue_options) */
	uint64_t size __attribute__((aligned(8)));
	uint64_t flags; /* enum aspawn_queue_flags */
	/* Jobs between submit and release; rounded up to a power of two; 0: 256; at most 32768. */
	uint32_t jobs;
	/* Jobs that run at the same time, at most 32768; 0: 16. Address space for each: 256 KiB
	 * and four times job_bytes. */
	uint32_t running;
	/* Bytes for each job: copies of command, environment and input, and the output kept.
	 * Address space only until it is used. 0: 32768; at most 16 MiB. */
	uint32_t job_bytes;
	uint32_t delay_ms; /* least time between two starts; 0: none */
};

/*
 * Creates a queue and its server. All memory is one mapping, made here. The caller's process gets
 * two descriptors, with ASPAWN_QUEUE_FD five; all are CLOEXEC and above 2.
 *
 * queue    out: for the other functions, of which aspawn_queue_close() is the last
 * options  NULL: defaults
 *
 *   -EINVAL      queue is NULL; an unknown flag; a number that is too large; size is less than the
 *                first version's
 *   -E2BIG       size is larger than this library's, and a byte beyond is not zero
 *   -EOPNOTSUPP  no process can share this memory (user-mode emulators), or the thread's children
 *                go to another pid namespace: use ASPAWN_QUEUE_LOCAL
 *   -ENOMEM, -EMFILE, -ENFILE, -EAGAIN  no memory, descriptor or process
 *   -ENOENT and other errors of open(2) for /dev/null, a job's input and output without others
 */
PSYS_API PSYS_MUST_CHECK int aspawn_queue_create(struct aspawn_queue **queue,
						 const struct aspawn_queue_options *options);

/*
 * Ends the queue: kills all jobs with their process groups, ends the server, and releases memory
 * and descriptors. No other thread may use the queue during or after the call; except that of
 * aspawn_queue_serve(), which returns. When the call returns there is no server. Results that were
 * not released are gone. A job that may not be killed (set-user-ID programs) runs on.
 *   -EINVAL  queue is NULL
 */
PSYS_API int aspawn_queue_close(struct aspawn_queue *queue);

/* --- submission --------------------------------------------------------------------- */

enum aspawn_job_flags {
	ASPAWN_JOB_OUTPUT = 1, /* keep standard output; without the flag it is /dev/null */
	ASPAWN_JOB_ERROR = 2,  /* keep standard error, apart */
	/* Standard error goes where standard output goes. Not with ASPAWN_JOB_ERROR. */
	ASPAWN_JOB_ERROR_TO_OUTPUT = 4,
	ASPAWN_JOB_TAIL = 8, /* of longer output keep the last bytes, not the first */
	/* Do not make a process group for the job: it stays in the server's, which is that of the
	 * creator. Then only the program itself is killed, not what it has started. */
	ASPAWN_JOB_SAME_GROUP = 16
};

struct aspawn_job {
	/* sizeof(struct aspawn_job) */
	uint64_t size __attribute__((aligned(8)));
	uint64_t flags;  /* enum aspawn_job_flags */
	uint64_t cookie; /* the caller's: aspawn_result.cookie */

	/* The program; everything is copied. Of the command's flags only
	 * ASPAWN_COMMAND_SHELL_ON_ENOEXEC, ASPAWN_COMMAND_RELATIVE_TO_CALLER,
	 * ASPAWN_COMMAND_FORK and ASPAWN_COMMAND_NO_IMAGE are allowed; std_in, std_out, std_err,
	 * pool and stack must be zero. Pipe actions are not allowed.
	 *
	 * A descriptor above 2 that an action uses, and that no earlier action replaces or closes,
	 * is the caller's: a copy is sent along, also for each job of a prepared command. The
	 * caller may close its own when the submission returns. At most 253 for a job. 0 to 2 are
	 * the job's streams. Only the action has the copy: ASPAWN_DUP2(fd, fd) gives the program, a
	 * path below /proc/self/fd, and the function of an ASPAWN_CALL the caller's number. Behind
	 * an ASPAWN_CALL, which may have opened the number, no use is seen. With ASPAWN_QUEUE_LOCAL
	 * nothing is sent: actions use the table of the thread that starts the job. */
	const struct aspawn_command *command;
	/* Standard input, copied: a file in memory. NULL: /dev/null. */
	const void *input;
	size_t input_size;
	/* Bytes to keep of standard output, and of standard error with ASPAWN_JOB_ERROR. The
	 * rest is read and dropped. 0: 4096. */
	size_t output_size;

	/* From the start to SIGTERM, which goes to the job's process group; and from SIGTERM to
	 * SIGKILL, also the time after the program's end in which output is still read if another
	 * process holds the pipe open. */
	int64_t time_limit_ms __attribute__((aligned(8)));
	int64_t grace_ms __attribute__((aligned(8)));

	/* From aspawn_queue_prepare(), instead of a command, which is NULL then; 0: none. argv
	 * replaces the arguments of the prepared command; NULL: those. */
	int64_t prepared __attribute__((aligned(8)));
	char *const *argv;

	/* Of the jobs with the same key, at most key_limit run at the same time; key 0: no key,
	 * key_limit 0: no limit. A job that has to wait for its key lets later jobs pass. */
	uint32_t key, key_limit;

	/* Of the jobs that wait, those with the highest number start first, from 0 to
	 * ASPAWN_MOST_PRIORITY; those with the same in the order of their submission. */
	int priority;
	int reserved; /* 0 */
};

enum { ASPAWN_MOST_PRIORITY = 7 };

/*
 * Copies a job to the queue and returns. No system call, except to wake a sleeping server, to send
 * descriptors of the caller's if the job uses any, and, on 32-bit architectures or without the
 * kernel's vDSO, to read the clock. Never blocks, unless the job's server was killed: then the call
 * makes a new one.
 *
 * Returns the ticket of the job, greater than 0, for aspawn_queue_cancel(). It has 64 bits, and no
 * other job or prepared command of the queue ever has the same.
 *   -EAGAIN  the queue is full: take and release results; or another thread is just now
 *            releasing one; or the server has not yet started so many jobs with descriptors of
 *            the caller's, some hundred, that the socket is full
 *   -ETOOMANYREFS  without CAP_SYS_RESOURCE and CAP_SYS_ADMIN: the user has sent more descriptors
 *            than RLIMIT_NOFILE, by any socket, that nobody has received: wait for results
 *   -EINVAL  queue or job is NULL; not exactly one of command and prepared is set, or argv
 *            without prepared; prepared is no prepared command; input is NULL and input_size not
 *            0; reserved is not 0; priority is out of range; size is less than the first
 *            version's; an unknown flag; both ASPAWN_JOB_ERROR and ASPAWN_JOB_ERROR_TO_OUTPUT;
 *            the command is invalid for aspawn_start(), or has what a job cannot have
 *   -EBADF   an action uses a descriptor of the caller's that is not open
 *   -E2BIG   the job needs more than job_bytes, or more than 253 descriptors of the caller's; or
 *            size is larger than this library's, and a byte beyond is not zero
 *   -ENOTSOCK  the job uses descriptors of the caller's, and the kernel, or a filter, had no
 *            socketpair(2) at the queue's creation
 *   -ESTALE  this process is a forked copy, and has no queue
 *   other errors of sendmsg(2), if the job uses descriptors of the caller's
 *   and, if the server had to be made anew, errors of aspawn_queue_create()
 */
PSYS_API int64_t aspawn_queue_submit(struct aspawn_queue *queue, const struct aspawn_job *job);

/*
 * Copies a command to the queue for many jobs, which then copy only their arguments: for what is
 * the same in all of them, above all the environment. Takes the place of a job. Checks and errors
 * are those of aspawn_queue_submit().
 *
 * Returns a number greater than 0 for aspawn_job.prepared.
 */
PSYS_API PSYS_MUST_CHECK int64_t aspawn_queue_prepare(struct aspawn_queue *queue,
						      const struct aspawn_command *command);

/* Gives the place back. No job of the prepared command may wait or run.
 * -EINVAL: prepared is no prepared command; -ESTALE as above. */
PSYS_API int aspawn_queue_release_prepared(struct aspawn_queue *queue, int64_t prepared);

/*
 * Cancels a job. One that was not started never starts; one that runs gets SIGTERM, and SIGKILL
 * after its grace, as after its time limit. Its result still has to be taken: ASPAWN_OUTCOME_CANCELLED,
 * unless it ends by itself first. Does not wait.
 *   0        requested
 *   -ESRCH   the job has ended, or the ticket is no job's
 *   -EINVAL, -ESTALE  as above
 */
PSYS_API int aspawn_queue_cancel(struct aspawn_queue *queue, int64_t ticket);

/* Cancels all jobs submitted before the call, and none after it. Looks at each place of the queue. */
PSYS_API int aspawn_queue_cancel_all(struct aspawn_queue *queue);

/* --- results -------------------------------------------------------------------------- */

/* The library's: read-only, and valid until aspawn_queue_release(). A later version may add
 * members at the end. */
struct aspawn_result {
	uint64_t cookie __attribute__((aligned(8)));
	int64_t ticket __attribute__((aligned(8))); /* as aspawn_queue_submit() returned it */
	/* enum aspawn_outcome, never NONE or FULL. After LOST a program that had started was killed
	 * with the server, unless it has changed its credentials by a set-user-ID exec; what it has
	 * started lives on. A caller that is a subreaper or PID 1 gets the program in wait(-1). */
	int outcome;
	int pid;    /* of the ended process; 0: there was none */
	int status; /* as wait(2) stores it; -1: none */
	int reserved;
	/* What was kept, not terminated by a NUL; NULL: not kept. And how much the program wrote. */
	const char *out, *err;
	size_t out_size, err_size;
	uint64_t out_total __attribute__((aligned(8)));
	uint64_t err_total __attribute__((aligned(8)));
	/* Nanoseconds of CLOCK_MONOTONIC; 0 if the job did not reach this point. executed_ns is the
	 * moment before the exec; 0 also for a program that began with memory of its own: [copy]
	 * actions, ASPAWN_COMMAND_FORK. */
	int64_t submitted_ns __attribute__((aligned(8)));
	int64_t started_ns __attribute__((aligned(8)));
	int64_t executed_ns __attribute__((aligned(8)));
	int64_t ended_ns __attribute__((aligned(8)));
	struct aspawn_failure failure;
	struct psys_rusage usage;
};

/*
 * Takes up to count results, the oldest first, and waits for the first of them at most timeout_ms. Several threads may wait: each result goes to one of them.
 *
 * results  out: pointers, to be given to aspawn_queue_release()
 *
 * Returns the number of results.
 *   0         none within timeout_ms
 *   -ECHILD   there is none, and no job waits or runs
 *   -EINVAL   queue or results is NULL, or count is not positive
 *   -ESTALE   this process is a forked copy, and has no queue
 * If the server was killed, its jobs' results are ASPAWN_OUTCOME_LOST.
 */
PSYS_API int aspawn_queue_wait(struct aspawn_queue *queue, const struct aspawn_result **results,
			       int count, int64_t timeout_ms);

/* Gives results back, whose memory later jobs use. -EINVAL: a pointer is no taken result. */
PSYS_API int aspawn_queue_release(struct aspawn_queue *queue, const struct aspawn_result **results,
				  int count);

/* Formats the outcome for people: "exit 3", "timed out, killed by SIGTERM", "not started: search
 * \"unmae\": ENOENT", "cancelled", "lost". As aspawn_failure_text(); at most 319 bytes. */
PSYS_API size_t aspawn_result_text(char *to, size_t size, const struct aspawn_result *result);

/*
 * Returns a descriptor for poll(2) and epoll(7), which the queue owns: readable when there may be
 * results, or when the server was killed. Then call aspawn_queue_wait() with timeout 0 until it
 * returns less than asked for: this makes the descriptor unreadable.
 *   -EBADF   the queue was created without ASPAWN_QUEUE_FD
 *   -EINVAL, -ESTALE  as above
 */
PSYS_API int aspawn_queue_fd(struct aspawn_queue *queue);

/* Waits until no job waits or runs, at most timeout_ms; results may be there. 0 or -ETIMEDOUT;
 * -EINVAL, -ESTALE as above. */
PSYS_API int aspawn_queue_drain(struct aspawn_queue *queue, int64_t timeout_ms);

/*
 * With ASPAWN_QUEUE_LOCAL: starts and ends jobs, on the calling thread, until
 * aspawn_queue_close() is called by another thread (0), or for timeout_ms (-ETIMEDOUT).
 *   -EINVAL  queue is NULL, or has a server
 *   -EBUSY   another thread serves
 *   -ESTALE  as above
 */
PSYS_API int aspawn_queue_serve(struct aspawn_queue *queue, int64_t timeout_ms);

/* Numbers of jobs. All grow and wrap at 2^32, except the first three. */
struct aspawn_queue_counts {
	uint32_t waiting; /* submitted, not started */
	uint32_t running;
	uint32_t ended; /* whose results were not taken */
	uint32_t submitted, started;
	uint32_t ran, not_started, timed_out, cancelled, lost; /* by enum aspawn_outcome */
	uint32_t servers;                                      /* that were made */
	uint32_t reserved;
};

/* Stores the counts, each exact, but not all of the same moment. -EINVAL: queue or
 * counts is NULL; -ESTALE as above. */
PSYS_API int aspawn_queue_count(struct aspawn_queue *queue, struct aspawn_queue_counts *counts);

/* The sizes of the first version, on which an older library and a newer caller agree. */
PSYS_ASSERT(aspawn_queue_options_has_its_size, sizeof(struct aspawn_queue_options) == 32);
PSYS_ASSERT(aspawn_job_has_its_size, sizeof(struct aspawn_job) == 72 + 4 * __SIZEOF_POINTER__);
PSYS_ASSERT(aspawn_queue_counts_has_48_bytes, sizeof(struct aspawn_queue_counts) == 48);

#ifdef __cplusplus
}
#endif

#endif
