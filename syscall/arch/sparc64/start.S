/* SPDX-License-Identifier: MIT */
/*
 * sparc64: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * The kernel leaves argc above room for a register window at sp, which is biased
 * by 2047 (fs/binfmt_elf.c, create_elf_tables).
 */
#include <syscall/arch/sparc64/numbers.h>

	.text
	.globl	_start
	.type	_start, @function
	.p2align 4
_start:
	.cfi_startproc
	.cfi_undefined %o7
	clr	%fp
	clr	%i7
	ldx	[%sp + 2047 + 128], %o0
	add	%sp, 2047 + 136, %o1
	sllx	%o0, 3, %o2
	add	%o2, %o1, %o2
	add	%o2, 8, %o2
	sub	%sp, 48, %sp		/* six arguments, which main owns */
	call	main
	nop
	mov	PSYS_NR_exit_group, %g1
	ta	0x6d
	unimp	0
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
