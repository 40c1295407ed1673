/* SPDX-License-Identifier: MIT */
/*
 * mips, all three ABIs: the register-level stubs (call.h says which register is which). o32 passes
 * the fifth and later arguments on the stack.
 */
#ifndef PSYS_MIPS_STUBS_H
#define PSYS_MIPS_STUBS_H

#include "../word.h"

#ifndef PSYS_DECLARATIONS_ONLY
#define PSYS_CLOBBERS \
	"$1", "$3", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25", PSYS_HI_LO "memory"

PSYS_INLINE psys_word psys_call0(psys_word nr)
{
	register psys_word r2 __asm__("$2") = nr;
	register psys_word r7 __asm__("$7");
	__asm__ volatile("syscall" : "+r"(r2), "=r"(r7) : : "$8", "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE psys_word psys_call1(psys_word nr, psys_word a1)
{
	register psys_word r2 __asm__("$2") = nr;
	register psys_word r4 __asm__("$4") = a1;
	register psys_word r7 __asm__("$7");
	__asm__ volatile("syscall" : "+r"(r2), "=r"(r7) : "r"(r4) : "$8", "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE psys_word psys_call2(psys_word nr, psys_word a1, psys_word a2)
{
	register psys_word r2 __asm__("$2") = nr;
	register psys_word r4 __asm__("$4") = a1;
	register psys_word r5 __asm__("$5") = a2;
	register psys_word r7 __asm__("$7");
	__asm__ volatile("syscall"
			 : "+r"(r2), "=r"(r7)
			 : "r"(r4), "r"(r5)
			 : "$8", "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE psys_word psys_call3(psys_word nr, psys_word a1, psys_word a2, psys_word a3)
{
	register psys_word r2 __asm__("$2") = nr;
	register psys_word r4 __asm__("$4") = a1;
	register psys_word r5 __asm__("$5") = a2;
	register psys_word r6 __asm__("$6") = a3;
	register psys_word r7 __asm__("$7");
	__asm__ volatile("syscall"
			 : "+r"(r2), "=r"(r7)
			 : "r"(r4), "r"(r5), "r"(r6)
			 : "$8", "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE psys_word psys_call4(psys_word nr, psys_word a1, psys_word a2, psys_word a3,
				 psys_word a4)
{
	register psys_word r2 __asm__("$2") = nr;
	register psys_word r4 __asm__("$4") = a1;
	register psys_word r5 __asm__("$5") = a2;
	register psys_word r6 __asm__("$6") = a3;
	register psys_word r7 __asm__("$7") = a4;
	__asm__ volatile("syscall"
			 : "+r"(r2), "+r"(r7)
			 : "r"(r4), "r"(r5), "r"(r6)
			 : "$8", "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

#if _MIPS_SIM == _ABIO32
/* The fifth and the sixth argument, from $8 and $9 to the stack. */
#define PSYS_TRAP_WITH_STACK \
	"addiu $29, $29, -32; sw $8, 16($29); sw $9, 20($29); syscall; addiu $29, $29, 32"

PSYS_INLINE long psys_call5(long nr, long a1, long a2, long a3, long a4, long a5)
{
	register long r2 __asm__("$2") = nr;
	register long r4 __asm__("$4") = a1;
	register long r5 __asm__("$5") = a2;
	register long r6 __asm__("$6") = a3;
	register long r7 __asm__("$7") = a4;
	register long r8 __asm__("$8") = a5;
	register long r9 __asm__("$9") = 0;
	__asm__ volatile(PSYS_TRAP_WITH_STACK
			 : "+r"(r2), "+r"(r7), "+r"(r8), "+r"(r9)
			 : "r"(r4), "r"(r5), "r"(r6)
			 : PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE long psys_call6(long nr, long a1, long a2, long a3, long a4, long a5, long a6)
{
	register long r2 __asm__("$2") = nr;
	register long r4 __asm__("$4") = a1;
	register long r5 __asm__("$5") = a2;
	register long r6 __asm__("$6") = a3;
	register long r7 __asm__("$7") = a4;
	register long r8 __asm__("$8") = a5;
	register long r9 __asm__("$9") = a6;
	__asm__ volatile(PSYS_TRAP_WITH_STACK
			 : "+r"(r2), "+r"(r7), "+r"(r8), "+r"(r9)
			 : "r"(r4), "r"(r5), "r"(r6)
			 : PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

/* Six registers are too few if a 64-bit argument skips one. */
PSYS_INLINE long psys_call7(long nr, long a1, long a2, long a3, long a4, long a5, long a6, long a7)
{
	register long r2 __asm__("$2") = nr;
	register long r4 __asm__("$4") = a1;
	register long r5 __asm__("$5") = a2;
	register long r6 __asm__("$6") = a3;
	register long r7 __asm__("$7") = a4;
	register long r8 __asm__("$8") = a5;
	register long r9 __asm__("$9") = a6;
	register long r10 __asm__("$10") = a7;
	__asm__ volatile("addiu $29, $29, -32; sw $8, 16($29); sw $9, 20($29); sw $10, 24($29); "
			 "syscall; addiu $29, $29, 32"
			 : "+r"(r2), "+r"(r7), "+r"(r8), "+r"(r9), "+r"(r10)
			 : "r"(r4), "r"(r5), "r"(r6)
			 : "$1", "$3", "$11", "$12", "$13", "$14", "$15", "$24", "$25",
			   PSYS_HI_LO "memory");
	return r7 ? -r2 : r2;
}

#undef PSYS_TRAP_WITH_STACK
#else
PSYS_INLINE psys_word psys_call5(psys_word nr, psys_word a1, psys_word a2, psys_word a3,
				 psys_word a4, psys_word a5)
{
	register psys_word r2 __asm__("$2") = nr;
	register psys_word r4 __asm__("$4") = a1;
	register psys_word r5 __asm__("$5") = a2;
	register psys_word r6 __asm__("$6") = a3;
	register psys_word r7 __asm__("$7") = a4;
	register psys_word r8 __asm__("$8") = a5;
	__asm__ volatile("syscall"
			 : "+r"(r2), "+r"(r7)
			 : "r"(r4), "r"(r5), "r"(r6), "r"(r8)
			 : "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE psys_word psys_call6(psys_word nr, psys_word a1, psys_word a2, psys_word a3,
				 psys_word a4, psys_word a5, psys_word a6)
{
	register psys_word r2 __asm__("$2") = nr;
	register psys_word r4 __asm__("$4") = a1;
	register psys_word r5 __asm__("$5") = a2;
	register psys_word r6 __asm__("$6") = a3;
	register psys_word r7 __asm__("$7") = a4;
	register psys_word r8 __asm__("$8") = a5;
	register psys_word r9 __asm__("$9") = a6;
	__asm__ volatile("syscall"
			 : "+r"(r2), "+r"(r7)
			 : "r"(r4), "r"(r5), "r"(r6), "r"(r8), "r"(r9)
			 : PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}
#endif

#undef PSYS_CLOBBERS
#undef PSYS_HI_LO

#endif /* PSYS_DECLARATIONS_ONLY */

#endif
