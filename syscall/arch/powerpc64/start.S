/* SPDX-License-Identifier: MIT */
/*
 * powerpc64: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * The kernel leaves argc at r1 and this address in r12 (fs/binfmt_elf.c,
 * create_elf_tables; arch/powerpc/kernel/process.c, start_thread).
 */
#include <syscall/arch/powerpc64/numbers.h>

	.abiversion 2
	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined lr
	addis	2, 12, .TOC. - _start@ha
	addi	2, 2, .TOC. - _start@l
	li	31, 0
	ld	3, 0(1)
	addi	4, 1, 8
	sldi	5, 3, 3
	add	5, 5, 4
	addi	5, 5, 8
	clrrdi	1, 1, 4
	li	0, 0
	stdu	0, -32(1)
	mtlr	0
	bl	main
	nop
	li	0, PSYS_NR_exit_group
	sc
	trap
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
