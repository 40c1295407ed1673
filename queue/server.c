/* SPDX-License-Identifier: MIT */
/*
 * The event loop of the server, or of a thread that serves a local queue.
 *
 * It learns of the end of a job by its pidfd. Before Linux 5.3 there is none, and it looks at all jobs
 * each 5 milliseconds.
 */
#include <syscall/string.h>

#include "queue.h"

/* What epoll reports: a job's number and 0, 1 (its outputs) or 2 (its end), or one of these. */
enum { KIND_END = 2, OF_WAKE = 0x7ffffff0, OF_LIFE, OF_HOST };

enum {
	EVENTS = 64,
	KCMP_VM = 1,
	CHECK_MS = 3000,   /* does the host still use this memory? */
	LOOK_MS = 10,      /* is it stopped? Asked if a job is to start or to be ended */
	TIMED_MS = 500,    /* the same while a job has a deadline */
	TICK_NS = 5000000, /* for children that epoll cannot watch */
};

/* --- lists --------------------------------------------------------------------------- */

QUEUE_SERVER void aspw_list_add(struct aspawn_queue *queue, struct job_list *list, struct job *job)
{
	job->next = NO_JOB;
	job->previous = list->last;
	if (list->last == NO_JOB)
		list->first = job->number;
	else
		queue_job(queue, (uint32_t)list->last)->next = job->number;
	list->last = job->number;
}

QUEUE_SERVER void aspw_list_remove(struct aspawn_queue *queue, struct job_list *list,
				   struct job *job)
{
	if (job->previous == NO_JOB)
		list->first = job->next;
	else
		queue_job(queue, (uint32_t)job->previous)->next = job->next;
	if (job->next == NO_JOB)
		list->last = job->previous;
	else
		queue_job(queue, (uint32_t)job->next)->previous = job->previous;
}

/* The job with this number; its next one, as the caller may remove the job; NULL after the last. */
static QUEUE_SERVER struct job *server_next(const struct aspawn_queue *queue, int *number)
{
	if (*number == NO_JOB)
		return NULL;
	struct job *job = queue_job(queue, (uint32_t)*number);
	*number = job->next;
	return job;
}

/* --- a stopped host -------------------------------------------------------------------- */

/* Returns the host's state, which is behind the last parenthesis (proc_pid_stat(5)), and what follows it;
 * "": not known. */
static QUEUE_SERVER const char *server_host_state(const struct server *server, char text[512])
{
	const long length = psys_pread64(server->host_stat, text, 511, 0);
	long at = length - 3;

	while (at > 0 && text[at] != ')')
		at--;
	if (at <= 0)
		return "";
	text[length] = '\0';
	return text + at + 2;
}

/* The time that the host was stopped does not count. */
static QUEUE_SERVER void server_move_deadlines(const struct aspawn_queue *queue,
					       struct server *server, int64_t by)
{
	int at = server->running.first;
	struct job *job;

	while ((job = server_next(queue, &at)))
		if (job->deadline)
			job->deadline += by;
	if (server->next_deadline != INT64_MAX)
		server->next_deadline += by;
}

/* True while the host is stopped (SIGSTOP, Ctrl-Z): nothing starts, and no time limit passes. */
static QUEUE_SERVER bool server_is_paused(const struct aspawn_queue *queue, struct server *server)
{
	if (server->host_stat < 0 || server->is_closing)
		return false;
	const int64_t now = queue_now(queue);
	if (now - server->looked_at < (int64_t)LOOK_MS * 1000000)
		return server->stopped_at != 0;
	server->looked_at = now;
	char text[512];
	const bool is_stopped = *server_host_state(server, text) == 'T';
	if (is_stopped && !server->stopped_at)
		server->stopped_at = now;
	if (!is_stopped && server->stopped_at) {
		server_move_deadlines(queue, server, now - server->stopped_at);
		server->stopped_at = 0;
	}
	return is_stopped;
}

/* --- submissions --------------------------------------------------------------------- */

