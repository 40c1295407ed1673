/* SPDX-License-Identifier: MIT */
/*
 * mips o32: clone and clone3 with a function for the child to run on its new
 * stack (declared in include/syscall/clone.h). The child never returns through a
 * frame of its parent: it calls fn(arg) and exits with the result.
 *
 * fn is called through $25, where position-independent code expects its address.
 */
#include <syscall/arch/mips/numbers.h>

	.set	noreorder
	.text

/* long psys_clone_thunk(flags, stack, parent_tid, child_tid, tls, fn, arg)
 *                       a0     a1     a2          a3         16(sp) 20(sp) 24(sp) */
	.globl	psys_clone_thunk
	.type	psys_clone_thunk, @function
	.p2align 4
psys_clone_thunk:
	.cfi_startproc
	lw	$8, 16($29)		/* tls: the kernel takes it before child_tid */
	lw	$9, 20($29)
	lw	$10, 24($29)
	addiu	$29, $29, -24
	.cfi_adjust_cfa_offset 24
	sw	$7, 16($29)
	move	$7, $8
	li	$8, -8
	and	$5, $5, $8
	addiu	$5, $5, -24		/* 16 bytes that fn owns, then fn and arg */
	sw	$9, 16($5)
	sw	$10, 20($5)
	li	$2, PSYS_NR_clone
	syscall
	bne	$7, $0, 1f
	nop
	beq	$2, $0, 2f
	nop
	jr	$31
	addiu	$29, $29, 24
1:	subu	$2, $0, $2
	jr	$31
	addiu	$29, $29, 24
2:	.cfi_undefined $31		/* the outermost frame */
	move	$30, $0
	move	$31, $0
	lw	$25, 16($29)
	lw	$4, 20($29)
	jalr	$25
	nop
	move	$4, $2
	li	$2, PSYS_NR_exit
	syscall
	break
	.cfi_endproc
	.size	psys_clone_thunk, . - psys_clone_thunk

/* long psys_clone3_thunk(args, size, fn, arg)
 *                        a0    a1    a2  a3 */
	.globl	psys_clone3_thunk
	.type	psys_clone3_thunk, @function
	.p2align 4
psys_clone3_thunk:
	.cfi_startproc
	addiu	$29, $29, -16
	.cfi_adjust_cfa_offset 16
	sw	$16, 0($29)		/* system calls preserve these: save the parent's */
	sw	$17, 4($29)
	.cfi_rel_offset 16, 0
	.cfi_rel_offset 17, 4
	move	$16, $6
	move	$17, $7
	li	$2, PSYS_NR_clone3
	syscall
	bne	$7, $0, 1f
	nop
	beq	$2, $0, 2f
	nop
	b	3f
	nop
1:	subu	$2, $0, $2
3:	lw	$16, 0($29)
	lw	$17, 4($29)
	jr	$31
	addiu	$29, $29, 16
2:	.cfi_undefined $31		/* the outermost frame */
	move	$30, $0
	move	$31, $0
	li	$8, -8
	and	$29, $29, $8
	addiu	$29, $29, -16		/* which fn owns */
	move	$25, $16
	move	$4, $17
	jalr	$25
	nop
	move	$4, $2
	li	$2, PSYS_NR_exit
	syscall
	break
	.cfi_endproc
	.size	psys_clone3_thunk, . - psys_clone3_thunk

	.section .note.GNU-stack, "", @progbits
