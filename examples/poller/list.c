/* SPDX-License-Identifier: MIT */
/* See poller.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "poller.h"

static const char blanks[] = " \t\r\n\v\f";

static bool escapes(char quote, char next)
{
	return next && (quote == '"' ? strchr("\\\"$`", next) != NULL : quote == '\0');
}

const char *list_split(char *line, char **words)
{
	/* In place: a word without its quotes is not longer than with them. */
	for (char *from = line, *to = line;; from++) {
		char quote = '\0';

		from += strspn(from, blanks);
		*words = NULL;
		if (!*from)
			return NULL;
		*words++ = to;
		for (; *from && (quote || !strchr(blanks, *from)); from++) {
			if (*from == '\\' && escapes(quote, from[1]))
				*to++ = *++from;
			else if (*from == '\\' && !quote)
				return "nothing follows the last backslash";
			else if (quote ? *from == quote : *from == '"' || *from == '\'')
				quote = (char)(quote ? '\0' : *from);
			else
				*to++ = *from;
		}
		if (quote)
			return quote == '"' ? "a \" is not closed" : "a ' is not closed";
		*words = NULL;
		bool is_last = !*from; /* the NUL below may overwrite this byte */
		*to++ = '\0';
		if (is_last)
			return NULL;
	}
}

static void *allocated(void *memory)
{
	if (memory)
		return memory;
	fputs("poller: no memory for the list\n", stderr);
	exit(2);
}

/* Returns a copy of the template's word, with {} replaced. */
static char *fill_in(const char *word, const char *line)
{
	char *text = NULL;
	size_t size;
	FILE *to = allocated(open_memstream(&text, &size));

	for (const char *at; (at = strstr(word, "{}")) != NULL; word = at + 2)
		fprintf(to, "%.*s%s", (int)(at - word), word, line);
	fputs(word, to);
	fclose(to);
	return allocated(text);
}

/* Takes text. Returns NULL, or an error message. */
static const char *fill(struct check *check, char *text, char *const *template)
{
	size_t count = strlen(text) / 2 + 2;

	for (char *const *word = template; word && *word; word++)
		count++;
	check->words = allocated(calloc(count, sizeof *check->words));
	for (size_t i = 0; template && template[i]; i++)
		check->words[i] = fill_in(template[i], text);
	const char *wrong = template ? NULL : list_split(text, check->words);
	check->label = template ? text : check->words[0];
	return wrong;
}

struct check *list_read(const char *name, char *const *template, size_t *count)
{
	FILE *file = name && strcmp(name, "-") != 0 ? fopen(name, "re") : stdin;
	struct check *first = NULL, **last = &first;
	const char *wrong = NULL;
	char *text = NULL;
	size_t room = 0, line = 0;
	ssize_t length;

	*count = 0;
	while (file && !wrong && (errno = 0, length = getline(&text, &room, file)) >= 0) {
		char *begin = text + strspn(text, blanks), *end = text + length;

		line++;
		wrong = strlen(text) < (size_t)length ? "it has a NUL" : NULL;
		/* A backslash before the newline is the line's last byte. */
		while (end > begin && (end[-1] == '\n' || (template && strchr(blanks, end[-1]))))
			*--end = '\0';
		if (wrong || !*begin || *begin == '#')
			continue;
		*last = allocated(malloc(sizeof **last));
		**last = (struct check){ .next = first, .line = line };
		wrong = fill(*last, allocated(strdup(begin)), template);
		last = &(*last)->next;
		++*count;
	}
	if (!wrong && (!file || !feof(file)))
		wrong = strerror(errno);
	if (!wrong && !*count)
		wrong = "no check in it";
	if (wrong) {
		fprintf(stderr, "poller: %s:%zu: %s\n", name ? name : "standard input", line, wrong);
		exit(2);
	}
	free(text);
	*last = first;
	return first;
}
