/*
 * x86_64: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * System V ABI, AMD64 supplement, "Process Initialization": argc is at (rsp)
 */
#include <syscall/arch/x86_64/numbers.h>

	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	endbr64
	xor	%ebp, %ebp
	mov	(%rsp), %rdi
	lea	8(%rsp), %rsi
	lea	16(%rsp,%rdi,8), %rdx
	and	$-16, %rsp
	call	main
	mov	%eax, %edi
	mov	$PSYS_NR_exit_group, %eax
	syscall
	ud2
	.cfi_endproc
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits

	.section .note.gnu.property, "a"
	.p2align 3
	.long	4, 16, 5		/* as in clone.S */
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0
