/* SPDX-License-Identifier: MIT */
/* powerpc64: clone and clone3 with a function for the child. */
#include <syscall/arch/powerpc64/numbers.h>

#include "../shared/powerpc/clone.S"
