/* SPDX-License-Identifier: MIT */
/* This file has results, waits, counts, and the requests to end jobs. */
#include <syscall/string.h>

#include "../spawn/deadline.h"
#include "results.h"
#include "server.h"

IN_SERVER void aspw_queue_complete(struct aspawn_queue *queue, struct job *job, int end)
{
	struct ring *ended = &queue->ended;
	const uint32_t at = __atomic_load_n(&ended->tail, __ATOMIC_RELAXED);

	if (job->result.out)
		job->outputs[0].data[job->result.out_length] = '\0';
	if (job->result.err)
		job->outputs[1].data[job->result.err_length] = '\0';
	job->result.outcome = end;
	job->end_position = at;
	__atomic_store_n(&job->state, JOB_ENDED, __ATOMIC_RELEASE);
	__atomic_store_n(&ended->values[at & (queue->capacity - 1)], (uint32_t)job->number,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&ended->tail, at + 1, __ATOMIC_SEQ_CST);
}

/* Events stay 0 if the kernel has cleared them. */
IN_SERVER void aspw_queue_announce(struct aspawn_queue *queue, int notify, int count)
{
	int events = __atomic_load_n(&queue->events, __ATOMIC_RELAXED);
	const uint64_t one = 1;

	while (events &&
	       !__atomic_compare_exchange_n(&queue->events, &events, (int)((unsigned)events + 2),
					    true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		continue;
	const bool awaited = __atomic_load_n(&queue->waiters, __ATOMIC_SEQ_CST);
	if (awaited && __atomic_load_n(&queue->drainers, __ATOMIC_SEQ_CST))
		count = INT32_MAX;
	if (awaited)
		psys_futex(&queue->events, PSYS_FUTEX_WAKE, count, NULL, NULL, 0);
	if (notify >= 0 && __atomic_load_n(&queue->armed, __ATOMIC_SEQ_CST) &&
	    __atomic_exchange_n(&queue->armed, 0, __ATOMIC_SEQ_CST))
		psys_write(notify, &one, sizeof one);
}

/* Makes the descriptor of aspawn_queue_fd() unreadable until the next batch. If a handler has
 * forked, the copy writes back the count that was its parent's. */
static void rearm_fd(struct aspawn_queue *queue)
{
	uint64_t count;

	if (queue->notify < 0)
		return;
	if (psys_read(queue->notify, &count, sizeof count) > 0 && aspw_queue_check(queue) < 0)
		psys_write(queue->notify, &count, sizeof count);
	__atomic_store_n(&queue->armed, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* before the caller looks for results */
}

/* Returns true if no job waits or runs and, with all_taken, all results are taken. */
static bool is_idle(const struct aspawn_queue *queue, bool all_taken)
{
	const struct ring *ended = &queue->ended;

	return !queue_left(queue, all_taken ? &ended->head : &ended->tail);
}

static int take_results(struct aspawn_queue *queue, const struct aspawn_result **results, int count)
{
	struct ring *ended = &queue->ended;
	int taken = 0;

	while (taken < count) {
		/* The load must acquire: a tail older than this head would look like a result. */
		uint32_t at = __atomic_load_n(&ended->head, __ATOMIC_ACQUIRE);
		if (__atomic_load_n(&ended->tail, __ATOMIC_ACQUIRE) == at)
			break;
		const uint32_t number = __atomic_load_n(&ended->values[at & (queue->capacity - 1)],
							__ATOMIC_RELAXED);
		if (!__atomic_compare_exchange_n(&ended->head, &at, at + 1, true, __ATOMIC_SEQ_CST,
						 __ATOMIC_RELAXED))
			continue;
		struct job *job = queue_job(queue, number);
		__atomic_store_n(&job->state, JOB_HELD, __ATOMIC_RELAXED);
		results[taken++] = &job->result;
	}
	/* After the last result other waiters have nothing to wait for. */
	if (taken > 0 && __atomic_load_n(&queue->waiters, __ATOMIC_SEQ_CST) && is_idle(queue, true))
		aspw_queue_announce(queue, -1, INT32_MAX);
	return taken;
}

/* A sandbox may not clear the word at the server's end, so each sleep ends after a second. */
static void sleep_on_events(struct aspawn_queue *queue, int seen, int64_t deadline)
{
	static const struct psys_timespec second = { 1, 0 }, moment = { 0, 1000000 };
	const struct psys_timespec left = aspw_deadline_left(deadline),
				   *time = left.tv_sec ? &second : &left;
	int r = psys_futex(&queue->events, PSYS_FUTEX_WAIT, seen, time, NULL, 0);

	/* If a filter forbids futex(2), sleep anyway: otherwise the caller would spin. */
	if (r < 0 && r != -PSYS_EAGAIN && r != -PSYS_EINTR && r != -PSYS_ETIMEDOUT)
		psys_nanosleep(&moment, NULL);
}

/* Serves a local queue. If another thread serves, sleeps until that thread ends a job or stops to
 * serve. */
static void serve_or_sleep(struct aspawn_queue *queue, int events, enum until until,
			   int64_t deadline)
{
	const bool is_local = queue->is_local;
	const int64_t moment = is_local ? aspw_deadline_in(5) : DEADLINE_NEVER;

	if (!events) { /* another thread recovers */
		psys_sched_yield();
	} else if (is_local && !__atomic_exchange_n(&queue->serving, 1, __ATOMIC_ACQUIRE)) {
		aspw_server_run(queue, until, deadline);
		__atomic_store_n(&queue->serving, 0, __ATOMIC_RELEASE);
		psys_futex(&queue->events, PSYS_FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	} else {
		sleep_on_events(queue, events, moment < deadline ? moment : deadline);
	}
}

/* Returns result, or an error in a copy that a signal handler has forked during the call. */
static int queue_unless_copied(const struct aspawn_queue *queue, int result)
{
	const int r = aspw_queue_check(queue);

	return r < 0 ? r : result;
}

/* Takes results. Returns 0 at the end of the time; with results NULL, 1 when no job waits or
 * runs. */
static int await_results(struct aspawn_queue *queue, const struct aspawn_result **results,
			 int count, int64_t timeout_ms)
{
	const int64_t deadline = aspw_deadline_in(timeout_ms);
	int r;

	__atomic_add_fetch(&queue->drainers, !results, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&queue->waiters, 1, __ATOMIC_SEQ_CST);
	for (bool last = timeout_ms == 0 && results && !queue->is_local;;
	     last = last || aspw_deadline_is_past(deadline)) {
		aspw_queue_tend(queue, queue_now(queue));
		const int events = __atomic_load_n(&queue->events, __ATOMIC_SEQ_CST);
		if (aspw_queue_is_orphaned(queue, !last))
			aspw_queue_recover(queue, false);
		r = results ? take_results(queue, results, count) : is_idle(queue, false);
		r = queue_unless_copied(queue,
					!r && results && is_idle(queue, true) ? -PSYS_ECHILD : r);
		if (r || last)
			break;
		serve_or_sleep(queue, events, results ? UNTIL_RESULT : UNTIL_IDLE, deadline);
	}
	__atomic_sub_fetch(&queue->waiters, 1, __ATOMIC_SEQ_CST);
	__atomic_sub_fetch(&queue->drainers, !results, __ATOMIC_SEQ_CST);
	return r;
}

int aspawn_queue_wait(struct aspawn_queue *queue, const struct aspawn_result **results, int count,
		      int64_t timeout_ms)
{
	int r = aspw_queue_check(queue);

	if (r < 0 || !results || count <= 0)
		return r < 0 ? r : -PSYS_EINVAL;
	r = take_results(queue, results, count);
	if (r < count) {
		rearm_fd(queue);
		r += take_results(queue, results + r, count - r);
	}
	return r > 0 ? queue_unless_copied(queue, r) :
		       await_results(queue, results, count, timeout_ms);
}

int aspawn_queue_drain(struct aspawn_queue *queue, int64_t timeout_ms)
{
	int r = aspw_queue_check(queue);

	if (r < 0)
		return r;
	r = await_results(queue, NULL, 0, timeout_ms);
	if (r > 0)
		return 0;
	return r ? r : -PSYS_ETIMEDOUT;
}

int aspawn_queue_release(struct aspawn_queue *queue, const struct aspawn_result **results, int count)
{
	int r = aspw_queue_check(queue);

	if (r < 0 || (!results && count))
		return r < 0 ? r : -PSYS_EINVAL;
	for (int i = 0; i < count; i++) {
		struct job *job = results[i] ? queue_find(queue, results[i]->ticket) : NULL;
		int held = JOB_HELD;

		if (!job || &job->result != results[i] ||
		    !__atomic_compare_exchange_n(&job->state, &held, JOB_FREE, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return -PSYS_EINVAL;
		queue_free_place(queue, job);
	}
	return 0;
}

int aspawn_queue_fd(struct aspawn_queue *queue)
{
	int r = aspw_queue_check(queue);

	if (r < 0)
		return r;
	return queue->epoll < 0 ? -PSYS_EBADF : queue->epoll;
}

static void request_service(struct aspawn_queue *queue)
{
	__atomic_store_n(&queue->cancels, 1, __ATOMIC_SEQ_CST);
	aspw_queue_wake(queue);
	aspw_queue_tend(queue, queue_now(queue));
}

/* Returns false if the job of this use of the place has ended. */
static bool cancel_job(struct job *job, uint32_t use)
{
	const int state = __atomic_load_n(&job->state, __ATOMIC_ACQUIRE);
	uint32_t seen = use;

	return (state == JOB_QUEUED || state == JOB_TAKEN) &&
	       (__atomic_compare_exchange_n(&job->use, &seen, use | 1, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED) ||
		seen == (use | 1));
}

int aspawn_queue_cancel(struct aspawn_queue *queue, int64_t ticket)
{
	int r = aspw_queue_check(queue);

	if (r < 0)
		return r;
	struct job *job = queue_find(queue, ticket);
	const uint64_t uses = (uint64_t)ticket >> queue->bits;
	if (!job || __atomic_load_n(&job->use_high, __ATOMIC_RELAXED) != uses >> 31 ||
	    !cancel_job(job, (uint32_t)uses << 1))
		return -PSYS_ESRCH;
	request_service(queue);
	return 0;
}

/* Marks the jobs here: when the server sees a request, later jobs may have been submitted. */
int aspawn_queue_cancel_all(struct aspawn_queue *queue)
{
	int r = aspw_queue_check(queue);

	if (r < 0)
		return r;
	for (uint32_t number = 0; number < queue->capacity; number++) {
		struct job *job = queue_job(queue, number);
		cancel_job(job, __atomic_load_n(&job->use, __ATOMIC_RELAXED) & ~1U);
	}
	request_service(queue);
	return 0;
}

int aspawn_queue_count(struct aspawn_queue *queue, int what)
{
	const int r = aspw_queue_check(queue);

	if (r < 0)
		return r;
	aspw_queue_tend(queue, queue_now(queue));
	const uint32_t running = __atomic_load_n(&queue->running, __ATOMIC_RELAXED);
	const uint32_t left = queue_left(queue, &queue->ended.tail);
	const uint32_t taken = __atomic_load_n(&queue->ended.head, __ATOMIC_SEQ_CST);
	switch (what) {
	case ASPAWN_COUNT_WAITING:
		return left > running ? (int)(left - running) : 0;
	case ASPAWN_COUNT_RUNNING:
		return (int)running;
	case ASPAWN_COUNT_ENDED:
		return (int)(__atomic_load_n(&queue->ended.tail, __ATOMIC_RELAXED) - taken);
	case ASPAWN_COUNT_SERVERS:
		return (int)__atomic_load_n(&queue->servers, __ATOMIC_RELAXED);
	}
	return -PSYS_EINVAL;
}

size_t aspawn_result_text(char *to, size_t size, const struct aspawn_result *result)
{
	const size_t room = to ? size : 0;
	struct aspawn_io io;

	if (!result)
		return psys_strlcpy(to, "", room);
	if (result->outcome == ASPAWN_OUTCOME_CANCELLED)
		return psys_strlcpy(to, "cancelled", room);
	if (result->outcome == ASPAWN_OUTCOME_LOST)
		return psys_strlcpy(to, "lost", room);
	io.outcome = result->outcome;
	io.status = result->status;
	psys_memcpy(&io.failure, &result->failure, sizeof io.failure);
	return aspawn_io_text(to, size, result->survivors ? -PSYS_ENOTEMPTY : 0, &io);
}
