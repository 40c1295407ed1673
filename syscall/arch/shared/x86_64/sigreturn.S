/* SPDX-License-Identifier: MIT */
/*
 * x86_64 and x32: where a signal handler returns to (declared in include/syscall/signal.h).
 * The unwinder knows this sequence of instructions as a signal frame.
 */
	.text
	.globl	psys_restorer
	.type	psys_restorer, @function
	nop				/* an unwinder looks at the byte before */
psys_restorer:
	mov	$PSYS_NR_rt_sigreturn, %rax
	syscall
	ud2
	.size	psys_restorer, . - psys_restorer

	.section .note.GNU-stack, "", @progbits

#include "property.S"
