/* SPDX-License-Identifier: MIT */
/* riscv32: the entry point of a program without a libc. */
#include <syscall/arch/riscv32/numbers.h>

#include "../shared/riscv/start.S"
