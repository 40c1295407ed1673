/* SPDX-License-Identifier: MIT */
/* What the program of the jobs writes. */
#ifndef LETTERS_H
#define LETTERS_H

/* The byte at this place of an output: its period is no power of two. */
static inline char letter_at(int place)
{
	return (char)('a' + place % 23);
}

#endif
