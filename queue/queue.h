/* SPDX-License-Identifier: MIT */
/*
 * A queue with several servers consists of parts, each a queue with one server and its own mapping,
 * so that a killed server loses only its own jobs. The first part is the caller's: it also has what
 * belongs to the whole queue. A queue with one server is its own and only part.
 *
 * The memory of a part, which is one mapping:
 *
 *   | struct aspawn_queue | struct shared, rings | guard | stack of the server | TLS |
 *   | stacks of jobs ... | jobs ... |
 *
 * The first part never changes after the creation. The second is wiped in a forked copy of the
 * process (MADV_WIPEONFORK), which so finds that it has no queue. Each part begins at a multiple of
 * 64 KiB, the largest page size.
 *
 * A job's number goes from the ring of free numbers to submit(), by the submitted ring to the
 * server, by the ended ring to wait(), and by release() back. Who has the number owns the job.
 */
#ifndef QUEUE_QUEUE_H
#define QUEUE_QUEUE_H

#include <aspawn/queue.h>

#include "../aspawn/deadline.h"
#include "../aspawn/files.h"
#include "../command/arena.h"
#include "../command/prepared.h"
#include "ring.h"

enum {
	QUEUE_MAGIC = 0x51756575,
	QUEUE_UNIT = 65536,
	SERVER_STACK = 65536,
	PID_BUCKETS = 1024, /* a power of two */
	NO_JOB = -1,
	JOB_GIVEN = 512, /* struct job_given */
	JOB_FRAMES =
		16 * 1024 + 2 * PSYS_PATH_MAX + 5 * 1024, /* ASPAWN_CALL's, struct candidate, own */
	PRIORITIES = ASPAWN_MOST_PRIORITY + 1,
	MOST_SERVERS = 64, /* futex_waitv(2) takes 128 words */
};

/*
 *   FREE -> FILLING -> QUEUED -> TAKEN -> ENDED -> HELD -> FREE
 *   free    submit()   in ring   server's  in ring  taken by wait()
 */
enum job_state { JOB_FREE, JOB_FILLING, JOB_QUEUED, JOB_TAKEN, JOB_ENDED, JOB_HELD };

/* How far the end of a running job by the queue has come. */
enum job_stage { STAGE_RUNS, STAGE_TERMINATED, STAGE_KILLED, STAGE_DRAINS };

/* A pipe with output, and where it is kept. */
struct job_output {
	int fd; /* -1: none, or at its end */
	bool is_polled;
	char *data;
	size_t size;    /* bytes at data */
	size_t at;      /* where the next byte goes; only the tail begins anew at size */
	uint64_t total; /* bytes read */
};

struct job {
	_Alignas(64) int state; /* enum job_state */
	uint32_t end_position;  /* with JOB_ENDED: its position in the ended ring */
	int ticket, cancel;     /* cancel: the ticket of a job that is to be cancelled */
	int generation;         /* the high part of the last ticket */
	int number, priority;
	uint32_t flags, key, key_limit;
	bool is_absorbed; /* aspawn_queue_options.completed has taken the result */
	bool may_lead;    /* no action makes a session or joins a group */
	bool makes_group, copies_memory, is_prepared;
	int cgroup;             /* for the clone; -1: none. Local only */
	int64_t timeout, grace; /* nanoseconds; timeout 0: none; grace negative: none */
	struct prepared *prepared;
	const void *input;
	size_t input_size;
	const int *fds; /* registered descriptors that its actions use */
	uint32_t fd_count;
	int (*sink)(void *arg, int stream, const void *bytes, size_t count);
	void *sink_arg;
	struct aspawn_result result;
	struct aspawn_queue *queue; /* its part */

	/* The server's, while it has the job. */
	int next, previous, next_of_pid; /* lists of job numbers; NO_JOB ends them */
	int pid, pidfd, stack, stage;
	int in_fd, write_fds[2]; /* what the child gets; -1: /dev/null */
	int report_fd;           /* of a child in a copy of the memory; -1: none */
	int64_t deadline;        /* of the stage; 0: none */
	struct job_output outputs[2];
	int ended_as; /* enum aspawn_job_end, once the queue has decided to end it; 0 */
	bool has_ended;
};

enum server_state {
	SERVER_NONE, /* not made yet, or local */
	SERVER_RUNS,
	SERVER_RECOVERS, /* a thread completes the jobs of a dead server, or makes a new one */
};

enum serving { NOBODY_SERVES, A_WAITER_SERVES, A_THREAD_SERVES };

/* A descriptor of the caller's that the server has, too. */
struct registered {
	_Alignas(4) int fd; /* the caller's number, or enum entry_state; a futex */
	_Alignas(4) int at; /* the server's; ENTRY_UNKNOWN, or another negative error; a futex */
	uint32_t serial;    /* of the registration: an old message may still be on its way */
};

enum entry_state { ENTRY_FREE = 0, ENTRY_FILLING = 1, ENTRY_DROPPED = 2, ENTRY_UNKNOWN = -1 };

