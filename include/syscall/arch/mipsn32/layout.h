/* SPDX-License-Identifier: MIT */
/* mips64 n32: what differs from the o32 ABI. */
#ifndef PSYS_MIPSN32_LAYOUT_H
#define PSYS_MIPSN32_LAYOUT_H

#include "../shared/mips/layout.h"

/* 32-bit values of any type are extended with their sign. */
#define PSYS_WORD_FROM long

#define PSYS_IPC_64 0x100 /* kernel/syscalls/syscall_n*.tbl: sys_old_semctl */

#endif
