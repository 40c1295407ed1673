/* SPDX-License-Identifier: MIT */
/*
 * More system call numbers that are the same in the tables of arm, i386, m68k and sh4.
 * Linux 7.2, arch/x86/entry/syscalls/syscall_32.tbl, and the same lines of the others' tables
 * Plain names are the wide forms; what a suffix _time32, 16 or 32 marks takes
 * 32-bit time, 16-bit ids, 32-bit file locks.
 */
#ifndef PSYS_CLASSIC32_H
#define PSYS_CLASSIC32_H

#include "classic.h"
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
#define PSYS_NR_getsid 147
#define PSYS_NR_fdatasync 148
#define PSYS_NR__sysctl 149
#define PSYS_NR_mlock 150
#define PSYS_NR_munlock 151
#define PSYS_NR_mlockall 152
#define PSYS_NR_munlockall 153
#define PSYS_NR_sched_setparam 154
#define PSYS_NR_sched_getparam 155
#define PSYS_NR_sched_setscheduler 156
#define PSYS_NR_sched_getscheduler 157
#define PSYS_NR_sched_yield 158
#define PSYS_NR_sched_get_priority_max 159
#define PSYS_NR_sched_get_priority_min 160
#define PSYS_NR_sched_rr_get_interval_time32 161
#define PSYS_NR_nanosleep_time32 162
#define PSYS_NR_mremap 163
#define PSYS_NR_setresuid16 164
#define PSYS_NR_getresuid16 165
#define PSYS_NR_poll 168
#define PSYS_NR_nfsservctl 169
#define PSYS_NR_setresgid16 170
#define PSYS_NR_getresgid16 171
#define PSYS_NR_prctl 172
#define PSYS_NR_rt_sigreturn 173
#define PSYS_NR_rt_sigaction 174
#define PSYS_NR_rt_sigprocmask 175
#define PSYS_NR_rt_sigpending 176
#define PSYS_NR_rt_sigtimedwait_time32 177
#define PSYS_NR_rt_sigqueueinfo 178
#define PSYS_NR_rt_sigsuspend 179
#define PSYS_NR_pread64 180
#define PSYS_NR_pwrite64 181
#define PSYS_NR_getcwd 183
#define PSYS_NR_capget 184
#define PSYS_NR_capset 185
#define PSYS_NR_sigaltstack 186
#define PSYS_NR_sendfile 187
#define PSYS_NR_vfork 190
#define PSYS_NR_ugetrlimit 191
#define PSYS_NR_mmap2 192
#define PSYS_NR_truncate64 193
#define PSYS_NR_ftruncate64 194
#define PSYS_NR_stat64 195
#define PSYS_NR_lstat64 196
#define PSYS_NR_fstat64 197
#define PSYS_NR_getuid 199
#define PSYS_NR_getgid 200
#define PSYS_NR_geteuid 201
#define PSYS_NR_getegid 202
#define PSYS_NR_setreuid 203
#define PSYS_NR_setregid 204
#define PSYS_NR_getgroups 205
#define PSYS_NR_setgroups 206
#define PSYS_NR_fchown 207
#define PSYS_NR_setresuid 208
#define PSYS_NR_getresuid 209
#define PSYS_NR_setresgid 210
#define PSYS_NR_getresgid 211
#define PSYS_NR_setuid 213
#define PSYS_NR_setgid 214
#define PSYS_NR_setfsuid 215
#define PSYS_NR_setfsgid 216

#endif
