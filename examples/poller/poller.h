/* SPDX-License-Identifier: MIT */
#ifndef POLLER_H
#define POLLER_H

#include <stdbool.h>
#include <stdio.h>

#include <aspawn/queue.h>

struct check {
	struct check *next; /* the first follows the last */
	size_t line;
	const char *label; /* the program, or what {} stands for */
	char **words;      /* and a NULL */
};

/* Splits the line in place, as a shell does, but without variables, patterns or pipes. words: room
 * for half its length and two more. Returns NULL, or an error message. */
const char *list_split(char *line, char **words);
/* Reads a check from each line of the file, of standard input if name is NULL or "-"; or, if
 * template is not NULL, makes one of it, with {} replaced by the line. Returns the first, and their
 * number; exits with 2 and a message if it cannot. */
struct check *list_read(const char *name, char *const *template, size_t *count);

/* The first four are the exit statuses of a monitoring plugin; EXITED is any other. */
enum outcome {
	OK,
	UNKNOWN = 3,
	EXITED,
	SIGNALLED,
	TIMED_OUT,
	NOT_STARTED,
	STOPPED,
	LOST,
	OUTCOMES
};

struct report {
	enum style { SUMS, OUTPUT, JSON } style;
	bool shows_progress;
	size_t planned, begun, ended, outcomes[OUTCOMES];
	double started; /* now() */
};

/* Seconds of CLOCK_MONOTONIC. */
double now(void);
/* Writes the members of a JSON object, of any output. Needs the LC_CTYPE of C.UTF-8. */
void result_json(FILE *to, const struct aspawn_result *result);

/* Counts the check, and prints it. */
void report_add(struct report *report, const struct check *check,
		const struct aspawn_result *result);
/* A bar on stderr, a terminal; at most ten a second. */
void report_progress(struct report *report);
/* Prints the sums. */
void report_print(struct report *report);

#endif
