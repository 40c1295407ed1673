/* SPDX-License-Identifier: MIT */
/*
 * Strings and bytes for code that must not call a libc. Async-signal-safe,
 * thread-safe, no locale. Lengths are in bytes.
 */
#ifndef PSYS_STRING_H
#define PSYS_STRING_H

#include <syscall/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As strlen, strcmp, strncmp, memcmp. */
PSYS_API size_t psys_strlen(const char *string);
PSYS_API int psys_strcmp(const char *a, const char *b);
PSYS_API int psys_strncmp(const char *a, const char *b, size_t length);
PSYS_API int psys_memcmp(const void *a, const void *b, size_t length);

/* Returns a pointer to the first c in string, or to its NUL. */
PSYS_API const char *psys_strchrnul(const char *string, int c);

/* As memcpy, memset. */
PSYS_API void *psys_memcpy(void *to, const void *from, size_t length);
PSYS_API void *psys_memset(void *to, int byte, size_t length);

/*
 * As strlcpy: copies at most size - 1 bytes and a NUL. Returns the length of from; the copy is
 * complete if the length is less than size.
 */
PSYS_API size_t psys_strlcpy(char *to, const char *from, size_t size);

/*
 * Stores the number's decimal digits and a NUL in to, of PSYS_DECIMAL_SIZE bytes. Returns the
 * length.
 */
#define PSYS_DECIMAL_SIZE 21
PSYS_API size_t psys_u64_to_decimal(char *to, uint64_t number);
PSYS_API size_t psys_i64_to_decimal(char *to, int64_t number);

/*
 * Compilers call these four by their own choice, in freestanding code too, to copy or clear a
 * structure. A program without a libc defines PSYS_DEFINE_MEMORY_FUNCTIONS before it includes this
 * header, in one file or in several: the definitions are weak. The empty asm statement keeps a
 * compiler from turning a loop into a call of the function that it is in.
 */
#ifdef PSYS_DEFINE_MEMORY_FUNCTIONS
#define PSYS_MEMORY_FUNCTION __attribute__((weak, used)) PSYS_UNINSTRUMENTED

void *memcpy(void *to, const void *from, size_t length);
void *memmove(void *to, const void *from, size_t length);
void *memset(void *to, int byte, size_t length);
int memcmp(const void *a, const void *b, size_t length);

PSYS_MEMORY_FUNCTION void *memmove(void *to, const void *from, size_t length)
{
	unsigned char *t = (unsigned char *)to;
	const unsigned char *f = (const unsigned char *)from;
	const int is_backward = (uintptr_t)t > (uintptr_t)f;

	for (size_t i = 0; i < length; i++) {
		const size_t at = is_backward ? length - 1 - i : i;
		t[at] = f[at];
		__asm__ volatile("");
	}
	return to;
}

PSYS_MEMORY_FUNCTION void *memcpy(void *to, const void *from, size_t length)
{
	return memmove(to, from, length);
}

PSYS_MEMORY_FUNCTION void *memset(void *to, int byte, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		((unsigned char *)to)[i] = (unsigned char)byte;
		__asm__ volatile("");
	}
	return to;
}

PSYS_MEMORY_FUNCTION int memcmp(const void *a, const void *b, size_t length)
{
	const unsigned char *p = (const unsigned char *)a, *q = (const unsigned char *)b;

	for (; length; p++, q++, length--) {
		if (*p != *q)
			return *p - *q;
		__asm__ volatile("");
	}
	return 0;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
