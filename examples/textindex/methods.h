/* SPDX-License-Identifier: MIT */
/*
 * The ways to start a filter. Its standard input is the file, its standard output is a pipe, and
 * its program is searched for in PATH.
 */
#ifndef METHODS_H
#define METHODS_H

#include <stdio.h>
#include <sys/types.h>

#include <aspawn/command.h>

/* The running filter of a thread. */
struct running {
	int output; /* of the filter, to be read to its end */
	pid_t pid;
	FILE *stream;              /* of popen */
	struct aspawn_child child; /* of aspawn */
};

struct method {
	const char *name;
	/* Returns 0 or an error number. */
	int (*start)(struct running *running, char *const filter[], const char *file);
	/* Returns 0 if the filter succeeded, -1 if the filter failed, or an error number. */
	int (*finish)(struct running *running);
};

extern const struct method methods[];
extern const size_t method_count;

#endif