QUEUE_SERVER struct job *aspw_queue_take(struct aspawn_queue *queue)
{
	struct shared *shared = queue->shared;
	struct job *newest = __atomic_load_n(&shared->submitted, __ATOMIC_ACQUIRE);

	do {
		for (struct job *job = newest; job; job = job->older)
			__atomic_store_n(&job->state, JOB_TAKEN, __ATOMIC_RELEASE);
	} while (!__atomic_compare_exchange_n(&shared->submitted, &newest, NULL, false,
					      __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE));
	return newest;
}

static QUEUE_SERVER void server_take(struct aspawn_queue *queue, struct server *server)
{
	struct job *job, *older, *oldest = NULL;

	if (!__atomic_load_n(&queue->shared->submitted, __ATOMIC_RELAXED))
		return;
	for (job = aspw_queue_take(queue); job; job = older) {
		older = job->older;
		job->older = oldest;
		oldest = job;
	}
	for (job = oldest; job; job = job->older)
		aspw_list_add(queue, &server->waiting[job->priority], job);
}

static QUEUE_SERVER bool server_has_key(const struct aspawn_queue *queue,
					const struct server *server, const struct job *wanting)
{
	uint32_t running = 0;
	int at = server->running.first;
	struct job *job;

	if (!wanting->key_limit)
		return true;
	while ((job = server_next(queue, &at)) && running < wanting->key_limit)
		running += job->key == wanting->key;
	return running < wanting->key_limit;
}

static QUEUE_SERVER void server_drop_waiting(struct aspawn_queue *queue, struct server *server,
					     struct job *job)
{
	aspw_list_remove(queue, &server->waiting[job->priority], job);
	aspw_job_finish(queue, server, job, ASPAWN_OUTCOME_CANCELLED);
}

static QUEUE_SERVER bool is_cancelled(const struct job *job)
{
	return __atomic_load_n(&job->use, __ATOMIC_ACQUIRE) & 1;
}

/* Those that are cancelled; all: at once, as the queue is closed. */
static QUEUE_SERVER void server_end_jobs(struct aspawn_queue *queue, struct server *server, bool all)
{
	struct job *job;
	int at;

	server_take(queue, server);
	for (int i = 0; i < PRIORITIES; i++)
		for (at = server->waiting[i].first; (job = server_next(queue, &at));)
			if (all || is_cancelled(job))
				server_drop_waiting(queue, server, job);
	for (at = server->running.first; (job = server_next(queue, &at));)
		if (all || is_cancelled(job))
			aspw_job_stop(server, job, ASPAWN_OUTCOME_CANCELLED, all);
}

static QUEUE_SERVER void server_start_jobs(struct aspawn_queue *queue, struct server *server)
{
	const struct shared *shared = queue->shared;
	struct job *job;

	server->is_early = false;
	for (int i = PRIORITIES - 1; i >= 0; i--) {
		int at = server->waiting[i].first;

		while (shared->running < queue->limit && !server->must_wait &&
		       (job = server_next(queue, &at))) {
			if (is_cancelled(job)) {
				server_drop_waiting(queue, server, job);
				continue;
			}
			if (!server_has_key(queue, server, job))
				continue;
			if (server_is_paused(queue, server))
				return;
			if (queue->delay) {
				const int64_t now = queue_now(queue);
				server->is_early = now < server->next_start;
				if (server->is_early)
					return;
				server->next_start = now + queue->delay;
			}
			server->must_wait = !aspw_job_start(queue, server, job);
		}
	}
}

static QUEUE_SERVER void server_see_cancels(struct aspawn_queue *queue, struct server *server)
{
	const int cancels = __atomic_load_n(&queue->shared->cancels, __ATOMIC_SEQ_CST);

	if (cancels == server->cancels)
		return;
	server->cancels = cancels;
	server_end_jobs(queue, server, false);
}

/* --- ends ------------------------------------------------------------------------------- */

/* Before a job that is being ended is reaped, its group's number cannot be another's: kill what
 * the program has left behind. */
