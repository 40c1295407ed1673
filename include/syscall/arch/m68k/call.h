/* SPDX-License-Identifier: MIT */
/*
 * m68k
 *
 * number: d0   arguments: d1 d2 d3 d4 d5 a0   result: d0, -errno on error
 * clobbered: nothing else
 * man 2 syscall; arch/m68k/kernel/entry.S
 */
#ifndef PSYS_M68K_CALL_H
#define PSYS_M68K_CALL_H

#include "layout.h"
#include "numbers.h"

#define PSYS_TRAP "trap #0"
#define PSYS_NUMBER(nr) register psys_word number __asm__("d0") = nr
#define PSYS_NUMBER_RESULT
#define PSYS_A1 "d1"
#define PSYS_A2 "d2"
#define PSYS_A3 "d3"
#define PSYS_A4 "d4"
#define PSYS_A5 "d5"
#define PSYS_A6 "a0"
#define PSYS_CLOBBERS "memory"

#include "../shared/stubs.h"

#endif
