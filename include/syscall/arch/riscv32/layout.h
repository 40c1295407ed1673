/* SPDX-License-Identifier: MIT */
/* riscv32: what differs from most architectures. */
#ifndef PSYS_RISCV32_LAYOUT_H
#define PSYS_RISCV32_LAYOUT_H

#include "../shared/riscv/layout.h"

/* The low half first; a pair may begin in any register. */
#define PSYS_ARG64(value) (uint32_t)(value), (uint32_t)((uint64_t)(value) >> 32)
#define PSYS_ARG64_ODD(value) PSYS_ARG64(value)

#endif
