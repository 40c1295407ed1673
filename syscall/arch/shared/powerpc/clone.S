/* SPDX-License-Identifier: MIT */
/*
 * powerpc, 32 and 64 bits: clone and clone3 with a function for the child to run on its new
 * stack (declared in include/syscall/clone.h). The child never returns through
 * a frame of its parent: it calls fn(arg) and exits with the result.
 *
 * r30 and r31, which system calls preserve, hold fn and arg. The parent's values of them are saved
 * with 64 bits below its stack pointer, in the 288 bytes of the red zone, and with 32 bits in a
 * frame, as that ABI has no red zone.
 */
#ifdef __powerpc64__
#define COMPARE cmpdi
#define CLEAR_RIGHT clrrdi
#define PUSH stdu
#define FRAME 32
	.abiversion 2

	.macro	save
	std	30, -16(1)
	std	31, -8(1)
	.cfi_offset 30, -16
	.cfi_offset 31, -8
	.endm

	.macro	restore
	ld	30, -16(1)
	ld	31, -8(1)
	.endm
#else
#define COMPARE cmpwi
#define CLEAR_RIGHT clrrwi
#define PUSH stwu
#define FRAME 16

	.macro	save
	stwu	1, -16(1)
	.cfi_adjust_cfa_offset 16
	stw	30, 8(1)
	stw	31, 12(1)
	.cfi_rel_offset 30, 8
	.cfi_rel_offset 31, 12
	.endm

	.macro	restore
	lwz	30, 8(1)
	lwz	31, 12(1)
	addi	1, 1, 16
	.cfi_adjust_cfa_offset -16
	.cfi_restore 30
	.cfi_restore 31
	.endm
#endif

	/* cr0 is the system call's: returns in the parent, goes on in the child */
	.macro	part
	bso	1f
	COMPARE	3, 0
	beq	3f
	b	2f
1:	neg	3, 3
2:	.cfi_remember_state
	restore
	blr
3:	.cfi_restore_state
	.cfi_undefined lr		/* the outermost frame */
	.endm

	.macro	run
	mr	3, 31
#ifdef __powerpc64__
	mr	12, 30
#endif
	mtctr	30
	li	31, 0
	li	0, 0
	mtlr	0
	bctrl
	li	0, PSYS_NR_exit
	sc
	trap
	.endm

	.text

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
	CLEAR_RIGHT 4, 4, 4
	li	0, 0
	PUSH	0, -FRAME(4)		/* a minimal frame, without back chain */
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
	PUSH	0, -FRAME(1)		/* a minimal frame, without back chain */
	run
	.cfi_endproc
	.size	psys_clone3_thunk, . - psys_clone3_thunk

	.section .note.GNU-stack, "", @progbits
