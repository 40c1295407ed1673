// SPDX-License-Identifier: MIT

#include "funcdata.h"
#include "textflag.h"

// func call(entry Entry, of *arguments) int64
//
// The prologue makes the goroutine's stack grow for the frame, which is C's stack.
TEXT ·call(SB), 0, $16384-24
	NO_LOCAL_POINTERS
	MOVD entry+0(FP), R2
	MOVD of+8(FP), R0
	MOVD $·code(SB), R3
	ADD R3, R2
	MOVD $16384(RSP), R3
	AND $~63, R3
	CALL enter<>(SB)
	MOVD R0, ret+16(FP)
	RET

// Calls R2 with the stack R3. C keeps R19, R20 and R29, and is compiled not to touch R28, which has g. An unwinder
// that begins here, where RSP is not this function's, must stop: TOPFRAME.
TEXT enter<>(SB), NOSPLIT|NOFRAME|TOPFRAME, $0-0
	MOVD R30, R20
	MOVD RSP, R19
	MOVD R3, RSP
	CALL (R2)
	MOVD R19, RSP
	MOVD R20, R30
	RET
