/* Whether the program is under AddressSanitizer, which has functions of the libc in a
 * form of its own and takes some things for errors. */
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
