/* SPDX-License-Identifier: MIT */
/*
 * loongarch64
 *
 * number: a7   arguments: a0 a1 a2 a3 a4 a5   result: a0, -errno on error
 * clobbered: t0 to t8
 * man 2 syscall; arch/loongarch/kernel/entry.S, handle_syscall, which does not
 * save them
 */
#ifndef PSYS_LOONGARCH64_CALL_H
#define PSYS_LOONGARCH64_CALL_H

#include "layout.h"
#include "numbers.h"

#ifndef PSYS_DECLARATIONS_ONLY
#define PSYS_CLOBBERS "$t0", "$t1", "$t2", "$t3", "$t4", "$t5", "$t6", "$t7", "$t8", "memory"

PSYS_INLINE long psys_call0(long nr)
{
	register long r11 __asm__("a7") = nr;
	register long r4 __asm__("a0");
	__asm__ volatile("syscall 0" : "=r"(r4) : "r"(r11) : PSYS_CLOBBERS);
	return r4;
}

PSYS_INLINE long psys_call1(long nr, long a1)
{
	register long r11 __asm__("a7") = nr;
	register long r4 __asm__("a0") = a1;
	__asm__ volatile("syscall 0" : "+r"(r4) : "r"(r11) : PSYS_CLOBBERS);
	return r4;
}

PSYS_INLINE long psys_call2(long nr, long a1, long a2)
{
	register long r11 __asm__("a7") = nr;
	register long r4 __asm__("a0") = a1;
	register long r5 __asm__("a1") = a2;
	__asm__ volatile("syscall 0" : "+r"(r4) : "r"(r11), "r"(r5) : PSYS_CLOBBERS);
	return r4;
}

PSYS_INLINE long psys_call3(long nr, long a1, long a2, long a3)
{
	register long r11 __asm__("a7") = nr;
	register long r4 __asm__("a0") = a1;
	register long r5 __asm__("a1") = a2;
	register long r6 __asm__("a2") = a3;
	__asm__ volatile("syscall 0" : "+r"(r4) : "r"(r11), "r"(r5), "r"(r6) : PSYS_CLOBBERS);
	return r4;
}

PSYS_INLINE long psys_call4(long nr, long a1, long a2, long a3, long a4)
{
	register long r11 __asm__("a7") = nr;
	register long r4 __asm__("a0") = a1;
	register long r5 __asm__("a1") = a2;
	register long r6 __asm__("a2") = a3;
	register long r7 __asm__("a3") = a4;
	__asm__ volatile("syscall 0"
			 : "+r"(r4)
			 : "r"(r11), "r"(r5), "r"(r6), "r"(r7)
			 : PSYS_CLOBBERS);
	return r4;
}

PSYS_INLINE long psys_call5(long nr, long a1, long a2, long a3, long a4, long a5)
{
	register long r11 __asm__("a7") = nr;
	register long r4 __asm__("a0") = a1;
	register long r5 __asm__("a1") = a2;
	register long r6 __asm__("a2") = a3;
	register long r7 __asm__("a3") = a4;
	register long r8 __asm__("a4") = a5;
	__asm__ volatile("syscall 0"
			 : "+r"(r4)
			 : "r"(r11), "r"(r5), "r"(r6), "r"(r7), "r"(r8)
			 : PSYS_CLOBBERS);
	return r4;
}

PSYS_INLINE long psys_call6(long nr, long a1, long a2, long a3, long a4, long a5, long a6)
{
	register long r11 __asm__("a7") = nr;
	register long r4 __asm__("a0") = a1;
	register long r5 __asm__("a1") = a2;
	register long r6 __asm__("a2") = a3;
	register long r7 __asm__("a3") = a4;
	register long r8 __asm__("a4") = a5;
	register long r9 __asm__("a5") = a6;
	__asm__ volatile("syscall 0"
			 : "+r"(r4)
			 : "r"(r11), "r"(r5), "r"(r6), "r"(r7), "r"(r8), "r"(r9)
			 : PSYS_CLOBBERS);
	return r4;
}

#undef PSYS_CLOBBERS

#endif /* PSYS_DECLARATIONS_ONLY */

#endif
