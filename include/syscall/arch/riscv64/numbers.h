/* SPDX-License-Identifier: MIT */
/*
 * riscv64: system call numbers.
 * Linux 7.2, scripts/syscall.tbl with the groups that
 * arch/riscv/kernel/Makefile.syscalls adds
 */
#ifndef PSYS_RISCV64_NUMBERS_H
#define PSYS_RISCV64_NUMBERS_H

#include "../shared/generic/numbers.h"
#include "../shared/riscv/numbers.h"

#define PSYS_NR_getrlimit 163
#define PSYS_NR_setrlimit 164

#endif
