/* SPDX-License-Identifier: MIT */
/*
 * s390x: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * The kernel leaves argc at r15 (fs/binfmt_elf.c, create_elf_tables).
 */
#include <syscall/arch/s390x/numbers.h>

	.text
	.globl	_start
	.type	_start, @function
	.p2align 4
_start:
	.cfi_startproc
	.cfi_undefined %r14
	lg	%r2, 0(%r15)
	la	%r3, 8(%r15)
	sllg	%r4, %r2, 3
	la	%r4, 8(%r4, %r3)
	aghi	%r15, -160
	xc	0(8, %r15), 0(%r15)
	lghi	%r11, 0
	lghi	%r14, 0
	brasl	%r14, main
	lghi	%r1, PSYS_NR_exit_group
	svc	0
	.word	0
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
