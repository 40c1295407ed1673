/* SPDX-License-Identifier: MIT */
/*
 * s390x
 *
 * number: r1 (with svc 0)   arguments: r2 r3 r4 r5 r6 r7
 * result: r2, -errno on error
 * clobbered: the condition code
 * man 2 syscall; arch/s390/kernel/syscall.c, __do_syscall
 */
#ifndef PSYS_S390X_CALL_H
#define PSYS_S390X_CALL_H

#include "layout.h"
#include "numbers.h"

#define PSYS_TRAP "svc 0"
#define PSYS_NUMBER(nr) register long number __asm__("r1") = nr
#define PSYS_NUMBER_IN "r"
#define PSYS_A1 "r2"
#define PSYS_A2 "r3"
#define PSYS_A3 "r4"
#define PSYS_A4 "r5"
#define PSYS_A5 "r6"
#define PSYS_A6 "r7"
#define PSYS_CLOBBERS "cc", "memory"

#include "../shared/stubs.h"

#ifndef PSYS_DECLARATIONS_ONLY
/* mmap takes its arguments in memory, as old_mmap (arch/s390/kernel/syscall.c). */
#define PSYS_ARCH_MMAP
PSYS_INLINE void *psys_mmap(void *addr, size_t length, int protection, int flags, int fd,
			    int64_t offset)
{
	unsigned long arguments[6];

	arguments[0] = (unsigned long)addr;
	arguments[1] = length;
	arguments[2] = (unsigned long)protection;
	arguments[3] = (unsigned long)flags;
	arguments[4] = (unsigned long)fd;
	arguments[5] = (unsigned long)offset;
	return (void *)psys_call1(PSYS_NR_mmap, (long)arguments);
}

#endif /* PSYS_DECLARATIONS_ONLY */

#endif
