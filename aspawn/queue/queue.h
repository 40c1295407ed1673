/* SPDX-License-Identifier: MIT */
/*
 * The memory of a queue is one mapping:
 *
 *   | places ... | struct aspawn_queue, its arrays | mark | guard | stack of the server | TLS |
 *   | stacks of jobs ... | jobs ... |
 *
 * Each stack has a place, for the page that a job may share with the server. So a killed server
 * leaves no page anywhere else. A forked copy of the process does not have the places
 * (MADV_DONTFORK): another mapping may be there.
 *
 * The mark is wiped in a forked copy of the process (MADV_WIPEONFORK), and the copy thereby finds
 * that it has no queue. Everything else is whole in the copy, for the call in which a signal
 * handler has forked. Each part begins at a multiple of 64 KiB, the largest page size.
 *
 * Whoever has a place for a job owns it. submit() takes a free place, the server takes a place from
 * the list of submitted jobs, wait() from the ring of ended jobs, and release() frees it. No step
 * has a lock: a thread that is suspended anywhere, even for good by a signal handler above it, does
 * not stop any other thread. A server may be killed at any instruction.
 */
#ifndef QUEUE_QUEUE_H
#define QUEUE_QUEUE_H

#include <aspawn/queue.h>
#include <syscall/vdso.h>

#include "../marks.h"
#include "../spawn/stack.h"

/* The server's functions run on the memory and thread pointer of the caller's process, without its
 * threads. In a build with ASPAWN_QUEUE_VISIBLE ThreadSanitizer sees the functions; the queues must
 * be local. */
#ifdef ASPAWN_QUEUE_VISIBLE
#undef IN_SERVER
#define IN_SERVER
#define QUEUE_INLINE static inline
#else
#define QUEUE_INLINE PSYS_INLINE
#endif

enum {
	QUEUE_MAGIC = 0x51756575,
	QUEUE_UNIT = 65536,
	PRIORITIES = ASPAWN_MOST_PRIORITY + 1,
};

/*
 *   FREE ------------> QUEUED -> TAKEN -> ENDED -> HELD -> FREE      PREPARED: by the caller
 *   free, or submit()  in list   server's in ring  taken by wait()
 */
enum job_state { JOB_FREE, JOB_QUEUED, JOB_TAKEN, JOB_ENDED, JOB_HELD, JOB_PREPARED };

/* A pipe with output, and the memory for the output */
struct job_output {
	int fd; /* -1: no pipe, or its end was read */
	char *data;
	size_t size;    /* bytes to keep at data, where a NUL follows */
	size_t at;      /* where the next byte goes; only a tail begins anew at size */
	uint64_t total; /* bytes read */
};

struct job {
	_Alignas(64) int state; /* enum job_state */
	uint32_t end_position;  /* with JOB_ENDED: its position in the ended ring */
	/* Counts the uses of the place, which are the high part of tickets: 2 for each use, and 1
	 * if the job is cancelled. use_high has the high bits, since 32-bit processors may not
	 * exchange 64 bits. */
	uint32_t use, use_high;

	/* All members from here on are zero when a job gets the place. */
	int number;
	struct aspawn_queue *queue;
	int priority;
	uint32_t flags, key, key_limit;
	int64_t timeout;               /* nanoseconds; 0: no limit */
	int64_t grace_ms;              /* negative: no grace */
	struct aspawn_command command; /* points to memory of the job or of a prepared command */
	const void *input;
	size_t input_size;
	/* These are the caller's descriptors that the actions use, each once, if there is a
	 * server. */
	struct given_fd *fds;
	uint32_t fd_count;
	uint32_t received_by; /* number of the server that has received them, or 0 */
	struct aspawn_result result;
	struct job *next; /* in the list of submitted jobs, or in one of the server's */

	/* The following members are the server's, while it has the job. */
	struct job *previous;
	int signal;       /* the last signal that was sent to end the job, or 0 */
	int64_t deadline; /* in queue_now(); INT64_MAX: no deadline */
	int64_t ring_at;  /* of a tree: when to wake its helper, which somebody may have stopped */
	struct job_stack *stack; /* NULL: the job has not been started */
	struct aspawn_child child;
	struct job_output outputs[2];
	int ended_as;     /* enum aspawn_outcome if the queue ends the job, or 0 */
	bool has_ended;   /* the process, or all of a tree: output may be left */
	bool is_unpolled; /* epoll does not know all of its descriptors */
	bool is_left;     /* the server may not kill the program */
};

