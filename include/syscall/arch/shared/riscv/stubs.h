/* SPDX-License-Identifier: MIT */
/*
 * riscv: the register-level stubs of 32 and of 64 bits (call.h says which
 * register is which).
 */
#ifndef PSYS_RISCV_STUBS_H
#define PSYS_RISCV_STUBS_H

#include <syscall/base.h>

#ifndef PSYS_DECLARATIONS_ONLY
/*
 * Clobbered vector registers. No macro shows if a function has vectors by an attribute, so they are
 * always listed, which costs a function without vectors nothing. Gcc knows their names since 13,
 * all since 14; clang 14 does not know the other vector state, but assumes that any asm changes it.
 */
#define PSYS_VECTORS                                                                            \
	"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", \
		"v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",    \
		"v25", "v26", "v27", "v28", "v29", "v30", "v31"
#if defined(__clang__) ? __clang_major__ >= 19 : __GNUC__ >= 14
#define PSYS_CLOBBERS "memory", "vl", "vtype", "vxrm", "vxsat", PSYS_VECTORS
#elif defined(__clang__)
#define PSYS_CLOBBERS "memory", PSYS_VECTORS
#elif __GNUC__ >= 13
#define PSYS_CLOBBERS "memory", "vl", "vtype", PSYS_VECTORS
#else
#define PSYS_CLOBBERS "memory"
#endif

PSYS_INLINE long psys_call0(long nr)
{
	register long x17 __asm__("a7") = nr;
	register long x10 __asm__("a0");
	__asm__ volatile("ecall" : "=r"(x10) : "r"(x17) : PSYS_CLOBBERS);
	return x10;
}

PSYS_INLINE long psys_call1(long nr, long a1)
{
	register long x17 __asm__("a7") = nr;
	register long x10 __asm__("a0") = a1;
	__asm__ volatile("ecall" : "+r"(x10) : "r"(x17) : PSYS_CLOBBERS);
	return x10;
}

PSYS_INLINE long psys_call2(long nr, long a1, long a2)
{
	register long x17 __asm__("a7") = nr;
	register long x10 __asm__("a0") = a1;
	register long x11 __asm__("a1") = a2;
	__asm__ volatile("ecall" : "+r"(x10) : "r"(x17), "r"(x11) : PSYS_CLOBBERS);
	return x10;
}

PSYS_INLINE long psys_call3(long nr, long a1, long a2, long a3)
{
	register long x17 __asm__("a7") = nr;
	register long x10 __asm__("a0") = a1;
	register long x11 __asm__("a1") = a2;
	register long x12 __asm__("a2") = a3;
	__asm__ volatile("ecall" : "+r"(x10) : "r"(x17), "r"(x11), "r"(x12) : PSYS_CLOBBERS);
	return x10;
}

PSYS_INLINE long psys_call4(long nr, long a1, long a2, long a3, long a4)
{
	register long x17 __asm__("a7") = nr;
	register long x10 __asm__("a0") = a1;
	register long x11 __asm__("a1") = a2;
	register long x12 __asm__("a2") = a3;
	register long x13 __asm__("a3") = a4;
	__asm__ volatile("ecall"
			 : "+r"(x10)
			 : "r"(x17), "r"(x11), "r"(x12), "r"(x13)
			 : PSYS_CLOBBERS);
	return x10;
}

PSYS_INLINE long psys_call5(long nr, long a1, long a2, long a3, long a4, long a5)
{
	register long x17 __asm__("a7") = nr;
	register long x10 __asm__("a0") = a1;
	register long x11 __asm__("a1") = a2;
	register long x12 __asm__("a2") = a3;
	register long x13 __asm__("a3") = a4;
	register long x14 __asm__("a4") = a5;
	__asm__ volatile("ecall"
			 : "+r"(x10)
			 : "r"(x17), "r"(x11), "r"(x12), "r"(x13), "r"(x14)
			 : PSYS_CLOBBERS);
	return x10;
}

PSYS_INLINE long psys_call6(long nr, long a1, long a2, long a3, long a4, long a5, long a6)
{
	register long x17 __asm__("a7") = nr;
	register long x10 __asm__("a0") = a1;
	register long x11 __asm__("a1") = a2;
	register long x12 __asm__("a2") = a3;
	register long x13 __asm__("a3") = a4;
	register long x14 __asm__("a4") = a5;
	register long x15 __asm__("a5") = a6;
	__asm__ volatile("ecall"
			 : "+r"(x10)
			 : "r"(x17), "r"(x11), "r"(x12), "r"(x13), "r"(x14), "r"(x15)
			 : PSYS_CLOBBERS);
	return x10;
}

#undef PSYS_VECTORS
#undef PSYS_CLOBBERS

#endif /* PSYS_DECLARATIONS_ONLY */

#endif
