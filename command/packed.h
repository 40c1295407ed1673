/* SPDX-License-Identifier: MIT */
/*
 * Bytes as strings, which an exec passes on. In front of each block of them is a key, a byte that
 * the block does not have, repeated to a word; each word of the block is XORed with the key. So
 * there is no byte of zero, and what is unpacked is as long as it was.
 *
 *   strings[0]       PACKED_ALIGN bytes, for the alignment of what is unpacked
 *   strings[1] ...   key, words, key, words, ..., 0
 *
 * The zero of argv, in front of strings[0], must stay: without it the kernel takes the environment
 * for arguments, which anybody may read (proc(5), cmdline).
 */
#ifndef COMMAND_PACKED_H
#define COMMAND_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <syscall/string.h>

typedef unsigned long __attribute__((may_alias)) packed_word;

enum {
	PACKED_WORD = sizeof(packed_word),
	PACKED_BLOCK = 256 - PACKED_WORD, /* bytes; of 255 keys one is left */
	PACKED_BLOCKS = 256,              /* in a string; execve(2) takes 128 KiB */
	PACKED_ALIGN = 16,
};

PSYS_INLINE size_t packed_strings(size_t size)
{
	return size / PACKED_BLOCK / PACKED_BLOCKS + 1;
}

/* Bytes of memory that pack() needs. */
PSYS_INLINE size_t packed_room(size_t size)
{
	const size_t blocks = size / PACKED_BLOCK + 1;

	return size + (blocks + packed_strings(size)) * PACKED_WORD +
	       (packed_strings(size) + 2) * sizeof(char *);
}

PSYS_INLINE bool packed_has(const packed_word *words, size_t count, packed_word key)
{
	const packed_word ones = (packed_word)-1 / 255;

	for (size_t i = 0; i < count; i++) {
		const packed_word difference = words[i] ^ key;
		if ((difference - ones) & ~difference & ones << 7)
			return true;
	}
	return false;
}

#define PACKED_FIRST "aspawn: command"
_Static_assert(sizeof PACKED_FIRST == PACKED_ALIGN, "must be as long");

/* Packs size bytes, a multiple of PACKED_WORD, which may change meanwhile. Both are aligned as
 * words. Returns the strings, with NULL at the end. */
PSYS_INLINE char **pack(void *room, const void *from, size_t size)
{
	const packed_word ones = (packed_word)-1 / 255, *source = from;
	char **strings = room, **string = strings;
	packed_word *to = (packed_word *)(strings + packed_strings(size) + 2);
	unsigned key = 1;

	*string++ = (char *)(uintptr_t)PACKED_FIRST;
	for (size_t left = size / PACKED_WORD, block = 0; left; block++) {
		const size_t most = PACKED_BLOCK / PACKED_WORD, count = left < most ? left : most;

		if (block % PACKED_BLOCKS == 0) {
			if (block)
				*to++ = 0;
			*string++ = (char *)to;
		}
		psys_memcpy(to + 1, source, count * PACKED_WORD);
		while (packed_has(to + 1, count, key * ones))
			key = key == 255 ? 1 : key + 1;
		*to++ = key * ones;
		for (size_t i = 0; i < count; i++)
			*to++ ^= key * ones;
		source += count;
		left -= count;
	}
	*to = 0;
	*string = NULL;
	return strings;
}

/* Unpacks the strings in their place, which is one piece of memory. Stores the size. */
PSYS_INLINE void *unpack(char *const *strings, size_t *size)
{
	char *const begin = strings[1] - (uintptr_t)strings[1] % PACKED_ALIGN, *to = begin;

	for (strings++; *strings; strings++)
		for (const char *at = *strings; *at;) {
			packed_word key, value;

			__builtin_memcpy(&key, at, PACKED_WORD);
			at += PACKED_WORD;
			for (size_t i = 0; i < PACKED_BLOCK / PACKED_WORD && *at; i++) {
				__builtin_memcpy(&value, at, PACKED_WORD);
				value ^= key;
				__builtin_memcpy(to, &value, PACKED_WORD);
				at += PACKED_WORD;
				to += PACKED_WORD;
			}
		}
	*size = (size_t)(to - begin);
	return begin;
}

#endif
