/* SPDX-License-Identifier: MIT */
/* What became of the checks: counted as they end, and reported when all have. */
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
	STOPPED, /* with the program */
	OUTCOMES
};

enum { SIGNALS = 65, REASONS = 16 };

struct result {
	const char *method;
	size_t planned, ended;
	size_t outcomes[OUTCOMES], signals[SIGNALS];
	/* Why checks could not be started; the last one stands for all that are more. */
	struct {
		char text[REASON];
		size_t count, line; /* the first in the list */
	} reasons[REASONS];
	/* In nanoseconds: how long each start blocked the loop; from the start to when it
	 * had been reaped. */
	uint64_t *starts, *latencies;
	size_t start_count, latency_count;
	uint64_t duration;
};

/* false: no memory for so many. */
bool result_begin(struct result *result, const char *method, size_t planned);
/* The outcome of what has been waited for. */
enum outcome result_outcome(int status);
void result_not_started(struct result *result, const char *why, size_t line);
/* Whether each check ran to its own end. */
bool result_is_complete(const struct result *result);
void result_free(struct result *result);

/* A line for a check; text: its output, or why it could not be started. */
void result_print_check(const char *method, size_t line, const char *program, enum outcome outcome,
			int status, uint64_t latency, const char *text);
/* The tables, a row for each result. Sorts the times. */
void result_print(struct result results[], size_t count);

#endif
