/* SPDX-License-Identifier: MIT */
/*
 * This is the event loop of the server, or of a thread that serves a local queue.
 *
 * A job's pidfd tells the loop of the job's end. Before Linux 5.3 jobs have no pidfd, and the loop
 * looks at all of them every 5 milliseconds.
 */
#include <syscall/string.h>

#include "../caller/wait.h"
#include "../child/close_range.h"
#include "../spawn/descriptor_table.h"
#include "../spawn/pidfd.h"
#include "descriptors.h"
#include "job.h"
#include "results.h"
#include "server.h"

/* Epoll reports a job's number and the kind of an event, or a value below. */
enum { OF_WAKE = 0x7ffffff0, OF_LIFE, OF_CALLER };

enum {
	EVENTS = 64,
	KCMP_VM = 1,
	CHECK_MS = 3000,     /* to check that the caller uses this memory */
	TICK_NS = 5000000,   /* for children that epoll cannot watch */
	RETRY_NS = 50000000, /* after a shortage, unless a job ends before */
};

/* --- lists --------------------------------------------------------------------------- */

IN_SERVER void aspw_list_add(struct job_list *list, struct job *job)
{
	job->next = NULL;
	job->previous = list->last;
	*(list->last ? &list->last->next : &list->first) = job;
	list->last = job;
}

IN_SERVER void aspw_list_remove(struct job_list *list, struct job *job)
{
	*(job->previous ? &job->previous->next : &list->first) = job->next;
	*(job->next ? &job->next->previous : &list->last) = job->previous;
}

/* --- submissions --------------------------------------------------------------------- */

IN_SERVER struct job *aspw_queue_take(struct aspawn_queue *queue)
{
	struct job *newest = __atomic_load_n(&queue->submitted, __ATOMIC_ACQUIRE);

	do {
		for (struct job *job = newest; job; job = job->next)
			__atomic_store_n(&job->state, JOB_TAKEN, __ATOMIC_RELEASE);
	} while (!__atomic_compare_exchange_n(&queue->submitted, &newest, NULL, false,
					      __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE));
	return newest;
}

static IN_SERVER void server_take(struct aspawn_queue *queue)
{
	struct job *job, *next, *oldest = NULL;

	if (!__atomic_load_n(&queue->submitted, __ATOMIC_RELAXED))
		return;
	for (job = aspw_queue_take(queue); job; job = next) {
		next = job->next;
		job->next = oldest;
		oldest = job;
	}
	for (job = oldest; job; job = next) {
		next = job->next;
		aspw_list_add(&queue->server.waiting[job->priority], job);
	}
}

static IN_SERVER bool server_has_key(const struct aspawn_queue *queue, const struct job *wanting)
{
	const struct job *job = queue->server.running.first;
	uint32_t running = 0;

	if (!wanting->key_limit)
		return true;
	for (; job && running < wanting->key_limit; job = job->next)
		running += job->key == wanting->key;
	return running < wanting->key_limit;
}

static IN_SERVER bool is_cancelled(const struct job *job)
{
	return __atomic_load_n(&job->use, __ATOMIC_ACQUIRE) & 1;
}

static IN_SERVER void server_drop(struct aspawn_queue *queue, struct job *job)
{
	job->ended_as = ASPAWN_OUTCOME_CANCELLED;
	aspw_job_finish(queue, job);
}

/* Ends the cancelled jobs. With all it ends every job at once, as the queue is closed. */
static IN_SERVER void server_end_jobs(struct aspawn_queue *queue, bool all)
{
	struct job *job, *next;

	server_take(queue);
	for (int i = 0; i < PRIORITIES; i++)
		for (job = queue->server.waiting[i].first; job; job = next) {
			next = job->next;
			if (all || is_cancelled(job))
				server_drop(queue, job);
		}
	for (job = queue->server.running.first; job; job = job->next)
		if (all || is_cancelled(job))
			aspw_job_stop(queue, job, ASPAWN_OUTCOME_CANCELLED, all);
}

static IN_SERVER void server_start_jobs(struct aspawn_queue *queue)
{
	struct server *server = &queue->server;
	struct job *job, *next;

	server->is_early = false;
	for (int i = PRIORITIES - 1; i >= 0; i--)
		for (job = server->waiting[i].first; job; job = next) {
			if (queue->running >= queue->limit)
				return;
			next = job->next;
			if (is_cancelled(job)) {
				server_drop(queue, job);
				continue;
			}
			if (!server_has_key(queue, job))
				continue;
			server->is_early = (queue->delay || server->must_wait) &&
					   queue_now(queue) < server->next_start;
			if (server->is_early)
				return;
			server->must_wait = server->is_early = !aspw_job_start(queue, job);
			if (server->must_wait && queue->delay < RETRY_NS)
				server->next_start = queue_now(queue) + RETRY_NS;
			else if (queue->delay)
				server->next_start = queue_now(queue) + queue->delay;
		}
}

