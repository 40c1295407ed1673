/* SPDX-License-Identifier: MIT */
/* powerpc: the entry point of a program without a libc. */
#include <syscall/arch/powerpc/numbers.h>

#include "../shared/powerpc/start.S"
