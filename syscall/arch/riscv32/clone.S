/* SPDX-License-Identifier: MIT */
/* riscv32: clone and clone3 with a function for the child. */
#include <syscall/arch/riscv32/numbers.h>

#include "../shared/riscv/clone.S"
