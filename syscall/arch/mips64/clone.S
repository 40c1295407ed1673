/* SPDX-License-Identifier: MIT */
/* mips64: clone and clone3 with a function for the child. */
#include <syscall/arch/mips64/numbers.h>

#include "../shared/mips/clone.S"
