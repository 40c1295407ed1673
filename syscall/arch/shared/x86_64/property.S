/* SPDX-License-Identifier: MIT */
/*
 * IBT and SHSTK: every indirect branch lands on endbr64, every return matches its call.
 * (System V ABI, AMD64 supplement, "Program Property")
 */
#ifndef PSYS_PROPERTY
#define PSYS_PROPERTY
	.section .note.gnu.property, "a"
#ifdef __ILP32__
	.p2align 2
	.long	4, 12, 5		/* sizes of name and data, NT_GNU_PROPERTY_TYPE_0 */
	.asciz	"GNU"
	.long	0xc0000002, 4, 3	/* GNU_PROPERTY_X86_FEATURE_1_AND: IBT | SHSTK */
#else
	.p2align 3
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0
#endif
#endif
