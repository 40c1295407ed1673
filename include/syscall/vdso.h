/* SPDX-License-Identifier: MIT */
/*
 * Functions that the kernel has mapped into the process, above all a clock without a system call:
 * vdso(7). They use no thread pointer, no libc and little stack.
 */
#ifndef PSYS_VDSO_H
#define PSYS_VDSO_H

#include <syscall/base.h>
#include <syscall/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clock_gettime(2): 0; or an error number, which is negative, but positive on powerpc. */
typedef int (*psys_clock_fn)(int clock, struct psys_timespec *time);

/*
 * Returns the address of the function with this name, which vdso(7) lists for each architecture.
 * NULL if there is none, if the vDSO is not found (no /proc, before Linux 6.4), and where pointers
 * have 32 bits. Searches at each call, and reads /proc/self/auxv: keep the result. The address is
 * valid until the exec, also in children that share the memory or have a copy.
 */
PSYS_API void *psys_vdso_find(const char *name);

/*
 * Returns the vDSO's clock_gettime(), whatever its name; NULL as above: then psys_clock_gettime()
 * is the way. The function makes a system call for clocks, and on machines, that need one.
 */
PSYS_API psys_clock_fn psys_vdso_clock(void);

#ifdef __cplusplus
}
#endif

#endif
