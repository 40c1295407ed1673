/*
 * x86_64: clone and clone3 with a function for the child to run on its new
 * stack (declared in include/syscall/clone.h). The child never returns through
 * a frame of its parent: it calls fn(arg) and exits with the result.
 */
#include <syscall/arch/x86_64/numbers.h>

	.text

/* long psys_clone_thunk(flags, stack, parent_tid, child_tid, tls, fn, arg)
 *                       rdi    rsi    rdx         rcx        r8   r9  8(rsp) */
	.globl	psys_clone_thunk
	.type	psys_clone_thunk, @function
	.p2align 4
psys_clone_thunk:
	.cfi_startproc
	endbr64
	mov	8(%rsp), %rax
	and	$-16, %rsi
	sub	$16, %rsi
	mov	%rax, (%rsi)		/* arg waits on the child's stack */
	mov	%rcx, %r10
	mov	$PSYS_NR_clone, %eax
	syscall
	test	%rax, %rax
	jz	1f
	ret
1:	.cfi_undefined rip		/* the outermost frame */
	xor	%ebp, %ebp
	mov	(%rsp), %rdi
	call	*%r9
	mov	%eax, %edi
	mov	$PSYS_NR_exit, %eax
	syscall
	ud2
	.cfi_endproc
	.size	psys_clone_thunk, . - psys_clone_thunk

/* long psys_clone3_thunk(args, size, fn, arg)
 *                        rdi   rsi   rdx rcx */
	.globl	psys_clone3_thunk
	.type	psys_clone3_thunk, @function
	.p2align 4
psys_clone3_thunk:
	.cfi_startproc
	endbr64
	mov	%rcx, %r8
	mov	$PSYS_NR_clone3, %eax
	syscall
	test	%rax, %rax
	jz	1f
	ret
1:	.cfi_undefined rip		/* the outermost frame */
	xor	%ebp, %ebp
	and	$-16, %rsp
	mov	%r8, %rdi
	call	*%rdx
	mov	%eax, %edi
	mov	$PSYS_NR_exit, %eax
	syscall
	ud2
	.cfi_endproc
	.size	psys_clone3_thunk, . - psys_clone3_thunk

	.section .note.GNU-stack, "", @progbits

/* IBT and SHSTK: every indirect branch lands on endbr64, every return matches
 * its call. (System V ABI, AMD64 supplement, "Program Property") */
	.section .note.gnu.property, "a"
	.p2align 3
	.long	4, 16, 5		/* sizes of name and data, NT_GNU_PROPERTY_TYPE_0 */
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0	/* GNU_PROPERTY_X86_FEATURE_1_AND: IBT | SHSTK */
