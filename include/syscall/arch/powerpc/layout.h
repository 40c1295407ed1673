/* SPDX-License-Identifier: MIT */
/* powerpc: what differs from powerpc64. */
#ifndef PSYS_POWERPC_LAYOUT_H
#define PSYS_POWERPC_LAYOUT_H

#include "../shared/powerpc/layout.h"

/* The high half first; a pair begins in an odd register, as the first argument does. */
#define PSYS_ARG64(value) (uint32_t)((uint64_t)(value) >> 32), (uint32_t)(value)
#define PSYS_ARG64_ODD(value) 0, PSYS_ARG64(value)
#define PSYS_FADVISE_ADVICE_SECOND /* arch/powerpc/kernel/syscalls.c, ppc_fadvise64_64 */

#endif
