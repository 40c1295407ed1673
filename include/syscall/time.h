/*
 * Time: 64 bits on every architecture.
 * Source: include/uapi/linux/{time,time_types,timerfd}.h
 */
#ifndef PSYS_TIME_H
#define PSYS_TIME_H

#include <syscall/arch.h>

#define PSYS_CLOCK_REALTIME 0
#define PSYS_CLOCK_MONOTONIC 1
#define PSYS_CLOCK_PROCESS_CPUTIME_ID 2
#define PSYS_CLOCK_THREAD_CPUTIME_ID 3
#define PSYS_CLOCK_MONOTONIC_RAW 4
#define PSYS_CLOCK_BOOTTIME 7

#define PSYS_TIMER_ABSTIME 1

/* The kernel's struct __kernel_timespec. */
struct psys_timespec {
	int64_t tv_sec;
	int64_t tv_nsec; /* [0, 999999999] */
};

struct psys_itimerspec {
	struct psys_timespec it_interval;
	struct psys_timespec it_value;
};

/* timerfd_create, timerfd_settime */
#define PSYS_TFD_CLOEXEC PSYS_O_CLOEXEC
#define PSYS_TFD_NONBLOCK PSYS_O_NONBLOCK
#define PSYS_TFD_TIMER_ABSTIME 1

#endif
