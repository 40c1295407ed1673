/*
 * mips o32: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * The kernel leaves argc at sp (fs/binfmt_elf.c, create_elf_tables).
 */
#include <syscall/arch/mips/numbers.h>

	.set	noreorder
	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined $31
	move	$30, $0
	move	$31, $0
	lw	$4, 0($29)
	addiu	$5, $29, 4
	sll	$6, $4, 2
	addu	$6, $6, $5
	addiu	$6, $6, 4
	li	$8, -8
	and	$29, $29, $8
	addiu	$29, $29, -16		/* which main owns */
	lui	$25, %hi(main)
	addiu	$25, $25, %lo(main)
	jalr	$25
	nop
	move	$4, $2
	li	$2, PSYS_NR_exit_group
	syscall
	break
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