static QUEUE_SERVER void server_kill_rest(const struct job *job)
{
	struct psys_siginfo info;

	info.u.child.pid = 0;
	psys_waitid(PSYS_P_PID, job->result.pid, &info, PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT,
		    NULL);
	if (info.u.child.pid)
		psys_kill(-job->result.pid, PSYS_SIGKILL);
}

static QUEUE_SERVER void server_reap(struct aspawn_queue *queue, struct server *server,
				     struct job *job)
{
	struct psys_rusage usage;
	int status = -1;

	if (job->has_ended)
		return;
	if (job->stage != STAGE_RUNS && !(job->flags & ASPAWN_JOB_SAME_GROUP))
		server_kill_rest(job);
	const int pid = psys_wait4(job->result.pid, &status, PSYS_WNOHANG, &usage);
	if (pid == 0 || pid == -PSYS_EINTR)
		return;
	if (pid < 0 && !server->is_local) {
		server->has_failed = true;
		return;
	}
	if (pid < 0) { /* another has reaped it */
		psys_memset(&usage, 0, sizeof usage);
		status = -1;
		job->ended_as = ASPAWN_OUTCOME_LOST;
	}
	aspw_job_ended(queue, server, job, status, &usage);
}

/* kind: 0 or 1, an output; or KIND_END. */
static QUEUE_SERVER void server_see_job(struct aspawn_queue *queue, struct server *server,
					struct job *job, unsigned kind)
{
	if (kind == KIND_END)
		server_reap(queue, server, job);
	else
		aspw_job_read(queue, server, job, (int)kind);
}

/* Asks for what epoll does not tell; all: of all jobs. */
static QUEUE_SERVER void server_look_at_jobs(struct aspawn_queue *queue, struct server *server,
					     bool all)
{
	int at = server->running.first;
	struct job *job;

	while ((job = server_next(queue, &at))) {
		for (unsigned which = 0; (all || job->is_unpolled) && which < 3; which++)
			if (__atomic_load_n(&job->state, __ATOMIC_RELAXED) == JOB_TAKEN)
				server_see_job(queue, server, job, which);
	}
}

static QUEUE_SERVER void server_see_deadlines(struct aspawn_queue *queue, struct server *server)
{
	int at = server->running.first;
	struct job *job;

	if (server->next_deadline == INT64_MAX || server_is_paused(queue, server))
		return;
	const int64_t now = queue_now(queue);
	if (now < server->next_deadline)
		return;
	server->next_deadline = INT64_MAX;
	while ((job = server_next(queue, &at))) {
		if (job->deadline && job->deadline <= now)
			aspw_job_expire(queue, server, job);
		else if (job->deadline && job->deadline < server->next_deadline)
			server->next_deadline = job->deadline;
	}
}

/* --- the host --------------------------------------------------------------------------- */

/* The host has exited, or executed another program: nobody will take results. */
static QUEUE_SERVER void server_lose_host(struct aspawn_queue *queue)
{
	__atomic_store_n(&queue->shared->closing, 1, __ATOMIC_SEQ_CST);
}

/* True if the host's main thread has no memory: it has ended, or is about to, but others have not. Its
 * address space is the 21st number from the state on. Without /proc reading that memory tells it. */
static QUEUE_SERVER bool server_host_has_no_memory(const struct aspawn_queue *queue,
						   const struct server *server)
{
	char text[512], byte;
	const struct psys_iovec there = { &byte, 1 };
	const char *at = server_host_state(server, text);

	if (!*at)
		return psys_process_vm_readv(queue->host, &there, 1, &there, 1, 0) == -PSYS_ESRCH;
	for (int number = 1; number < 21 && *at; at++)
		number += *at == ' ';
	return *at == '0';
}

/* A forked copy of the host may hold the socket that would tell of the host's exec, or may have shut it
 * down: that is believed only where kcmp() is not permitted. */
