/* SPDX-License-Identifier: MIT */
#ifndef CHILD_EXECUTE_H
#define CHILD_EXECUTE_H

#include "../action/prepared.h"

/* A path to execute. With ASPAWN_COMMAND_RELATIVE_TO_CALLER it begins with the caller's directory. */
struct candidate {
	char text[2 * PSYS_PATH_MAX];
	size_t directory; /* length of the directory with its slash; 0: none */
	int error;        /* why the directory is not known: fails relative paths */
};

/* Called before the actions, which may change the directory. */
void aspw_begin_search(struct candidate *candidate, const struct prepared *prepared);
enum { SCRIPT_HEAD = 256, MOST_INTERPRETERS = 5 }; /* as the kernel has them */
/* Returns the interpreter that the first line of a script names, or NULL. The script may be in head. */
char *aspw_interpreter_of(const char *script, char head[SCRIPT_HEAD]);
/* Called after the actions. */
_Noreturn void aspw_execute_program(struct prepared *prepared, struct candidate *candidate);

/* Stores that prepared->report->step failed, where the parent looks when the child has ended, in
 * case that a filter kills it at its next call. error 0: it goes on. subject may be NULL. */
void aspw_store_report(struct prepared *prepared, int error, const char *subject);

/* Writes the report to the pipe, if there is one. */
void aspw_write_report(const struct prepared *prepared);

/* Reports that prepared->report->step failed, and exits. */
_Noreturn void aspw_exit_failed(struct prepared *prepared, int error, const char *subject);

#endif
