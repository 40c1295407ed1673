/* SPDX-License-Identifier: MIT */
/*
 * powerpc: system call numbers.
 * Linux 7.2, arch/powerpc/kernel/syscalls/syscall.tbl (abi common, nospu and 32)
 * Plain names are the wide forms; what a suffix _time32 or 32 marks takes 32-bit time,
 * 32-bit file locks.
 */
#ifndef PSYS_POWERPC_NUMBERS_H
#define PSYS_POWERPC_NUMBERS_H

#include "../shared/powerpc/numbers.h"
#include "../shared/time64.h"

#define PSYS_NR_fcntl32 55
#define PSYS_NR_adjtimex_time32 124
#define PSYS_NR_sched_rr_get_interval_time32 161
#define PSYS_NR_nanosleep_time32 162
#define PSYS_NR_rt_sigtimedwait_time32 176
#define PSYS_NR_mmap2 192
#define PSYS_NR_truncate64 193
#define PSYS_NR_ftruncate64 194
#define PSYS_NR_stat64 195
#define PSYS_NR_lstat64 196
#define PSYS_NR_fstat64 197
#define PSYS_NR_fcntl 204
#define PSYS_NR_futex_time32 221
#define PSYS_NR_sendfile64 226
#define PSYS_NR_io_getevents_time32 229
#define PSYS_NR_timer_settime_time32 241
#define PSYS_NR_timer_gettime_time32 242
#define PSYS_NR_clock_settime_time32 245
#define PSYS_NR_clock_gettime_time32 246
#define PSYS_NR_clock_getres_time32 247
#define PSYS_NR_clock_nanosleep_time32 248
#define PSYS_NR_fadvise64_64 254
#define PSYS_NR_mq_timedsend_time32 264
#define PSYS_NR_mq_timedreceive_time32 265
#define PSYS_NR_pselect6_time32 280
#define PSYS_NR_ppoll_time32 281
#define PSYS_NR_fstatat64 291
#define PSYS_NR_utimensat_time32 304
#define PSYS_NR_timerfd_settime_time32 311
#define PSYS_NR_timerfd_gettime_time32 312
#define PSYS_NR_recvmmsg_time32 343
#define PSYS_NR_clock_adjtime_time32 347
#define PSYS_NR_io_pgetevents_time32 388

#endif
