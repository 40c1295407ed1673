/* SPDX-License-Identifier: MIT */
/*
 * riscv32: system call numbers.
 * Linux 7.2, scripts/syscall.tbl with the groups that
 * arch/riscv/kernel/Makefile.syscalls adds
 * The kernel's time64 calls have the plain names; it has no others.
 */
#ifndef PSYS_RISCV32_NUMBERS_H
#define PSYS_RISCV32_NUMBERS_H

#include "../shared/generic/common.h"
#include "../shared/riscv/numbers.h"
#include "../shared/time64.h"

#define PSYS_NR_statfs64 43
#define PSYS_NR_fstatfs64 44
#define PSYS_NR_truncate64 45
#define PSYS_NR_ftruncate64 46
#define PSYS_NR_llseek 62
#define PSYS_NR_sendfile64 71
#define PSYS_NR_mmap2 222
#define PSYS_NR_fadvise64_64 223

#endif
