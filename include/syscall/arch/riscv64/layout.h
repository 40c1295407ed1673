/* riscv64: what its kernel does otherwise than most. */
#ifndef PSYS_RISCV64_LAYOUT_H
#define PSYS_RISCV64_LAYOUT_H

/* clone takes tls before child_tid (CONFIG_CLONE_BACKWARDS). */
#define PSYS_CLONE_BACKWARDS

#endif
