/* SPDX-License-Identifier: MIT */
/*
 * mips, all three ABIs: clone and clone3 with a function for the child to run on its new
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
#if _MIPS_SIM == _ABIO32
#define LOAD lw
#define STORE sw
#define WORD 4
#define ALIGNMENT 8
#define OWNED 16		/* bytes of its caller's frame that a function owns */
#define FRAME 24		/* OWNED, the fifth argument, alignment */
#else
#define LOAD ld
#define STORE sd
#define WORD 8
#define ALIGNMENT 16
#define OWNED 0
#define FRAME 0
#endif

	.set	noreorder
	.text

/* long psys_clone_thunk(flags, stack, parent_tid, child_tid, tls,    fn,     arg)
 *                       a0     a1     a2          a3         a4      a5      a6
 * o32:                                                       16(sp)  20(sp)  24(sp) */
	.globl	psys_clone_thunk
	.type	psys_clone_thunk, @function
	.p2align 4
psys_clone_thunk:
	.cfi_startproc
	/* the kernel takes tls before child_tid */
#if _MIPS_SIM == _ABIO32
	lw	$8, 16($29)
	lw	$9, 20($29)
	lw	$10, 24($29)
	addiu	$29, $29, -FRAME
	.cfi_adjust_cfa_offset FRAME
	sw	$7, 16($29)
	move	$7, $8
#else
	move	$12, $7
	move	$7, $8
	move	$8, $12
#endif
	li	$12, -ALIGNMENT
	and	$5, $5, $12
	ADDIU	$5, $5, -(OWNED + 2 * WORD)
	STORE	$9, OWNED($5)		/* keep fn and arg on the child's stack */
	STORE	$10, OWNED + WORD($5)
	li	$2, PSYS_NR_clone
	syscall
	bne	$7, $0, 1f
	nop
	beq	$2, $0, 2f
	nop
	jr	$31
	ADDIU	$29, $29, FRAME
1:	SUBU	$2, $0, $2
	jr	$31
	ADDIU	$29, $29, FRAME
2:	.cfi_undefined $31		/* the outermost frame */
	move	$30, $0
	move	$31, $0
	LOAD	$25, OWNED($29)
	LOAD	$4, OWNED + WORD($29)
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
	STORE	$16, 0($29)		/* system calls preserve these: save the parent's */
	STORE	$17, WORD($29)
	.cfi_rel_offset 16, 0
	.cfi_rel_offset 17, WORD
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
3:	LOAD	$16, 0($29)
	LOAD	$17, WORD($29)
	jr	$31
	ADDIU	$29, $29, 16
2:	.cfi_undefined $31		/* the outermost frame */
	move	$30, $0
	move	$31, $0
	li	$12, -ALIGNMENT
	and	$29, $29, $12
#if _MIPS_SIM == _ABIO32
	addiu	$29, $29, -OWNED
#endif
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
