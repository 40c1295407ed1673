/* SPDX-License-Identifier: MIT */
/*
 * More system call numbers that are the same in the tables of arm, i386, m68k and sh4.
 * Linux 7.2, arch/x86/entry/syscalls/syscall_32.tbl, and the same lines of the others' tables
 * Plain names are the wide forms; what a suffix _time32, 16 or 32 marks takes
 * 32-bit time, 16-bit ids, 32-bit file locks.
 */
#ifndef PSYS_CLASSIC32_H
#define PSYS_CLASSIC32_H

#include "later.h"
#include "time64.h"

#define PSYS_NR_restart_syscall 0
#define PSYS_NR_setuid16 23
#define PSYS_NR_getuid16 24
#define PSYS_NR_setgid16 46
#define PSYS_NR_getgid16 47
#define PSYS_NR_geteuid16 49
#define PSYS_NR_getegid16 50
#define PSYS_NR_fcntl32 55
#define PSYS_NR_setreuid16 70
#define PSYS_NR_setregid16 71
#define PSYS_NR_getgroups16 80
#define PSYS_NR_setgroups16 81
#define PSYS_NR_fchown16 95
#define PSYS_NR_adjtimex_time32 124
#define PSYS_NR_setfsuid16 138
#define PSYS_NR_setfsgid16 139
#define PSYS_NR__llseek 140
#define PSYS_NR__newselect 142
#define PSYS_NR_sched_rr_get_interval_time32 161
#define PSYS_NR_nanosleep_time32 162
#define PSYS_NR_setresuid16 164
#define PSYS_NR_getresuid16 165
#define PSYS_NR_setresgid16 170
#define PSYS_NR_getresgid16 171
#define PSYS_NR_rt_sigtimedwait_time32 177
#define PSYS_NR_ugetrlimit 191
#define PSYS_NR_mmap2 192
#define PSYS_NR_truncate64 193
#define PSYS_NR_ftruncate64 194
#define PSYS_NR_stat64 195
#define PSYS_NR_lstat64 196
#define PSYS_NR_fstat64 197

#endif
