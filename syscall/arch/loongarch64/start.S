/* SPDX-License-Identifier: MIT */
/*
 * loongarch64: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * The kernel leaves argc at sp (fs/binfmt_elf.c, create_elf_tables).
 */
#include <syscall/arch/loongarch64/numbers.h>

	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined 1		/* ra */
	move	$fp, $zero
	move	$ra, $zero
	ld.d	$a0, $sp, 0
	addi.d	$a1, $sp, 8
	slli.d	$a2, $a0, 3
	add.d	$a2, $a2, $a1
	addi.d	$a2, $a2, 8
	bstrins.d $sp, $zero, 3, 0	/* aligned to 16 bytes */
	bl	main
	ori	$a7, $zero, PSYS_NR_exit_group
	syscall	0
	break	0
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
