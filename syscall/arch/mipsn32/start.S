/* SPDX-License-Identifier: MIT */
/* mipsn32: the entry point of a program without a libc. */
#include <syscall/arch/mipsn32/numbers.h>

#include "../shared/mips/start.S"
