/* SPDX-License-Identifier: MIT */
/* HAS_ASAN: AddressSanitizer maps terabytes, replaces functions of the libc, complains without
 * /proc, and reports some tests as errors. */
#ifndef SANITIZER_H
#define SANITIZER_H

#ifdef __SANITIZE_ADDRESS__
#define HAS_ASAN 1
#elif defined(__has_feature)
#define HAS_ASAN __has_feature(address_sanitizer)
#else
#define HAS_ASAN 0
#endif

#endif
