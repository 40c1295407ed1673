/* SPDX-License-Identifier: MIT */
/*
 * riscv64
 *
 * number: a7   arguments: a0 a1 a2 a3 a4 a5   result: a0, -errno on error
 * clobbered: the vector registers, nothing else
 * man 2 syscall; arch/riscv/kernel/traps.c, do_trap_ecall_u;
 * Documentation/arch/riscv/vector.rst, "Vector Register State Across System Calls"
 */
#ifndef PSYS_RISCV64_CALL_H
#define PSYS_RISCV64_CALL_H

#include "layout.h"
#include "numbers.h"

#include "../shared/riscv/stubs.h"

#endif
