/* SPDX-License-Identifier: MIT */
/* The event loop: starts the checks, serves them, and reaps them. */
#ifndef LOOP_H
#define LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "list.h"
#include "methods.h"
#include "result.h"

struct job {
	const struct list *list;
	const struct method *method;
	size_t concurrency;
	size_t until;            /* of the result's checks, this run ends with so many begun */
	uint64_t timeout, delay; /* nanoseconds; 0: none */
	int interrupt;           /* readable: end now */
	bool verbose, show_progress;
};

/* Returns when no check is left. Returns false if the loop could not begin, with the error on
 * stderr. */
bool loop_run(const struct job *job, struct result *result);

#endif