struct job_stack {
	struct Stack_t stack;
	struct exec_watch *watch; /* its place */
	bool is_taken;            /* by a running job */
};

/* A list of jobs, in both directions, which NULL ends */
struct job_list {
	struct job *first, *last;
};

/* The numbers of ended jobs, in order. One thread produces, many consume, all jobs fit, positions
 * wrap. */
struct ring {
	_Alignas(64) uint32_t head;
	_Alignas(64) uint32_t tail;
	uint32_t *values;
};

/* The state of the server, or of the thread that serves */
struct server {
	int epoll, wake, life, notify; /* descriptors in its table */
	int caller_stat;               /* /proc/CALLER/stat, or -1 */
	struct job_list waiting[PRIORITIES], running;
	int64_t next_deadline; /* no later than a running job's; INT64_MAX: none */
	int64_t next_start;    /* for delay_ms, and with must_wait */
	int64_t checked_at;    /* last check that the caller uses this memory */
	int64_t closes_by;     /* whatever runs then; 0: not closing */
	unsigned unpolled;     /* running jobs with a descriptor unknown to epoll */
	uint32_t completed;    /* not notified yet */
	bool is_early;         /* a job waits for next_start */
	bool has_failed;       /* an indispensable call has failed */
	bool must_wait; /* a descriptor or process is missing: until a job ends, or next_start */
	const struct psys_sigset *mask; /* while a thread of the caller sleeps; NULL: unchanged */
};

/*
 * In each pair below, one side stores the left word and then loads the right word, and the other
 * side does the reverse. Only a barrier between store and load keeps both sides from missing the
 * other's store: all four accesses are sequentially consistent, or a fence is between them.
 *
 *   submitted, cancels, closing           asleep          who wakes the server; server_sleep()
 *   tail of ended                         armed           aspw_queue_announce(); rearm_fd()
 *   events, head of ended                 waiters         aspw_queue_announce(); await_results()
 *   submitted                             events          submit_job(); recover_server()
 */
struct aspawn_queue {
	/* These members never change after the creation, except in recover_server(). */
	uint32_t *mark;      /* QUEUE_MAGIC, wiped at a fork */
	uint32_t bits;       /* of job numbers, the low part of tickets */
	psys_clock_fn clock; /* NULL: a system call */
	char *jobs;
	size_t mapped, stride;
	uint32_t capacity, limit;
	int64_t delay;            /* nanoseconds */
	struct job_stack *stacks; /* one for each running job, in this mapping */
	int caller_pid;           /* pid of the creator */
	char name[16];            /* comm of the creating thread, for the jobs; "": unknown */
	bool is_local;
	bool checks_pid; /* the kernel does not wipe the mark at a fork */
	bool ignores_sigchld, raises_files, lacks_clone3;
	struct psys_rlimit64 files; /* of the caller, for the jobs */
	struct psys_sigset mask;    /* of the creator, for the jobs */
	int wake, life;             /* descriptors of the caller; life: a socket, if possible */
	int notify, epoll;          /* with ASPAWN_QUEUE_FD, otherwise -1 */
	int pidfd;                  /* of the server, in epoll */
	int servers_life;           /* for a new server: its end of life */

	int is_recovering;  /* a thread completes a dead server's jobs, or makes a server */
	int ready;          /* futex: 1 or a negative error when the server has begun */
	int server_pid;     /* 0: no server. Changed by the thread that recovers */
	uint32_t tended_at; /* when a thread last checked if the server is stopped; in 2^20 ns */
	int is_stopped;     /* ... and what the thread saw */
	int closing;
	int serving; /* of a local queue: a waiting thread starts and ends the jobs */

	uint32_t *taken; /* a bit for each place */
	/* This is the newest job not taken by the server. */
	_Alignas(64) struct job *submitted;
	uint32_t submissions; /* including jobs that are about to be in the list */
	struct ring ended;

	/* This futex is odd, and changes with each batch of ended jobs, and when waiters have
	 * nothing left to wait for. The kernel clears and wakes it at the server's end:
	 * CLONE_CHILD_CLEARTID. */
	_Alignas(64) int events;
	int waiters;  /* threads that sleep, or are about to */
	int drainers; /* waiters for the last job's end, not for a result */
	int armed;    /* the next batch writes to the eventfd of aspawn_queue_fd() */

