// SPDX-License-Identifier: MIT

#include "textflag.h"

// func getrlimit(to *[2]uint64) int64
TEXT ·getrlimit(SB), NOSPLIT, $0-16
	MOVD $261, R8 // prlimit64
	MOVD $0, R0
	MOVD $7, R1 // RLIMIT_NOFILE
	MOVD $0, R2
	MOVD to+0(FP), R3
	SVC
	MOVD R0, ret+8(FP)
	RET
