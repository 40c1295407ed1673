/* SPDX-License-Identifier: MIT */
/*
 * powerpc: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * The kernel leaves argc at r1 (fs/binfmt_elf.c, create_elf_tables).
 */
#include <syscall/arch/powerpc/numbers.h>

	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined lr
	li	31, 0
	lwz	3, 0(1)
	addi	4, 1, 4
	slwi	5, 3, 2
	add	5, 5, 4
	addi	5, 5, 4
	clrrwi	1, 1, 4
	li	0, 0
	stwu	0, -16(1)
	mtlr	0
	bl	main
	li	0, PSYS_NR_exit_group
	sc
	trap
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
