/* SPDX-License-Identifier: MIT */
/* Absolute times at which a wait ends. */
#ifndef ASPAWN_DEADLINE_H
#define ASPAWN_DEADLINE_H

#include <stdbool.h>

#include <syscall/syscall.h>

#define DEADLINE_NEVER ((struct psys_timespec){ INT64_MAX, 0 })

/* A filter may forbid clock_gettime(), as libcs read the vDSO instead. Then this returns the time
 * just before DEADLINE_NEVER: every time limit has passed, and a wait without a limit goes on. */
PSYS_INLINE struct psys_timespec deadline_now(void)
{
	struct psys_timespec time;

	return psys_clock_gettime(PSYS_CLOCK_MONOTONIC, &time) < 0 ?
		       (struct psys_timespec){ INT64_MAX - 1, 0 } :
		       time;
}

/* A sum that overflows becomes the time just before DEADLINE_NEVER. */
PSYS_INLINE struct psys_timespec deadline_sum(struct psys_timespec a, struct psys_timespec b)
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

PSYS_INLINE bool deadline_is_before(struct psys_timespec a, struct psys_timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

PSYS_INLINE struct psys_timespec deadline_sooner(struct psys_timespec a, struct psys_timespec b)
{
	return deadline_is_before(a, b) ? a : b;
}

/* NULL is valid: no limit. */
PSYS_INLINE bool deadline_is_valid(const struct psys_timespec *timeout)
{
	return !timeout ||
	       (timeout->tv_sec >= 0 && timeout->tv_nsec >= 0 && timeout->tv_nsec <= 999999999);
}

/* Converts milliseconds; returns NULL, no limit, for a negative number. Divides in digits of 16
 * bits: for a 64-bit division, 32-bit compilers call a library function, which is not linked. */
PSYS_INLINE const struct psys_timespec *deadline_from_ms(struct psys_timespec *to, int64_t ms)
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

PSYS_INLINE struct psys_timespec deadline_after(const struct psys_timespec *timeout)
{
	if (!timeout)
		return DEADLINE_NEVER;
	if (!timeout->tv_sec && !timeout->tv_nsec)
		return *timeout; /* it has passed, whatever the time is */
	const struct psys_timespec now = deadline_now();
	return now.tv_sec == INT64_MAX - 1 ? (struct psys_timespec){ 0, 0 } :
					     deadline_sum(now, *timeout);
}

/* Returns the time left until the deadline; 0 if it has passed. */
PSYS_INLINE struct psys_timespec deadline_left(struct psys_timespec deadline)
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

PSYS_INLINE bool deadline_has_passed(struct psys_timespec deadline)
{
	return !deadline_is_before(deadline_now(), deadline);
}

/*
 * Sleeps while *word, a shared futex, equals value, at most until the deadline. Returns after
 * 50 ms at the latest, and the caller checks again: the kernel wakes only one waiter, and some
 * sandboxes wake none at exec.
 */
PSYS_INLINE void deadline_sleep_on(int *word, int value, struct psys_timespec deadline)
{
	static const struct psys_timespec nap = { 0, 50000000 }, moment = { 0, 1000000 };
	const struct psys_timespec time = deadline_sooner(deadline_left(deadline), nap);
	int r = psys_futex(word, PSYS_FUTEX_WAIT, value, &time, NULL, 0);

	/* If a filter forbids futex(2), sleep anyway: otherwise the caller would spin. */
	if (r < 0 && r != -PSYS_EAGAIN && r != -PSYS_EINTR && r != -PSYS_ETIMEDOUT)
		psys_nanosleep(&moment, NULL);
}

#endif
