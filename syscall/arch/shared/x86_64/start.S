/* SPDX-License-Identifier: MIT */
/*
 * x86_64 and x32: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * System V ABI, AMD64 supplement, "Process Initialization": argc is at (rsp). On x32
 * argc and all that follows it are of 32 bits (fs/compat_binfmt_elf.c).
 */
#ifdef __ILP32__
#define WORD 4
#define DI %edi
#define SI %esi
#define DX %edx
#else
#define WORD 8
#define DI %rdi
#define SI %rsi
#define DX %rdx
#endif

	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	endbr64
	xor	%ebp, %ebp
	mov	(%rsp), DI
	lea	WORD(%rsp), SI
	lea	2*WORD(%rsp,%rdi,WORD), DX
	and	$-16, %rsp
	call	main
	mov	%eax, %edi
	mov	$PSYS_NR_exit_group, %eax
	syscall
	ud2
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits

#include "property.S"
