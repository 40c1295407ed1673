/* SPDX-License-Identifier: MIT */
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
