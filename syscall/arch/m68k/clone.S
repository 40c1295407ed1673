/* SPDX-License-Identifier: MIT */
/*
 * m68k: clone and clone3 with a function for the child to run on its new stack
 * (declared in include/syscall/clone.h). The child never returns through a frame
 * of its parent: it calls fn(arg) and exits with the result.
 *
 * a1, which system calls preserve, holds fn.
 */
#include <syscall/arch/m68k/numbers.h>

	.text

	/* in the child, whose stack pointer is at arg */
	.macro	run
	.cfi_undefined 24		/* pc: the outermost frame */
	suba.l	%a6, %a6
	jsr	(%a1)
	move.l	%d0, %d1
	move.l	#PSYS_NR_exit, %d0
	trap	#0
	illegal
	.endm

/* long psys_clone_thunk(flags, stack, parent_tid, child_tid, tls,   fn,    arg)
 *                       4(sp)  8(sp)  12(sp)      16(sp)     20(sp) 24(sp) 28(sp) */
	.globl	psys_clone_thunk
	.type	psys_clone_thunk, @function
	.p2align 2
psys_clone_thunk:
	.cfi_startproc
	movem.l	%d2-%d5, -(%sp)
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset %d2, 0
	.cfi_rel_offset %d3, 4
	.cfi_rel_offset %d4, 8
	.cfi_rel_offset %d5, 12
	move.l	20(%sp), %d1
	move.l	24(%sp), %d2
	and.l	#-16, %d2
	sub.l	#16, %d2
	move.l	%d2, %a0
	move.l	44(%sp), (%a0)		/* keep arg on the child's stack */
	move.l	28(%sp), %d3
	move.l	32(%sp), %d4
	move.l	36(%sp), %d5
	move.l	40(%sp), %a1
	move.l	#PSYS_NR_clone, %d0
	trap	#0
	tst.l	%d0
	jeq	1f
	.cfi_remember_state
	movem.l	(%sp)+, %d2-%d5
	.cfi_adjust_cfa_offset -16
	.cfi_restore %d2
	.cfi_restore %d3
	.cfi_restore %d4
	.cfi_restore %d5
	rts
1:	.cfi_restore_state
	run
	.cfi_endproc
	.size	psys_clone_thunk, . - psys_clone_thunk

/* long psys_clone3_thunk(args,  size,  fn,     arg)
 *                        4(sp)  8(sp)  12(sp)  16(sp) */
	.globl	psys_clone3_thunk
	.type	psys_clone3_thunk, @function
	.p2align 2
psys_clone3_thunk:
	.cfi_startproc
	move.l	%d2, -(%sp)
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset %d2, 0
	move.l	8(%sp), %d1
	move.l	12(%sp), %d2
	move.l	16(%sp), %a1
	move.l	20(%sp), %a0		/* preserved as well */
	move.l	#PSYS_NR_clone3, %d0
	trap	#0
	tst.l	%d0
	jeq	1f
	.cfi_remember_state
	move.l	(%sp)+, %d2
	.cfi_adjust_cfa_offset -4
	.cfi_restore %d2
	rts
1:	.cfi_restore_state
	lea	-12(%sp), %sp
	move.l	%a0, -(%sp)
	run
	.cfi_endproc
	.size	psys_clone3_thunk, . - psys_clone3_thunk

	.section .note.GNU-stack, "", @progbits
