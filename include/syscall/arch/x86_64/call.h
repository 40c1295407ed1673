/* SPDX-License-Identifier: MIT */
/*
 * x86_64
 *
 * number: rax   arguments: rdi rsi rdx r10 r8 r9   result: rax, -errno on error
 * clobbered: rcx (holds the return address) and r11 (holds rflags)
 * System V ABI, AMD64 supplement, appendix A.2.1; arch/x86/entry/entry_64.S
 */
#ifndef PSYS_X86_64_CALL_H
#define PSYS_X86_64_CALL_H

#include "layout.h"
#include "numbers.h"

#include "../shared/x86_64/stubs.h"

#endif
