/*
 * mips64, the n32 ABI, both byte orders: pointers and long of 32 bits, registers
 * of 64
 *
 * number: v0 ($2)   arguments: a0 to a5 ($4 to $9)
 * result: v0; an error if a3 ($7) is not zero, as a positive number
 * clobbered: at v1 t0 to t3 t8 t9 ($1 $3 $10 to $15 $24 $25), hi, lo
 * man 2 syscall; arch/mips/kernel/scall64-n32.S
 */
#ifndef PSYS_MIPSN32_CALL_H
#define PSYS_MIPSN32_CALL_H

#include "../mips/family.h"
#include "numbers.h"

#define PSYS_IPC_64 0x100 /* kernel/syscalls/syscall_n*.tbl: sys_old_semctl */

typedef long long psys_word;

/*
 * 32 bits are kept with their sign above them, whatever their type; 64 bits stay
 * what they are. (A cast of a pointer to another size is an error to some C
 * compilers, even where it is not taken.)
 */
#ifdef __cplusplus
#define PSYS_WORD(argument)                                       \
	(sizeof(argument) > sizeof(long) ? (psys_word)(argument) : \
					   (psys_word)(long)(argument))
#else
#define PSYS_WORD(argument)                                              \
	((psys_word)__builtin_choose_expr(sizeof(argument) > sizeof(long), \
					  argument, (long)(argument)))
#endif

#define PSYS_CLOBBERS \
	"$1", "$3", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25", "hi", "lo", "memory"

PSYS_INLINE psys_word psys_call0(psys_word nr)
{
	register psys_word r2 __asm__("$2") = nr;
	register psys_word r7 __asm__("$7");
	__asm__ volatile("syscall"
			 : "+r"(r2), "=r"(r7)
			 :
			 : "$8", "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE psys_word psys_call1(psys_word nr, psys_word a1)
{
	register psys_word r2 __asm__("$2") = nr;
	register psys_word r4 __asm__("$4") = a1;
	register psys_word r7 __asm__("$7");
	__asm__ volatile("syscall"
			 : "+r"(r2), "=r"(r7)
			 : "r"(r4)
			 : "$8", "$9", PSYS_CLOBBERS);
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

#undef PSYS_CLOBBERS

#endif
