/* SPDX-License-Identifier: MIT */
/*
 * powerpc, 32 bits, System V, big-endian
 *
 * number: r0   arguments: r3 r4 r5 r6 r7 r8
 * result: r3; an error if CR0.SO is set, as a positive number
 * clobbered: r0 r4 to r12, CR0 CR1 CR5 CR6 CR7, ctr, xer
 * man 2 syscall; arch/powerpc/kernel/entry_32.S, transfer_to_syscall
 */
#ifndef PSYS_POWERPC_CALL_H
#define PSYS_POWERPC_CALL_H

#include "layout.h"
#include "numbers.h"

#include "../shared/powerpc/stubs.h"

#endif
