/* SPDX-License-Identifier: MIT */
/*
 * aarch64: system call numbers.
 * Linux 7.2, scripts/syscall.tbl with the groups that
 * arch/arm64/kernel/Makefile.syscalls adds
 */
#ifndef PSYS_AARCH64_NUMBERS_H
#define PSYS_AARCH64_NUMBERS_H

#include "../shared/generic/numbers.h"

#define PSYS_NR_renameat 38
#define PSYS_NR_getrlimit 163
#define PSYS_NR_setrlimit 164

#endif
