/* SPDX-License-Identifier: MIT */
/* x32: what differs from most architectures. */
#ifndef PSYS_X32_LAYOUT_H
#define PSYS_X32_LAYOUT_H

#include "../shared/x86_64/layout.h"

/* Pointers, sizes and flag words are extended with zeros. So is an int, of which the kernel reads
 * only the lower half. */
#define PSYS_WORD_FROM unsigned long

typedef long long psys_kernel_long;
typedef unsigned long long psys_kernel_ulong;
#define PSYS_KERNEL_LONG_BITS 64
#define PSYS_ARCH_KERNEL_LONG

/* 64 bits, aligned as 32 bits (uapi/asm/siginfo.h). */
typedef long long psys_siginfo_clock __attribute__((aligned(4)));
#define PSYS_ARCH_SIGINFO_CLOCK

/* preadv and the like take an offset in one register (fs/read_write.c,
 * compat_sys_preadv64v2). */
#define PSYS_ARG_HALVES(value) (value)

#endif
