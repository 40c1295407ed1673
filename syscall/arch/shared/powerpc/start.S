/* SPDX-License-Identifier: MIT */
/*
 * powerpc, 32 and 64 bits: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * The kernel leaves argc at r1 and, with 64 bits, this address in r12 (fs/binfmt_elf.c,
 * create_elf_tables; arch/powerpc/kernel/process.c, start_thread).
 */
#ifdef __powerpc64__
#define LOAD ld
#define SHIFT_LEFT sldi
#define SHIFT 3
#define CLEAR_RIGHT clrrdi
#define PUSH stdu
#define FRAME 32
	.abiversion 2
#else
#define LOAD lwz
#define SHIFT_LEFT slwi
#define SHIFT 2
#define CLEAR_RIGHT clrrwi
#define PUSH stwu
#define FRAME 16
#endif
#define WORD (1 << SHIFT)

	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined lr
#ifdef __powerpc64__
	addis	2, 12, .TOC. - _start@ha
	addi	2, 2, .TOC. - _start@l
#endif
	li	31, 0
	LOAD	3, 0(1)
	addi	4, 1, WORD
	SHIFT_LEFT 5, 3, SHIFT
	add	5, 5, 4
	addi	5, 5, WORD
	CLEAR_RIGHT 1, 1, 4
	li	0, 0
	PUSH	0, -FRAME(1)
	mtlr	0
	bl	main
#ifdef __powerpc64__
	nop
#endif
	li	0, PSYS_NR_exit_group
	sc
	trap
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
