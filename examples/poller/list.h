/* SPDX-License-Identifier: MIT */
/*
 * The list of checks: a command a line. Words are parted and quoted as in a shell,
 * and that is all: no variable, no pattern, no pipe.
 */
#ifndef LIST_H
#define LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct check {
	size_t line;
	char **words; /* and a NULL */
};

struct list {
	struct check *checks;
	size_t count, room;
};

/* Adds what the file has. If false, why has been written to stderr, with the line. */
bool list_read(struct list *list, FILE *file, const char *name);
/* Adds what any Debian can run: what is well, what fails, what takes too long. */
bool list_demo(struct list *list);
void list_free(struct list *list);

#endif
