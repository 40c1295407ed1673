/* SPDX-License-Identifier: MIT */
/*
 * powerpc64: system call numbers.
 * Linux 7.2, arch/powerpc/kernel/syscalls/syscall.tbl (abi common, nospu
 * and 64), the same for both byte orders
 */
#ifndef PSYS_POWERPC64_NUMBERS_H
#define PSYS_POWERPC64_NUMBERS_H

#include "../shared/powerpc/numbers.h"

#define PSYS_NR_fcntl 55
#define PSYS_NR_adjtimex 124
#define PSYS_NR_sched_rr_get_interval 161
#define PSYS_NR_nanosleep 162
#define PSYS_NR_rt_sigtimedwait 176
#define PSYS_NR_futex 221
#define PSYS_NR_io_getevents 229
#define PSYS_NR_timer_settime 241
#define PSYS_NR_timer_gettime 242
#define PSYS_NR_clock_settime 245
#define PSYS_NR_clock_gettime 246
#define PSYS_NR_clock_getres 247
#define PSYS_NR_clock_nanosleep 248
#define PSYS_NR_mq_timedsend 264
#define PSYS_NR_mq_timedreceive 265
#define PSYS_NR_pselect6 280
#define PSYS_NR_ppoll 281
#define PSYS_NR_newfstatat 291
#define PSYS_NR_utimensat 304
#define PSYS_NR_timerfd_settime 311
#define PSYS_NR_timerfd_gettime 312
#define PSYS_NR_recvmmsg 343
#define PSYS_NR_clock_adjtime 347
#define PSYS_NR_io_pgetevents 388
#define PSYS_NR_semtimedop 392

#endif
