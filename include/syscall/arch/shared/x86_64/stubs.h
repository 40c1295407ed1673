/* SPDX-License-Identifier: MIT */
/*
 * x86_64 with pointers of 64 and of 32 bits: the register-level stubs (call.h says which
 * register is which).
 */
#ifndef PSYS_X86_64_STUBS_H
#define PSYS_X86_64_STUBS_H

#include "../word.h"

#ifndef PSYS_DECLARATIONS_ONLY
PSYS_INLINE psys_word psys_call0(psys_word nr)
{
	psys_word result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(nr) : "rcx", "r11", "memory");
	return result;
}

PSYS_INLINE psys_word psys_call1(psys_word nr, psys_word a1)
{
	psys_word result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(nr), "D"(a1) : "rcx", "r11", "memory");
	return result;
}

PSYS_INLINE psys_word psys_call2(psys_word nr, psys_word a1, psys_word a2)
{
	psys_word result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a1), "S"(a2)
			 : "rcx", "r11", "memory");
	return result;
}

PSYS_INLINE psys_word psys_call3(psys_word nr, psys_word a1, psys_word a2, psys_word a3)
{
	psys_word result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a1), "S"(a2), "d"(a3)
			 : "rcx", "r11", "memory");
	return result;
}

PSYS_INLINE psys_word psys_call4(psys_word nr, psys_word a1, psys_word a2, psys_word a3,
				 psys_word a4)
{
	psys_word result;
	register psys_word r10 __asm__("r10") = a4;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a1), "S"(a2), "d"(a3), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

PSYS_INLINE psys_word psys_call5(psys_word nr, psys_word a1, psys_word a2, psys_word a3,
				 psys_word a4, psys_word a5)
{
	psys_word result;
	register psys_word r10 __asm__("r10") = a4;
	register psys_word r8 __asm__("r8") = a5;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a1), "S"(a2), "d"(a3), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

PSYS_INLINE psys_word psys_call6(psys_word nr, psys_word a1, psys_word a2, psys_word a3,
				 psys_word a4, psys_word a5, psys_word a6)
{
	psys_word result;
	register psys_word r10 __asm__("r10") = a4;
	register psys_word r8 __asm__("r8") = a5;
	register psys_word r9 __asm__("r9") = a6;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a1), "S"(a2), "d"(a3), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#endif /* PSYS_DECLARATIONS_ONLY */

#endif
