/* SPDX-License-Identifier: MIT */
/*
 * s390x
 *
 * number: r1 (with svc 0)   arguments: r2 r3 r4 r5 r6 r7
 * result: r2, -errno on error
 * clobbered: the condition code
 * man 2 syscall; arch/s390/kernel/syscall.c, __do_syscall
 */
#ifndef PSYS_S390X_CALL_H
#define PSYS_S390X_CALL_H

#include "layout.h"
#include "numbers.h"

#ifndef PSYS_DECLARATIONS_ONLY
PSYS_INLINE long psys_call0(long nr)
{
	register long r1 __asm__("r1") = nr;
	register long r2 __asm__("r2");
	__asm__ volatile("svc 0" : "=r"(r2) : "r"(r1) : "cc", "memory");
	return r2;
}

PSYS_INLINE long psys_call1(long nr, long a1)
{
	register long r1 __asm__("r1") = nr;
	register long r2 __asm__("r2") = a1;
	__asm__ volatile("svc 0" : "+r"(r2) : "r"(r1) : "cc", "memory");
	return r2;
}

PSYS_INLINE long psys_call2(long nr, long a1, long a2)
{
	register long r1 __asm__("r1") = nr;
	register long r2 __asm__("r2") = a1;
	register long r3 __asm__("r3") = a2;
	__asm__ volatile("svc 0" : "+r"(r2) : "r"(r1), "r"(r3) : "cc", "memory");
	return r2;
}

PSYS_INLINE long psys_call3(long nr, long a1, long a2, long a3)
{
	register long r1 __asm__("r1") = nr;
	register long r2 __asm__("r2") = a1;
	register long r3 __asm__("r3") = a2;
	register long r4 __asm__("r4") = a3;
	__asm__ volatile("svc 0" : "+r"(r2) : "r"(r1), "r"(r3), "r"(r4) : "cc", "memory");
	return r2;
}

PSYS_INLINE long psys_call4(long nr, long a1, long a2, long a3, long a4)
{
	register long r1 __asm__("r1") = nr;
	register long r2 __asm__("r2") = a1;
	register long r3 __asm__("r3") = a2;
	register long r4 __asm__("r4") = a3;
	register long r5 __asm__("r5") = a4;
	__asm__ volatile("svc 0" : "+r"(r2) : "r"(r1), "r"(r3), "r"(r4), "r"(r5) : "cc", "memory");
	return r2;
}

PSYS_INLINE long psys_call5(long nr, long a1, long a2, long a3, long a4, long a5)
{
	register long r1 __asm__("r1") = nr;
	register long r2 __asm__("r2") = a1;
	register long r3 __asm__("r3") = a2;
	register long r4 __asm__("r4") = a3;
	register long r5 __asm__("r5") = a4;
	register long r6 __asm__("r6") = a5;
	__asm__ volatile("svc 0"
			 : "+r"(r2)
			 : "r"(r1), "r"(r3), "r"(r4), "r"(r5), "r"(r6)
			 : "cc", "memory");
	return r2;
}

PSYS_INLINE long psys_call6(long nr, long a1, long a2, long a3, long a4, long a5, long a6)
{
	register long r1 __asm__("r1") = nr;
	register long r2 __asm__("r2") = a1;
	register long r3 __asm__("r3") = a2;
	register long r4 __asm__("r4") = a3;
	register long r5 __asm__("r5") = a4;
	register long r6 __asm__("r6") = a5;
	register long r7 __asm__("r7") = a6;
	__asm__ volatile("svc 0"
			 : "+r"(r2)
			 : "r"(r1), "r"(r3), "r"(r4), "r"(r5), "r"(r6), "r"(r7)
			 : "cc", "memory");
	return r2;
}

/* mmap takes its arguments in memory, as old_mmap (arch/s390/kernel/syscall.c). */
#define PSYS_ARCH_MMAP
PSYS_INLINE void *psys_mmap(void *addr, size_t length, int protection, int flags, int fd,
			    int64_t offset)
{
	unsigned long arguments[6];

	arguments[0] = (unsigned long)addr;
	arguments[1] = length;
	arguments[2] = (unsigned long)protection;
	arguments[3] = (unsigned long)flags;
	arguments[4] = (unsigned long)fd;
	arguments[5] = (unsigned long)offset;
	return (void *)psys_call1(PSYS_NR_mmap, (long)arguments);
}

#endif /* PSYS_DECLARATIONS_ONLY */

#endif
