/* SPDX-License-Identifier: MIT */
/* See list.h. */
#define _GNU_SOURCE
#include "list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r\n\v\f";

static bool escapes(char quote, char next)
{
	return next && (quote == '"' ? strchr("\\\"$`", next) != NULL : quote == '\0');
}

/*
 * Splits the line in place: a word without its quotes is not longer than with them. Returns NULL, or
 * an error message.
 */
static const char *split(char *line, char **words, size_t *count)
{
	char *from = line, *to = line;

	for (*count = 0;; from++) {
		char quote = '\0';

		from += strspn(from, blanks);
		if (!*from)
			return NULL;
		words[(*count)++] = to;
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
		bool is_last = !*from; /* the NUL below may overwrite this byte */
		*to++ = '\0';
		if (is_last)
			return NULL;
	}
}

static bool grow(struct list *list)
{
	if (list->count < list->room)
		return true;
	size_t room = list->room ? 2 * list->room : 256;
	struct check *checks = realloc(list->checks, room * sizeof *checks);
	if (!checks)
		return false;
	list->checks = checks;
	list->room = room;
	return true;
}

/* Returns NULL, or an error message. */
static const char *add(struct list *list, const char *text, size_t length, size_t line)
{
	const char *first = text + strspn(text, blanks);

	if (memchr(text, '\0', length))
		return "it has a NUL";
	if (!*first || *first == '#')
		return NULL;

	/* The words follow the array that points to them. Each word has a blank after it. */
	size_t most = length / 2 + 2, count;
	char **words = malloc(most * sizeof *words + length + 1);
	if (!words || !grow(list)) {
		free(words);
		return strerror(ENOMEM);
	}
	char *copy = memcpy(words + most, text, length + 1);
	const char *wrong = split(copy, words, &count);
	if (wrong) {
		free(words);
		return wrong;
	}
	words[count] = NULL;
	list->checks[list->count++] = (struct check){ line, words };
	return NULL;
}

bool list_read(struct list *list, FILE *file, const char *name)
{
	const char *wrong = NULL;
	char *text = NULL;
	size_t room = 0, line = 0;
	ssize_t length;

	while (!wrong && (errno = 0, length = getline(&text, &room, file)) >= 0) {
		if (text[length - 1] == '\n') /* a backslash before it is the line's last byte */
			text[--length] = '\0';
		wrong = add(list, text, (size_t)length, ++line);
	}
	if (wrong)
		fprintf(stderr, "poller: %s:%zu: %s\n", name, line, wrong);
	else if (!feof(file)) {
		wrong = strerror(errno);
		fprintf(stderr, "poller: %s: %s\n", name, wrong);
	}
	free(text);
	return !wrong;
}

bool list_demo(struct list *list)
{
	static const char text[] = "true\n"
				   "test -e /etc/passwd\n"
				   "grep -q ^root: /etc/passwd\n"
				   "echo 'DISK OK - 42% used'\n"
				   "sh -c 'echo LOAD WARNING; exit 1'\n"
				   "sh -c 'echo PING CRITICAL >&2; exit 2'\n"
				   "sh -c 'echo NTP UNKNOWN; exit 3'\n"
				   "sh -c 'kill -TERM $$'\n"
				   "sleep 5\n"
				   "sh -c 'sleep 5 & sleep 5'\n"
				   "sh -c 'exec >&- 2>&-; exit 0'\n"
				   "sh -c 'sleep 2 & echo its child has the pipe still'\n"
				   "no-such-check\n"
				   "/etc/passwd\n";
	FILE *file = fmemopen((char *)text, sizeof text - 1, "r");

	if (!file) {
		perror("poller: --demo");
		return false;
	}
	bool is_read = list_read(list, file, "demo");
	fclose(file);
	return is_read;
}

void list_free(struct list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->checks[i].words);
	free(list->checks);
	*list = (struct list){ 0 };
}
