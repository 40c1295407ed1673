/* SPDX-License-Identifier: MIT */
/*
 * arm, EABI, both byte orders: ARM and Thumb callers
 *
 * number: r7   arguments: r0 r1 r2 r3 r4 r5   result: r0, -errno on error
 * clobbered: nothing else
 * man 2 syscall; arch/arm/kernel/entry-common.S, vector_swi
 * A 64-bit argument takes two registers, as in memory, the first an even one:
 * as in a C function of the kernel (Procedure Call Standard for the Arm
 * Architecture, "Parameter Passing").
 */
#ifndef PSYS_ARM_CALL_H
#define PSYS_ARM_CALL_H

#include "layout.h"
#include "numbers.h"

/*
 * In Thumb code r7 may be the frame pointer, which compilers do not allow as an operand, so it is
 * saved in r12. The number is in a high register ("h"): every Thumb version can move it from there
 * without changing flags.
 */
#ifdef __thumb__
#define PSYS_NUMBER(nr) long number = nr
#define PSYS_NUMBER_IN "h"
#define PSYS_TRAP               \
	"mov r12, r7\n\t"       \
	"mov r7, %[number]\n\t" \
	"svc #0\n\t"            \
	"mov r7, r12"
#define PSYS_CLOBBERS "r12", "memory"
#else
#define PSYS_NUMBER(nr) register long number __asm__("r7") = nr
#define PSYS_NUMBER_IN "r"
#define PSYS_TRAP "svc #0"
#define PSYS_CLOBBERS "memory"
#endif

#define PSYS_A1 "r0"
#define PSYS_A2 "r1"
#define PSYS_A3 "r2"
#define PSYS_A4 "r3"
#define PSYS_A5 "r4"
#define PSYS_A6 "r5"

#include "../shared/stubs.h"

#endif
