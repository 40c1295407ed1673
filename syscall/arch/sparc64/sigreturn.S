/* SPDX-License-Identifier: MIT */
/*
 * sparc64: where a signal handler returns to (declared in include/syscall/signal.h).
 * It is a return address as a call leaves one: a return goes 8 bytes beyond. The
 * unwinder knows the two instructions there as a signal frame.
 */
#include <syscall/arch/sparc64/numbers.h>

	.text
	.globl	psys_restorer
	.type	psys_restorer, @function
	.p2align 4
psys_restorer:
	nop
	nop
	mov	PSYS_NR_rt_sigreturn, %g1
	ta	0x6d
	unimp	0
	.size	psys_restorer, . - psys_restorer

	.section .note.GNU-stack, "", @progbits
