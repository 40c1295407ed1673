/*
 * mips64 n64: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * The kernel leaves argc at sp (fs/binfmt_elf.c, create_elf_tables).
 */
#include <syscall/arch/mips64/numbers.h>

	.set	noreorder
	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined $31
	move	$30, $0
	move	$31, $0
	ld	$4, 0($29)
	daddiu	$5, $29, 8
	dsll	$6, $4, 3
	daddu	$6, $6, $5
	daddiu	$6, $6, 8
	li	$12, -16
	and	$29, $29, $12
	lui	$25, %highest(main)
	daddiu	$25, $25, %higher(main)
	dsll	$25, $25, 16
	daddiu	$25, $25, %hi(main)
	dsll	$25, $25, 16
	daddiu	$25, $25, %lo(main)
	jalr	$25
	nop
	move	$4, $2
	li	$2, PSYS_NR_exit_group
	syscall
	break
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
