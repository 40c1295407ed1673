/* SPDX-License-Identifier: MIT */
/*
 * i386
 *
 * number: eax   arguments: ebx ecx edx esi edi ebp   result: eax, -errno on error
 * clobbered: nothing else
 * man 2 syscall; arch/x86/entry/entry_64_compat.S, entry_INT80_compat; entry_32.S
 * A 64-bit argument takes two registers, low half first (sys_ia32_pread64 of
 * entry/syscalls/syscall_32.tbl).
 */
#ifndef PSYS_I386_CALL_H
#define PSYS_I386_CALL_H

#include "layout.h"
#include "numbers.h"

#ifndef PSYS_DECLARATIONS_ONLY
PSYS_INLINE long psys_call0(long nr)
{
	long result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(nr) : "memory");
	return result;
}

PSYS_INLINE long psys_call1(long nr, long a1)
{
	long result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(nr), "b"(a1) : "memory");
	return result;
}

PSYS_INLINE long psys_call2(long nr, long a1, long a2)
{
	long result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(nr), "b"(a1), "c"(a2) : "memory");
	return result;
}

PSYS_INLINE long psys_call3(long nr, long a1, long a2, long a3)
{
	long result;
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(nr), "b"(a1), "c"(a2), "d"(a3)
			 : "memory");
	return result;
}

PSYS_INLINE long psys_call4(long nr, long a1, long a2, long a3, long a4)
{
	long result;
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(nr), "b"(a1), "c"(a2), "d"(a3), "S"(a4)
			 : "memory");
	return result;
}

PSYS_INLINE long psys_call5(long nr, long a1, long a2, long a3, long a4, long a5)
{
	long result;
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(nr), "b"(a1), "c"(a2), "d"(a3), "S"(a4), "D"(a5)
			 : "memory");
	return result;
}

/*
 * ebp may be the frame pointer, which compilers do not allow as an operand, so it is saved on the
 * stack. No register is left for the sixth argument: it is a memory operand, and pushed first, as
 * it may be addressed by esp.
 */
PSYS_INLINE long psys_call6(long nr, long a1, long a2, long a3, long a4, long a5, long a6)
{
	long result;
	__asm__ volatile("pushl %7\n\t"
			 "pushl %%ebp\n\t"
			 "movl 4(%%esp), %%ebp\n\t"
			 "int $0x80\n\t"
			 "popl %%ebp\n\t"
			 "leal 4(%%esp), %%esp"
			 : "=a"(result)
			 : "a"(nr), "b"(a1), "c"(a2), "d"(a3), "S"(a4), "D"(a5), "m"(a6)
			 : "memory");
	return result;
}

#endif /* PSYS_DECLARATIONS_ONLY */

#endif
