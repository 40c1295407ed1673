/* SPDX-License-Identifier: MIT */
/*
 * What compilers call without being asked, for the suite that is linked with no
 * libc. The library itself has no need of them.
 */
#include <syscall/string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

__attribute__((used)) void *memcpy(void *restrict to, const void *restrict from, size_t length)
{
	return psys_memcpy(to, from, length);
}

__attribute__((used)) void *memset(void *to, int byte, size_t length)
{
	return psys_memset(to, byte, length);
}

__attribute__((used)) int memcmp(const void *a, const void *b, size_t length)
{
	return psys_memcmp(a, b, length);
}
