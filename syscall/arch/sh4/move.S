/* SPDX-License-Identifier: MIT */
/*
 * sh4: the functions that gcc calls to copy a structure. The source is at r5, the
 * destination at r4, both aligned to 4 bytes. They may change only these registers
 * (gcc's sh.md, block_lump_real_i4 and block_move_real_i4):
 *
 *   __movmem_i4_even   r6 + 1 pairs of words; r0 to r6 and T
 *   __movmem_i4_odd    one word more
 *   __movmemSI12_i4    three words; r0 to r2
 *
 * Weak, as libgcc defines the same functions, and hidden.
 */
	.text

	.macro	function name
	.weak	\name
	.hidden	\name
	.type	\name, @function
	.p2align 2
\name:
	.cfi_startproc
	.endm

	.macro	end name
	.cfi_endproc
	.size	\name, . - \name
	.endm

function __movmem_i4_odd
	mov.l	@r5+, r0
	mov.l	r0, @r4
	add	#4, r4
1:	mov.l	@r5+, r0
	mov.l	@r5+, r1
	mov.l	r0, @r4
	mov.l	r1, @(4, r4)
	add	#-1, r6
	cmp/pz	r6
	bt/s	1b
	add	#8, r4
	rts
	nop
end __movmem_i4_odd

function __movmem_i4_even
	bra	1b
	nop
end __movmem_i4_even

function __movmemSI12_i4
	mov.l	@r5, r0
	mov.l	@(4, r5), r1
	mov.l	@(8, r5), r2
	mov.l	r0, @r4
	mov.l	r1, @(4, r4)
	rts
	mov.l	r2, @(8, r4)
end __movmemSI12_i4

	.section .note.GNU-stack, "", @progbits
