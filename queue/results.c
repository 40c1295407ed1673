/* SPDX-License-Identifier: MIT */
/* What comes out of a queue: results, waits, counts, and the requests to end jobs. */
#include <syscall/string.h>

#include "queue.h"

QUEUE_SERVER void aspawn_queue_complete(struct aspawn_queue *queue, struct job *job, int end)
{
	struct shared *shared = queue->shared;
	struct aspawn_queue_counts *counts = &shared->counts;
	uint32_t *const of[] = { &counts->ran, &counts->not_started, &counts->timed_out,
				 &counts->cancelled, &counts->lost };

	struct out_ring *ring = job->is_absorbed ? &shared->absorbed : &shared->ended;

	job->result.end = end;
	job->end_position = __atomic_load_n(&ring->tail, __ATOMIC_RELAXED);
	queue_count_up(of[end - 1]);
	__atomic_store_n(&job->state, JOB_ENDED, __ATOMIC_RELEASE);
	out_push(ring, (uint32_t)job->number);
}

/* While the server lives: the kernel does not clear events meanwhile. */
QUEUE_SERVER void aspawn_queue_notify(struct aspawn_queue *queue, uint32_t count, int fd)
{
	struct shared *shared = queue->shared;
	const uint64_t one = 1;

	__atomic_add_fetch(&shared->events, 2, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&shared->waiters, __ATOMIC_SEQ_CST))
		psys_futex(&shared->events, PSYS_FUTEX_WAKE,
			   queue->completed || __atomic_load_n(&shared->drainers, __ATOMIC_SEQ_CST) ?
				   INT32_MAX :
				   (int)count,
			   NULL, NULL, 0);
	if (__atomic_load_n(&shared->armed, __ATOMIC_SEQ_CST) &&
	    __atomic_exchange_n(&shared->armed, 0, __ATOMIC_SEQ_CST))
		psys_write(fd, &one, sizeof one);
}

/* Makes the descriptor of aspawn_queue_fd() unreadable; the next batch makes it readable again. */
static void rearm(const struct aspawn_queue *queue)
{
	uint64_t count;

	if (queue->notify < 0)
		return;
	psys_read(queue->notify, &count, sizeof count);
	__atomic_exchange_n(&queue->shared->armed, 1, __ATOMIC_SEQ_CST);
}

/* Jobs that have been submitted and whose results are not taken; and those that have not ended. */
static uint32_t jobs_left(const struct aspawn_queue *queue, const uint32_t *since)
{
	return __atomic_load_n(&queue->shared->submitted.tail, __ATOMIC_SEQ_CST) -
	       __atomic_load_n(since, __ATOMIC_SEQ_CST) -
	       __atomic_load_n(&queue->shared->absorbed.tail, __ATOMIC_SEQ_CST);
}

/* The last result is taken: other waiters have nothing to wait for. The word stays 0 if the kernel
 * has cleared it. */
