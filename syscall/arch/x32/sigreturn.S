/* SPDX-License-Identifier: MIT */
/* x32: where a signal handler returns to. */
#include <syscall/arch/x32/numbers.h>

#include "../shared/x86_64/sigreturn.S"
