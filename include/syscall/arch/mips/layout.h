/* SPDX-License-Identifier: MIT */
/* mips o32: what differs from the 64-bit ABIs. */
#ifndef PSYS_MIPS_LAYOUT_H
#define PSYS_MIPS_LAYOUT_H

#include "../shared/mips/layout.h"

/* The halves are in the byte order of the machine; a pair begins in an even register. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PSYS_ARG64(value) (uint32_t)((uint64_t)(value) >> 32), (uint32_t)(value)
#else
#define PSYS_ARG64(value) (uint32_t)(value), (uint32_t)((uint64_t)(value) >> 32)
#endif
#define PSYS_ARG64_ODD(value) 0, PSYS_ARG64(value)

#endif
