/* SPDX-License-Identifier: MIT */
/* x86_64: the entry point of a program without a libc. */
#include <syscall/arch/x86_64/numbers.h>

#include "../shared/x86_64/start.S"
