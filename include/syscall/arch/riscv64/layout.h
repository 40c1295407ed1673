/* riscv64: what its kernel does otherwise than most. */
#ifndef PSYS_RISCV64_LAYOUT_H
#define PSYS_RISCV64_LAYOUT_H

#include "../shared/riscv/layout.h"

#endif
