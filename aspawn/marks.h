/* SPDX-License-Identifier: MIT */
/*
 * These marks say in which process a function may run. A function without a mark runs only in the
 * caller's process, and may be instrumented. A marked function must not be instrumented: it may run
 * in a child, helper or server, which may share the caller's memory, and the thread pointer of a
 * caller's thread. test/checks/layering.t checks which functions a marked function calls.
 */
#ifndef ASPAWN_MARKS_H
#define ASPAWN_MARKS_H

#include <syscall/base.h>

#define IN_CHILD PSYS_UNINSTRUMENTED  /* in a child, its copy of the memory, or the image */
#define IN_HELPER PSYS_UNINSTRUMENTED /* in a helper */
#define IN_SERVER PSYS_UNINSTRUMENTED /* in the server of a queue, or in the caller */
#define IN_ANY PSYS_UNINSTRUMENTED    /* in each of these processes */

/* Without optimization compilers copy structures by memcpy and memset, in files with marks too. */
#ifndef __OPTIMIZE__
__asm__(".set memcpy, psys_memcpy\n\t.set memset, psys_memset");
#endif

#endif
