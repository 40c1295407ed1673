/* SPDX-License-Identifier: MIT */
/* The targets share the functions to read input, and to stop. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNUSED __attribute__((unused))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t size;
};

static UNUSED void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static UNUSED uint8_t next_byte(struct input *input)
{
	return input->size ? input->size--, *input->data++ : 0;
}

/* Small numbers are usually valid, and large numbers must be rejected. */
static UNUSED uint64_t next_number(struct input *input)
{
	const uint8_t kind = next_byte(input);
	uint64_t wild = 0;

	if (kind < 200)
		return kind % 50;
	for (int i = 0; i < 8; i++)
		wild = wild << 8 | next_byte(input);
	return kind < 230 ? ~wild : kind < 240 ? ~UINT64_C(0) : wild;
}

/* Returns memory of exactly this size: ASan sees the first byte beyond. */
static UNUSED void *exact(const void *from, size_t size)
{
	void *to = malloc(size);

	check(to, "no memory");
	return size && from ? memcpy(to, from, size) : to;
}

/* Takes the bytes before the next newline, or the rest. */
static UNUSED char *next_line(struct input *input)
{
	const uint8_t *end = input->size ? memchr(input->data, '\n', input->size) : NULL;
	const size_t length = end ? (size_t)(end - input->data) : input->size;
	char *line = exact(NULL, length + 1);

	if (length)
		memcpy(line, input->data, length);
	line[length] = '\0'; /* a NUL before it ends the string too */
	input->data += end ? length + 1 : length;
	input->size -= end ? length + 1 : length;
	return line;
}

enum { MOST_LINES = 64 };
struct lines {
	char *list[MOST_LINES + 1];
	size_t count;
};

/* Takes lines up to an empty line. */
static UNUSED void next_lines(struct lines *lines, struct input *input)
{
	for (lines->count = 0; lines->count < MOST_LINES && input->size; lines->count++) {
		char *line = next_line(input);
		lines->list[lines->count] = line;
		if (!*line) {
			free(line);
			break;
		}
	}
	lines->list[lines->count] = NULL;
}

static UNUSED void free_lines(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->list[i]);
}

#endif
