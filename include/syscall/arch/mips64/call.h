/*
 * mips64, the n64 ABI, both byte orders
 *
 * number: v0 ($2)   arguments: a0 to a5 ($4 to $9)
 * result: v0; an error if a3 ($7) is not zero, as a positive number
 * clobbered: at v1 t0 to t3 t8 t9 ($1 $3 $10 to $15 $24 $25), hi, lo
 * man 2 syscall; arch/mips/kernel/scall64-n64.S
 */
#ifndef PSYS_MIPS64_CALL_H
#define PSYS_MIPS64_CALL_H

#include "../mips/family.h"
#include "numbers.h"

#define PSYS_IPC_64 0x100 /* kernel/syscalls/syscall_n*.tbl: sys_old_semctl */

#define PSYS_CLOBBERS \
	"$1", "$3", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25", "hi", "lo", "memory"

PSYS_INLINE long psys_call0(long nr)
{
	register long r2 __asm__("$2") = nr;
	register long r7 __asm__("$7");
	__asm__ volatile("syscall"
			 : "+r"(r2), "=r"(r7)
			 :
			 : "$8", "$9", PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

PSYS_INLINE long psys_call1(long nr, long a1)
{
	register long r2 __asm__("$2") = nr;
	register long r4 __asm__("$4") = a1;
	register long r7 __asm__("$7");
	__asm__ volatile("syscall"
			 : "+r"(r2), "=r"(r7)
			 : "r"(r4)
			 : "$8", "$9", PSYS_CLOBBERS);
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
	__asm__ volatile("syscall"
			 : "+r"(r2), "+r"(r7)
			 : "r"(r4), "r"(r5), "r"(r6), "r"(r8)
			 : "$9", PSYS_CLOBBERS);
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
	__asm__ volatile("syscall"
			 : "+r"(r2), "+r"(r7)
			 : "r"(r4), "r"(r5), "r"(r6), "r"(r8), "r"(r9)
			 : PSYS_CLOBBERS);
	return r7 ? -r2 : r2;
}

#undef PSYS_CLOBBERS

#endif
