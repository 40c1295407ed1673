/* SPDX-License-Identifier: MIT */
#ifndef CHILD_EXECUTE_H
#define CHILD_EXECUTE_H

#include "../action/prepared.h"

/* With ASPAWN_COMMAND_RELATIVE_TO_CALLER a path to execute begins with the caller's directory. */
struct candidate {
	char text[2 * PSYS_PATH_MAX];
	size_t directory; /* length of the directory with its slash, or 0 */
	int error;        /* why the directory is unknown, which fails relative paths */
};

/* The actions may change the directory: call this before them. */
void aspw_begin_search(struct candidate *candidate, const struct prepared *prepared);
enum { SCRIPT_HEAD = 256, MOST_INTERPRETERS = 5 }; /* the kernel's limits */
/* Returns the interpreter that a script's first line names, or NULL. The path may lie in head. */
char *aspw_interpreter_of(const char *script, char head[SCRIPT_HEAD]);
/* Call this after the actions. */
_Noreturn void aspw_execute_program(struct prepared *prepared, struct candidate *candidate);

/* Stores that prepared->report->step failed. The parent reads the report after the child's end: a
 * filter may kill the child at its next call. error is 0 if the child goes on; subject may be
 * NULL. */
void aspw_store_report(struct prepared *prepared, int error, const char *subject);

/* Writes the report to the pipe, if there is a pipe. */
void aspw_write_report(const struct prepared *prepared);

/* Reports that prepared->report->step failed, and exits. */
_Noreturn void aspw_exit_failed(struct prepared *prepared, int error, const char *subject);

#endif
