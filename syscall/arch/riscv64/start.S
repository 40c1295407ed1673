/* SPDX-License-Identifier: MIT */
/* riscv64: the entry point of a program without a libc. */
#include <syscall/arch/riscv64/numbers.h>

#include "../shared/riscv/start.S"
