/* SPDX-License-Identifier: MIT */
/* riscv, 32 and 64 bits: what differs from most architectures. */
#ifndef PSYS_RISCV_LAYOUT_H
#define PSYS_RISCV_LAYOUT_H

/* clone takes tls before child_tid (CONFIG_CLONE_BACKWARDS). */
#define PSYS_CLONE_BACKWARDS

#endif
