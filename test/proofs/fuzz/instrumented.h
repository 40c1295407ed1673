/* SPDX-License-Identifier: MIT */
/*
 * For a target that includes the sources which it fuzzes, as aspawn/child/image/program.c does.
 * What runs in children is not instrumented in the library: here, where there is no child, ASan and
 * the fuzzer see it.
 */
#ifndef FUZZ_INSTRUMENTED_H
#define FUZZ_INSTRUMENTED_H

#include <syscall/base.h>

#undef PSYS_UNINSTRUMENTED
#define PSYS_UNINSTRUMENTED

#include "input.h"

#endif