static IN_SERVER void server_see_cancels(struct aspawn_queue *queue)
{
	if (__atomic_load_n(&queue->cancels, __ATOMIC_SEQ_CST) &&
	    __atomic_exchange_n(&queue->cancels, 0, __ATOMIC_SEQ_CST))
		server_end_jobs(queue, false);
}

/* --- ends ------------------------------------------------------------------------------- */

/* Returns false if an event of the same batch has ended the job. */
static IN_SERVER bool is_running(const struct job *job)
{
	return __atomic_load_n(&job->state, __ATOMIC_RELAXED) == JOB_TAKEN && job->stack;
}

/* Looks for events of which epoll does not tell; with all, of all jobs. */
static IN_SERVER void server_look_at_jobs(struct aspawn_queue *queue, bool all)
{
	struct job *job, *next;

	for (job = queue->server.running.first; job; job = next) {
		next = job->next;
		for (unsigned kind = 0; (all || job->is_unpolled) && kind <= KIND_END; kind++)
			if (is_running(job))
				aspw_job_see(queue, job, kind);
	}
}

/* Returns when to ring the tree's helper again. */
static IN_SERVER int64_t server_ring(struct job *job, int64_t now)
{
	if (job->ring_at <= now) {
		aspw_tend_child(&job->child, false);
		job->ring_at = now + aspw_until_tending(&job->child) * INT64_C(1000000);
	}
	return job->ring_at;
}

static IN_SERVER void server_see_deadlines(struct aspawn_queue *queue)
{
	int64_t *first = &queue->server.next_deadline;
	struct job *job, *next;

	if (*first == INT64_MAX)
		return;
	const int64_t now = queue_now(queue);
	if (now < *first)
		return;
	*first = INT64_MAX;
	for (job = queue->server.running.first; job; job = next) {
		next = job->next;
		if (job_is_tree(job) && !job->has_ended) {
			const int64_t ring_at = server_ring(job, now);
			*first = ring_at < *first ? ring_at : *first;
		}
		if (job->deadline <= now)
			aspw_job_expire(queue, job);
		else if (job->deadline < *first)
			*first = job->deadline;
	}
}

/* --- the caller --------------------------------------------------------------------------- */

/* The caller has exited, or executed another program: nobody will take results. */
static IN_SERVER void server_lose_caller(struct aspawn_queue *queue)
{
	__atomic_store_n(&queue->closing, 1, __ATOMIC_SEQ_CST);
}

/* Returns the text from the caller's state on, which is behind the last parenthesis
 * (proc_pid_stat(5)), or "" if the state is unknown. */
static IN_SERVER const char *server_caller_state(const struct aspawn_queue *queue, char text[512])
{
	const long length = psys_pread64(queue->server.caller_stat, text, 511, 0);
	long at = length - 3;

	while (at > 0 && text[at] != ')')
		at--;
	if (at <= 0)
		return "";
	text[length] = '\0';
	return text + at + 2;
}

/* Returns true if the caller's main thread has ended or is about to, and has no memory, while
 * others live. The address space is the 21st number from the state on. Without /proc, a read of the
 * memory tells. */
static IN_SERVER bool server_caller_has_no_memory(const struct aspawn_queue *queue)
{
	char text[512], byte;
	const struct psys_iovec there = { &byte, 1 };
	const char *at = server_caller_state(queue, text);

	if (!*at)
		return psys_process_vm_readv(queue->caller_pid, &there, 1, &there, 1, 0) ==
		       -PSYS_ESRCH;
	for (int number = 1; number < 21 && *at; at++)
		number += *at == ' ';
	return *at == '0';
}

/* A forked copy of the caller may hold the socket that would tell of the caller's exec, or may have
 * shut the socket down. So a hang-up is believed only where kcmp() is not permitted. */
