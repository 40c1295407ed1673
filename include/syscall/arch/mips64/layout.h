/* SPDX-License-Identifier: MIT */
/* mips64 n64: what differs from the o32 ABI. */
#ifndef PSYS_MIPS64_LAYOUT_H
#define PSYS_MIPS64_LAYOUT_H

#include "../shared/mips/layout.h"

#define PSYS_IPC_64 0x100 /* kernel/syscalls/syscall_n*.tbl: sys_old_semctl */

#endif
