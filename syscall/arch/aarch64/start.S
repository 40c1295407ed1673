/* SPDX-License-Identifier: MIT */
/*
 * aarch64: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * The kernel leaves argc at sp (fs/binfmt_elf.c, create_elf_tables).
 */
#include <syscall/arch/aarch64/numbers.h>

	.text
	.globl	_start
	.type	_start, %function
_start:
	.cfi_startproc
	.cfi_undefined x30
	hint	#34			/* bti c */
	mov	x29, #0
	mov	x30, #0
	ldr	x0, [sp]
	add	x1, sp, #8
	add	x2, x1, x0, lsl #3
	add	x2, x2, #8
	bl	main
	mov	x8, #PSYS_NR_exit_group
	svc	#0
	brk	#0
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", %progbits

	.section .note.gnu.property, "a"
	.p2align 3
	.long	4, 16, 5		/* as in clone.S */
	.asciz	"GNU"
	.long	0xc0000000, 4, 7, 0
