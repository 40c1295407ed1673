/* SPDX-License-Identifier: MIT */
/*
 * x32: pointers and long of 32 bits, registers and the kernel's long of 64
 *
 * number: rax, with bit 30 set   arguments: rdi rsi rdx r10 r8 r9
 * result: rax, -errno on error
 * clobbered: rcx (holds the return address) and r11 (holds rflags)
 * System V ABI, AMD64 supplement, appendix A.2.1 and chapter "ILP32 Programming
 * Model"; arch/x86/entry/syscall_64.c, do_syscall_x32
 */
#ifndef PSYS_X32_CALL_H
#define PSYS_X32_CALL_H

#include "layout.h"
#include "numbers.h"

#include "../shared/x86_64/stubs.h"

#endif
