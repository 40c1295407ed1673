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

#define PSYS_TRAP "int $0x80"
#define PSYS_NUMBER(nr) register psys_word number __asm__("eax") = nr
#define PSYS_NUMBER_RESULT
#define PSYS_A1 "ebx"
#define PSYS_A2 "ecx"
#define PSYS_A3 "edx"
#define PSYS_A4 "esi"
#define PSYS_A5 "edi"
#define PSYS_CLOBBERS "memory"

#include "../shared/stubs.h"

#ifndef PSYS_DECLARATIONS_ONLY
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
