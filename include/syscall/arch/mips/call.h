/* SPDX-License-Identifier: MIT */
/*
 * mips, the o32 ABI, both byte orders
 *
 * number: v0 ($2)   arguments: a0 to a3 ($4 to $7), then 16(sp) and 20(sp)
 * result: v0; an error if a3 is not zero, as a positive number
 * clobbered: at v1 t0 to t9 ($1 $3 $8 to $15 $24 $25), hi, lo
 * man 2 syscall; arch/mips/kernel/scall32-o32.S
 */
#ifndef PSYS_MIPS_CALL_H
#define PSYS_MIPS_CALL_H

#include "layout.h"
#include "numbers.h"

#include "../shared/mips/stubs.h"

#endif
