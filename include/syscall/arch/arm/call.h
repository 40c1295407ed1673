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

#ifndef PSYS_DECLARATIONS_ONLY
/*
 * In Thumb code r7 may be the frame pointer, which compilers do not allow as an operand, so it is
 * saved in r12. The number is in a high register ("h"): every Thumb version can move it from there
 * without changing flags.
 */
#ifdef __thumb__
#define PSYS_NUMBER(nr) long number = nr
#define PSYS_NUMBER_IN "h"
#define PSYS_SVC                \
	"mov r12, r7\n\t"       \
	"mov r7, %[number]\n\t" \
	"svc #0\n\t"            \
	"mov r7, r12"
#define PSYS_CLOBBERS "r12", "memory"
#else
#define PSYS_NUMBER(nr) register long number __asm__("r7") = nr
#define PSYS_NUMBER_IN "r"
#define PSYS_SVC "svc #0"
#define PSYS_CLOBBERS "memory"
#endif

PSYS_INLINE long psys_call0(long nr)
{
	PSYS_NUMBER(nr);
	register long r0 __asm__("r0");
	__asm__ volatile(PSYS_SVC : "=r"(r0) : [number] PSYS_NUMBER_IN(number) : PSYS_CLOBBERS);
	return r0;
}

PSYS_INLINE long psys_call1(long nr, long a1)
{
	PSYS_NUMBER(nr);
	register long r0 __asm__("r0") = a1;
	__asm__ volatile(PSYS_SVC : "+r"(r0) : [number] PSYS_NUMBER_IN(number) : PSYS_CLOBBERS);
	return r0;
}

PSYS_INLINE long psys_call2(long nr, long a1, long a2)
{
	PSYS_NUMBER(nr);
	register long r0 __asm__("r0") = a1;
	register long r1 __asm__("r1") = a2;
	__asm__ volatile(PSYS_SVC
			 : "+r"(r0)
			 : [number] PSYS_NUMBER_IN(number), "r"(r1)
			 : PSYS_CLOBBERS);
	return r0;
}

PSYS_INLINE long psys_call3(long nr, long a1, long a2, long a3)
{
	PSYS_NUMBER(nr);
	register long r0 __asm__("r0") = a1;
	register long r1 __asm__("r1") = a2;
	register long r2 __asm__("r2") = a3;
	__asm__ volatile(PSYS_SVC
			 : "+r"(r0)
			 : [number] PSYS_NUMBER_IN(number), "r"(r1), "r"(r2)
			 : PSYS_CLOBBERS);
	return r0;
}

PSYS_INLINE long psys_call4(long nr, long a1, long a2, long a3, long a4)
{
	PSYS_NUMBER(nr);
	register long r0 __asm__("r0") = a1;
	register long r1 __asm__("r1") = a2;
	register long r2 __asm__("r2") = a3;
	register long r3 __asm__("r3") = a4;
	__asm__ volatile(PSYS_SVC
			 : "+r"(r0)
			 : [number] PSYS_NUMBER_IN(number), "r"(r1), "r"(r2), "r"(r3)
			 : PSYS_CLOBBERS);
	return r0;
}

PSYS_INLINE long psys_call5(long nr, long a1, long a2, long a3, long a4, long a5)
{
	PSYS_NUMBER(nr);
	register long r0 __asm__("r0") = a1;
	register long r1 __asm__("r1") = a2;
	register long r2 __asm__("r2") = a3;
	register long r3 __asm__("r3") = a4;
	register long r4 __asm__("r4") = a5;
	__asm__ volatile(PSYS_SVC
			 : "+r"(r0)
			 : [number] PSYS_NUMBER_IN(number), "r"(r1), "r"(r2), "r"(r3), "r"(r4)
			 : PSYS_CLOBBERS);
	return r0;
}

PSYS_INLINE long psys_call6(long nr, long a1, long a2, long a3, long a4, long a5, long a6)
{
	PSYS_NUMBER(nr);
	register long r0 __asm__("r0") = a1;
	register long r1 __asm__("r1") = a2;
	register long r2 __asm__("r2") = a3;
	register long r3 __asm__("r3") = a4;
	register long r4 __asm__("r4") = a5;
	register long r5 __asm__("r5") = a6;
	__asm__ volatile(PSYS_SVC
			 : "+r"(r0)
			 : [number] PSYS_NUMBER_IN(number), "r"(r1), "r"(r2), "r"(r3), "r"(r4),
			   "r"(r5)
			 : PSYS_CLOBBERS);
	return r0;
}

#undef PSYS_NUMBER
#undef PSYS_NUMBER_IN
#undef PSYS_SVC
#undef PSYS_CLOBBERS

#endif /* PSYS_DECLARATIONS_ONLY */

#endif
