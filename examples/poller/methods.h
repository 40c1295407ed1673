/* SPDX-License-Identifier: MIT */
/*
 * The ways to start a check. Its standard input is /dev/null, its standard output and error are a
 * pipe, and its program is searched for in PATH.
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
	REASON = 128, /* bytes of the error message of a failed start */
};

/* A running check; {0}: none. */
struct running {
	pid_t pid;                 /* 0: not known yet */
	int pidfd;                 /* readable when the check has ended; -1: not known yet */
	int output;                /* a non-blocking pipe; -1: closed */
	struct aspawn_child child; /* of aspawn */
	FILE *stream;              /* of popen */
};

struct method {
	const char *name;
	bool has_group; /* true if a check leads a session, so that its group can be killed */
	/* Returns 0, or -1 with an error message. All descriptors are close-on-exec. */
	int (*start)(struct running *running, char *const words[], char why[REASON]);
	/* Reaps a check that has ended, and closes pidfd. Returns 0 with the status as wait(2)
	 * stores it, or -1 with an error message if the program was never executed. */
	int (*finish)(struct running *running, int *status, char why[REASON]);
};

extern const struct method methods[METHODS];

/* Sets the limit of descriptors of the checks, if the method supports that. */
void methods_limit_descriptors(const struct rlimit *limit);
/* As read(2). May also find out pid and pidfd. */
ssize_t methods_read(struct running *running, char *to, size_t size);
void methods_close_output(struct running *running);
/* Sends SIGKILL to the check, or to its group. Call this again when the check has ended: at the first
 * call it may not have led its group yet. */
void methods_kill(const struct method *method, const struct running *running);

#endif
