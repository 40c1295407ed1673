/* SPDX-License-Identifier: MIT */
/*
 * arm before version 7: the functions that compilers call for the __atomic
 * builtins on a word. They use helpers that the kernel maps at fixed addresses in
 * every process, in the form for its processor:
 *
 *   0xffff0fc0  kuser_cmpxchg: if *r2 == r0, stores r1 there, sets r0 to 0 and C;
 *               changes r3, r12 and flags too; a barrier before and after
 *   0xffff0fa0  kuser_memory_barrier: changes nothing
 *
 * Each returns to lr. (Documentation/arch/arm/kernel_user_helpers.rst)
 *
 * Weak, as libgcc and compiler-rt define the same functions, and hidden.
 */
	.syntax	unified
	.cfi_sections .debug_frame
	.text
	.arm

#if __ARM_ARCH < 7

	.macro	function name
	.weak	\name
	.hidden	\name
	.type	\name, %function
	.p2align 2
\name:
	.fnstart
	.cfi_startproc
	.endm

	.macro	also name
	.weak	\name
	.hidden	\name
	.type	\name, %function
\name:
	.endm

	.macro	end name
	.cfi_endproc
	.cantunwind
	.fnend
	.size	\name, . - \name
	.endm

	.macro	enter
	push	{r4, r5, r6, lr}
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset r4, 0
	.cfi_rel_offset r5, 4
	.cfi_rel_offset r6, 8
	.cfi_rel_offset lr, 12
	.endm

	.macro	leave
	pop	{r4, r5, r6, lr}
	.cfi_adjust_cfa_offset -16
	.cfi_restore r4
	.cfi_restore r5
	.cfi_restore r6
	.cfi_restore lr
	bx	lr
	.endm

	/* r12 = one of the addresses */
	.macro	helper low
	mvn	r12, #0xf000
	sub	r12, r12, #0xfff - \low
	.endm

/* void __sync_synchronize(void) */
function __sync_synchronize
	helper	0xfa0
	bx	r12			/* which returns to our caller */
end __sync_synchronize

/* uint32_t __atomic_load_4(uint32_t *word, int order) */
function __atomic_load_4
	ldr	r0, [r0]
	helper	0xfa0
	bx	r12
end __atomic_load_4

/* uint32_t __sync_val_compare_and_swap_4(uint32_t *word, uint32_t old, uint32_t new) */
function __sync_val_compare_and_swap_4
	enter
	mov	r4, r0
	mov	r5, r1
	mov	r6, r2
1:	ldr	r0, [r4]
	cmp	r0, r5
	bne	2f
	mov	r1, r6
	mov	r2, r4
	helper	0xfc0
	blx	r12
	bcc	1b
	mov	r0, r5
	b	3f
2:	helper	0xfa0			/* preserves r0, the loaded value */
	blx	r12
3:	leave
end __sync_val_compare_and_swap_4

/* uint32_t __sync_lock_test_and_set_4(uint32_t *word, uint32_t value)
 * void __atomic_store_4(uint32_t *word, uint32_t value, int order) */
function __sync_lock_test_and_set_4
also __atomic_store_4
	enter
	mov	r4, r0
	mov	r5, r1
1:	ldr	r6, [r4]
	mov	r0, r6
	mov	r1, r5
	mov	r2, r4
	helper	0xfc0
	blx	r12
	bcc	1b
	mov	r0, r6
	leave
end __sync_lock_test_and_set_4

/* r0 = the word at r0, which becomes the result of the operation with r1 */
	.macro	fetch_and operation
	enter
	mov	r4, r0
	mov	r5, r1
1:	ldr	r6, [r4]
	mov	r0, r6
	\operation r1, r6, r5
	mov	r2, r4
	helper	0xfc0
	blx	r12
	bcc	1b
	mov	r0, r6
	leave
	.endm

/* uint32_t __sync_fetch_and_add_4(uint32_t *word, uint32_t value)
 * uint32_t __atomic_fetch_add_4(uint32_t *word, uint32_t value, int order) */
function __sync_fetch_and_add_4
also __atomic_fetch_add_4
	fetch_and add
end __sync_fetch_and_add_4

/* the same that subtract */
function __sync_fetch_and_sub_4
also __atomic_fetch_sub_4
	fetch_and sub
end __sync_fetch_and_sub_4

/* the same that set bits, and that keep bits */
function __sync_fetch_and_or_4
also __atomic_fetch_or_4
	fetch_and orr
end __sync_fetch_and_or_4

function __sync_fetch_and_and_4
also __atomic_fetch_and_4
	fetch_and and
end __sync_fetch_and_and_4

#endif

	.section .note.GNU-stack, "", %progbits
