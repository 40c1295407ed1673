/* SPDX-License-Identifier: MIT */
/*
 * The architectures, a line each: the only place that distinguishes them.
 * arch/<arch>/call.h has the register-level stubs
 *
 *     long psys_call0(long nr) ... long psys_call6(long nr, long a1, ..., long a6)
 *
 * (with psys_word instead of long where registers are wider), numbers.h the system call
 * numbers, and layout.h the structures and constants that differ from those of most
 * architectures. The assembly is in syscall/arch/<arch>/.
 */
#ifndef PSYS_ARCH_H
#define PSYS_ARCH_H

#include <syscall/base.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#include "arch/x86_64/call.h"
#elif defined(__aarch64__) && !defined(__ILP32__)
#include "arch/aarch64/call.h"
#elif defined(__x86_64__) && defined(__ILP32__)
#include "arch/x32/call.h"
#elif defined(__i386__)
#include "arch/i386/call.h"
#elif defined(__ARM_EABI__)
#include "arch/arm/call.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "arch/riscv64/call.h"
#elif defined(__riscv) && __riscv_xlen == 32
#include "arch/riscv32/call.h"
#elif defined(__loongarch__) && __loongarch_grlen == 64
#include "arch/loongarch64/call.h"
#elif defined(__powerpc64__) && _CALL_ELF == 2
#include "arch/powerpc64/call.h"
#elif defined(__powerpc__) && !defined(__powerpc64__) && defined(__BIG_ENDIAN__)
#include "arch/powerpc/call.h"
#elif defined(__s390x__)
#include "arch/s390x/call.h"
#elif defined(__mips__) && _MIPS_SIM == _ABIO32
#include "arch/mips/call.h"
#elif defined(__mips__) && _MIPS_SIM == _ABI64
#include "arch/mips64/call.h"
#elif defined(__mips__) && _MIPS_SIM == _ABIN32
#include "arch/mipsn32/call.h"
#elif defined(__sparc__) && defined(__arch64__)
#include "arch/sparc64/call.h"
#elif defined(__m68k__)
#include "arch/m68k/call.h"
#elif defined(__SH4__) && defined(__LITTLE_ENDIAN__)
#include "arch/sh4/call.h"
#else
#error "aspawn: no directory in include/syscall/arch for this architecture"
#endif

#include "arch/shared/word.h"

/* The kernel's long in a structure: uapi/asm/posix_types.h, __kernel_long_t */
#ifndef PSYS_ARCH_KERNEL_LONG
typedef long psys_kernel_long;
typedef unsigned long psys_kernel_ulong;
#define PSYS_KERNEL_LONG_BITS (8 * __SIZEOF_LONG__)
#endif

#endif