static QUEUE_SERVER void server_look_for_host(struct aspawn_queue *queue, struct server *server,
					      bool is_hung_up)
{
	const int64_t now = queue_now(queue);

	if (!is_hung_up && now - server->checked_at < (int64_t)CHECK_MS * 1000000)
		return;
	server->checked_at = now;
	const int r = psys_kcmp(queue->shared->server_pid, queue->host, KCMP_VM, 0, 0);
	const int parent = psys_getppid(); /* negative: a filter forbids it */
	if ((parent >= 0 && parent != queue->host) || (r < 0 && is_hung_up) ||
	    (r > 0 && !server_host_has_no_memory(queue, server)))
		server_lose_host(queue);
}

/* --- events ----------------------------------------------------------------------------- */

static QUEUE_SERVER void server_see_event(struct aspawn_queue *queue, struct server *server,
					  uint32_t number, unsigned kind)
{
	uint64_t count;

	switch (number << 2 | kind) {
	case OF_WAKE:
		psys_read(server->wake, &count, sizeof count);
		return;
	case OF_LIFE:
		if (aspw_server_skip_messages(queue, server))
			return;
		queue_unwatch(server->epoll, server->life);
		server_look_for_host(queue, server, true);
		return;
	case OF_HOST:
		server_lose_host(queue);
		return;
	}
	struct job *job = queue_job(queue, number);
	/* An event of the same batch may have ended the job. */
	if (__atomic_load_n(&job->state, __ATOMIC_RELAXED) != JOB_TAKEN || !job->result.pid)
		return;
	server_see_job(queue, server, job, kind);
	/* A debugger has not let go of the ended process, which is readable until then: look by the clock. */
	if (kind == KIND_END && __atomic_load_n(&job->state, __ATOMIC_RELAXED) == JOB_TAKEN &&
	    !job->has_ended) {
		queue_unwatch(server->epoll, job->child.ended_fd);
		server->unpolled += !job->is_unpolled;
		job->is_unpolled = true;
	}
}

/* Milliseconds, rounded up, without a 64-bit division, which would need a compiler's library. */
static QUEUE_SERVER int server_ms(int64_t ns)
{
	if (ns <= 0)
		return 0;
	if (ns > (int64_t)CHECK_MS * 1000000)
		return CHECK_MS;
	return (int)((uint32_t)(ns >> 6) / 15625) + 1;
}

static QUEUE_SERVER int server_patience(const struct aspawn_queue *queue, struct server *server,
					int64_t deadline)
{
	int64_t first = deadline < server->next_deadline ? deadline : server->next_deadline;

	if (server->is_early && server->next_start < first)
		first = server->next_start;
	if (server->stopped_at)
		return server_is_paused(queue, server) ? LOOK_MS : 0;
	if (first == INT64_MAX && !server->unpolled)
		return CHECK_MS;
	const int64_t now = queue_now(queue);
	if (server->host_stat >= 0 && first > now + (int64_t)TIMED_MS * 1000000)
		first = now + (int64_t)TIMED_MS * 1000000;
	if (server->unpolled && first > now + TICK_NS)
		first = now + TICK_NS;
	return server_ms(first - now);
}

/* A filter forbids it. The server ends, and its jobs are lost; a local queue goes on in ticks. */
static QUEUE_SERVER void server_go_without_epoll(struct aspawn_queue *queue, struct server *server)
{
	struct psys_timespec tick = { 0, TICK_NS };

	server->has_failed = !server->is_local;
	if (!server->is_local)
		return;
	psys_ppoll(NULL, 0, &tick, server->mask, PSYS_SIGSET_SIZE);
	if (aspw_queue_check(queue) == 0)
		server_look_at_jobs(queue, server, true);
}

/* Sleeps until something happens. A submission that came before asleep was set is seen here; the
 * submitter of a later one sees asleep. Returns false in a copy of a thread that serves a local queue,
 * which a signal handler has forked meanwhile. */
