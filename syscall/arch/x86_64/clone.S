/* SPDX-License-Identifier: MIT */
/* x86_64: clone and clone3 with a function for the child. */
#include <syscall/arch/x86_64/numbers.h>

#include "../shared/x86_64/clone.S"
