/*
 * riscv32: system call numbers.
 * Linux 7.2, scripts/syscall.tbl with the groups that
 * arch/riscv/kernel/Makefile.syscalls adds
 * The kernel's time64 calls have the plain names; it has no others.
 */
#ifndef PSYS_RISCV32_NUMBERS_H
#define PSYS_RISCV32_NUMBERS_H

#include "../generic/common.h"

#define PSYS_NR_statfs64 43
#define PSYS_NR_fstatfs64 44
#define PSYS_NR_truncate64 45
#define PSYS_NR_ftruncate64 46
#define PSYS_NR_llseek 62
#define PSYS_NR_sendfile64 71
#define PSYS_NR_mmap2 222
#define PSYS_NR_fadvise64_64 223
#define PSYS_NR_riscv_hwprobe 258
#define PSYS_NR_riscv_flush_icache 259
#define PSYS_NR_clock_gettime 403
#define PSYS_NR_clock_settime 404
#define PSYS_NR_clock_adjtime 405
#define PSYS_NR_clock_getres 406
#define PSYS_NR_clock_nanosleep 407
#define PSYS_NR_timer_gettime 408
#define PSYS_NR_timer_settime 409
#define PSYS_NR_timerfd_gettime 410
#define PSYS_NR_timerfd_settime 411
#define PSYS_NR_utimensat 412
#define PSYS_NR_pselect6 413
#define PSYS_NR_ppoll 414
#define PSYS_NR_io_pgetevents 416
#define PSYS_NR_recvmmsg 417
#define PSYS_NR_mq_timedsend 418
#define PSYS_NR_mq_timedreceive 419
#define PSYS_NR_semtimedop 420
#define PSYS_NR_rt_sigtimedwait 421
#define PSYS_NR_futex 422
#define PSYS_NR_sched_rr_get_interval 423

#endif