static QUEUE_SERVER bool server_sleep(struct aspawn_queue *queue, struct server *server,
				      int64_t deadline)
{
	struct psys_epoll_event events[EVENTS];
	struct shared *shared = queue->shared;

	__atomic_exchange_n(&shared->asleep, 1, __ATOMIC_SEQ_CST);
	const bool has_work =
		__atomic_load_n(&shared->submitted, __ATOMIC_SEQ_CST) ||
		__atomic_load_n(&shared->cancels, __ATOMIC_SEQ_CST) != server->cancels ||
		(__atomic_load_n(&shared->closing, __ATOMIC_SEQ_CST) && !server->is_closing) ||
		__atomic_load_n(&shared->wanted, __ATOMIC_SEQ_CST);
	const int ms = has_work ? 0 : server_patience(queue, server, deadline);
	int r = psys_epoll_pwait(server->epoll, events, EVENTS, ms, server->mask, PSYS_SIGSET_SIZE);
	__atomic_store_n(&shared->asleep, 0, __ATOMIC_RELAXED);
	if (r < 0 && r != -PSYS_EINTR)
		server_go_without_epoll(queue, server);
	if (server->is_local && aspw_queue_check(queue) < 0)
		return false;
	for (int i = 0; i < r; i++)
		server_see_event(queue, server, (uint32_t)(events[i].data >> 2),
				 (unsigned)events[i].data & 3);
	if (!server->is_local)
		server_look_for_host(queue, server, false);
	if (server->unpolled)
		server_look_at_jobs(queue, server, false);
	return true;
}

/* --- all of it ------------------------------------------------------------------------------ */

/* Kills all that runs. Those that wait are dropped: nobody will take their results. */
static QUEUE_SERVER void server_see_closing(struct aspawn_queue *queue, struct server *server)
{
	if (!__atomic_load_n(&queue->shared->closing, __ATOMIC_SEQ_CST) || server->is_closing)
		return;
	server->is_closing = true;
	server_end_jobs(queue, server, true);
	server->closed_at = queue_now(queue);
}

/* A killed job may take for ever: it runs as another user, or hangs in the kernel. */
static QUEUE_SERVER bool server_is_closed(const struct aspawn_queue *queue,
					  const struct server *server)
{
	return server->is_closing &&
	       (queue->shared->running == 0 || queue_now(queue) - server->closed_at > 1000000000);
}

static QUEUE_SERVER bool server_is_done(const struct aspawn_queue *queue, enum until until)
{
	const struct shared *shared = queue->shared;

	return __atomic_load_n(&shared->wanted, __ATOMIC_SEQ_CST) ||
	       (until == UNTIL_RESULT &&
		__atomic_load_n(&shared->ended.tail, __ATOMIC_RELAXED) !=
			__atomic_load_n(&shared->ended.head, __ATOMIC_RELAXED)) ||
	       !queue_left(queue, &shared->ended.tail);
}

/* Tells those who wait that jobs have ended. While the server lives the kernel does not clear events. */
static QUEUE_SERVER void server_notify(struct shared *shared, struct server *server)
{
	const uint64_t one = 1;
	const int count = (int)server->completed;

	if (!count)
		return;
	server->completed = 0;
	__atomic_add_fetch(&shared->events, 2, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&shared->waiters, __ATOMIC_SEQ_CST))
		queue_wake_waiters(shared, __atomic_load_n(&shared->drainers, __ATOMIC_SEQ_CST) ?
						   INT32_MAX :
						   count);
	if (__atomic_load_n(&shared->armed, __ATOMIC_SEQ_CST) &&
	    __atomic_exchange_n(&shared->armed, 0, __ATOMIC_SEQ_CST))
		psys_write(server->notify, &one, sizeof one);
}

static QUEUE_SERVER bool server_run(struct aspawn_queue *queue, struct server *server,
				    enum until until, int64_t deadline)
{
	for (;;) {
		server_see_closing(queue, server);
		server_take(queue, server);
		server_see_cancels(queue, server);
		server_start_jobs(queue, server);
		server_see_deadlines(queue, server);
		server_notify(queue->shared, server);
		if (server->has_failed || server_is_closed(queue, server))
			return false;
		if (until != UNTIL_CLOSED && server_is_done(queue, until))
			return true;
		if (deadline != INT64_MAX && queue_now(queue) >= deadline)
			return true;
		if (!server_sleep(queue, server,
				  server->is_closing ? server->closed_at + 1000000000 : deadline))
			return false;
	}
}

