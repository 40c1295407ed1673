/* SPDX-License-Identifier: MIT */
/* The linked program.c, as constant data of the library. */
	.section .rodata
	.balign	16
	.globl	aspawn_image
	.hidden	aspawn_image
aspawn_image:
	.incbin	ASPAWN_IMAGE

	.section .note.GNU-stack, "", %progbits
