/* SPDX-License-Identifier: MIT */
/* mipsn32: clone and clone3 with a function for the child. */
#include <syscall/arch/mipsn32/numbers.h>

#include "../shared/mips/clone.S"
