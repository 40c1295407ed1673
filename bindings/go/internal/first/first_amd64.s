// SPDX-License-Identifier: MIT

#include "textflag.h"

// func getrlimit(to *[2]uint64) int64
TEXT ·getrlimit(SB), NOSPLIT, $0-16
	MOVQ $302, AX // prlimit64
	MOVQ $0, DI
	MOVQ $7, SI // RLIMIT_NOFILE
	MOVQ $0, DX
	MOVQ to+0(FP), R10
	SYSCALL
	MOVQ AX, ret+8(FP)
	RET
