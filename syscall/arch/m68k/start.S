/* SPDX-License-Identifier: MIT */
/*
 * m68k: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * The kernel leaves argc at sp (fs/binfmt_elf.c, create_elf_tables).
 */
#include <syscall/arch/m68k/numbers.h>

	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined 24		/* pc */
	suba.l	%a6, %a6
	move.l	(%sp), %d0
	lea	4(%sp), %a0
	lea	4(%a0, %d0.l*4), %a1
	move.l	%a1, -(%sp)
	move.l	%a0, -(%sp)
	move.l	%d0, -(%sp)
	jbsr	main
	move.l	%d0, %d1
	move.l	#PSYS_NR_exit_group, %d0
	trap	#0
	illegal
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
