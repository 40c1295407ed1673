/* SPDX-License-Identifier: MIT */
/* powerpc: clone and clone3 with a function for the child. */
#include <syscall/arch/powerpc/numbers.h>

#include "../shared/powerpc/clone.S"
