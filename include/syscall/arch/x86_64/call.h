/*
 * x86_64
 *
 * number: rax   arguments: rdi rsi rdx r10 r8 r9   result: rax, -errno on error
 * clobbered: rcx (holds the return address) and r11 (holds rflags)
 * System V ABI, AMD64 supplement, appendix A.2.1; arch/x86/entry/entry_64.S
 */
#ifndef PSYS_X86_64_CALL_H
#define PSYS_X86_64_CALL_H

#include "layout.h"
#include "numbers.h"

PSYS_INLINE long psys_call0(long nr)
{
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(nr) : "rcx", "r11", "memory");
	return result;
}

PSYS_INLINE long psys_call1(long nr, long a1)
{
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(nr), "D"(a1) : "rcx", "r11", "memory");
	return result;
}

PSYS_INLINE long psys_call2(long nr, long a1, long a2)
{
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a1), "S"(a2)
			 : "rcx", "r11", "memory");
	return result;
}

PSYS_INLINE long psys_call3(long nr, long a1, long a2, long a3)
{
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a1), "S"(a2), "d"(a3)
			 : "rcx", "r11", "memory");
	return result;
}

PSYS_INLINE long psys_call4(long nr, long a1, long a2, long a3, long a4)
{
	long result;
	register long r10 __asm__("r10") = a4;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a1), "S"(a2), "d"(a3), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

PSYS_INLINE long psys_call5(long nr, long a1, long a2, long a3, long a4, long a5)
{
	long result;
	register long r10 __asm__("r10") = a4;
	register long r8 __asm__("r8") = a5;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a1), "S"(a2), "d"(a3), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

PSYS_INLINE long psys_call6(long nr, long a1, long a2, long a3, long a4, long a5, long a6)
{
	long result;
	register long r10 __asm__("r10") = a4;
	register long r8 __asm__("r8") = a5;
	register long r9 __asm__("r9") = a6;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a1), "S"(a2), "d"(a3), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#endif
