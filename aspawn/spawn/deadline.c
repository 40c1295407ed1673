/* SPDX-License-Identifier: MIT */
#include "deadline.h"

#include "../marks.h"

enum { SECOND = 1000000000 };
#define LONGEST (DEADLINE_NEVER / 2) /* 146 years: no sum of a time and a timeout overflows */
#define NO_TIME (DEADLINE_NEVER - 1)

/* A filter may forbid clock_gettime(), since libcs read the vDSO instead. Then every time limit has
 * passed, but a wait without a limit goes on. */
static IN_ANY int64_t monotonic_now(void)
{
	struct psys_timespec time;

	return psys_clock_gettime(PSYS_CLOCK_MONOTONIC, &time) < 0 ?
		       NO_TIME :
		       time.tv_sec * SECOND + time.tv_nsec;
}

IN_ANY int64_t aspw_deadline_in(int64_t ms)
{
	const int64_t begin = ms > 0 ? monotonic_now() : 0; /* 0 has passed at any time */

	if (ms < 0)
		return DEADLINE_NEVER;
	if (begin == NO_TIME)
		return 0;
	return begin + (ms < LONGEST / 1000000 ? ms * 1000000 : LONGEST);
}

IN_ANY bool aspw_deadline_is_past(int64_t deadline)
{
	return monotonic_now() >= deadline;
}

/* For a 64-bit division 32-bit compilers call a library function, which is not linked. */
IN_ANY struct psys_timespec aspw_deadline_left(int64_t deadline)
{
	int64_t left = deadline == DEADLINE_NEVER ? deadline : deadline - monotonic_now();
	struct psys_timespec time;

	if (left < 0)
		left = 0;
	const uint32_t ns = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;

	time.tv_sec = ns / SECOND;
	time.tv_nsec = ns % SECOND;
	return time;
}

IN_ANY void aspw_deadline_sleep_on(int *word, int value, int64_t deadline)
{
	static const struct psys_timespec nap = { 0, 50000000 }, moment = { 0, 1000000 };
	struct psys_timespec time = aspw_deadline_left(deadline);

	if (time.tv_sec || time.tv_nsec > nap.tv_nsec)
		time = nap;
	int r = psys_futex(word, PSYS_FUTEX_WAIT, value, &time, NULL, 0);
	/* If a filter forbids futex(2), sleep anyway: otherwise the caller would spin. */
	if (r < 0 && r != -PSYS_EAGAIN && r != -PSYS_EINTR && r != -PSYS_ETIMEDOUT)
		psys_nanosleep(&moment, NULL);
}

IN_SERVER int aspw_deadline_poll(int fd, int events, int64_t deadline)
{
	struct psys_pollfd poll = { fd, (short)events, 0 };
	int r;

	do {
		struct psys_timespec left = aspw_deadline_left(deadline);
		r = psys_ppoll(&poll, 1, &left, NULL, 0);
	} while (r == -PSYS_EINTR || (r == 0 && !aspw_deadline_is_past(deadline)));
	if (r == 0)
		return -PSYS_ETIMEDOUT;
	return r < 0 ? r : poll.revents;
}
