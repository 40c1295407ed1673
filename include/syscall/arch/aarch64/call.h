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

#ifndef PSYS_DECLARATIONS_ONLY
/*
 * Clobbered SVE state. No macro shows if a function has SVE by an attribute, so all that costs
 * nothing is always listed: clang ignores registers that a function's target lacks. Clang has no
 * name for ffr, but moves no asm with "memory" past instructions that read ffr. Gcc takes z8 for d8,
 * which a function without SVE would save: so for gcc the vectors are listed only if the whole unit
 * has SVE, and other units define PSYS_NO_INLINE_CALLS (base.h).
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

PSYS_INLINE long psys_call0(long nr)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0");
	__asm__ volatile("svc #0" : "=r"(x0) : "r"(x8) : PSYS_CLOBBERS);
	return x0;
}

PSYS_INLINE long psys_call1(long nr, long a1)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a1;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8) : PSYS_CLOBBERS);
	return x0;
}

PSYS_INLINE long psys_call2(long nr, long a1, long a2)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a1;
	register long x1 __asm__("x1") = a2;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1) : PSYS_CLOBBERS);
	return x0;
}

PSYS_INLINE long psys_call3(long nr, long a1, long a2, long a3)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a1;
	register long x1 __asm__("x1") = a2;
	register long x2 __asm__("x2") = a3;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : PSYS_CLOBBERS);
	return x0;
}

PSYS_INLINE long psys_call4(long nr, long a1, long a2, long a3, long a4)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a1;
	register long x1 __asm__("x1") = a2;
	register long x2 __asm__("x2") = a3;
	register long x3 __asm__("x3") = a4;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : PSYS_CLOBBERS);
	return x0;
}

PSYS_INLINE long psys_call5(long nr, long a1, long a2, long a3, long a4, long a5)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a1;
	register long x1 __asm__("x1") = a2;
	register long x2 __asm__("x2") = a3;
	register long x3 __asm__("x3") = a4;
	register long x4 __asm__("x4") = a5;
	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : PSYS_CLOBBERS);
	return x0;
}

PSYS_INLINE long psys_call6(long nr, long a1, long a2, long a3, long a4, long a5, long a6)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a1;
	register long x1 __asm__("x1") = a2;
	register long x2 __asm__("x2") = a3;
	register long x3 __asm__("x3") = a4;
	register long x4 __asm__("x4") = a5;
	register long x5 __asm__("x5") = a6;
	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : PSYS_CLOBBERS);
	return x0;
}

#undef PSYS_PREDICATES
#undef PSYS_VECTORS
#undef PSYS_CLOBBERS

#endif /* PSYS_DECLARATIONS_ONLY */

#endif
