/* SPDX-License-Identifier: MIT */
/*
 * x86_64 and x32: clone and clone3 with a function for the child to run on its new
 * stack (declared in include/syscall/clone.h). The child never returns through
 * a frame of its parent: it calls fn(arg) and exits with the result. On x32 the upper half of a
 * register is zero for a pointer, undefined for other words.
 */
/* Registers for pointers and longs: a move of the 32-bit half clears the upper half. */
#ifdef __ILP32__
#define AX %eax
#define CX %ecx
#define DI %edi
#define SI %esi
#define R8 %r8d
#define R10 %r10d
#else
#define AX %rax
#define CX %rcx
#define DI %rdi
#define SI %rsi
#define R8 %r8
#define R10 %r10
#endif

	.text

/* long psys_clone_thunk(flags, stack, parent_tid, child_tid, tls, fn, arg)
 *                       rdi    rsi    rdx         rcx        r8   r9  8(rsp) */
	.globl	psys_clone_thunk
	.type	psys_clone_thunk, @function
	.p2align 4
psys_clone_thunk:
	.cfi_startproc
	endbr64
	mov	8(%rsp), AX
	and	$-16, SI
	sub	$16, SI
	mov	%rax, (%rsi)		/* keep arg on the child's stack */
#ifdef __ILP32__
	mov	%edi, %edi
#endif
	mov	CX, R10
	mov	$PSYS_NR_clone, %eax
	syscall
	test	%rax, %rax
	jz	1f
	ret
1:	.cfi_undefined rip		/* the outermost frame */
	xor	%ebp, %ebp
	mov	(%rsp), DI
	call	*%r9
	mov	%eax, %edi
	mov	$PSYS_NR_exit, %eax
	syscall
	ud2
	.cfi_endproc
	.size	psys_clone_thunk, . - psys_clone_thunk

/* long psys_clone3_thunk(args, size, fn, arg)
 *                        rdi   rsi   rdx rcx */
	.globl	psys_clone3_thunk
	.type	psys_clone3_thunk, @function
	.p2align 4
psys_clone3_thunk:
	.cfi_startproc
	endbr64
#ifdef __ILP32__
	mov	%esi, %esi
#endif
	mov	CX, R8
	mov	$PSYS_NR_clone3, %eax
	syscall
	test	%rax, %rax
	jz	1f
	ret
1:	.cfi_undefined rip		/* the outermost frame */
	xor	%ebp, %ebp
	and	$-16, %rsp
	mov	R8, DI
	call	*%rdx
	mov	%eax, %edi
	mov	$PSYS_NR_exit, %eax
	syscall
	ud2
	.cfi_endproc
	.size	psys_clone3_thunk, . - psys_clone3_thunk

	.section .note.GNU-stack, "", @progbits

#include "property.S"
