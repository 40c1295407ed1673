/* SPDX-License-Identifier: MIT */
/* x86_64: what differs from most architectures. */
#ifndef PSYS_X86_64_LAYOUT_H
#define PSYS_X86_64_LAYOUT_H

#include "../shared/x86_64/layout.h"

#endif
