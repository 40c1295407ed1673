/* SPDX-License-Identifier: MIT */
/* What the amalgamation begins with, in place of -mno-outline-atomics; end.h undoes it. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("no-outline-atomics"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("no-outline-atomics")
#endif
