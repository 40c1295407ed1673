/* SPDX-License-Identifier: MIT */
/*
 * s390x: clone and clone3 with a function for the child to run on its new stack
 * (declared in include/syscall/clone.h). The child never returns through a frame
 * of its parent: it calls fn(arg) and exits with the result.
 *
 * A function may save registers in the 160 bytes above its stack pointer, which its caller has
 * reserved.
 */
#include <syscall/arch/s390x/numbers.h>

	.text

/* long psys_clone_thunk(flags, stack, parent_tid, child_tid, tls, fn, arg)
 *                       r2     r3     r4          r5         r6   160(r15) 168(r15) */
	.globl	psys_clone_thunk
	.type	psys_clone_thunk, @function
	.p2align 4
psys_clone_thunk:
	.cfi_startproc
	lg	%r0, 160(%r15)
	lg	%r1, 168(%r15)
	nill	%r3, 0xfff8
	aghi	%r3, -176
	xc	0(8, %r3), 0(%r3)	/* back chain: no caller */
	stg	%r0, 160(%r3)		/* keep fn and arg on the child's stack */
	stg	%r1, 168(%r3)
	lgr	%r0, %r2		/* the kernel takes stack before flags */
	lgr	%r2, %r3
	lgr	%r3, %r0
	lghi	%r1, PSYS_NR_clone
	svc	0
	ltgr	%r2, %r2
	jz	1f
	br	%r14
1:	.cfi_undefined %r14		/* the outermost frame */
	lghi	%r11, 0
	lghi	%r14, 0
	lg	%r1, 160(%r15)
	lg	%r2, 168(%r15)
	basr	%r14, %r1
	lghi	%r1, PSYS_NR_exit
	svc	0
	.word	0			/* an invalid instruction */
	.cfi_endproc
	.size	psys_clone_thunk, . - psys_clone_thunk

/* long psys_clone3_thunk(args, size, fn, arg)
 *                        r2    r3    r4  r5 */
	.globl	psys_clone3_thunk
	.type	psys_clone3_thunk, @function
	.p2align 4
psys_clone3_thunk:
	.cfi_startproc
	lghi	%r1, PSYS_NR_clone3
	svc	0
	ltgr	%r2, %r2
	jz	1f
	br	%r14
1:	.cfi_undefined %r14		/* the outermost frame */
	nill	%r15, 0xfff8
	aghi	%r15, -160
	xc	0(8, %r15), 0(%r15)
	lghi	%r11, 0
	lghi	%r14, 0
	lgr	%r2, %r5
	basr	%r14, %r4
	lghi	%r1, PSYS_NR_exit
	svc	0
	.word	0			/* an invalid instruction */
	.cfi_endproc
	.size	psys_clone3_thunk, . - psys_clone3_thunk

	.section .note.GNU-stack, "", @progbits
