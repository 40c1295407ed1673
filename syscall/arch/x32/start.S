/*
 * x32: the entry point of a program without a libc. Calls
 * main(argc, argv, envp) and exits with its result.
 * argc and all that follows it are of 32 bits (fs/compat_binfmt_elf.c).
 */
#include <syscall/arch/x32/numbers.h>

	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	endbr64
	xor	%ebp, %ebp
	mov	(%rsp), %edi
	lea	4(%rsp), %esi
	lea	8(%rsp,%rdi,4), %edx
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
	.p2align 2
	.long	4, 12, 5		/* as in clone.S */
	.asciz	"GNU"
	.long	0xc0000002, 4, 3
