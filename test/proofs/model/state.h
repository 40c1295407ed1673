/* SPDX-License-Identifier: MIT */
/* Describes the state of a process as lines of text. The code uses no libc, as the reporter has no
 * libc. */
#ifndef STATE_H
#define STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STATE_SIZE = 32 * 1024 };

/* What does not fit is cut off. */
struct text {
	size_t length;
	char bytes[STATE_SIZE];
};

void text_add(struct text *text, const char *string);
void text_add_number(struct text *text, int64_t number);

/* Adds "name number\n". */
void text_add_line(struct text *text, const char *name, int64_t number);

/* Adds what a new program would get from the calling process by an exec: descriptors, directories,
 * limits, credentials, signals and more. Numbers of processes are not included. */
void text_add_state(struct text *text);

#endif