	_Alignas(64) int asleep; /* the server sleeps: write to wake */
	int cancels;             /* jobs were cancelled, and the server has not looked */

	_Alignas(64) uint32_t running; /* jobs */
	uint32_t servers;              /* made so far: the number of the server */
	struct server server;
};

QUEUE_INLINE struct job *queue_job(const struct aspawn_queue *queue, uint32_t number)
{
	return (struct job *)(void *)(queue->jobs + (size_t)number * queue->stride);
}

/* Returns the place that a ticket names, or NULL if the number is not a ticket. */
QUEUE_INLINE struct job *queue_find(const struct aspawn_queue *queue, int64_t ticket)
{
	return ticket > 0 ? queue_job(queue, (uint32_t)ticket & (queue->capacity - 1)) : NULL;
}

/* Gives a place back. */
QUEUE_INLINE void queue_free_place(struct aspawn_queue *queue, struct job *job)
{
	const uint32_t number = (uint32_t)job->number;

	__atomic_store_n(&job->state, JOB_FREE, __ATOMIC_RELAXED);
	__atomic_fetch_and(&queue->taken[number / 32], ~(1U << number % 32), __ATOMIC_RELEASE);
}

/* Returns how many jobs were submitted, less the jobs before *since, a position in the ended ring.
 * The order of the loads keeps the difference from being negative, or 0 while a job was left. */
QUEUE_INLINE uint32_t queue_left(const struct aspawn_queue *queue, const uint32_t *since)
{
	const uint32_t ended = __atomic_load_n(since, __ATOMIC_SEQ_CST);

	return __atomic_load_n(&queue->submissions, __ATOMIC_SEQ_CST) - ended;
}

QUEUE_INLINE int64_t ms_to_ns(int64_t ms)
{
	return ms > INT64_MAX / 4000000 ? INT64_MAX / 4 : ms * 1000000;
}

/* Returns true if the program has a helper, which ends the program's descendants. */
QUEUE_INLINE bool job_is_tree(const struct job *job)
{
	return job->command.owner == ASPAWN_OWNER_TREE;
}

QUEUE_INLINE bool queue_has_result(const struct aspawn_queue *queue)
{
	return __atomic_load_n(&queue->ended.head, __ATOMIC_SEQ_CST) !=
	       __atomic_load_n(&queue->ended.tail, __ATOMIC_SEQ_CST);
}

/* The event loop gets what when fd is readable. */
QUEUE_INLINE int queue_watch(int epoll, int fd, uint32_t what)
{
	struct psys_epoll_event event = { PSYS_EPOLLIN, what };

	return fd < 0 ? fd : psys_epoll_ctl(epoll, PSYS_EPOLL_CTL_ADD, fd, &event);
}

/* Call this before fd is closed: epoll reports the file as long as a process has a copy of fd. */
QUEUE_INLINE void queue_unwatch(int epoll, int fd)
{
	struct psys_epoll_event none = { 0, 0 };

	psys_epoll_ctl(epoll, PSYS_EPOLL_CTL_DEL, fd, &none);
}

/* Returns nanoseconds of CLOCK_MONOTONIC, at least 1. */
PSYS_INLINE int64_t queue_now(const struct aspawn_queue *queue)
{
	struct psys_timespec time = { 0, 0 }; /* unchanged if a filter forbids the call */

	(void)(queue->clock ? queue->clock(PSYS_CLOCK_MONOTONIC, &time) :
			      psys_clock_gettime(PSYS_CLOCK_MONOTONIC, &time));
	return time.tv_sec * 1000000000 + time.tv_nsec + 1;
}

/* Returns 0, or an error number if the queue cannot be used. */
int aspw_queue_check(const struct aspawn_queue *queue);

/* Wakes a sleeping server. */
void aspw_queue_wake(struct aspawn_queue *queue);

/* Returns true if the server has ended unasked. With thoroughly this also looks for the process. */
bool aspw_queue_is_orphaned(const struct aspawn_queue *queue, bool thoroughly);

/* Looks for a stopped server, at most once a second, and continues a server that is still stopped
 * at the next look. now is queue_now(). */
void aspw_queue_tend(struct aspawn_queue *queue, int64_t now);

/* Continues the server, or completes the jobs of a dead server, unless another thread does. With
 * restart it also makes a server, or waits until another thread has. Returns 0, or the server's
 * error. */
int aspw_queue_recover(struct aspawn_queue *queue, bool restart);

#endif
