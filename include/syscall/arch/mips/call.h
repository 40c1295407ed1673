/* SPDX-License-Identifier: MIT */
/*
 * mips, the o32 ABI, both byte orders
 *
 * number: v0 ($2)   arguments: a0 to a3 ($4 to $7), then 16(sp) and 20(sp)
 * result: v0; an error if a3 is not zero, as a positive number
 * clobbered: at v1 t0 to t9 ($1 $3 $8 to $15 $24 $25), hi, lo
 * man 2 syscall; arch/mips/kernel/scall32-o32.S
 */
#ifndef PSYS_MIPS_CALL_H
#define PSYS_MIPS_CALL_H

#include "layout.h"
#include "numbers.h"

#ifndef PSYS_DECLARATIONS_ONLY
#define PSYS_CLOBBERS \
	"$1", "$3", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25", PSYS_HI_LO "memory"

/* The fifth and the sixth argument, from $8 and $9 to the stack. */
#define PSYS_TRAP_WITH_STACK \
	"addiu $29, $29, -32; sw $8, 16($29); sw $9, 20($29); syscall; addiu $29, $29, 32"

PSYS_INLINE long psys_call0(long nr)
{
	register long r2 __asm__("$2") = nr;
	register long r7 __asm__("$7");
	__asm__ volatile("syscall" : "+r"(r2), "=r"(r7) : : "$8", "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE long psys_call1(long nr, long a1)
{
	register long r2 __asm__("$2") = nr;
	register long r4 __asm__("$4") = a1;
	register long r7 __asm__("$7");
	__asm__ volatile("syscall" : "+r"(r2), "=r"(r7) : "r"(r4) : "$8", "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE long psys_call2(long nr, long a1, long a2)
{
	register long r2 __asm__("$2") = nr;
	register long r4 __asm__("$4") = a1;
	register long r5 __asm__("$5") = a2;
	register long r7 __asm__("$7");
	__asm__ volatile("syscall"
			 : "+r"(r2), "=r"(r7)
			 : "r"(r4), "r"(r5)
			 : "$8", "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE long psys_call3(long nr, long a1, long a2, long a3)
{
	register long r2 __asm__("$2") = nr;
	register long r4 __asm__("$4") = a1;
	register long r5 __asm__("$5") = a2;
	register long r6 __asm__("$6") = a3;
	register long r7 __asm__("$7");
	__asm__ volatile("syscall"
			 : "+r"(r2), "=r"(r7)
			 : "r"(r4), "r"(r5), "r"(r6)
			 : "$8", "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE long psys_call4(long nr, long a1, long a2, long a3, long a4)
{
	register long r2 __asm__("$2") = nr;
	register long r4 __asm__("$4") = a1;
	register long r5 __asm__("$5") = a2;
	register long r6 __asm__("$6") = a3;
	register long r7 __asm__("$7") = a4;
	__asm__ volatile("syscall"
			 : "+r"(r2), "+r"(r7)
			 : "r"(r4), "r"(r5), "r"(r6)
			 : "$8", "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

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
#undef PSYS_CLOBBERS
#undef PSYS_HI_LO

#endif /* PSYS_DECLARATIONS_ONLY */

#endif
