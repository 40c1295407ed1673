/* SPDX-License-Identifier: MIT */
/*
 * i386: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * System V ABI, Intel386 supplement, "Process Initialization": argc is at (esp)
 */
#include <syscall/arch/i386/numbers.h>

	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined eip
	endbr32
	xor	%ebp, %ebp
	mov	(%esp), %eax
	lea	4(%esp), %ecx
	lea	8(%esp,%eax,4), %edx
	and	$-16, %esp
	sub	$4, %esp
	push	%edx
	push	%ecx
	push	%eax
	call	main
	mov	%eax, %ebx
	mov	$PSYS_NR_exit_group, %eax
	int	$0x80
	ud2
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits

	.section .note.gnu.property, "a"
	.p2align 2
	.long	4, 12, 5		/* as in clone.S */
	.asciz	"GNU"
	.long	0xc0000002, 4, 3
