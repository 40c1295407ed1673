/* SPDX-License-Identifier: MIT */
/*
 * Starting a check, each way: /dev/null is its standard input, a pipe its standard
 * output and error, its program is searched for in PATH.
 */
#ifndef METHODS_H
#define METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <aspawn/command.h>

enum {
	METHODS = 3,
	REASON = 128, /* bytes for why a check could not be started */
};

/* A check that runs; {0}: none. */
struct running {
	pid_t pid;                 /* 0: not known yet */
	int pidfd;                 /* readable when it has ended; -1: not known yet */
	int output;                /* a pipe, which does not block; -1: closed */
	struct aspawn_child child; /* aspawn's */
	FILE *stream;              /* popen's */
};

struct method {
	const char *name;
	bool has_group; /* whether a check leads a session, and a group to kill */
	/* 0, or -1: no check, and why. All descriptors are close-on-exec. */
	int (*start)(struct running *running, char *const words[], char why[REASON]);
	/* When it has ended: reaps it and closes pidfd. 0 and the status as of wait(2), or
	 * -1: it never ran, and why. */
	int (*finish)(struct running *running, int *status, char why[REASON]);
};

extern const struct method methods[METHODS];

/* The limit of descriptors for the checks, where a method can set one. */
void methods_limit_descriptors(const struct rlimit *limit);
/* As read(2). It may be known afterwards what was not: pid and pidfd. */
ssize_t methods_read(struct running *running, char *to, size_t size);
void methods_close_output(struct running *running);
/* SIGKILL, to all of its group if it has one. To call once more when it has ended: it
 * may not have led the group yet. */
void methods_kill(const struct method *method, const struct running *running);

#endif
