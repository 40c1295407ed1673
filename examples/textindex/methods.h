/* SPDX-License-Identifier: MIT */
/*
 * Starting a filter on a file, each way: the file is its standard input, a pipe
 * its standard output, and its program is searched for in PATH.
 */
#ifndef METHODS_H
#define METHODS_H

#include <stdio.h>
#include <sys/types.h>

#include <aspawn/command.h>

/* What a thread keeps: one at a time is running. */
struct running {
	int output; /* the filter's: to be read to its end */
	pid_t pid;
	FILE *stream;              /* popen's */
	struct aspawn_child child; /* aspawn's */
};

struct method {
	const char *name;
	/* 0 or an error number. */
	int (*start)(struct running *running, char *const filter[], const char *file);
	/* 0 if the filter succeeded, else an error number, or -1: it failed itself. */
	int (*finish)(struct running *running);
};

extern const struct method methods[];
extern const size_t method_count;

#endif
