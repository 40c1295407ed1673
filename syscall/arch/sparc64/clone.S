/* SPDX-License-Identifier: MIT */
/*
 * sparc64: clone and clone3 with a function for the child to run on its new
 * stack (declared in include/syscall/clone.h). The child never returns through a
 * frame of its parent: it calls fn(arg) and exits with the result.
 *
 * The kernel copies the caller's frame from memory to the child's stack
 * (arch/sparc/kernel/process_64.c, clone_stackframe); emulators copy nothing, and the
 * child begins at the end of its stack. So this reserves a frame above that end, and makes the
 * copied frame minimal. g4 and g5, which system calls preserve, hold fn and arg.
 *
 * The kernel stores the register windows itself but, before Linux 7.0, goes on with stale memory if
 * the store faults. So this flushes the windows before the trap, which also writes to the frame's
 * page.
 */
#include <syscall/arch/sparc64/numbers.h>

#define BIAS 2047		/* of the stack pointer */
#define FRAME 176		/* the minimum: 16 registers, then six arguments of a callee */
#define SAVED_FP 112		/* offset of a register window's frame pointer */

	.text

	.macro	enter
	save	%sp, -FRAME, %sp
	.cfi_def_cfa_register %fp
	.cfi_window_save
	.cfi_register %o7, %i7
	.endm

	.macro	trap number
	flushw
	stx	%fp, [%sp + BIAS + SAVED_FP]
	mov	\number, %g1
	ta	0x6d
	.endm

	/* in the parent */
	.macro	leave
	mov	%o0, %i0
	ret
	restore
	.endm

	.macro	fail
	sub	%g0, %o0, %i0
	ret
	restore
	.endm

	/* in the child */
	.macro	run
	.cfi_undefined %o7		/* the outermost frame */
	clr	%fp
	clr	%i7
	call	%g4
	mov	%g5, %o0
	mov	PSYS_NR_exit, %g1
	ta	0x6d
	unimp	0
	.endm

/* long psys_clone_thunk(flags, stack, parent_tid, child_tid, tls, fn, arg)
 *                       i0     i1     i2          i3         i4   i5  above the frame */
	.globl	psys_clone_thunk
	.type	psys_clone_thunk, @function
	.p2align 4
psys_clone_thunk:
	.cfi_startproc
	enter
	mov	%i5, %g4
	ldx	[%fp + BIAS + FRAME], %g5
	mov	%i0, %o0
	and	%i1, -16, %o1
	sub	%o1, BIAS + FRAME, %o1
	mov	%i2, %o2
	mov	%i4, %o3		/* the kernel takes tls before child_tid */
	mov	%i3, %o4
	trap	PSYS_NR_clone
	bcs,pn	%xcc, 1f
	nop
	brnz,pn	%o1, 2f			/* 1 in the child, 0 in the parent */
	nop
	leave
1:	fail
2:	run
	.cfi_endproc
	.size	psys_clone_thunk, . - psys_clone_thunk

/* long psys_clone3_thunk(args, size, fn, arg)
 *                        i0    i1    i2  i3
 * The kernel takes the end of the stack as the biased stack pointer, so it gets a copy of args with
 * a shorter stack. An invalid size is passed on, for the kernel to reject. */
#define STACK_SIZE 48		/* offset in args */
	.globl	psys_clone3_thunk
	.type	psys_clone3_thunk, @function
	.p2align 4
psys_clone3_thunk:
	.cfi_startproc
	enter
	mov	%i2, %g4
	mov	%i3, %g5
	mov	%i0, %o0
	sub	%i1, 64, %l0
	srlx	%l0, 13, %l0
	brnz,pn	%l0, 2f			/* not in [64, 8255] */
	add	%i1, 15, %l0
	and	%l0, -16, %l0
	sub	%sp, %l0, %sp
	add	%sp, BIAS + FRAME, %o0
	mov	%i1, %l0
1:	subcc	%l0, 1, %l0
	ldub	[%i0 + %l0], %l1
	bne,pt	%xcc, 1b
	stb	%l1, [%o0 + %l0]
	ldx	[%o0 + STACK_SIZE], %l1
	brz,pn	%l1, 2f			/* no stack of its own */
	sub	%l1, BIAS + FRAME, %l1
	stx	%l1, [%o0 + STACK_SIZE]
2:	call	clone3
	mov	%i1, %o1
	leave
	.cfi_endproc
	.size	psys_clone3_thunk, . - psys_clone3_thunk

	/* clone3 copies no frame, and has no second result. */
	.type	clone3, @function
	.p2align 4
clone3:
	.cfi_startproc
	enter
	mov	%i0, %o0
	mov	%i1, %o1
	trap	PSYS_NR_clone3
	bcs,pn	%xcc, 1f
	nop
	brz,pn	%o0, 2f
	nop
	leave
1:	fail
2:	run
	.cfi_endproc
	.size	clone3, . - clone3

	.section .note.GNU-stack, "", @progbits
