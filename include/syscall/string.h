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

#ifdef __cplusplus
}
#endif

#endif
