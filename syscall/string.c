/* SPDX-License-Identifier: MIT */
/*
 * This file has strings and bytes. The empty asm statement of each loop keeps compilers from
 * replacing the loop by a call of memcpy, memset or strlen, which do not exist here.
 */
#include <syscall/string.h>

#define KEEP_LOOP() __asm__ volatile("")

typedef unsigned long __attribute__((may_alias)) word;

PSYS_UNINSTRUMENTED size_t psys_strlen(const char *string)
{
	size_t length = 0;

	for (; string[length]; length++)
		KEEP_LOOP();
	return length;
}

PSYS_UNINSTRUMENTED int psys_strncmp(const char *a, const char *b, size_t length)
{
	for (; length; a++, b++, length--)
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	return 0;
}

PSYS_UNINSTRUMENTED int psys_strcmp(const char *a, const char *b)
{
	return psys_strncmp(a, b, SIZE_MAX);
}

PSYS_UNINSTRUMENTED int psys_memcmp(const void *a, const void *b, size_t length)
{
	const unsigned char *p = a, *q = b;

	for (; length; p++, q++, length--)
		if (*p != *q)
			return *p - *q;
	return 0;
}

PSYS_UNINSTRUMENTED const char *psys_strchrnul(const char *string, int c)
{
	for (; *string && *string != (char)c; string++)
		KEEP_LOOP();
	return string;
}

PSYS_UNINSTRUMENTED void *psys_memcpy(void *to, const void *from, size_t length)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if (((uintptr_t)t | (uintptr_t)f) % sizeof(word) == 0)
		for (; length >= sizeof(word); length -= sizeof(word)) {
			*(word *)t = *(const word *)f;
			t += sizeof(word);
			f += sizeof(word);
			KEEP_LOOP();
		}
	for (; length; length--) {
		*t++ = *f++;
		KEEP_LOOP();
	}
	return to;
}

PSYS_UNINSTRUMENTED void *psys_memset(void *to, int byte, size_t length)
{
	unsigned char *t = to;
	const word bytes = (word)-1 / 255 * (unsigned char)byte;

	if ((uintptr_t)t % sizeof(word) == 0)
		for (; length >= sizeof(word); length -= sizeof(word)) {
			*(word *)t = bytes;
			t += sizeof(word);
			KEEP_LOOP();
		}
	for (; length; length--) {
		*t++ = (unsigned char)byte;
		KEEP_LOOP();
	}
	return to;
}

PSYS_UNINSTRUMENTED size_t psys_strlcpy(char *to, const char *from, size_t size)
{
	size_t length = 0;

	for (; length < size && (to[length] = from[length]); length++)
		KEEP_LOOP();
	if (length == size) {
		if (size)
			to[size - 1] = '\0';
		length += psys_strlen(from + length);
	}
	return length;
}

/* Divides byte by byte, by a multiplication: for 64-bit shifts by a variable, and divisions,
 * compilers may call a library function, which is not linked. */
PSYS_UNINSTRUMENTED size_t psys_u64_to_decimal(char *to, uint64_t number)
{
	char digits[PSYS_DECIMAL_SIZE], *digit = digits + sizeof digits;

	*--digit = '\0';
	do {
		uint64_t tenth = 0;
		uint32_t rest = 0;

		for (int i = 0; i < 8; i++, number <<= 8) {
			rest = rest << 8 | (uint32_t)(number >> 56);
			const uint32_t quotient = rest * 6554 >> 16; /* a tenth of less than 2560 */
			tenth = tenth << 8 | quotient;
			rest -= 10 * quotient;
		}
		*--digit = (char)('0' + rest);
		number = tenth;
	} while (number);
	return psys_strlcpy(to, digit, sizeof digits);
}

PSYS_UNINSTRUMENTED size_t psys_i64_to_decimal(char *to, int64_t number)
{
	if (number >= 0)
		return psys_u64_to_decimal(to, (uint64_t)number);
	*to = '-';
	return 1 + psys_u64_to_decimal(to + 1, 0 - (uint64_t)number);
}
