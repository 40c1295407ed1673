/* SPDX-License-Identifier: MIT */
/* Patterns of commands, a letter for each wish: a dot is any letter, a capital any but that, and
 * "+" any but "-". */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>

static inline bool fits_letter(char pattern, char letter)
{
	if (pattern == '+')
		return letter != '-';
	if (pattern >= 'A' && pattern <= 'Z')
		return letter != pattern - 'A' + 'a';
	return pattern == '.' || pattern == letter;
}

static inline bool fits_pattern(const char *pattern, const char *letters)
{
	while (*letters && fits_letter(*pattern, *letters)) {
		pattern++;
		letters++;
	}
	return !*letters;
}

#endif
