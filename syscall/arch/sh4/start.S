/* SPDX-License-Identifier: MIT */
/*
 * sh4: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * The kernel leaves argc at sp (fs/binfmt_elf.c, create_elf_tables).
 */
#include <syscall/arch/sh4/numbers.h>

	.text
	.globl	_start
	.type	_start, @function
	.p2align 2
_start:
	.cfi_startproc
	.cfi_undefined pr
	mov	#0, r14
	mov.l	@r15, r4
	mov	r15, r5
	add	#4, r5
	mov	r4, r6
	shll2	r6
	add	r5, r6
	add	#4, r6
	mov	#-16, r0
	and	r15, r0
	mov	r0, r15
	mov.l	1f, r0
	jsr	@r0
	nop
	mov	r0, r4
	mov.l	2f, r3
	trapa	#0x1f
	.word	0xfffd			/* not an instruction */
	.p2align 2
1:	.long	main
2:	.long	PSYS_NR_exit_group
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
