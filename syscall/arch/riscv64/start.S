/*
 * riscv64: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * The kernel leaves argc at sp (fs/binfmt_elf.c, create_elf_tables).
 */
#include <syscall/arch/riscv64/numbers.h>

	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined ra
	.option	push
	.option	norelax			/* this one must not itself go by way of gp */
	lla	gp, __global_pointer$
	.option	pop
	li	s0, 0
	li	ra, 0
	ld	a0, 0(sp)
	addi	a1, sp, 8
	slli	a2, a0, 3
	add	a2, a2, a1
	addi	a2, a2, 8
	andi	sp, sp, -16
	call	main
	li	a7, PSYS_NR_exit_group
	ecall
	unimp
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
