/* SPDX-License-Identifier: MIT */
/*
 * m68k
 *
 * number: d0   arguments: d1 d2 d3 d4 d5 a0   result: d0, -errno on error
 * clobbered: nothing else
 * man 2 syscall; arch/m68k/kernel/entry.S
 */
#ifndef PSYS_M68K_CALL_H
#define PSYS_M68K_CALL_H

#include "layout.h"
#include "numbers.h"

#ifndef PSYS_DECLARATIONS_ONLY
PSYS_INLINE long psys_call0(long nr)
{
	register long d0 __asm__("d0") = nr;
	__asm__ volatile("trap #0" : "+r"(d0) : : "memory");
	return d0;
}

PSYS_INLINE long psys_call1(long nr, long a1)
{
	register long d0 __asm__("d0") = nr;
	register long d1 __asm__("d1") = a1;
	__asm__ volatile("trap #0" : "+r"(d0) : "r"(d1) : "memory");
	return d0;
}

PSYS_INLINE long psys_call2(long nr, long a1, long a2)
{
	register long d0 __asm__("d0") = nr;
	register long d1 __asm__("d1") = a1;
	register long d2 __asm__("d2") = a2;
	__asm__ volatile("trap #0" : "+r"(d0) : "r"(d1), "r"(d2) : "memory");
	return d0;
}

PSYS_INLINE long psys_call3(long nr, long a1, long a2, long a3)
{
	register long d0 __asm__("d0") = nr;
	register long d1 __asm__("d1") = a1;
	register long d2 __asm__("d2") = a2;
	register long d3 __asm__("d3") = a3;
	__asm__ volatile("trap #0" : "+r"(d0) : "r"(d1), "r"(d2), "r"(d3) : "memory");
	return d0;
}

PSYS_INLINE long psys_call4(long nr, long a1, long a2, long a3, long a4)
{
	register long d0 __asm__("d0") = nr;
	register long d1 __asm__("d1") = a1;
	register long d2 __asm__("d2") = a2;
	register long d3 __asm__("d3") = a3;
	register long d4 __asm__("d4") = a4;
	__asm__ volatile("trap #0" : "+r"(d0) : "r"(d1), "r"(d2), "r"(d3), "r"(d4) : "memory");
	return d0;
}

PSYS_INLINE long psys_call5(long nr, long a1, long a2, long a3, long a4, long a5)
{
	register long d0 __asm__("d0") = nr;
	register long d1 __asm__("d1") = a1;
	register long d2 __asm__("d2") = a2;
	register long d3 __asm__("d3") = a3;
	register long d4 __asm__("d4") = a4;
	register long d5 __asm__("d5") = a5;
	__asm__ volatile("trap #0"
			 : "+r"(d0)
			 : "r"(d1), "r"(d2), "r"(d3), "r"(d4), "r"(d5)
			 : "memory");
	return d0;
}

PSYS_INLINE long psys_call6(long nr, long a1, long a2, long a3, long a4, long a5, long a6)
{
	register long d0 __asm__("d0") = nr;
	register long d1 __asm__("d1") = a1;
	register long d2 __asm__("d2") = a2;
	register long d3 __asm__("d3") = a3;
	register long d4 __asm__("d4") = a4;
	register long d5 __asm__("d5") = a5;
	register long a0 __asm__("a0") = a6;
	__asm__ volatile("trap #0"
			 : "+r"(d0)
			 : "r"(d1), "r"(d2), "r"(d3), "r"(d4), "r"(d5), "r"(a0)
			 : "memory");
	return d0;
}

#endif /* PSYS_DECLARATIONS_ONLY */

#endif
