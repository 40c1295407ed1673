/* SPDX-License-Identifier: MIT */
/*
 * loongarch64: system call numbers.
 * Linux 7.2, scripts/syscall.tbl with the groups that
 * arch/loongarch/kernel/Makefile.syscalls adds
 */
#ifndef PSYS_LOONGARCH64_NUMBERS_H
#define PSYS_LOONGARCH64_NUMBERS_H

#include "../shared/generic/numbers.h"

#endif
