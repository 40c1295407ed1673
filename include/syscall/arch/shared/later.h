/* SPDX-License-Identifier: MIT */
/*
 * More system call numbers that are the same in the tables of arm, i386, m68k, s390x and sh4.
 * Linux 7.2, arch/x86/entry/syscalls/syscall_32.tbl, and the same lines of the others' tables
 */
#ifndef PSYS_LATER_H
#define PSYS_LATER_H

#include "classic.h"

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
#define PSYS_NR_mremap 163
#define PSYS_NR_poll 168
#define PSYS_NR_nfsservctl 169
#define PSYS_NR_prctl 172
#define PSYS_NR_rt_sigreturn 173
#define PSYS_NR_rt_sigaction 174
#define PSYS_NR_rt_sigprocmask 175
#define PSYS_NR_rt_sigpending 176
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
