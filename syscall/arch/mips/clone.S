/* SPDX-License-Identifier: MIT */
/* mips: clone and clone3 with a function for the child. */
#include <syscall/arch/mips/numbers.h>

#include "../shared/mips/clone.S"
