/* SPDX-License-Identifier: MIT */
/*
 * i386: clone and clone3 with a function for the child to run on its new stack
 * (declared in include/syscall/clone.h). The child never returns through a frame
 * of its parent: it calls fn(arg) and exits with the result.
 */
#include <syscall/arch/i386/numbers.h>

	.text

	.macro	save register
	push	%\register
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset \register, 0
	.endm

	.macro	restore register
	pop	%\register
	.cfi_adjust_cfa_offset -4
	.cfi_restore \register
	.endm

/* long psys_clone_thunk(flags, stack, parent_tid, child_tid, tls, fn, arg)
 *                       4(esp) 8      12          16         20   24  28
 * The child finds arg and fn on its stack: a call needs arg there in any case. */
	.globl	psys_clone_thunk
	.type	psys_clone_thunk, @function
	.p2align 4
psys_clone_thunk:
	.cfi_startproc
	endbr32
	save	ebx
	save	esi
	save	edi
	mov	20(%esp), %ecx
	and	$-16, %ecx
	sub	$16, %ecx
	mov	40(%esp), %eax
	mov	%eax, (%ecx)		/* arg */
	mov	36(%esp), %eax
	mov	%eax, 4(%ecx)		/* fn */
	mov	16(%esp), %ebx
	mov	24(%esp), %edx
	mov	32(%esp), %esi		/* the kernel takes tls before child_tid */
	mov	28(%esp), %edi
	mov	$PSYS_NR_clone, %eax
	int	$0x80
	test	%eax, %eax
	jz	1f
	.cfi_remember_state
	restore	edi
	restore	esi
	restore	ebx
	ret
1:	.cfi_restore_state
	.cfi_undefined eip		/* the outermost frame */
	xor	%ebp, %ebp
	call	*4(%esp)
	mov	%eax, %ebx
	mov	$PSYS_NR_exit, %eax
	int	$0x80
	ud2
	.cfi_endproc
	.size	psys_clone_thunk, . - psys_clone_thunk

/* long psys_clone3_thunk(args, size, fn, arg)
 *                        4(esp) 8    12  16 */
	.globl	psys_clone3_thunk
	.type	psys_clone3_thunk, @function
	.p2align 4
psys_clone3_thunk:
	.cfi_startproc
	endbr32
	save	ebx
	save	esi
	mov	12(%esp), %ebx
	mov	16(%esp), %ecx
	mov	20(%esp), %edx
	mov	24(%esp), %esi
	mov	$PSYS_NR_clone3, %eax
	int	$0x80
	test	%eax, %eax
	jz	1f
	.cfi_remember_state
	restore	esi
	restore	ebx
	ret
1:	.cfi_restore_state
	.cfi_undefined eip		/* the outermost frame */
	xor	%ebp, %ebp
	and	$-16, %esp
	sub	$12, %esp
	push	%esi
	call	*%edx
	mov	%eax, %ebx
	mov	$PSYS_NR_exit, %eax
	int	$0x80
	ud2
	.cfi_endproc
	.size	psys_clone3_thunk, . - psys_clone3_thunk

	.section .note.GNU-stack, "", @progbits

/* IBT and SHSTK: every indirect branch lands on endbr32, every return matches
 * its call. (Linux Extensions to gABI, "x86 Program Properties") */
	.section .note.gnu.property, "a"
	.p2align 2
	.long	4, 12, 5		/* sizes of name and data, NT_GNU_PROPERTY_TYPE_0 */
	.asciz	"GNU"
	.long	0xc0000002, 4, 3	/* GNU_PROPERTY_X86_FEATURE_1_AND: IBT | SHSTK */
