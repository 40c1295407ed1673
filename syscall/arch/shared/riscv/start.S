/* SPDX-License-Identifier: MIT */
/*
 * riscv, 32 and 64 bits: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * The kernel leaves argc at sp (fs/binfmt_elf.c, create_elf_tables).
 */
#if __riscv_xlen == 64
#define LOAD ld
#define SHIFT 3
#else
#define LOAD lw
#define SHIFT 2
#endif
#define WORD (1 << SHIFT)

	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined ra
	.option	push
	.option	norelax			/* relaxed, it would use gp before gp is set */
	lla	gp, __global_pointer$
	.option	pop
	li	s0, 0
	li	ra, 0
	LOAD	a0, 0(sp)
	addi	a1, sp, WORD
	slli	a2, a0, SHIFT
	add	a2, a2, a1
	addi	a2, a2, WORD
	andi	sp, sp, -16
	call	main
	li	a7, PSYS_NR_exit_group
	ecall
	unimp
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
