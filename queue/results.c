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
	struct shared *shared = queue->whole->shared;
	const uint64_t one = 1;

	__atomic_add_fetch(&queue->shared->events, 2, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&shared->waiters, __ATOMIC_SEQ_CST))
		queue_wake_waiters(queue, queue->completed || __atomic_load_n(&shared->drainers,
									      __ATOMIC_SEQ_CST) ?
						  INT32_MAX :
						  (int)count);
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

static uint32_t submissions(const struct aspawn_queue *queue)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < queue->servers; i++)
		sum += __atomic_load_n(&queue->parts[i]->shared->submitted.tail, __ATOMIC_SEQ_CST);
	return sum;
}

/* Returns true if no job waits or runs; and, if all_taken, all results are taken. A part that was
 * looked at must not have got a job meanwhile. */
static bool is_idle(const struct aspawn_queue *queue, bool all_taken)
{
	const uint32_t before = submissions(queue);

	for (uint32_t i = 0; i < queue->servers; i++) {
		const struct out_ring *ended = &queue->parts[i]->shared->ended;

		if (queue_left(queue->parts[i], all_taken ? &ended->head : &ended->tail))
			return false;
	}
	return submissions(queue) == before;
}

/* The last result is taken: other waiters have nothing to wait for. The word stays 0 if the kernel
 * has cleared it. */
