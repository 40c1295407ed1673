/* SPDX-License-Identifier: MIT */
/* powerpc64: the entry point of a program without a libc. */
#include <syscall/arch/powerpc64/numbers.h>

#include "../shared/powerpc/start.S"
