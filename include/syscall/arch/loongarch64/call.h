/* SPDX-License-Identifier: MIT */
/*
 * loongarch64
 *
 * number: a7   arguments: a0 a1 a2 a3 a4 a5   result: a0, -errno on error
 * clobbered: t0 to t8
 * man 2 syscall; arch/loongarch/kernel/entry.S, handle_syscall, which does not
 * save them
 */
#ifndef PSYS_LOONGARCH64_CALL_H
#define PSYS_LOONGARCH64_CALL_H

#include "layout.h"
#include "numbers.h"

#define PSYS_TRAP "syscall 0"
#define PSYS_NUMBER(nr) register long number __asm__("a7") = nr
#define PSYS_NUMBER_IN "r"
#define PSYS_A1 "a0"
#define PSYS_A2 "a1"
#define PSYS_A3 "a2"
#define PSYS_A4 "a3"
#define PSYS_A5 "a4"
#define PSYS_A6 "a5"
#define PSYS_CLOBBERS "$t0", "$t1", "$t2", "$t3", "$t4", "$t5", "$t6", "$t7", "$t8", "memory"

#include "../shared/stubs.h"

#endif
