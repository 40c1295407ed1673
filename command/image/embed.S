/* SPDX-License-Identifier: MIT */
/* The linked program.c, as constant data of the library. */
	.section .rodata
	.balign	16
	.globl	aspawn_image
	.hidden	aspawn_image
aspawn_image:
	.incbin	ASPAWN_IMAGE
	.globl	aspawn_image_end
	.hidden	aspawn_image_end
aspawn_image_end:

	.section .note.GNU-stack, "", %progbits
