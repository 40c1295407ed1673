/* SPDX-License-Identifier: MIT */
/*
 * The numbers of the calls with 64-bit time, on all architectures with a 32-bit long.
 * The kernel calls them clock_gettime64, futex_time64; here they have the plain names.
 * Linux 7.2, scripts/syscall.tbl, 403 to 423, and the same lines of each table
 */
#ifndef PSYS_TIME64_H
#define PSYS_TIME64_H

#ifndef PSYS_NUMBER_BASE
#define PSYS_NUMBER_BASE 0
#endif

#define PSYS_NR_clock_gettime (PSYS_NUMBER_BASE + 403)
#define PSYS_NR_clock_settime (PSYS_NUMBER_BASE + 404)
#define PSYS_NR_clock_adjtime (PSYS_NUMBER_BASE + 405)
#define PSYS_NR_clock_getres (PSYS_NUMBER_BASE + 406)
#define PSYS_NR_clock_nanosleep (PSYS_NUMBER_BASE + 407)
#define PSYS_NR_timer_gettime (PSYS_NUMBER_BASE + 408)
#define PSYS_NR_timer_settime (PSYS_NUMBER_BASE + 409)
#define PSYS_NR_timerfd_gettime (PSYS_NUMBER_BASE + 410)
#define PSYS_NR_timerfd_settime (PSYS_NUMBER_BASE + 411)
#define PSYS_NR_utimensat (PSYS_NUMBER_BASE + 412)
#define PSYS_NR_pselect6 (PSYS_NUMBER_BASE + 413)
#define PSYS_NR_ppoll (PSYS_NUMBER_BASE + 414)
#define PSYS_NR_io_pgetevents (PSYS_NUMBER_BASE + 416)
#define PSYS_NR_recvmmsg (PSYS_NUMBER_BASE + 417)
#define PSYS_NR_mq_timedsend (PSYS_NUMBER_BASE + 418)
#define PSYS_NR_mq_timedreceive (PSYS_NUMBER_BASE + 419)
#define PSYS_NR_semtimedop (PSYS_NUMBER_BASE + 420)
#define PSYS_NR_rt_sigtimedwait (PSYS_NUMBER_BASE + 421)
#define PSYS_NR_futex (PSYS_NUMBER_BASE + 422)
#define PSYS_NR_sched_rr_get_interval (PSYS_NUMBER_BASE + 423)

#endif
