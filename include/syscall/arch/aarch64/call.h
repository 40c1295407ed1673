/* SPDX-License-Identifier: MIT */
/*
 * aarch64, both byte orders
 *
 * number: x8   arguments: x0 x1 x2 x3 x4 x5   result: x0, -errno on error
 * clobbered: SVE's predicates, ffr, and each vector beyond its first 128 bits
 * man 2 syscall; arch/arm64/kernel/entry.S, invoke_syscall in syscall.c;
 * Documentation/arch/arm64/sve.rst, "System call behaviour"
 */
#ifndef PSYS_AARCH64_CALL_H
#define PSYS_AARCH64_CALL_H

#include "layout.h"
#include "numbers.h"

/*
 * Clobbered SVE state. No macro shows if a function has SVE by an attribute, so all that costs
 * nothing is always listed: clang ignores registers that a function's target lacks. Clang has no
 * name for ffr, but moves no asm with "memory" past instructions that read ffr. Gcc takes z8 for
 * d8, which a function without SVE would save: so for gcc the vectors are listed only if the whole
 * unit has SVE, and other units define PSYS_NO_INLINE_CALLS (base.h).
 */
#define PSYS_PREDICATES                                                                         \
	"p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", \
		"p14", "p15"
#define PSYS_VECTORS                                                                            \
	"z0", "z1", "z2", "z3", "z4", "z5", "z6", "z7", "z8", "z9", "z10", "z11", "z12", "z13", \
		"z14", "z15", "z16", "z17", "z18", "z19", "z20", "z21", "z22", "z23", "z24",    \
		"z25", "z26", "z27", "z28", "z29", "z30", "z31"
#ifdef __clang__
#define PSYS_CLOBBERS "memory", PSYS_PREDICATES, PSYS_VECTORS
#elif defined(__ARM_FEATURE_SVE)
#define PSYS_CLOBBERS "memory", "ffr", "ffrt", PSYS_PREDICATES, PSYS_VECTORS
#else
#define PSYS_CLOBBERS "memory", "ffr", "ffrt", PSYS_PREDICATES
#endif

#define PSYS_TRAP "svc #0"
#define PSYS_NUMBER(nr) register long number __asm__("x8") = nr
#define PSYS_NUMBER_IN "r"
#define PSYS_A1 "x0"
#define PSYS_A2 "x1"
#define PSYS_A3 "x2"
#define PSYS_A4 "x3"
#define PSYS_A5 "x4"
#define PSYS_A6 "x5"

#include "../shared/stubs.h"

#undef PSYS_PREDICATES
#undef PSYS_VECTORS

#endif