/* A list of jobs, in both directions. */
struct job_list {
	int first, last;
};

/* What the server knows, or the thread that serves. */
struct server {
	bool is_local, is_begun;
	int epoll, wake, life, notify, signals, null, host_pidfd; /* descriptors in its table */
	int host_stat;                                            /* /proc/HOST/stat, or -1 */
	struct job_list waiting[PRIORITIES], running;
	int buckets[PID_BUCKETS]; /* of running jobs, by pid */
	int64_t next_deadline;    /* of all running jobs; INT64_MAX: none. May be too early */
	int64_t next_start;       /* for delay_ms */
	int64_t checked_at;       /* when the server has looked if the host uses this memory */
	int64_t looked_at;        /* ... and if the host is stopped */
	int64_t stopped_at;       /* when it found it stopped; 0: it runs */
	int cancels;              /* seen */
	unsigned stopping;        /* running jobs that are being ended: their groups are killed */
	unsigned unpolled;        /* outputs and pids that epoll does not know */
	uint32_t completed;       /* not notified yet */
	bool is_closing;
	int64_t closed_at;
	bool has_failed; /* a call that it cannot do without */
	bool must_wait;  /* for a descriptor or process: start none until a job has ended */
};

/* Wiped at a fork. */
struct shared {
	uint32_t magic;
	int state; /* enum server_state */
	int ready; /* futex: 1 or a negative error when the server has begun */
	int server_pid;
	int closing;
	int serving; /* enum serving: who serves a local queue */
	int wanted;  /* a thread in aspawn_queue_serve() asks a waiter to let it serve */
	int pidfd;   /* of the server, in the epoll of aspawn_queue_fd() */
	uint32_t epoch;

	struct ring free, submitted;
	struct out_ring ended;
	struct out_ring absorbed; /* ended too, but nobody takes their results: free places */

	/* A futex, changed with each batch of ended jobs, and when waiters have nothing to wait for
	 * any more. Odd; the kernel clears and wakes it when the server ends: CLONE_CHILD_CLEARTID. */
	_Alignas(64) int events;

	/* Of the whole queue, in its first part. */
	int all_events; /* with several servers: a futex, changed with each batch if there are waiters */
	int waiters;        /* threads that sleep, or are about to */
	int drainers;       /* of these, those that wait for the last job's end, not for a result */
	int armed;          /* the next batch writes to the eventfd of aspawn_queue_fd() */
	uint32_t chosen;    /* part that got the last submission */
	uint32_t next_from; /* part whose results are taken first */

	_Alignas(64) int asleep; /* the server sleeps: write to wake */
	int cancels;             /* futex-free count of requests */
	int cancel_all;          /* requested */

	_Alignas(64) struct aspawn_queue_counts counts;
	struct registered registered[ASPAWN_MOST_REGISTERED];
	struct server server;
};

/* clock_gettime() without a system call. */
typedef int (*queue_clock_fn)(int clock, struct psys_timespec *time);

struct aspawn_queue {
	struct shared *shared;
	struct aspawn_queue *whole; /* the first part */
	struct aspawn_queue *parts[MOST_SERVERS];
	uint32_t servers; /* of the first part: number of parts */
	uint32_t first;   /* of the tickets' job numbers; those of parts lie behind each other */
	uint32_t shift;   /* capacity is 1 << shift */
	int *futex;       /* what a waiter sleeps on: events, or with several servers all_events */
	queue_clock_fn clock; /* NULL: a system call */
	char *jobs;
	size_t mapped, stride;
	uint32_t flags, capacity, limit;
	int64_t delay; /* nanoseconds */
	char *server_stack;
	char *thread_pointer; /* of the server: in the middle of TLS, which nothing else uses */
	int (*completed)(void *arg, const struct aspawn_result *result);
	void *completed_arg;
	struct Stack_t *stacks; /* one for each running job, in this mapping */
	int host;               /* pid of the creator */
	bool checks_pid;        /* the kernel does not wipe at a fork */
	bool ignores_sigchld, raises_files;
	struct psys_rlimit64 files; /* of the host, for the jobs */
	struct psys_sigset mask;    /* of the creator, for the jobs */
	int wake, life[2];          /* descriptors of the host; life: a socket, if possible */
	int notify, epoll;          /* with ASPAWN_QUEUE_FD, otherwise -1 */
};

QUEUE_INLINE struct job *queue_job(const struct aspawn_queue *queue, uint32_t number)
{
	return (struct job *)(void *)(queue->jobs + (size_t)number * queue->stride);
}

/* The place of any part that a ticket names; NULL: the number is no place's. */
QUEUE_INLINE struct job *queue_find(const struct aspawn_queue *queue, int ticket)
{
	const uint32_t number = (uint32_t)ticket & 0xffff, part = number >> queue->shift;

	return ticket <= 0 || part >= queue->servers ?
		       NULL :
		       queue_job(queue->parts[part], number & (queue->capacity - 1));
}

/* Jobs of the part that were submitted, less those before *since, a position in its ended ring. Reads
 * that first: so the difference is never negative, and 0 only if there was none left. */