static IN_SERVER void server_look_for_caller(struct aspawn_queue *queue, bool is_hung_up)
{
	const int64_t now = queue_now(queue);

	if (!is_hung_up && now - queue->server.checked_at < (int64_t)CHECK_MS * 1000000)
		return;
	queue->server.checked_at = now;
	const int r = psys_kcmp(queue->server_pid, queue->caller_pid, KCMP_VM, 0, 0);
	const int parent = psys_getppid(); /* negative: a filter forbids the call */
	if ((parent >= 0 && parent != queue->caller_pid) || (r < 0 && is_hung_up) ||
	    (r > 0 && !server_caller_has_no_memory(queue)))
		server_lose_caller(queue);
}

/* --- events ----------------------------------------------------------------------------- */

static IN_SERVER void server_see_event(struct aspawn_queue *queue, uint32_t number, unsigned kind)
{
	uint64_t count;

	switch (number << 2 | kind) {
	case OF_WAKE:
		psys_read(queue->server.wake, &count, sizeof count);
		return;
	case OF_LIFE:
		if (aspw_server_skip_messages(queue))
			return;
		queue_unwatch(queue->server.epoll, queue->server.life);
		server_look_for_caller(queue, true);
		return;
	case OF_CALLER:
		server_lose_caller(queue);
		return;
	}
	struct job *job = queue_job(queue, number);
	if (is_running(job))
		aspw_job_see(queue, job, kind);
	/* A debugger still holds the ended process, which stays readable: use the clock. */
	if (kind == KIND_END && is_running(job) && !job->has_ended) {
		queue_unwatch(queue->server.epoll, job->child.ended_fd);
		queue->server.unpolled += !job->is_unpolled;
		job->is_unpolled = true;
	}
}

/* Reaps a program that a job has left. The pidfd tells of the program's end. */
static IN_SERVER void server_reap_left(const struct aspawn_queue *queue, int pidfd)
{
	struct psys_siginfo info;

	psys_waitid(PSYS_P_PIDFD, pidfd, &info, REAP_ANY, NULL);
	queue_unwatch(queue->server.epoll, pidfd);
	psys_close(pidfd);
}

/* Returns milliseconds, rounded up. A 64-bit division would need a compiler's library. */
static IN_SERVER int server_ms(int64_t ns)
{
	if (ns <= 0)
		return 0;
	if (ns > (int64_t)CHECK_MS * 1000000)
		return CHECK_MS;
	return (int)((uint32_t)(ns >> 6) / 15625) + 1;
}

static IN_SERVER int server_patience(struct aspawn_queue *queue, int64_t deadline)
{
	const struct server *server = &queue->server;
	int64_t first = deadline < server->next_deadline ? deadline : server->next_deadline;

	if (server->is_early && server->next_start < first)
		first = server->next_start;
	if (first == INT64_MAX && !server->unpolled)
		return CHECK_MS;
	const int64_t now = queue_now(queue);
	if (server->unpolled && first > now + TICK_NS)
		first = now + TICK_NS;
	return server_ms(first - now);
}

/* Sleeps until something happens. A submission from before asleep was set is seen here; the
 * submitter of a later job sees asleep. Returns false in a copy that a signal handler has meanwhile
 * forked of a thread that serves a local queue. */
static IN_SERVER bool server_sleep(struct aspawn_queue *queue, int64_t deadline)
{
	struct psys_epoll_event events[EVENTS];
	const struct psys_timespec tick = { 0, TICK_NS };
	struct server *server = &queue->server;
	struct psys_pollfd ready = { server->epoll, PSYS_POLLIN, 0 };
	uint64_t count;

	__atomic_exchange_n(&queue->asleep, 1, __ATOMIC_SEQ_CST);
	const bool has_work =
		__atomic_load_n(&queue->submitted, __ATOMIC_SEQ_CST) ||
		__atomic_load_n(&queue->cancels, __ATOMIC_SEQ_CST) ||
		(__atomic_load_n(&queue->closing, __ATOMIC_SEQ_CST) && !server->closes_by);
	const int ms = has_work ? 0 : server_patience(queue, deadline);
	struct psys_timespec time = { ms / 1000, (int64_t)(ms % 1000) * 1000000 };
	const int r =
		psys_epoll_pwait(server->epoll, events, EVENTS, ms, server->mask, PSYS_SIGSET_SIZE);
	/* If a filter forbids the call, poll(2) shows that something has happened, but not what.
	 * The descriptor may stay readable, as for an ended job whose zombie a debugger keeps. */
	const bool is_blind = r < 0 && r != -PSYS_EINTR;
	if (is_blind) {
		psys_ppoll(&ready, 1, &time, server->mask, PSYS_SIGSET_SIZE);
		psys_nanosleep(&tick, NULL);
	}
	__atomic_store_n(&queue->asleep, 0, __ATOMIC_RELAXED);
	if (queue->is_local && aspw_queue_check(queue) < 0)
		return false;
	for (int i = 0; i < r; i++)
		if (events[i].data >> 32)
			server_reap_left(queue, (int)(events[i].data >> 32));
		else
			server_see_event(queue, (uint32_t)events[i].data >> 2,
					 (unsigned)events[i].data & 3);
	if (!queue->is_local)
		server_look_for_caller(queue, false);
	if (is_blind) {
		psys_read(server->wake, &count, sizeof count);
		aspw_server_skip_messages(queue);
	}
	if (server->unpolled || is_blind)
		server_look_at_jobs(queue, is_blind);
	return true;
}

