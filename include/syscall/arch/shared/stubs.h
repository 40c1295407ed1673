/* SPDX-License-Identifier: MIT */
/*
 * The register-level stubs for architectures on which a system call returns its result, or -errno
 * on error, in the register of the number or of the first argument, and keeps the registers of the
 * other arguments. The includer defines these macros, and this file undefines them:
 *
 *     PSYS_TRAP              the instructions; the result is %[result]
 *     PSYS_NUMBER(nr)        declares the variable `number`, with the value nr
 *     PSYS_NUMBER_IN         the constraint of this variable, whose operand is %[number]
 *     PSYS_NUMBER_RESULT     if defined, the result is in the register of the number
 *     PSYS_A1 ... PSYS_A6    the registers of the arguments; without PSYS_A6 there is no psys_call6
 *     PSYS_A2_CHANGES        if defined, a call changes the register of the second argument
 *     PSYS_CLOBBERS          the clobbered registers, and "memory"
 */
#ifndef PSYS_STUBS_H
#define PSYS_STUBS_H

#include <syscall/base.h>

#include "word.h"

#ifndef PSYS_DECLARATIONS_ONLY
/* The operands of the result, the number and the first argument, and of the second one. */
#ifdef PSYS_NUMBER_RESULT
#define PSYS_RESULT number
#define PSYS_OPERANDS_1 : [result] "+r"(number) : "r"(r1)
#define PSYS_OPERANDS_2 PSYS_OPERANDS_1, "r"(r2)
#else
#define PSYS_RESULT r1
#define PSYS_OPERANDS_1 : [result] "+r"(r1) : [number] PSYS_NUMBER_IN(number)
#ifdef PSYS_A2_CHANGES
#define PSYS_OPERANDS_2 : [result] "+r"(r1), "+r"(r2) : [number] PSYS_NUMBER_IN(number)
#define PSYS_CLOBBERS_A2 PSYS_A2, PSYS_CLOBBERS
#else
#define PSYS_OPERANDS_2 PSYS_OPERANDS_1, "r"(r2)
#endif
#endif
#ifndef PSYS_CLOBBERS_A2
#define PSYS_CLOBBERS_A2 PSYS_CLOBBERS
#endif

PSYS_INLINE psys_word psys_call0(psys_word nr)
{
	PSYS_NUMBER(nr);
#ifdef PSYS_NUMBER_RESULT
	__asm__ volatile(PSYS_TRAP : [result] "+r"(number) : : PSYS_CLOBBERS_A2);
#else
	register psys_word r1 __asm__(PSYS_A1);
	__asm__ volatile(PSYS_TRAP
			 : [result] "=r"(r1)
			 : [number] PSYS_NUMBER_IN(number)
			 : PSYS_CLOBBERS_A2);
#endif
	return PSYS_RESULT;
}

PSYS_INLINE psys_word psys_call1(psys_word nr, psys_word a1)
{
	PSYS_NUMBER(nr);
	register psys_word r1 __asm__(PSYS_A1) = a1;
	__asm__ volatile(PSYS_TRAP PSYS_OPERANDS_1 : PSYS_CLOBBERS_A2);
	return PSYS_RESULT;
}

PSYS_INLINE psys_word psys_call2(psys_word nr, psys_word a1, psys_word a2)
{
	PSYS_NUMBER(nr);
	register psys_word r1 __asm__(PSYS_A1) = a1;
	register psys_word r2 __asm__(PSYS_A2) = a2;
	__asm__ volatile(PSYS_TRAP PSYS_OPERANDS_2 : PSYS_CLOBBERS);
	return PSYS_RESULT;
}

PSYS_INLINE psys_word psys_call3(psys_word nr, psys_word a1, psys_word a2, psys_word a3)
{
	PSYS_NUMBER(nr);
	register psys_word r1 __asm__(PSYS_A1) = a1;
	register psys_word r2 __asm__(PSYS_A2) = a2;
	register psys_word r3 __asm__(PSYS_A3) = a3;
	__asm__ volatile(PSYS_TRAP PSYS_OPERANDS_2, "r"(r3) : PSYS_CLOBBERS);
	return PSYS_RESULT;
}

PSYS_INLINE psys_word psys_call4(psys_word nr, psys_word a1, psys_word a2, psys_word a3,
				 psys_word a4)
{
	PSYS_NUMBER(nr);
	register psys_word r1 __asm__(PSYS_A1) = a1;
	register psys_word r2 __asm__(PSYS_A2) = a2;
	register psys_word r3 __asm__(PSYS_A3) = a3;
	register psys_word r4 __asm__(PSYS_A4) = a4;
	__asm__ volatile(PSYS_TRAP PSYS_OPERANDS_2, "r"(r3), "r"(r4) : PSYS_CLOBBERS);
	return PSYS_RESULT;
}

PSYS_INLINE psys_word psys_call5(psys_word nr, psys_word a1, psys_word a2, psys_word a3,
				 psys_word a4, psys_word a5)
{
	PSYS_NUMBER(nr);
	register psys_word r1 __asm__(PSYS_A1) = a1;
	register psys_word r2 __asm__(PSYS_A2) = a2;
	register psys_word r3 __asm__(PSYS_A3) = a3;
	register psys_word r4 __asm__(PSYS_A4) = a4;
	register psys_word r5 __asm__(PSYS_A5) = a5;
	__asm__ volatile(PSYS_TRAP PSYS_OPERANDS_2, "r"(r3), "r"(r4), "r"(r5) : PSYS_CLOBBERS);
	return PSYS_RESULT;
}

#ifdef PSYS_A6
PSYS_INLINE psys_word psys_call6(psys_word nr, psys_word a1, psys_word a2, psys_word a3,
				 psys_word a4, psys_word a5, psys_word a6)
{
	PSYS_NUMBER(nr);
	register psys_word r1 __asm__(PSYS_A1) = a1;
	register psys_word r2 __asm__(PSYS_A2) = a2;
	register psys_word r3 __asm__(PSYS_A3) = a3;
	register psys_word r4 __asm__(PSYS_A4) = a4;
	register psys_word r5 __asm__(PSYS_A5) = a5;
	register psys_word r6 __asm__(PSYS_A6) = a6;
	__asm__ volatile(PSYS_TRAP PSYS_OPERANDS_2, "r"(r3), "r"(r4), "r"(r5), "r"(r6)
			 : PSYS_CLOBBERS);
	return PSYS_RESULT;
}
#endif

#undef PSYS_RESULT
#undef PSYS_OPERANDS_1
#undef PSYS_OPERANDS_2
#undef PSYS_CLOBBERS_A2

#endif /* PSYS_DECLARATIONS_ONLY */

#undef PSYS_TRAP
#undef PSYS_NUMBER
#undef PSYS_NUMBER_IN
#undef PSYS_NUMBER_RESULT
#undef PSYS_A1
#undef PSYS_A2
#undef PSYS_A3
#undef PSYS_A4
#undef PSYS_A5
#undef PSYS_A6
#undef PSYS_A2_CHANGES
#undef PSYS_CLOBBERS

#endif
