/* SPDX-License-Identifier: MIT */
/* mips64: the entry point of a program without a libc. */
#include <syscall/arch/mips64/numbers.h>

#include "../shared/mips/start.S"
