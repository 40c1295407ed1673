/* SPDX-License-Identifier: MIT */
/*
 * powerpc64, ELFv2, both byte orders
 *
 * number: r0   arguments: r3 r4 r5 r6 r7 r8
 * result: r3; an error if CR0.SO is set, as a positive number
 * clobbered: r0 r4 to r12, CR0 CR1 CR5 CR6 CR7, ctr, xer
 * Documentation/arch/powerpc/syscall64-abi.rst ("sc")
 */
#ifndef PSYS_POWERPC64_CALL_H
#define PSYS_POWERPC64_CALL_H

#include "layout.h"
#include "numbers.h"

#include "../shared/powerpc/stubs.h"

#endif
