/* SPDX-License-Identifier: MIT */
/* riscv64: clone and clone3 with a function for the child. */
#include <syscall/arch/riscv64/numbers.h>

#include "../shared/riscv/clone.S"
