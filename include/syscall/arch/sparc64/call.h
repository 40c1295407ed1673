/* SPDX-License-Identifier: MIT */
/*
 * sparc64, the V9 ABI
 *
 * number: g1 (with ta 0x6d)   arguments: o0 o1 o2 o3 o4 o5
 * result: o0; an error if the carry bit of xcc is set, as a positive number
 * clobbered: g1, o1 (some calls have a second result), the condition codes, the
 * floating-point registers
 * man 2 syscall; arch/sparc/kernel/{syscalls.S,signal_64.c}
 */
#ifndef PSYS_SPARC64_CALL_H
#define PSYS_SPARC64_CALL_H

#include <syscall/base.h>

#include "layout.h"
#include "numbers.h"

/*
 * Negates the result after an error. The asm itself loads g1: in frames of more than 4 KiB clang
 * uses g1 as its scratch register even right before an asm that has an operand in g1.
 */
#define PSYS_TRAP \
	"mov %[number], %%g1; ta 0x6d; sub %%g0, %[result], %%g1; movcs %%xcc, %%g1, %[result]"
#define PSYS_CLOBBERS                                                                           \
	"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12", "f13", \
		"f14", "f15", "f16", "f17", "f18", "f19", "f20", "f21", "f22", "f23", "f24",    \
		"f25", "f26", "f27", "f28", "f29", "f30", "f31", "f32", "f34", "f36", "f38",    \
		"f40", "f42", "f44", "f46", "f48", "f50", "f52", "f54", "f56", "f58", "f60",    \
		"f62", "g1", "cc", "memory"

#ifndef PSYS_DECLARATIONS_ONLY
/* The child's results are its parent's pid and 1, the parent's the child's pid and 0
 * (arch/sparc/kernel/process_64.c, copy_thread). */
#define PSYS_ARCH_CLONE
PSYS_INLINE int psys_clone(unsigned long flags, void *stack, int *parent_tid, int *child_tid,
			   void *tls)
{
	const long nr = PSYS_NR_clone;
	register long o0 __asm__("o0") = (long)flags;
	register long o1 __asm__("o1") = (long)stack;
	register long o2 __asm__("o2") = (long)parent_tid;
	register long o3 __asm__("o3") = (long)tls;
	register long o4 __asm__("o4") = (long)child_tid;
	__asm__ volatile(PSYS_TRAP
			 : [result] "+r"(o0), "+r"(o1)
			 : [number] "r"(nr), "r"(o2), "r"(o3), "r"(o4)
			 : PSYS_CLOBBERS);
	return o0 < 0 || !o1 ? (int)o0 : 0;
}

#endif /* PSYS_DECLARATIONS_ONLY */

#define PSYS_NUMBER(nr) const long number = nr
#define PSYS_NUMBER_IN "r"
#define PSYS_A1 "o0"
#define PSYS_A2 "o1"
#define PSYS_A3 "o2"
#define PSYS_A4 "o3"
#define PSYS_A5 "o4"
#define PSYS_A6 "o5"
#define PSYS_A2_CHANGES

#include "../shared/stubs.h"

#endif
