/* SPDX-License-Identifier: MIT */
/*
 * A target includes the header before the fuzzed sources. What runs in children is not instrumented
 * in the library. A target with the header has no child: ASan and the fuzzer see the code.
 */
#ifndef FUZZ_INSTRUMENTED_H
#define FUZZ_INSTRUMENTED_H

#include <syscall/base.h>

#undef PSYS_UNINSTRUMENTED
#define PSYS_UNINSTRUMENTED

#include "input.h"

#endif
