/* SPDX-License-Identifier: MIT */
/* powerpc64: what differs from most architectures. */
#ifndef PSYS_POWERPC64_LAYOUT_H
#define PSYS_POWERPC64_LAYOUT_H

#include "../shared/powerpc/layout.h"

#endif
