/* SPDX-License-Identifier: MIT */
/* mips: the entry point of a program without a libc. */
#include <syscall/arch/mips/numbers.h>

#include "../shared/mips/start.S"
