/* SPDX-License-Identifier: MIT */
/*
 * mips, all three ABIs: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * The kernel leaves argc at sp (fs/binfmt_elf.c, create_elf_tables).
 */
#if _MIPS_SIM == _ABI64
#define LOAD ld
#define ADDIU daddiu
#define ADDU daddu
#define SHIFT_LEFT dsll
#define SHIFT 3
#else
#define LOAD lw
#define ADDIU addiu
#define ADDU addu
#define SHIFT_LEFT sll
#define SHIFT 2
#endif
#define WORD (1 << SHIFT)

	.set	noreorder
	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined $31
	move	$30, $0
	move	$31, $0
	LOAD	$4, 0($29)
	ADDIU	$5, $29, WORD
	SHIFT_LEFT $6, $4, SHIFT
	ADDU	$6, $6, $5
	ADDIU	$6, $6, WORD
	li	$12, -16
	and	$29, $29, $12
#if _MIPS_SIM == _ABIO32
	addiu	$29, $29, -16		/* which main owns */
#endif
#if _MIPS_SIM == _ABI64
	lui	$25, %highest(main)
	daddiu	$25, $25, %higher(main)
	dsll	$25, $25, 16
	daddiu	$25, $25, %hi(main)
	dsll	$25, $25, 16
	daddiu	$25, $25, %lo(main)
#else
	lui	$25, %hi(main)
	addiu	$25, $25, %lo(main)
#endif
	jalr	$25
	nop
	move	$4, $2
	li	$2, PSYS_NR_exit_group
	syscall
	break
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
