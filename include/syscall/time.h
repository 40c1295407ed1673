/* SPDX-License-Identifier: MIT */
/*
 * Time: 64 bits on every architecture.
 * Source: include/uapi/linux/{time,time_types,timerfd,times,timex}.h
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

/* timerfd_settime */
#define PSYS_TFD_TIMER_ABSTIME 1

#ifndef PSYS_ARCH_SUSECONDS
typedef psys_kernel_long psys_suseconds;
#endif

/* With the kernel's long: for intervals, and for times where that long has 64 bits. */
struct psys_timeval {
	psys_kernel_long tv_sec;
	psys_suseconds tv_usec;
};

struct psys_itimerval {
	struct psys_timeval it_interval;
	struct psys_timeval it_value;
};

/* getitimer, setitimer */
#define PSYS_ITIMER_REAL 0
#define PSYS_ITIMER_VIRTUAL 1
#define PSYS_ITIMER_PROF 2

/* times: in clock ticks */
struct psys_tms {
	psys_kernel_long tms_utime;
	psys_kernel_long tms_stime;
	psys_kernel_long tms_cutime;
	psys_kernel_long tms_cstime;
};

/* adjtimex, clock_adjtime: the kernel's struct __kernel_timex. */
struct psys_timex {
	unsigned modes;
	int : 32;
	int64_t offset; /* microseconds; nanoseconds with PSYS_STA_NANO in status */
	int64_t freq;
	int64_t maxerror;
	int64_t esterror;
	int status;
	int : 32;
	int64_t constant;
	int64_t precision;
	int64_t tolerance;
	struct {
		int64_t tv_sec;
#ifdef PSYS_ARCH_SUSECONDS
		psys_suseconds tv_usec;
#else
		int64_t tv_usec;
#endif
	} time;
	int64_t tick;
	int64_t ppsfreq;
	int64_t jitter;
	int shift;
	int : 32;
	int64_t stabil;
	int64_t jitcnt;
	int64_t calcnt;
	int64_t errcnt;
	int64_t stbcnt;
	int tai;
	int unused[11];
};

#define PSYS_ADJ_OFFSET 0x0001
#define PSYS_ADJ_FREQUENCY 0x0002
#define PSYS_ADJ_STATUS 0x0010
#define PSYS_ADJ_NANO 0x2000
#define PSYS_STA_UNSYNC 0x0040
#define PSYS_STA_NANO 0x2000

#endif
