/* SPDX-License-Identifier: MIT */
/*
 * A target includes this before the sources which it fuzzes. What runs in children is not
 * instrumented in the library. Such a target has no child, so that ASan and the fuzzer see that
 * code.
 */
#ifndef FUZZ_INSTRUMENTED_H
#define FUZZ_INSTRUMENTED_H

#include <syscall/base.h>

#undef PSYS_UNINSTRUMENTED
#define PSYS_UNINSTRUMENTED

#include "input.h"

#endif
