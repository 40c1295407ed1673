/* SPDX-License-Identifier: MIT */
/*
 * x86_64 with pointers of 64 and of 32 bits: the register-level stubs (call.h says which
 * register is which).
 */
#ifndef PSYS_X86_64_STUBS_H
#define PSYS_X86_64_STUBS_H

#define PSYS_TRAP "syscall"
#define PSYS_NUMBER(nr) register psys_word number __asm__("rax") = nr
#define PSYS_NUMBER_RESULT
#define PSYS_A1 "rdi"
#define PSYS_A2 "rsi"
#define PSYS_A3 "rdx"
#define PSYS_A4 "r10"
#define PSYS_A5 "r8"
#define PSYS_A6 "r9"
#define PSYS_CLOBBERS "rcx", "r11", "memory"

#include "../stubs.h"

#endif
