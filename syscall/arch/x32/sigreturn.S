/*
 * x32: where a signal handler returns to (declared in include/syscall/signal.h).
 * The unwinder knows this sequence of instructions as a signal frame.
 */
#include <syscall/arch/x32/numbers.h>

	.text
	.globl	psys_restorer
	.type	psys_restorer, @function
	nop				/* an unwinder looks at the byte before */
psys_restorer:
	mov	$PSYS_NR_rt_sigreturn, %rax
	syscall
	ud2
	.size	psys_restorer, . - psys_restorer

	.section .note.GNU-stack, "", @progbits

	.section .note.gnu.property, "a"
	.p2align 2
	.long	4, 12, 5		/* as in clone.S */
	.asciz	"GNU"
	.long	0xc0000002, 4, 3
