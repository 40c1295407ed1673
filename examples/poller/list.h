/* SPDX-License-Identifier: MIT */
/*
 * The list of checks, a command a line. Words are split and quoted as in a shell; there are no
 * variables, patterns or pipes.
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

/* Adds the checks of a file. Returns false after an error, which is on stderr with its line. */
bool list_read(struct list *list, FILE *file, const char *name);
/* Adds checks that any Debian can run: some succeed, fail, or take too long. */
bool list_demo(struct list *list);
void list_free(struct list *list);

#endif
