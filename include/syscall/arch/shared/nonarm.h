/* SPDX-License-Identifier: MIT */
/*
 * More system call numbers that are the same in the tables of i386, m68k, powerpc, s390x and sh4.
 * Linux 7.2, arch/x86/entry/syscalls/syscall_32.tbl, and the same lines of the others' tables
 */
#ifndef PSYS_NONARM_H
#define PSYS_NONARM_H

#include "classic.h"

#define PSYS_NR_umount 22
#define PSYS_NR_alarm 27
#define PSYS_NR_utime 30
#define PSYS_NR_signal 48
#define PSYS_NR_readdir 89
#define PSYS_NR_mmap 90
#define PSYS_NR_socketcall 102
#define PSYS_NR_ipc 117
#define PSYS_NR_semget 393
#define PSYS_NR_semctl 394
#define PSYS_NR_shmget 395
#define PSYS_NR_shmctl 396
#define PSYS_NR_shmat 397
#define PSYS_NR_shmdt 398
#define PSYS_NR_msgget 399
#define PSYS_NR_msgsnd 400
#define PSYS_NR_msgrcv 401
#define PSYS_NR_msgctl 402

#endif
