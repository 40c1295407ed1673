/* SPDX-License-Identifier: MIT */
/*
 * sh4: clone and clone3 with a function for the child to run on its new stack
 * (declared in include/syscall/clone.h). The child never returns through a frame
 * of its parent: it calls fn(arg) and exits with the result.
 *
 * A system call preserves all registers but r0.
 */
#include <syscall/arch/sh4/numbers.h>

	.text

	/* Five instructions without an effect follow: call.h */
	.macro	trap
	trapa	#0x1f
	.rept	5
	or	r0, r0
	.endr
	.endm

	/* in the child, with fn and arg in r1 and r4 */
	.macro	run
	.cfi_undefined pr		/* the outermost frame */
	mov	#0, r14
	jsr	@r1
	nop
	mov	r0, r4
	mov	#PSYS_NR_exit, r3
	trap
	.word	0xfffd			/* not an instruction */
	.endm

/* long psys_clone_thunk(flags, stack, parent_tid, child_tid, tls,    fn,      arg)
 *                       r4     r5     r6          r7         @(0,sp) @(4,sp)  @(8,sp) */
	.globl	psys_clone_thunk
	.type	psys_clone_thunk, @function
	.p2align 2
psys_clone_thunk:
	.cfi_startproc
	mov	#-16, r0
	and	r0, r5
	add	#-16, r5
	mov.l	@(4, r15), r0		/* keep fn and arg on the child's stack */
	mov.l	r0, @r5
	mov.l	@(8, r15), r0
	mov.l	r0, @(4, r5)
	mov.l	@r15, r0
	mov	#PSYS_NR_clone, r3
	trap
	tst	r0, r0
	bt	1f
	rts
	nop
1:	mov.l	@r15, r1
	mov.l	@(4, r15), r4
	run
	.cfi_endproc
	.size	psys_clone_thunk, . - psys_clone_thunk

/* long psys_clone3_thunk(args, size, fn, arg)
 *                        r4    r5    r6  r7 */
	.globl	psys_clone3_thunk
	.type	psys_clone3_thunk, @function
	.p2align 2
psys_clone3_thunk:
	.cfi_startproc
	mov.l	2f, r3
	trap
	tst	r0, r0
	bt	1f
	rts
	nop
1:	mov	#-16, r0
	and	r15, r0
	mov	r0, r15
	mov	r6, r1
	mov	r7, r4
	run
	.p2align 2
2:	.long	PSYS_NR_clone3
	.cfi_endproc
	.size	psys_clone3_thunk, . - psys_clone3_thunk

	.section .note.GNU-stack, "", @progbits
