/*
 * x32: pointers and long of 32 bits, registers and the kernel's long of 64
 *
 * number: rax, with bit 30 set   arguments: rdi rsi rdx r10 r8 r9
 * result: rax, -errno on error
 * clobbered: rcx (holds the return address) and r11 (holds rflags)
 * System V ABI, AMD64 supplement, appendix A.2.1 and chapter "ILP32 Programming
 * Model"; arch/x86/entry/syscall_64.c, do_syscall_x32
 */
#ifndef PSYS_X32_CALL_H
#define PSYS_X32_CALL_H

#include "layout.h"
#include "numbers.h"

typedef long long psys_word;

/*
 * A pointer, a size and a flag word get zeros above them. So does an int, of
 * which the kernel takes the lower half. 64 bits stay what they are. (A cast of
 * a pointer to another size is an error to some C compilers, even where it is
 * not taken.)
 */
#ifdef __cplusplus
#define PSYS_WORD(argument)                                             \
	(sizeof(argument) > sizeof(long) ? (psys_word)(argument) :       \
					   (psys_word)(unsigned long)(argument))
#else
#define PSYS_WORD(argument)                                              \
	((psys_word)__builtin_choose_expr(sizeof(argument) > sizeof(long), \
					  argument, (unsigned long)(argument)))
#endif

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

#endif
