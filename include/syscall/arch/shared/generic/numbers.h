/* SPDX-License-Identifier: MIT */
/*
 * The kernel's generic table of newer architectures: the system call numbers with 64 bits. Numbers
 * of single architectures are in their own directories.
 * Linux 7.2, scripts/syscall.tbl (include/uapi/asm-generic/unistd.h)
 */
#ifndef PSYS_GENERIC_NUMBERS_H
#define PSYS_GENERIC_NUMBERS_H

#include "common.h"

#define PSYS_NR_io_getevents 4
#define PSYS_NR_statfs 43
#define PSYS_NR_fstatfs 44
#define PSYS_NR_truncate 45
#define PSYS_NR_ftruncate 46
#define PSYS_NR_lseek 62
#define PSYS_NR_sendfile 71
#define PSYS_NR_pselect6 72
#define PSYS_NR_ppoll 73
#define PSYS_NR_newfstatat 79
#define PSYS_NR_fstat 80
#define PSYS_NR_timerfd_settime 86
#define PSYS_NR_timerfd_gettime 87
#define PSYS_NR_utimensat 88
#define PSYS_NR_futex 98
#define PSYS_NR_nanosleep 101
#define PSYS_NR_timer_gettime 108
#define PSYS_NR_timer_settime 110
#define PSYS_NR_clock_settime 112
#define PSYS_NR_clock_gettime 113
#define PSYS_NR_clock_getres 114
#define PSYS_NR_clock_nanosleep 115
#define PSYS_NR_sched_rr_get_interval 127
#define PSYS_NR_rt_sigtimedwait 137
#define PSYS_NR_gettimeofday 169
#define PSYS_NR_settimeofday 170
#define PSYS_NR_adjtimex 171
#define PSYS_NR_mq_timedsend 182
#define PSYS_NR_mq_timedreceive 183
#define PSYS_NR_semtimedop 192
#define PSYS_NR_mmap 222
#define PSYS_NR_fadvise64 223
#define PSYS_NR_recvmmsg 243
#define PSYS_NR_wait4 260
#define PSYS_NR_clock_adjtime 266
#define PSYS_NR_io_pgetevents 292

#endif
