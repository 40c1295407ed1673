/* SPDX-License-Identifier: MIT */
/*
 * The register-level stubs for architectures on which a system call changes no register of an
 * argument except the first one's, where it returns the result, or -errno on error. The includer
 * defines these macros, and this file undefines them:
 *
 *     PSYS_TRAP              the instructions
 *     PSYS_NUMBER(nr)        declares the variable `number`, with the value nr
 *     PSYS_NUMBER_IN         the constraint of this variable, whose operand is %[number]
 *     PSYS_A1 ... PSYS_A6    the registers of the arguments
 *     PSYS_CLOBBERS          the clobbered registers, and "memory"
 */
#ifndef PSYS_STUBS_H
#define PSYS_STUBS_H

#include <syscall/base.h>

#ifndef PSYS_DECLARATIONS_ONLY
PSYS_INLINE long psys_call0(long nr)
{
	PSYS_NUMBER(nr);
	register long r1 __asm__(PSYS_A1);
	__asm__ volatile(PSYS_TRAP : "=r"(r1) : [number] PSYS_NUMBER_IN(number) : PSYS_CLOBBERS);
	return r1;
}

PSYS_INLINE long psys_call1(long nr, long a1)
{
	PSYS_NUMBER(nr);
	register long r1 __asm__(PSYS_A1) = a1;
	__asm__ volatile(PSYS_TRAP : "+r"(r1) : [number] PSYS_NUMBER_IN(number) : PSYS_CLOBBERS);
	return r1;
}

PSYS_INLINE long psys_call2(long nr, long a1, long a2)
{
	PSYS_NUMBER(nr);
	register long r1 __asm__(PSYS_A1) = a1;
	register long r2 __asm__(PSYS_A2) = a2;
	__asm__ volatile(PSYS_TRAP
			 : "+r"(r1)
			 : [number] PSYS_NUMBER_IN(number), "r"(r2)
			 : PSYS_CLOBBERS);
	return r1;
}

PSYS_INLINE long psys_call3(long nr, long a1, long a2, long a3)
{
	PSYS_NUMBER(nr);
	register long r1 __asm__(PSYS_A1) = a1;
	register long r2 __asm__(PSYS_A2) = a2;
	register long r3 __asm__(PSYS_A3) = a3;
	__asm__ volatile(PSYS_TRAP
			 : "+r"(r1)
			 : [number] PSYS_NUMBER_IN(number), "r"(r2), "r"(r3)
			 : PSYS_CLOBBERS);
	return r1;
}

PSYS_INLINE long psys_call4(long nr, long a1, long a2, long a3, long a4)
{
	PSYS_NUMBER(nr);
	register long r1 __asm__(PSYS_A1) = a1;
	register long r2 __asm__(PSYS_A2) = a2;
	register long r3 __asm__(PSYS_A3) = a3;
	register long r4 __asm__(PSYS_A4) = a4;
	__asm__ volatile(PSYS_TRAP
			 : "+r"(r1)
			 : [number] PSYS_NUMBER_IN(number), "r"(r2), "r"(r3), "r"(r4)
			 : PSYS_CLOBBERS);
	return r1;
}

PSYS_INLINE long psys_call5(long nr, long a1, long a2, long a3, long a4, long a5)
{
	PSYS_NUMBER(nr);
	register long r1 __asm__(PSYS_A1) = a1;
	register long r2 __asm__(PSYS_A2) = a2;
	register long r3 __asm__(PSYS_A3) = a3;
	register long r4 __asm__(PSYS_A4) = a4;
	register long r5 __asm__(PSYS_A5) = a5;
	__asm__ volatile(PSYS_TRAP
			 : "+r"(r1)
			 : [number] PSYS_NUMBER_IN(number), "r"(r2), "r"(r3), "r"(r4), "r"(r5)
			 : PSYS_CLOBBERS);
	return r1;
}

PSYS_INLINE long psys_call6(long nr, long a1, long a2, long a3, long a4, long a5, long a6)
{
	PSYS_NUMBER(nr);
	register long r1 __asm__(PSYS_A1) = a1;
	register long r2 __asm__(PSYS_A2) = a2;
	register long r3 __asm__(PSYS_A3) = a3;
	register long r4 __asm__(PSYS_A4) = a4;
	register long r5 __asm__(PSYS_A5) = a5;
	register long r6 __asm__(PSYS_A6) = a6;
	__asm__ volatile(PSYS_TRAP
			 : "+r"(r1)
			 : [number] PSYS_NUMBER_IN(number), "r"(r2), "r"(r3), "r"(r4), "r"(r5),
			   "r"(r6)
			 : PSYS_CLOBBERS);
	return r1;
}

#endif /* PSYS_DECLARATIONS_ONLY */

#undef PSYS_TRAP
#undef PSYS_NUMBER
#undef PSYS_NUMBER_IN
#undef PSYS_A1
#undef PSYS_A2
#undef PSYS_A3
#undef PSYS_A4
#undef PSYS_A5
#undef PSYS_A6
#undef PSYS_CLOBBERS

#endif