/* A thread of the host handles signals while it sleeps only: elsewhere a copy that a handler forks
 * would start jobs a second time. */
QUEUE_SERVER bool aspw_server_run(struct aspawn_queue *queue, struct server *server,
				  enum until until, int64_t deadline)
{
	struct psys_sigset all, mask;

	psys_sigfillset(&all);
	const bool blocks = server->is_local && psys_rt_sigprocmask(PSYS_SIG_SETMASK, &all, &mask,
								    PSYS_SIGSET_SIZE) >= 0;
	server->mask = blocks ? &mask : NULL;
	const bool goes_on = (!server->is_local || aspw_queue_check(queue) == 0) &&
			     server_run(queue, server, until, deadline);
	if (blocks)
		psys_rt_sigprocmask(PSYS_SIG_SETMASK, &mask, NULL, PSYS_SIGSET_SIZE);
	return goes_on;
}

/* -1: there is no /proc, or it is another pid namespace's. */
static QUEUE_SERVER int server_open_stat(int pid)
{
	char path[32] = "/proc/", self[24] = "", own[24];

	psys_readlinkat(PSYS_AT_FDCWD, "/proc/self", self, sizeof self - 1);
	psys_i64_to_decimal(own, psys_getpid());
	if (psys_strcmp(self, own) != 0)
		return -1;
	psys_strlcpy(path + 6 + psys_i64_to_decimal(path + 6, pid), "/stat", 8);
	int fd = psys_openat(PSYS_AT_FDCWD, path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	return fd < 0 ? -1 : fd;
}

static QUEUE_SERVER int server_open(struct aspawn_queue *queue, struct server *server)
{
	struct psys_epoll_event messages = { PSYS_EPOLLIN | PSYS_EPOLLET, OF_LIFE };
	int r = psys_epoll_create1(PSYS_EPOLL_CLOEXEC);

	if (r < 0)
		return r;
	server->epoll = r;
	r = queue_watch(server->epoll, server->wake, OF_WAKE);
	if (r < 0)
		return r;
	if (server->is_local)
		return 0;
	server->host_pidfd = psys_pidfd_open(queue->host, 0);
	if (psys_getppid() != queue->host)
		return -PSYS_ESRCH;
	queue_watch(server->epoll, server->host_pidfd, OF_HOST); /* before Linux 5.3: not there */
	server->host_stat = server_open_stat(queue->host);
	return psys_epoll_ctl(server->epoll, PSYS_EPOLL_CTL_ADD, server->life, &messages);
}

QUEUE_SERVER int aspw_server_begin(struct aspawn_queue *queue, struct server *server)
{
	server->epoll = server->host_pidfd = server->host_stat = -1;
	server->running = (struct job_list){ NO_JOB, NO_JOB };
	for (uint32_t i = 0; i < queue->limit; i++)
		queue->stacks[i].is_taken = false;
	for (int i = 0; i < PRIORITIES; i++)
		server->waiting[i] = server->running;
	server->next_deadline = INT64_MAX;
	server->next_start = server->checked_at = server->looked_at = server->stopped_at = 0;
	server->cancels = __atomic_load_n(&queue->shared->cancels, __ATOMIC_RELAXED) - 1;
	server->unpolled = server->completed = 0;
	server->must_wait = server->is_closing = server->has_failed = server->is_early = false;
	int r = server_open(queue, server);
	if (r < 0)
		aspw_server_end(server);
	return r < 0 ? r : 0;
}

QUEUE_SERVER void aspw_server_end(struct server *server)
{
	psys_close(server->epoll); /* of a negative one: no effect */
	psys_close(server->host_pidfd);
	psys_close(server->host_stat);
}
