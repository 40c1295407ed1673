/* SPDX-License-Identifier: MIT */
/*
 * arm: clone and clone3 with a function for the child to run on its new stack
 * (declared in include/syscall/clone.h). The child never returns through a frame
 * of its parent: it calls fn(arg) and exits with the result.
 *
 * ARM code, also if everything else is Thumb: the linker turns a caller's bl into blx, and a
 * pointer call works in both modes. fn may be ARM or Thumb.
 */
#include <syscall/arch/arm/numbers.h>

	.syntax	unified
	.cfi_sections .debug_frame	/* .cantunwind is for the run-time unwinder */
	.text
	.arm

/* long psys_clone_thunk(flags, stack, parent_tid, child_tid, tls,  fn,    arg)
 *                       r0     r1     r2          r3         0(sp) 4(sp)  8(sp) */
	.globl	psys_clone_thunk
	.type	psys_clone_thunk, %function
	.p2align 2
psys_clone_thunk:
	.fnstart
	.cfi_startproc
	push	{r4, r5, r6, r7}
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset r4, 0
	.cfi_rel_offset r5, 4
	.cfi_rel_offset r6, 8
	.cfi_rel_offset r7, 12
	mov	r4, r3			/* the kernel takes tls before child_tid */
	ldr	r3, [sp, #16]
	ldr	r5, [sp, #20]
	ldr	r6, [sp, #24]
	bic	r1, r1, #15
	ldr	r7, =PSYS_NR_clone
	svc	#0
	cmp	r0, #0
	beq	1f
	.cfi_remember_state
	pop	{r4, r5, r6, r7}
	.cfi_adjust_cfa_offset -16
	.cfi_restore r4
	.cfi_restore r5
	.cfi_restore r6
	.cfi_restore r7
	bx	lr
1:	.cfi_restore_state
	.cfi_undefined lr		/* the outermost frame */
	mov	r7, #0			/* the frame pointer of Thumb code */
	mov	r11, #0			/* and of ARM code */
	mov	r0, r6
	mov	lr, #0
	blx	r5
	ldr	r7, =PSYS_NR_exit
	svc	#0
	udf	#0
	.cfi_endproc
	.cantunwind
	.fnend
	.size	psys_clone_thunk, . - psys_clone_thunk
	.ltorg

/* long psys_clone3_thunk(args, size, fn, arg)
 *                        r0    r1    r2  r3 */
	.globl	psys_clone3_thunk
	.type	psys_clone3_thunk, %function
	.p2align 2
psys_clone3_thunk:
	.fnstart
	.cfi_startproc
	push	{r7}
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset r7, 0
	ldr	r7, =PSYS_NR_clone3
	svc	#0
	cmp	r0, #0
	beq	1f
	.cfi_remember_state
	pop	{r7}
	.cfi_adjust_cfa_offset -4
	.cfi_restore r7
	bx	lr
1:	.cfi_restore_state
	.cfi_undefined lr		/* the outermost frame */
	mov	r7, #0
	mov	r11, #0
	mov	r0, r3
	mov	lr, #0
	blx	r2
	ldr	r7, =PSYS_NR_exit
	svc	#0
	udf	#0
	.cfi_endproc
	.cantunwind
	.fnend
	.size	psys_clone3_thunk, . - psys_clone3_thunk
	.ltorg

	.section .note.GNU-stack, "", %progbits
