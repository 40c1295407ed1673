/* SPDX-License-Identifier: MIT */
/*
 * arm: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result. ARM code, main may be Thumb.
 * The kernel leaves argc at sp (fs/binfmt_elf.c, create_elf_tables).
 */
#include <syscall/arch/arm/numbers.h>

	.syntax	unified
	.cfi_sections .debug_frame
	.text
	.arm
	.globl	_start
	.type	_start, %function
	.p2align 2
_start:
	.fnstart
	.cfi_startproc
	.cfi_undefined lr
	mov	r7, #0
	mov	r11, #0
	mov	lr, #0
	ldr	r0, [sp]
	add	r1, sp, #4
	add	r2, r1, r0, lsl #2
	add	r2, r2, #4
	bic	sp, sp, #15
	bl	main
	mov	r7, #PSYS_NR_exit_group
	svc	#0
	udf	#0
	.cfi_endproc
	.cantunwind
	.fnend
	.size	_start, . - _start

	.section .note.GNU-stack, "", %progbits
