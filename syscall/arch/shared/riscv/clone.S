/* SPDX-License-Identifier: MIT */
/*
 * riscv, 32 and 64 bits: clone and clone3 with a function for the child to run
 * on its new stack (declared in include/syscall/clone.h). The child never
 * returns through a frame of its parent: it calls fn(arg) and exits with the
 * result.
 */
	.text

/* long psys_clone_thunk(flags, stack, parent_tid, child_tid, tls, fn, arg)
 *                       a0     a1     a2          a3         a4   a5  a6 */
	.globl	psys_clone_thunk
	.type	psys_clone_thunk, @function
	.p2align 2
psys_clone_thunk:
	.cfi_startproc
	andi	a1, a1, -16
	mv	t0, a3			/* the kernel takes tls before child_tid */
	mv	a3, a4
	mv	a4, t0
	li	a7, PSYS_NR_clone
	ecall
	beqz	a0, 1f
	ret
1:	.cfi_undefined ra		/* the outermost frame */
	li	s0, 0
	li	ra, 0
	mv	a0, a6
	jalr	a5
	li	a7, PSYS_NR_exit
	ecall
	unimp
	.cfi_endproc
	.size	psys_clone_thunk, . - psys_clone_thunk

/* long psys_clone3_thunk(args, size, fn, arg)
 *                        a0    a1    a2  a3 */
	.globl	psys_clone3_thunk
	.type	psys_clone3_thunk, @function
	.p2align 2
psys_clone3_thunk:
	.cfi_startproc
	li	a7, PSYS_NR_clone3
	ecall
	beqz	a0, 1f
	ret
1:	.cfi_undefined ra		/* the outermost frame */
	li	s0, 0
	li	ra, 0
	mv	a0, a3
	jalr	a2
	li	a7, PSYS_NR_exit
	ecall
	unimp
	.cfi_endproc
	.size	psys_clone3_thunk, . - psys_clone3_thunk

	.section .note.GNU-stack, "", @progbits