static void dismiss_waiters(struct shared *shared)
{
	int events = __atomic_load_n(&shared->events, __ATOMIC_RELAXED);

	while (events &&
	       !__atomic_compare_exchange_n(&shared->events, &events, (int)((unsigned)events + 2),
					    true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		continue;
	psys_futex(&shared->events, PSYS_FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static int take_results(struct aspawn_queue *queue, const struct aspawn_result **results, int count)
{
	struct shared *shared = queue->shared;
	uint32_t number;
	int taken = 0;

	while (taken < count && out_pop(&shared->ended, &number)) {
		struct job *job = queue_job(queue, number);

		__atomic_store_n(&job->state, JOB_HELD, __ATOMIC_RELAXED);
		results[taken++] = &job->result;
	}
	if (taken > 0 && __atomic_load_n(&shared->waiters, __ATOMIC_SEQ_CST) &&
	    !jobs_left(queue, &shared->ended.head))
		dismiss_waiters(shared);
	return taken;
}

/* Called by the thread that has shared->serving, and gives it back. */
static bool serve(struct aspawn_queue *queue, enum until until, struct psys_timespec deadline)
{
	struct shared *shared = queue->shared;
	const bool goes_on = aspawn_server_run(
		queue, &shared->server, until,
		deadline.tv_sec > INT32_MAX ? INT64_MAX :
					      deadline.tv_sec * 1000000000 + deadline.tv_nsec);

	__atomic_store_n(&shared->serving, NOBODY_SERVES, __ATOMIC_RELEASE);
	/* The queue may be unmapped now: then this fails. */
	psys_futex(&shared->events, PSYS_FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	return goes_on;
}

/* The second is for a sandbox that does not clear the word at the server's end. */
static void sleep_on_events(struct shared *shared, int events, struct psys_timespec deadline)
{
	static const struct psys_timespec second = { 1, 0 }, moment = { 0, 1000000 };
	const struct psys_timespec time = deadline_sooner(deadline_left(deadline), second);
	int r = psys_futex(&shared->events, PSYS_FUTEX_WAIT, events, &time, NULL, 0);

	/* If a filter forbids futex(2), sleep anyway: otherwise the caller would spin. */
	if (r < 0 && r != -PSYS_EAGAIN && r != -PSYS_EINTR && r != -PSYS_ETIMEDOUT)
		psys_nanosleep(&moment, NULL);
}

/* Serves a local queue, unless another thread does: then sleeps until that has ended a job, or
 * stops to serve. */
static void serve_or_sleep(struct aspawn_queue *queue, int events, enum until until,
			   struct psys_timespec deadline)
{
	struct shared *shared = queue->shared;
	const struct psys_timespec moment = { 0, 5000000 };
	int nobody = NOBODY_SERVES;

	if (!(queue->flags & ASPAWN_QUEUE_LOCAL)) {
		sleep_on_events(shared, events, deadline);
	} else if (!__atomic_load_n(&shared->wanted, __ATOMIC_SEQ_CST) &&
		   __atomic_compare_exchange_n(&shared->serving, &nobody, A_WAITER_SERVES, false,
					       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		serve(queue, until, deadline);
	} else {
		sleep_on_events(shared, events, deadline_sooner(deadline, deadline_after(&moment)));
	}
}

int aspawn_queue_wait(struct aspawn_queue *queue, const struct aspawn_result **results, int count,
		      int64_t timeout_ms)
{
	struct psys_timespec timeout;
	const struct psys_timespec *limit = deadline_from_ms(&timeout, timeout_ms);
	int r = aspawn_queue_check(queue);

	if (r < 0 || !results || count <= 0)
		return r < 0 ? r : -PSYS_EINVAL;
	struct shared *shared = queue->shared;
	r = take_results(queue, results, count);
	if (r == count)
		return r;
	rearm(queue);
	r += take_results(queue, results + r, count - r);
	if (r > 0)
		return r;

	const struct psys_timespec deadline = deadline_after(limit);
	__atomic_add_fetch(&shared->waiters, 1, __ATOMIC_SEQ_CST);
	for (bool last = timeout_ms == 0 && !(queue->flags & ASPAWN_QUEUE_LOCAL);;
	     last = last || deadline_has_passed(deadline)) {
		const int events = __atomic_load_n(&shared->events, __ATOMIC_SEQ_CST);
		if (aspawn_queue_is_orphaned(queue, !last))
			aspawn_queue_recover(queue, false);
		r = take_results(queue, results, count);
		if (r == 0 && !jobs_left(queue, &shared->ended.head))
			r = -PSYS_ECHILD;
		if (r || last)
			break;
		if (!events) /* another thread recovers */
			psys_sched_yield();
		else
			serve_or_sleep(queue, events, UNTIL_RESULT, deadline);
	}
	__atomic_sub_fetch(&shared->waiters, 1, __ATOMIC_SEQ_CST);
	return r;
}

int aspawn_queue_release(struct aspawn_queue *queue, const struct aspawn_result **results, int count)
{
	int r = aspawn_queue_check(queue);

	if (r < 0 || (!results && count))
		return r < 0 ? r : -PSYS_EINVAL;
	for (int i = 0; i < count; i++) {
		const uintptr_t offset = (uintptr_t)results[i] - offsetof(struct job, result) -
					 (uintptr_t)queue->jobs;
		const uint32_t number = (uint32_t)results[i]->ticket & 0xffff;
		int held = JOB_HELD;

		if (offset != number * queue->stride || queue_job(queue, number)->is_prepared ||
		    number >= queue->capacity ||
		    !__atomic_compare_exchange_n(&queue_job(queue, number)->state, &held, JOB_FREE,
						 false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return -PSYS_EINVAL;
		ring_push(&queue->shared->free, number);
	}
	return 0;
}

int aspawn_queue_fd(struct aspawn_queue *queue)
{
	int r = aspawn_queue_check(queue);

	return r < 0 ? r : queue->epoll < 0 ? -PSYS_EBADF : queue->epoll;
}

int aspawn_queue_drain(struct aspawn_queue *queue, int64_t timeout_ms)
{
	struct psys_timespec timeout;
	const struct psys_timespec *limit = deadline_from_ms(&timeout, timeout_ms);
	int r = aspawn_queue_check(queue);

	if (r < 0)
		return r;
	struct shared *shared = queue->shared;
	const struct psys_timespec deadline = deadline_after(limit);
	__atomic_add_fetch(&shared->drainers, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&shared->waiters, 1, __ATOMIC_SEQ_CST);
	for (bool last = false;; last = last || deadline_has_passed(deadline)) {
		const int events = __atomic_load_n(&shared->events, __ATOMIC_SEQ_CST);
		if (aspawn_queue_is_orphaned(queue, true))
			aspawn_queue_recover(queue, false);
		const bool is_done = !jobs_left(queue, &shared->ended.tail);
		if (is_done || last) {
			r = is_done ? 0 : -PSYS_ETIMEDOUT;
			break;
		}
		if (!events) /* another thread recovers */
			psys_sched_yield();
		else
			serve_or_sleep(queue, events, UNTIL_IDLE, deadline);
	}
	__atomic_sub_fetch(&shared->waiters, 1, __ATOMIC_SEQ_CST);
	__atomic_sub_fetch(&shared->drainers, 1, __ATOMIC_SEQ_CST);
	return r;
}

/* Takes over from a thread that serves while it waits for a result. */
static int begin_to_serve(struct aspawn_queue *queue, struct psys_timespec deadline)
{
	const struct psys_timespec moment = { 0, 1000000 };
	struct shared *shared = queue->shared;
	int who = NOBODY_SERVES, r = 0;

	__atomic_add_fetch(&shared->wanted, 1, __ATOMIC_SEQ_CST);
	while (r == 0 && !__atomic_compare_exchange_n(&shared->serving, &who, A_THREAD_SERVES,
						      false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		if (who == A_THREAD_SERVES)
			r = -PSYS_EBUSY;
		else if (deadline_has_passed(deadline))
			r = -PSYS_ETIMEDOUT;
		aspawn_queue_wake(queue);
		psys_nanosleep(&moment, NULL);
		who = NOBODY_SERVES;
	}
	__atomic_sub_fetch(&shared->wanted, 1, __ATOMIC_SEQ_CST);
	return r;
}

int aspawn_queue_serve(struct aspawn_queue *queue, int64_t timeout_ms)
{
	struct psys_timespec timeout;
	const struct psys_timespec *limit = deadline_from_ms(&timeout, timeout_ms);
	int r = aspawn_queue_check(queue);

	if (r < 0 || !(queue->flags & ASPAWN_QUEUE_LOCAL))
		return r < 0 ? r : -PSYS_EINVAL;
	const struct psys_timespec deadline = deadline_after(limit);
	r = begin_to_serve(queue, deadline);
	return r < 0 ? r : serve(queue, UNTIL_CLOSED, deadline) ? -PSYS_ETIMEDOUT : 0;
}

static void request_service(struct aspawn_queue *queue)
{
	__atomic_add_fetch(&queue->shared->cancels, 1, __ATOMIC_SEQ_CST);
	aspawn_queue_wake(queue);
}

int aspawn_queue_cancel(struct aspawn_queue *queue, int ticket)
{
	const uint32_t number = (uint32_t)ticket & 0xffff;
	int r = aspawn_queue_check(queue);

	if (r < 0)
		return r;
	if (ticket <= 0 || number >= queue->capacity)
		return -PSYS_ESRCH;
	struct job *job = queue_job(queue, number);
	const int state = __atomic_load_n(&job->state, __ATOMIC_ACQUIRE);
	if ((state != JOB_QUEUED && state != JOB_TAKEN) ||
	    __atomic_load_n(&job->ticket, __ATOMIC_RELAXED) != ticket)
		return -PSYS_ESRCH;
	__atomic_store_n(&job->cancel, ticket, __ATOMIC_RELEASE);
	request_service(queue);
	return 0;
}

int aspawn_queue_cancel_all(struct aspawn_queue *queue)
{
	int r = aspawn_queue_check(queue);

	if (r < 0)
		return r;
	__atomic_store_n(&queue->shared->cancel_all, 1, __ATOMIC_SEQ_CST);
	request_service(queue);
	return 0;
}

int aspawn_queue_count(struct aspawn_queue *queue, struct aspawn_queue_counts *counts)
{
	int r = aspawn_queue_check(queue);

	if (r < 0 || !counts)
		return r < 0 ? r : -PSYS_EINVAL;
	struct shared *shared = queue->shared;
	uint32_t *from = (uint32_t *)&shared->counts, *to = (uint32_t *)counts;
	for (size_t i = 0; i < sizeof *counts / sizeof *to; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	const uint32_t left = jobs_left(queue, &shared->ended.tail);
	counts->waiting = left > counts->running ? left - counts->running : 0;
	counts->ended = __atomic_load_n(&shared->ended.tail, __ATOMIC_RELAXED) -
			__atomic_load_n(&shared->ended.head, __ATOMIC_RELAXED);
	return 0;
}

size_t aspawn_result_text(char *to, size_t size, const struct aspawn_result *result)
{
	struct aspawn_io io;

	if (!result)
		return 0;
	if (result->end == ASPAWN_JOB_CANCELLED)
		return psys_strlcpy(to, "cancelled", size);
	if (result->end == ASPAWN_JOB_LOST)
		return psys_strlcpy(to, "lost", size);
	io.end = result->end == ASPAWN_JOB_TIMED_OUT   ? ASPAWN_END_TIMED_OUT :
		 result->end == ASPAWN_JOB_NOT_STARTED ? ASPAWN_END_NOT_STARTED :
							 ASPAWN_END_RAN;
	io.status = result->status;
	psys_memcpy(&io.failure, &result->failure, sizeof io.failure);
	return aspawn_io_text(to, size, 0, &io);
}
