/* SPDX-License-Identifier: MIT */
/* riscv64: what differs from most architectures. */
#ifndef PSYS_RISCV64_LAYOUT_H
#define PSYS_RISCV64_LAYOUT_H

#include "../shared/riscv/layout.h"

#endif
