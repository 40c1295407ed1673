/* SPDX-License-Identifier: MIT */
/* x32: clone and clone3 with a function for the child. */
#include <syscall/arch/x32/numbers.h>

#include "../shared/x86_64/clone.S"
