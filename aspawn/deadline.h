/* Times to wait until. */
#ifndef ASPAWN_DEADLINE_H
#define ASPAWN_DEADLINE_H

#include <stdbool.h>

#include <syscall/syscall.h>

#define DEADLINE_NEVER ((struct psys_timespec){ INT64_MAX, 0 })

/* If the clock is refused (by a filter: libcs read the vDSO) it is as late as it can be, so
 * that every time limit has passed and a wait without one goes on. */
static inline struct psys_timespec deadline_now(void)
{
	struct psys_timespec time;

	return psys_clock_gettime(PSYS_CLOCK_MONOTONIC, &time) < 0 ?
		       (struct psys_timespec){ INT64_MAX - 1, 0 } :
		       time;
}

/* A sum too large is the last time before DEADLINE_NEVER. */
static inline struct psys_timespec deadline_sum(struct psys_timespec a, struct psys_timespec b)
{
	a.tv_nsec += b.tv_nsec;
	if (a.tv_nsec >= 1000000000) {
		a.tv_nsec -= 1000000000;
		a.tv_sec++;
	}
	if (__builtin_add_overflow(a.tv_sec, b.tv_sec, &a.tv_sec) || a.tv_sec == INT64_MAX)
		return (struct psys_timespec){ INT64_MAX - 1, 0 };
	return a;
}

static inline bool deadline_is_before(struct psys_timespec a, struct psys_timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

static inline struct psys_timespec deadline_sooner(struct psys_timespec a, struct psys_timespec b)
{
	return deadline_is_before(a, b) ? a : b;
}

/* NULL is a time as well: for ever. */
static inline bool deadline_is_valid(const struct psys_timespec *timeout)
{
	return !timeout ||
	       (timeout->tv_sec >= 0 && timeout->tv_nsec >= 0 && timeout->tv_nsec <= 999999999);
}

/* Milliseconds as a time; NULL, for ever, if they are negative. Divided digit by digit, in
 * base 65536: 32-bit compilers call a function of a library to divide 64 bits. */
static inline const struct psys_timespec *deadline_from_ms(struct psys_timespec *to, int64_t ms)
{
	uint32_t rest = 0;

	if (ms < 0)
		return NULL;
	to->tv_sec = 0;
	for (int shift = 48; shift >= 0; shift -= 16) {
		rest = rest << 16 | ((uint32_t)(ms >> shift) & 0xffff);
		to->tv_sec = to->tv_sec << 16 | rest / 1000;
		rest %= 1000;
	}
	to->tv_nsec = (int64_t)rest * 1000000;
	return to;
}

static inline struct psys_timespec deadline_after(const struct psys_timespec *timeout)
{
	if (!timeout)
		return DEADLINE_NEVER;
	const struct psys_timespec now = deadline_now();
	return now.tv_sec == INT64_MAX - 1 ? (struct psys_timespec){ 0, 0 } :
					     deadline_sum(now, *timeout);
}

/* What is left of it: 0 if it has passed. */
static inline struct psys_timespec deadline_left(struct psys_timespec deadline)
{
	struct psys_timespec now = deadline_now();

	if (!deadline_is_before(now, deadline))
		return (struct psys_timespec){ 0, 0 };
	deadline.tv_sec -= now.tv_sec;
	deadline.tv_nsec -= now.tv_nsec;
	if (deadline.tv_nsec < 0) {
		deadline.tv_nsec += 1000000000;
		deadline.tv_sec--;
	}
	return deadline;
}

static inline bool deadline_has_passed(struct psys_timespec deadline)
{
	return !deadline_is_before(deadline_now(), deadline);
}

/*
 * Sleeps while the word, a shared futex, has this value, and not beyond the deadline. It
 * may return early: the kernel wakes one waiter only, and some kernels none at exec, so
 * that the caller has to look again every 50 ms whatever happens.
 */
static inline void deadline_sleep_on(int *word, int value, struct psys_timespec deadline)
{
	static const struct psys_timespec nap = { 0, 50000000 }, moment = { 0, 1000000 };
	const struct psys_timespec time = deadline_sooner(deadline_left(deadline), nap);
	int r = psys_futex(word, PSYS_FUTEX_WAIT, value, &time, NULL, 0);

	/* Otherwise a futex that a filter forbids would have the caller spin. */
	if (r < 0 && r != -PSYS_EAGAIN && r != -PSYS_EINTR && r != -PSYS_ETIMEDOUT)
		psys_nanosleep(&moment, NULL);
}

#endif
