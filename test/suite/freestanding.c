/* SPDX-License-Identifier: MIT */
/* Functions that compilers call without being asked, for the suite that is linked with no libc. */
#define PSYS_DEFINE_MEMORY_FUNCTIONS
#include <syscall/string.h>
