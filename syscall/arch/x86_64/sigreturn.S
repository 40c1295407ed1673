/* SPDX-License-Identifier: MIT */
/* x86_64: where a signal handler returns to. */
#include <syscall/arch/x86_64/numbers.h>

#include "../shared/x86_64/sigreturn.S"