QUEUE_INLINE uint32_t queue_left(const struct aspawn_queue *part, const uint32_t *since)
{
	const uint32_t ended = __atomic_load_n(since, __ATOMIC_SEQ_CST) +
			       __atomic_load_n(&part->shared->absorbed.tail, __ATOMIC_SEQ_CST);

	return __atomic_load_n(&part->shared->submitted.tail, __ATOMIC_SEQ_CST) - ended;
}

QUEUE_INLINE uint32_t queue_next_part(const struct aspawn_queue *queue, uint32_t part)
{
	return part + 1 < queue->servers ? part + 1 : 0;
}

/* Wakes count waiters of the whole queue. With one server the caller has changed events. */
QUEUE_INLINE void queue_wake_waiters(const struct aspawn_queue *part, int count)
{
	if (part->futex != &part->shared->events)
		__atomic_add_fetch(part->futex, 1, __ATOMIC_SEQ_CST);
	psys_futex(part->futex, PSYS_FUTEX_WAKE, count, NULL, NULL, 0);
}

QUEUE_INLINE void queue_count_up(uint32_t *count)
{
	__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
}

/* NULL: there is none. */
queue_clock_fn aspawn_queue_find_clock(void);

/* Nanoseconds of CLOCK_MONOTONIC, at least 1. */
PSYS_INLINE int64_t queue_now(const struct aspawn_queue *queue)
{
	struct psys_timespec time;

	if ((queue->clock ? queue->clock(PSYS_CLOCK_MONOTONIC, &time) :
			    psys_clock_gettime(PSYS_CLOCK_MONOTONIC, &time)) != 0)
		return 1;
	return time.tv_sec * 1000000000 + time.tv_nsec + 1;
}

/* 0, or why the queue cannot be used. */
int aspawn_queue_check(const struct aspawn_queue *queue);

/* Wakes a sleeping server. */
void aspawn_queue_wake(struct aspawn_queue *queue);

/* Makes a server: 0 or a negative error number. */
int aspawn_queue_start_server(struct aspawn_queue *queue);

/* True if the server has ended without being asked to. Looks for it if thoroughly. */
bool aspawn_queue_is_orphaned(const struct aspawn_queue *queue, bool thoroughly);

/* Completes the jobs of a dead server, unless another thread does. Then makes a new one if
 * wanted. 0, -EAGAIN if another thread is at it, or an error of aspawn_queue_start_server(). */
int aspawn_queue_recover(struct aspawn_queue *queue, bool restart);

/* Tells those who wait that count jobs have ended. fd: of the eventfd, in the table of the caller. */
void aspawn_queue_notify(struct aspawn_queue *queue, uint32_t count, int fd);

/* Puts an ended job, whose result is filled, into the ended ring. */
void aspawn_queue_complete(struct aspawn_queue *queue, struct job *job, int end);

/* Returns the entry of the caller's descriptor, or NULL. */
struct registered *aspawn_queue_registered(const struct aspawn_queue *queue, int fd);

/* --- the server ------------------------------------------------------------------ */

/* Reads a message of the caller's: false if the caller is gone. */
bool aspawn_server_receive(struct aspawn_queue *queue, const struct server *server);

/* What a former server was to drop. */
void aspawn_server_drop_registered(const struct aspawn_queue *queue);

/* Opens what the server needs in its table: 0 or a negative error number. */
int aspawn_server_begin(struct aspawn_queue *queue, struct server *server);
void aspawn_server_end(struct server *server);

enum until { UNTIL_CLOSED, UNTIL_RESULT, UNTIL_IDLE };

/* Serves until there is a result, or no job any more; or until the deadline (INT64_MAX: none): true.
 * False if the queue is closed, and no job is left. */
bool aspawn_server_run(struct aspawn_queue *queue, struct server *server, enum until until,
		       int64_t deadline);

/* Starts a job: true if it runs, or has ended as one that could not be started; false if there is
 * no descriptor or process for it now. */
bool aspawn_job_start(struct aspawn_queue *queue, struct server *server, struct job *job);

/* The kernel says that the process has ended. */
void aspawn_job_ended(struct aspawn_queue *queue, struct server *server, struct job *job,
		      int status, const struct psys_rusage *usage);

/* Output 0 or 1 may be read. */
void aspawn_job_read(struct aspawn_queue *queue, struct server *server, struct job *job, int which);

/* The time of its stage is up. */
void aspawn_job_expire(struct aspawn_queue *queue, struct server *server, struct job *job);

/* The caller has cancelled the job, or the queue is closed. at_once: by SIGKILL. */
void aspawn_job_stop(struct server *server, struct job *job, int ended_as, bool at_once);

/* Fills the result and completes the job, which no list has. */
void aspawn_job_finish(struct aspawn_queue *queue, struct server *server, struct job *job, int end);

/* Lists. */
void aspawn_list_add(struct aspawn_queue *queue, struct job_list *list, struct job *job);
void aspawn_list_remove(struct aspawn_queue *queue, struct job_list *list, struct job *job);

#endif