static void dismiss_waiters(const struct aspawn_queue *queue)
{
	int events = __atomic_load_n(queue->futex, __ATOMIC_RELAXED);

	while (events &&
	       !__atomic_compare_exchange_n(queue->futex, &events, (int)((unsigned)events + 2),
					    true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		continue;
	queue_wake_waiters(queue, INT32_MAX);
}

static int take_of_part(struct aspawn_queue *queue, const struct aspawn_result **results, int count)
{
	uint32_t number;
	int taken = 0;

	while (taken < count && out_pop(&queue->shared->ended, &number)) {
		struct job *job = queue_job(queue, number);

		__atomic_store_n(&job->state, JOB_HELD, __ATOMIC_RELAXED);
		results[taken++] = &job->result;
	}
	return taken;
}

/* Goes on at the part behind that of the last call, so that a busy part holds up no other. */
static int take_results(struct aspawn_queue *queue, const struct aspawn_result **results, int count)
{
	struct shared *shared = queue->shared;
	uint32_t part = __atomic_load_n(&shared->next_from, __ATOMIC_RELAXED);
	int taken = 0;

	for (uint32_t i = 0; i < queue->servers && taken < count; i++) {
		taken += take_of_part(queue->parts[part], results + taken, count - taken);
		part = queue_next_part(queue, part);
	}
	if (queue->servers > 1)
		__atomic_store_n(&shared->next_from, part, __ATOMIC_RELAXED);
	if (taken > 0 && __atomic_load_n(&shared->waiters, __ATOMIC_SEQ_CST) && is_idle(queue, true))
		dismiss_waiters(queue);
	return taken;
}

/* Completes the jobs of servers that have ended. */
static void recover_parts(const struct aspawn_queue *queue, bool thoroughly)
{
	for (uint32_t i = 0; i < queue->servers; i++)
		if (aspawn_queue_is_orphaned(queue->parts[i], thoroughly))
			aspawn_queue_recover(queue->parts[i], false);
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
static void sleep_on_futex(int *futex, int seen, struct psys_timespec deadline)
{
	static const struct psys_timespec second = { 1, 0 }, moment = { 0, 1000000 };
	const struct psys_timespec time = deadline_sooner(deadline_left(deadline), second);
	int r = psys_futex(futex, PSYS_FUTEX_WAIT, seen, &time, NULL, 0);

	/* If a filter forbids futex(2), sleep anyway: otherwise the caller would spin. */
	if (r < 0 && r != -PSYS_EAGAIN && r != -PSYS_EINTR && r != -PSYS_ETIMEDOUT)
		psys_nanosleep(&moment, NULL);
}

static struct psys_futex_waitv word_to_watch(const int *word, int seen)
{
	return (struct psys_futex_waitv){ (uint32_t)seen, (uintptr_t)word, PSYS_FUTEX2_SIZE_U32, 0 };
}

/* Sleeps until a part has results, or, from Linux 5.16, a server ends. */
static void sleep_on_parts(const struct aspawn_queue *queue, int seen, struct psys_timespec deadline)
{
	static const struct psys_timespec second = { 1, 0 };
	struct psys_futex_waitv words[1 + MOST_SERVERS];
	unsigned count = 0;

	words[count++] = word_to_watch(queue->futex, seen);
	for (uint32_t i = 0; i < queue->servers; i++) {
		const struct shared *part = queue->parts[i]->shared;
		const int events = __atomic_load_n(&part->events, __ATOMIC_SEQ_CST);

		if (events) {
			words[count++] = word_to_watch(&part->events, events);
		} else if (__atomic_load_n(&part->state, __ATOMIC_SEQ_CST) != SERVER_NONE) {
			psys_sched_yield(); /* another thread recovers */
			return;
		}
	}
	const struct psys_timespec until = deadline_sooner(deadline, deadline_after(&second));
	int r = until.tv_sec ? psys_futex_waitv(words, count, 0, &until, PSYS_CLOCK_MONOTONIC) :
			       -PSYS_ENOSYS; /* the time is not known */
	if (r < 0 && r != -PSYS_EAGAIN && r != -PSYS_EINTR && r != -PSYS_ETIMEDOUT)
		sleep_on_futex(queue->futex, seen, deadline);
}

/* Serves a local queue, unless another thread does: then sleeps until that has ended a job, or
 * stops to serve. */
static void serve_or_sleep(struct aspawn_queue *queue, int events, enum until until,
			   struct psys_timespec deadline)
{
	struct shared *shared = queue->shared;
	const struct psys_timespec moment = { 0, 5000000 };
	int nobody = NOBODY_SERVES;

	if (queue->servers > 1) {
		sleep_on_parts(queue, events, deadline);
	} else if (!events) { /* another thread recovers */
		psys_sched_yield();
	} else if (!(queue->flags & ASPAWN_QUEUE_LOCAL)) {
		sleep_on_futex(queue->futex, events, deadline);
	} else if (!__atomic_load_n(&shared->wanted, __ATOMIC_SEQ_CST) &&
		   __atomic_compare_exchange_n(&shared->serving, &nobody, A_WAITER_SERVES, false,
					       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		serve(queue, until, deadline);
	} else {
		sleep_on_futex(queue->futex, events,
			       deadline_sooner(deadline, deadline_after(&moment)));
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
		const int events = __atomic_load_n(queue->futex, __ATOMIC_SEQ_CST);
		recover_parts(queue, !last);
		r = take_results(queue, results, count);
		if (r == 0 && is_idle(queue, true))
			r = -PSYS_ECHILD;
		if (r || last)
			break;
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
		struct job *job = queue_find(queue, results[i]->ticket);
		int held = JOB_HELD;

		if (!job || &job->result != results[i] || job->is_prepared ||
		    !__atomic_compare_exchange_n(&job->state, &held, JOB_FREE, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return -PSYS_EINVAL;
		ring_push(&job->queue->shared->free, (uint32_t)job->number);
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
		const int events = __atomic_load_n(queue->futex, __ATOMIC_SEQ_CST);
		recover_parts(queue, true);
		const bool is_done = is_idle(queue, false);
		if (is_done || last) {
			r = is_done ? 0 : -PSYS_ETIMEDOUT;
			break;
		}
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
	int r = aspawn_queue_check(queue);

	if (r < 0)
		return r;
	struct job *job = queue_find(queue, ticket);
	if (!job)
		return -PSYS_ESRCH;
	const int state = __atomic_load_n(&job->state, __ATOMIC_ACQUIRE);
	if ((state != JOB_QUEUED && state != JOB_TAKEN) ||
	    __atomic_load_n(&job->ticket, __ATOMIC_RELAXED) != ticket)
		return -PSYS_ESRCH;
	__atomic_store_n(&job->cancel, ticket, __ATOMIC_RELEASE);
	request_service(job->queue);
	return 0;
}

int aspawn_queue_cancel_all(struct aspawn_queue *queue)
{
	int r = aspawn_queue_check(queue);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < queue->servers; i++) {
		__atomic_store_n(&queue->parts[i]->shared->cancel_all, 1, __ATOMIC_SEQ_CST);
		request_service(queue->parts[i]);
	}
	return 0;
}

static void add_counts(struct aspawn_queue_counts *counts, const struct aspawn_queue *part)
{
	const struct shared *shared = part->shared;
	const uint32_t *from = (const uint32_t *)&shared->counts;
	const uint32_t before = counts->running;
	uint32_t *to = (uint32_t *)counts;

	for (size_t i = 0; i < sizeof *counts / sizeof *to; i++)
		to[i] += __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	const uint32_t running = counts->running - before; /* the same that the caller sees */
	const uint32_t left = queue_left(part, &shared->ended.tail);
	counts->waiting += left > running ? left - running : 0;
	counts->ended += __atomic_load_n(&shared->ended.tail, __ATOMIC_RELAXED) -
			 __atomic_load_n(&shared->ended.head, __ATOMIC_RELAXED);
}

int aspawn_queue_count(struct aspawn_queue *queue, struct aspawn_queue_counts *counts)
{
	int r = aspawn_queue_check(queue);

	if (r < 0 || !counts)
		return r < 0 ? r : -PSYS_EINVAL;
	psys_memset(counts, 0, sizeof *counts);
	for (uint32_t i = 0; i < queue->servers; i++)
		add_counts(counts, queue->parts[i]);
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
