/* SPDX-License-Identifier: MIT */
/*
 * powerpc: clone and clone3 with a function for the child to run on its new
 * stack (declared in include/syscall/clone.h). The child never returns through
 * a frame of its parent: it calls fn(arg) and exits with the result.
 *
 * r30 and r31, which system calls preserve, hold fn and arg. The parent's values of them are
 * saved in a frame, as this ABI has no red zone.
 */
#include <syscall/arch/powerpc/numbers.h>

	.text

	.macro	save
	stwu	1, -16(1)
	.cfi_adjust_cfa_offset 16
	stw	30, 8(1)
	stw	31, 12(1)
	.cfi_rel_offset 30, 8
	.cfi_rel_offset 31, 12
	.endm

	/* cr0 is the system call's: returns in the parent, goes on in the child */
	.macro	part
	bso	1f
	cmpwi	3, 0
	beq	3f
	b	2f
1:	neg	3, 3
2:	.cfi_remember_state
	lwz	30, 8(1)
	lwz	31, 12(1)
	addi	1, 1, 16
	.cfi_adjust_cfa_offset -16
	.cfi_restore 30
	.cfi_restore 31
	blr
3:	.cfi_restore_state
	.cfi_undefined lr		/* the outermost frame */
	.endm

	.macro	run
	mr	3, 31
	mtctr	30
	li	31, 0
	li	0, 0
	mtlr	0
	bctrl
	li	0, PSYS_NR_exit
	sc
	trap
	.endm

/* long psys_clone_thunk(flags, stack, parent_tid, child_tid, tls, fn, arg)
 *                       r3     r4     r5          r6         r7   r8  r9 */
	.globl	psys_clone_thunk
	.type	psys_clone_thunk, @function
	.p2align 4
psys_clone_thunk:
	.cfi_startproc
	save
	mr	30, 8
	mr	31, 9
	clrrwi	4, 4, 4
	li	0, 0
	stwu	0, -16(4)		/* a minimal frame, without back chain */
	mr	10, 6			/* the kernel takes tls before child_tid */
	mr	6, 7
	mr	7, 10
	li	0, PSYS_NR_clone
	sc
	part
	run
	.cfi_endproc
	.size	psys_clone_thunk, . - psys_clone_thunk

/* long psys_clone3_thunk(args, size, fn, arg)
 *                        r3    r4    r5  r6 */
	.globl	psys_clone3_thunk
	.type	psys_clone3_thunk, @function
	.p2align 4
psys_clone3_thunk:
	.cfi_startproc
	save
	mr	30, 5
	mr	31, 6
	li	0, PSYS_NR_clone3
	sc
	part
	li	0, 0
	stwu	0, -16(1)		/* a minimal frame, without back chain */
	run
	.cfi_endproc
	.size	psys_clone3_thunk, . - psys_clone3_thunk

	.section .note.GNU-stack, "", @progbits
