/* SPDX-License-Identifier: MIT */
/*
 * sh4
 *
 * number: r3 (with trapa 0x1f)   arguments: r4 r5 r6 r7 r0 r1   result: r0, -errno on error
 * clobbered: nothing else
 * man 2 syscall; arch/sh/kernel/entry-common.S, system_call
 */
#ifndef PSYS_SH4_CALL_H
#define PSYS_SH4_CALL_H

#include "layout.h"
#include "numbers.h"

#ifndef PSYS_DECLARATIONS_ONLY
/*
 * 0x1f is the number for any count of arguments. Processors with an erratum need five instructions
 * without an effect after the trap (arch/sh/kernel/signal_32.c, OR_R0_R0).
 */
#define PSYS_TRAP "trapa #0x1f; or r0, r0; or r0, r0; or r0, r0; or r0, r0; or r0, r0"

PSYS_INLINE long psys_call0(long nr)
{
	register long r3 __asm__("r3") = nr;
	register long r0 __asm__("r0");
	__asm__ volatile(PSYS_TRAP : "=r"(r0) : "r"(r3) : "memory");
	return r0;
}

PSYS_INLINE long psys_call1(long nr, long a1)
{
	register long r3 __asm__("r3") = nr;
	register long r4 __asm__("r4") = a1;
	register long r0 __asm__("r0");
	__asm__ volatile(PSYS_TRAP : "=r"(r0) : "r"(r3), "r"(r4) : "memory");
	return r0;
}

PSYS_INLINE long psys_call2(long nr, long a1, long a2)
{
	register long r3 __asm__("r3") = nr;
	register long r4 __asm__("r4") = a1;
	register long r5 __asm__("r5") = a2;
	register long r0 __asm__("r0");
	__asm__ volatile(PSYS_TRAP : "=r"(r0) : "r"(r3), "r"(r4), "r"(r5) : "memory");
	return r0;
}

PSYS_INLINE long psys_call3(long nr, long a1, long a2, long a3)
{
	register long r3 __asm__("r3") = nr;
	register long r4 __asm__("r4") = a1;
	register long r5 __asm__("r5") = a2;
	register long r6 __asm__("r6") = a3;
	register long r0 __asm__("r0");
	__asm__ volatile(PSYS_TRAP : "=r"(r0) : "r"(r3), "r"(r4), "r"(r5), "r"(r6) : "memory");
	return r0;
}

PSYS_INLINE long psys_call4(long nr, long a1, long a2, long a3, long a4)
{
	register long r3 __asm__("r3") = nr;
	register long r4 __asm__("r4") = a1;
	register long r5 __asm__("r5") = a2;
	register long r6 __asm__("r6") = a3;
	register long r7 __asm__("r7") = a4;
	register long r0 __asm__("r0");
	__asm__ volatile(PSYS_TRAP
			 : "=r"(r0)
			 : "r"(r3), "r"(r4), "r"(r5), "r"(r6), "r"(r7)
			 : "memory");
	return r0;
}

PSYS_INLINE long psys_call5(long nr, long a1, long a2, long a3, long a4, long a5)
{
	register long r3 __asm__("r3") = nr;
	register long r4 __asm__("r4") = a1;
	register long r5 __asm__("r5") = a2;
	register long r6 __asm__("r6") = a3;
	register long r7 __asm__("r7") = a4;
	register long r0 __asm__("r0") = a5;
	__asm__ volatile(PSYS_TRAP
			 : "+r"(r0)
			 : "r"(r3), "r"(r4), "r"(r5), "r"(r6), "r"(r7)
			 : "memory");
	return r0;
}

PSYS_INLINE long psys_call6(long nr, long a1, long a2, long a3, long a4, long a5, long a6)
{
	register long r3 __asm__("r3") = nr;
	register long r4 __asm__("r4") = a1;
	register long r5 __asm__("r5") = a2;
	register long r6 __asm__("r6") = a3;
	register long r7 __asm__("r7") = a4;
	register long r0 __asm__("r0") = a5;
	register long r1 __asm__("r1") = a6;
	__asm__ volatile(PSYS_TRAP
			 : "+r"(r0)
			 : "r"(r3), "r"(r4), "r"(r5), "r"(r6), "r"(r7), "r"(r1)
			 : "memory");
	return r0;
}

#undef PSYS_TRAP

#endif /* PSYS_DECLARATIONS_ONLY */

#endif
