/* SPDX-License-Identifier: MIT */
/* The outcomes of the checks: counted as they end, reported when all have ended. */
#ifndef RESULT_H
#define RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "methods.h"

/* The first four are the exit statuses of a monitoring plugin. */
enum outcome {
	OK,
	WARNING,
	CRITICAL,
	UNKNOWN,
	EXITED, /* with another status */
	SIGNALLED,
	TIMED_OUT,
	NOT_STARTED,
	STOPPED, /* ended with the poller */
	OUTCOMES
};

enum { SIGNALS = 65, REASONS = 16 };

struct result {
	const char *method;
	size_t planned, ended;
	size_t outcomes[OUTCOMES], signals[SIGNALS];
	/* Reasons of failed starts; the last one counts all further reasons. */
	struct {
		char text[REASON];
		size_t count, line; /* the first in the list */
	} reasons[REASONS];
	/* Nanoseconds that each start blocked the loop; and from the start until the check was
	 * reaped. */
	uint64_t *starts, *latencies;
	size_t start_count, latency_count;
	uint64_t duration;
};

/* Returns false if there is no memory. */
bool result_begin(struct result *result, const char *method, size_t planned);
/* Returns the outcome for a status of wait(2). */
enum outcome result_outcome(int status);
void result_not_started(struct result *result, const char *why, size_t line);
/* Returns true if each check ended by itself. */
bool result_is_complete(const struct result *result);
void result_free(struct result *result);

/* Prints a line for a check; text is its output, or the error of its start. */
void result_print_check(const char *method, size_t line, const char *program, enum outcome outcome,
			int status, uint64_t latency, const char *text);
/* Prints the tables, a row for each result. Sorts the times. */
void result_print(struct result results[], size_t count);

#endif
