/* SPDX-License-Identifier: MIT */
/*
 * mips64, n64 and n32: clone and clone3 with a function for the child to run on its new
 * stack (declared in include/syscall/clone.h). The child never returns through a
 * frame of its parent: it calls fn(arg) and exits with the result.
 *
 * fn is called through $25, where position-independent code expects its address.
 */
#if _MIPS_SIM == _ABI64
#define ADDIU daddiu
#define SUBU dsubu
#else
#define ADDIU addiu
#define SUBU subu
#endif

	.set	noreorder
	.text

/* long psys_clone_thunk(flags, stack, parent_tid, child_tid, tls, fn, arg)
 *                       a0     a1     a2          a3         a4   a5  a6 */
	.globl	psys_clone_thunk
	.type	psys_clone_thunk, @function
	.p2align 4
psys_clone_thunk:
	.cfi_startproc
	li	$12, -16
	and	$5, $5, $12
	ADDIU	$5, $5, -16
	sd	$9, 0($5)		/* keep fn and arg on the child's stack */
	sd	$10, 8($5)
	move	$12, $7			/* the kernel takes tls before child_tid */
	move	$7, $8
	move	$8, $12
	li	$2, PSYS_NR_clone
	syscall
	bne	$7, $0, 1f
	nop
	beq	$2, $0, 2f
	nop
	jr	$31
	nop
1:	jr	$31
	SUBU	$2, $0, $2
2:	.cfi_undefined $31		/* the outermost frame */
	move	$30, $0
	move	$31, $0
	ld	$25, 0($29)
	ld	$4, 8($29)
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
	ADDIU	$29, $29, -16
	.cfi_adjust_cfa_offset 16
	sd	$16, 0($29)		/* system calls preserve these: save the parent's */
	sd	$17, 8($29)
	.cfi_rel_offset 16, 0
	.cfi_rel_offset 17, 8
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
1:	SUBU	$2, $0, $2
3:	ld	$16, 0($29)
	ld	$17, 8($29)
	jr	$31
	ADDIU	$29, $29, 16
2:	.cfi_undefined $31		/* the outermost frame */
	move	$30, $0
	move	$31, $0
	li	$12, -16
	and	$29, $29, $12
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
