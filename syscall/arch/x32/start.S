/* SPDX-License-Identifier: MIT */
/* x32: the entry point of a program without a libc. */
#include <syscall/arch/x32/numbers.h>

#include "../shared/x86_64/start.S"
