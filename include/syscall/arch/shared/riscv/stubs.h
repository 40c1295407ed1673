/* SPDX-License-Identifier: MIT */
/*
 * riscv: the register-level stubs of 32 and of 64 bits (call.h says which
 * register is which).
 */
#ifndef PSYS_RISCV_STUBS_H
#define PSYS_RISCV_STUBS_H

/*
 * Clobbered vector registers. No macro shows if a function has vectors by an attribute, so they are
 * always listed, which costs a function without vectors nothing. Gcc knows their names since 13,
 * all since 14; clang 14 does not know the other vector state, but assumes that any asm changes it.
 */
#define PSYS_VECTORS                                                                            \
	"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", \
		"v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",    \
		"v25", "v26", "v27", "v28", "v29", "v30", "v31"
#if defined(__clang__) ? __clang_major__ >= 19 : __GNUC__ >= 14
#define PSYS_CLOBBERS "memory", "vl", "vtype", "vxrm", "vxsat", PSYS_VECTORS
#elif defined(__clang__)
#define PSYS_CLOBBERS "memory", PSYS_VECTORS
#elif __GNUC__ >= 13
#define PSYS_CLOBBERS "memory", "vl", "vtype", PSYS_VECTORS
#else
#define PSYS_CLOBBERS "memory"
#endif

#define PSYS_TRAP "ecall"
#define PSYS_NUMBER(nr) register long number __asm__("a7") = nr
#define PSYS_NUMBER_IN "r"
#define PSYS_A1 "a0"
#define PSYS_A2 "a1"
#define PSYS_A3 "a2"
#define PSYS_A4 "a3"
#define PSYS_A5 "a4"
#define PSYS_A6 "a5"

#include "../stubs.h"

#undef PSYS_VECTORS

#endif
