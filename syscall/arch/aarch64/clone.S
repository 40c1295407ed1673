/* SPDX-License-Identifier: MIT */
/*
 * aarch64: clone and clone3 with a function for the child to run on its new
 * stack (declared in include/syscall/clone.h). The child never returns through
 * a frame of its parent: it calls fn(arg) and exits with the result.
 */
#include <syscall/arch/aarch64/numbers.h>

	.text

/* long psys_clone_thunk(flags, stack, parent_tid, child_tid, tls, fn, arg)
 *                       x0     x1     x2          x3         x4   x5  x6 */
	.globl	psys_clone_thunk
	.type	psys_clone_thunk, %function
	.p2align 4
psys_clone_thunk:
	.cfi_startproc
	hint	#34			/* bti c */
	and	x1, x1, #-16
	mov	x9, x3			/* the kernel takes tls before child_tid */
	mov	x3, x4
	mov	x4, x9
	mov	x8, #PSYS_NR_clone
	svc	#0
	cbz	x0, 1f
	ret
1:	.cfi_undefined x30		/* the outermost frame */
	mov	x29, #0
	mov	x30, #0
	mov	x0, x6
	blr	x5
	mov	x8, #PSYS_NR_exit
	svc	#0
	brk	#0
	.cfi_endproc
	.size	psys_clone_thunk, . - psys_clone_thunk

/* long psys_clone3_thunk(args, size, fn, arg)
 *                        x0    x1    x2  x3 */
	.globl	psys_clone3_thunk
	.type	psys_clone3_thunk, %function
	.p2align 4
psys_clone3_thunk:
	.cfi_startproc
	hint	#34			/* bti c */
	mov	x8, #PSYS_NR_clone3
	svc	#0
	cbz	x0, 1f
	ret
1:	.cfi_undefined x30		/* the outermost frame */
	mov	x29, #0
	mov	x30, #0
	mov	x0, x3
	blr	x2
	mov	x8, #PSYS_NR_exit
	svc	#0
	brk	#0
	.cfi_endproc
	.size	psys_clone3_thunk, . - psys_clone3_thunk

	.section .note.GNU-stack, "", %progbits

/* BTI, PAC and GCS: every indirect call lands on bti c, no return address is left
 * unsigned on a stack, every return matches its call. (ELF for the Arm 64-bit
 * Architecture, "Program Property") */
	.section .note.gnu.property, "a"
	.p2align 3
	.long	4, 16, 5		/* sizes of name and data, NT_GNU_PROPERTY_TYPE_0 */
	.asciz	"GNU"
	.long	0xc0000000, 4, 7, 0	/* GNU_PROPERTY_AARCH64_FEATURE_1_AND: BTI | PAC | GCS */
