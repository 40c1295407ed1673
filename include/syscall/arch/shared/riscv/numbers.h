/* SPDX-License-Identifier: MIT */
/*
 * riscv, 32 and 64 bits: the system call numbers that no other architecture has.
 * Linux 7.2, scripts/syscall.tbl (abi riscv)
 */
#ifndef PSYS_RISCV_NUMBERS_H
#define PSYS_RISCV_NUMBERS_H

#define PSYS_NR_riscv_hwprobe 258
#define PSYS_NR_riscv_flush_icache 259

#endif
