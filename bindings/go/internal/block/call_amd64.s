// SPDX-License-Identifier: MIT

#include "funcdata.h"
#include "textflag.h"

// func call(entry Entry, of *arguments) int64
//
// The prologue makes the goroutine's stack grow for the frame, which is C's stack.
TEXT ·call(SB), 0, $16384-24
	NO_LOCAL_POINTERS
	MOVQ entry+0(FP), AX
	MOVQ of+8(FP), DI
	LEAQ ·code(SB), CX
	ADDQ CX, AX
	LEAQ 16320(SP), DX
	ANDQ $~63, DX
	CALL enter<>(SB)
	MOVQ AX, ret+16(FP)
	RET

// Calls AX with the stack DX. C keeps BX, BP, and R14, which has g. The caller's ABI wrapper clears X15. An unwinder
// that begins here, where SP is not this function's, must stop: TOPFRAME.
TEXT enter<>(SB), NOSPLIT|NOFRAME|TOPFRAME, $0-0
	MOVQ SP, BX
	MOVQ DX, SP
	CALL AX
	MOVQ BX, SP
	RET
