/* SPDX-License-Identifier: MIT */
/*
 * loongarch64: clone and clone3 with a function for the child to run on its new
 * stack (declared in include/syscall/clone.h). The child never returns through
 * a frame of its parent: it calls fn(arg) and exits with the result.
 */
#include <syscall/arch/loongarch64/numbers.h>

	.text

/* long psys_clone_thunk(flags, stack, parent_tid, child_tid, tls, fn, arg)
 *                       a0     a1     a2          a3         a4   a5  a6
 * The kernel takes the same order, and preserves all registers except a0 and t0 to t8. */
	.globl	psys_clone_thunk
	.type	psys_clone_thunk, @function
	.p2align 2
psys_clone_thunk:
	.cfi_startproc
	bstrins.d $a1, $zero, 3, 0	/* aligned to 16 bytes */
	ori	$a7, $zero, PSYS_NR_clone
	syscall	0
	beqz	$a0, 1f
	jr	$ra
1:	.cfi_undefined 1		/* ra: the outermost frame */
	move	$fp, $zero
	move	$ra, $zero
	move	$a0, $a6
	jirl	$ra, $a5, 0
	ori	$a7, $zero, PSYS_NR_exit
	syscall	0
	break	0
	.cfi_endproc
	.size	psys_clone_thunk, . - psys_clone_thunk

/* long psys_clone3_thunk(args, size, fn, arg)
 *                        a0    a1    a2  a3 */
	.globl	psys_clone3_thunk
	.type	psys_clone3_thunk, @function
	.p2align 2
psys_clone3_thunk:
	.cfi_startproc
	ori	$a7, $zero, PSYS_NR_clone3
	syscall	0
	beqz	$a0, 1f
	jr	$ra
1:	.cfi_undefined 1		/* ra: the outermost frame */
	move	$fp, $zero
	move	$ra, $zero
	move	$a0, $a3
	jirl	$ra, $a2, 0
	ori	$a7, $zero, PSYS_NR_exit
	syscall	0
	break	0
	.cfi_endproc
	.size	psys_clone3_thunk, . - psys_clone3_thunk

	.section .note.GNU-stack, "", @progbits