/* --- all of it ------------------------------------------------------------------------------ */

/* Kills all running jobs, and drops the waiting jobs: nobody will take their results. */
static IN_SERVER void server_see_closing(struct aspawn_queue *queue)
{
	struct server *server = &queue->server;

	if (!__atomic_load_n(&queue->closing, __ATOMIC_SEQ_CST) || server->closes_by)
		return;
	server_end_jobs(queue, true);
	server->closes_by = queue_now(queue) + 1000000000;
}

/* A killed job may take for ever: it runs as another user, or hangs in the kernel. */
static IN_SERVER bool server_is_closed(const struct aspawn_queue *queue)
{
	const int64_t by = queue->server.closes_by;

	return by && (queue->running == 0 || queue_now(queue) > by);
}

static IN_SERVER bool server_is_done(const struct aspawn_queue *queue, enum until until)
{
	return (until == UNTIL_RESULT && queue_has_result(queue)) ||
	       !queue_left(queue, &queue->ended.tail);
}

static IN_SERVER void server_notify(struct aspawn_queue *queue)
{
	if (queue->server.completed)
		aspw_queue_announce(queue, queue->server.notify, (int)queue->server.completed);
	queue->server.completed = 0;
}

static IN_SERVER bool server_run(struct aspawn_queue *queue, enum until until, int64_t deadline)
{
	for (;;) {
		server_see_closing(queue);
		server_take(queue);
		server_see_cancels(queue);
		server_start_jobs(queue);
		server_see_deadlines(queue);
		server_notify(queue);
		const int64_t by = queue->server.closes_by;
		if (queue->server.has_failed || server_is_closed(queue))
			return false;
		if (until != UNTIL_CLOSED && server_is_done(queue, until))
			return true;
		if (deadline != INT64_MAX && queue_now(queue) >= deadline)
			return true;
		if (!server_sleep(queue, by ? by : deadline))
			return false;
	}
}

/* A thread of the caller handles signals only while it sleeps. Elsewhere a copy that a handler
 * forks would start jobs a second time. */
IN_SERVER bool aspw_server_run(struct aspawn_queue *queue, enum until until, int64_t deadline)
{
	struct psys_sigset mask;
	const bool blocks = queue->is_local && block_signals(&mask, false) >= 0;

	queue->server.mask = blocks ? &mask : NULL;
	const bool goes_on = (!queue->is_local || aspw_queue_check(queue) == 0) &&
			     server_run(queue, until, deadline);
	if (blocks)
		psys_rt_sigprocmask(PSYS_SIG_SETMASK, &mask, NULL, PSYS_SIGSET_SIZE);
	return goes_on;
}

