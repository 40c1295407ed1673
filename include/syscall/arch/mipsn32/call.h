/* SPDX-License-Identifier: MIT */
/*
 * mips64, the n32 ABI, both byte orders: pointers and long of 32 bits, registers
 * of 64
 *
 * number: v0 ($2)   arguments: a0 to a5 ($4 to $9)
 * result: v0; an error if a3 ($7) is not zero, as a positive number
 * clobbered: at v1 t0 to t3 t8 t9 ($1 $3 $10 to $15 $24 $25), hi, lo
 * man 2 syscall; arch/mips/kernel/scall64-n32.S
 */
#ifndef PSYS_MIPSN32_CALL_H
#define PSYS_MIPSN32_CALL_H

#include "layout.h"
#include "numbers.h"

#include "../shared/mips/stubs.h"

#endif
