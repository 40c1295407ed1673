/* SPDX-License-Identifier: MIT */
/*
 * powerpc: the register-level stubs of 32 and of 64 bits (call.h says which
 * register is which).
 */
#ifndef PSYS_POWERPC_STUBS_H
#define PSYS_POWERPC_STUBS_H

#include <syscall/base.h>

#ifndef PSYS_DECLARATIONS_ONLY
/* Negates the result after an error. */
#define PSYS_TRAP "sc; bns+ 1f; neg %1, %1; 1:"
#define PSYS_CLOBBERS "cr0", "cr1", "cr5", "cr6", "cr7", "ctr", "xer", "memory"

PSYS_INLINE long psys_call0(long nr)
{
	register long r0 __asm__("r0") = nr;
	register long r3 __asm__("r3");
	__asm__ volatile(PSYS_TRAP
			 : "+r"(r0), "=r"(r3)
			 :
			 : "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", PSYS_CLOBBERS);
	return r3;
}

PSYS_INLINE long psys_call1(long nr, long a1)
{
	register long r0 __asm__("r0") = nr;
	register long r3 __asm__("r3") = a1;
	__asm__ volatile(PSYS_TRAP
			 : "+r"(r0), "+r"(r3)
			 :
			 : "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", PSYS_CLOBBERS);
	return r3;
}

PSYS_INLINE long psys_call2(long nr, long a1, long a2)
{
	register long r0 __asm__("r0") = nr;
	register long r3 __asm__("r3") = a1;
	register long r4 __asm__("r4") = a2;
	__asm__ volatile(PSYS_TRAP
			 : "+r"(r0), "+r"(r3), "+r"(r4)
			 :
			 : "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", PSYS_CLOBBERS);
	return r3;
}

PSYS_INLINE long psys_call3(long nr, long a1, long a2, long a3)
{
	register long r0 __asm__("r0") = nr;
	register long r3 __asm__("r3") = a1;
	register long r4 __asm__("r4") = a2;
	register long r5 __asm__("r5") = a3;
	__asm__ volatile(PSYS_TRAP
			 : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5)
			 :
			 : "r6", "r7", "r8", "r9", "r10", "r11", "r12", PSYS_CLOBBERS);
	return r3;
}

PSYS_INLINE long psys_call4(long nr, long a1, long a2, long a3, long a4)
{
	register long r0 __asm__("r0") = nr;
	register long r3 __asm__("r3") = a1;
	register long r4 __asm__("r4") = a2;
	register long r5 __asm__("r5") = a3;
	register long r6 __asm__("r6") = a4;
	__asm__ volatile(PSYS_TRAP
			 : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6)
			 :
			 : "r7", "r8", "r9", "r10", "r11", "r12", PSYS_CLOBBERS);
	return r3;
}

PSYS_INLINE long psys_call5(long nr, long a1, long a2, long a3, long a4, long a5)
{
	register long r0 __asm__("r0") = nr;
	register long r3 __asm__("r3") = a1;
	register long r4 __asm__("r4") = a2;
	register long r5 __asm__("r5") = a3;
	register long r6 __asm__("r6") = a4;
	register long r7 __asm__("r7") = a5;
	__asm__ volatile(PSYS_TRAP
			 : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7)
			 :
			 : "r8", "r9", "r10", "r11", "r12", PSYS_CLOBBERS);
	return r3;
}

PSYS_INLINE long psys_call6(long nr, long a1, long a2, long a3, long a4, long a5, long a6)
{
	register long r0 __asm__("r0") = nr;
	register long r3 __asm__("r3") = a1;
	register long r4 __asm__("r4") = a2;
	register long r5 __asm__("r5") = a3;
	register long r6 __asm__("r6") = a4;
	register long r7 __asm__("r7") = a5;
	register long r8 __asm__("r8") = a6;
	__asm__ volatile(PSYS_TRAP
			 : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7), "+r"(r8)
			 :
			 : "r9", "r10", "r11", "r12", PSYS_CLOBBERS);
	return r3;
}

#undef PSYS_TRAP
#undef PSYS_CLOBBERS

#endif /* PSYS_DECLARATIONS_ONLY */

#endif