/* Returns -1 if /proc is missing, or belongs to another pid namespace. */
static IN_SERVER int server_open_stat(int pid)
{
	char path[32] = "/proc/", self[24] = "", number[24];

	psys_readlinkat(PSYS_AT_FDCWD, "/proc/self", self, sizeof self - 1);
	psys_i64_to_decimal(number, psys_getpid());
	if (psys_strcmp(self, number) != 0)
		return -1;
	psys_strlcpy(path + 6 + psys_i64_to_decimal(path + 6, pid), "/stat", 8);
	int fd = psys_openat(PSYS_AT_FDCWD, path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	return fd < 0 ? -1 : fd;
}

IN_SERVER int aspw_server_begin(struct aspawn_queue *queue, const int fds[SERVER_FDS])
{
	struct psys_epoll_event messages = { PSYS_EPOLLIN | PSYS_EPOLLET, OF_LIFE };
	struct server *server = &queue->server;

	psys_memset(server, 0, sizeof *server);
	server->wake = fds[0];
	server->notify = fds[1];
	server->life = fds[2];
	server->caller_stat = -1;
	server->next_deadline = INT64_MAX;
	for (uint32_t i = 0; i < queue->limit; i++)
		queue->stacks[i].is_taken = false;
	server->epoll = aspw_descriptors_avoid_streams(psys_epoll_create1(PSYS_EPOLL_CLOEXEC));
	if (server->epoll < 0)
		return server->epoll;
	const int r = queue_watch(server->epoll, server->wake, OF_WAKE);
	if (r < 0 || queue->is_local)
		return r;
	const int caller = psys_pidfd_open(queue->caller_pid, 0);
	/* In a pid namespace for the caller's children the server would be init, whose end kills
	 * all. If a filter refuses getpid(2) and getppid(2), both return the same error. */
	if (queue->caller_pid < 0 || psys_getppid() != queue->caller_pid)
		return -PSYS_EOPNOTSUPP;
	queue_watch(server->epoll, caller, OF_CALLER); /* fails before Linux 5.3 */
	server->caller_stat = server_open_stat(queue->caller_pid);
	return psys_epoll_ctl(server->epoll, PSYS_EPOLL_CTL_ADD, server->life, &messages);
}

/* --- its process --------------------------------------------------------------------- */

/* Gives the server a descriptor table of its own, with only what the server needs, under the lowest
 * numbers: each job gets a copy of the table. The caller's numbers are above 2, so 0 to 2 can keep
 * these descriptors while all others are closed. Then 0 to 2 are /dev/null. */
static IN_SERVER int take_server_files(const struct aspawn_queue *queue, int fds[SERVER_FDS])
{
	const int callers[SERVER_FDS] = { queue->wake, queue->notify, queue->servers_life };
	int highest = 0;

	for (int i = 0; i < SERVER_FDS; i++)
		highest = callers[i] > highest ? callers[i] : highest;
	int r = psys_close_range((unsigned)highest + 1, ~0U, PSYS_CLOSE_RANGE_UNSHARE);
	if (r < 0)
		r = psys_unshare(PSYS_CLONE_FILES);
	for (int i = 0; i < SERVER_FDS && r >= 0; i++)
		r = callers[i] < 0 ? 0 : psys_dup3(callers[i], i, 0);
	if (r < 0)
		return r;
	if (psys_close_range(SERVER_FDS, ~0U, 0) < 0)
		aspw_close_via_proc(SERVER_FDS, INT32_MAX, false);
	for (int i = 0; i < SERVER_FDS; i++) {
		fds[i] = callers[i] < 0 ? -1 : (int)psys_fcntl(i, PSYS_F_DUPFD_CLOEXEC, SERVER_FDS);
		if (fds[i] < 0 && callers[i] >= 0)
			return fds[i];
	}
	const int null = psys_openat(PSYS_AT_FDCWD, "/dev/null", PSYS_O_RDWR, 0);
	if (null < 0)
		return null;
	for (int i = 0; i < SERVER_FDS; i++)
		if (i != null)
			psys_dup3(null, i, 0);
	if (null >= SERVER_FDS)
		psys_close(null);
	return 0;
}

IN_SERVER int aspw_server_main(void *arg)
{
	struct aspawn_queue *queue = arg;
	int fds[SERVER_FDS];
	static const struct psys_sigaction usual = { .handler = PSYS_SIG_DFL };

	block_signals(NULL, true);
	psys_rt_sigaction(PSYS_SIGCHLD, &usual, NULL, PSYS_SIGSET_SIZE);
	if (queue->raises_files)
		aspw_server_raise_files(queue);
	if (!*queue->name) /* any thread may clone a later server */
		psys_prctl(PSYS_PR_GET_NAME, (uintptr_t)queue->name, 0, 0, 0);
	psys_prctl(PSYS_PR_SET_NAME, (uintptr_t) "aspawn-queue", 0, 0, 0);
	int r = take_server_files(queue, fds);
	if (r >= 0)
		r = aspw_server_begin(queue, fds);
	if (r >= 0)
		__atomic_add_fetch(&queue->servers, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&queue->ready, r < 0 ? r : 1, __ATOMIC_RELEASE);
	psys_futex(&queue->ready, PSYS_FUTEX_WAKE, 1, NULL, NULL, 0);
	if (r >= 0)
		aspw_server_run(queue, UNTIL_CLOSED, INT64_MAX);
	return 0;
}
