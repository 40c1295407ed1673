/*
 * A stream to or from a program, without a shell: the interface of popen_noshell,
 * for programs written for it.
 */
#ifndef POPEN_NOSHELL_H
#define POPEN_NOSHELL_H

#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Filled in for pclose_noshell(). */
struct popen_noshell_pass_to_pclose {
	FILE *fp;
	pid_t pid;
};

/*
 * Starts file, which is searched for in PATH, with argv, and returns a stream that
 * reads its standard output (type "r"; its input is /dev/null) or writes to its
 * standard input (type "w"; its output goes to /dev/null). The stream is CLOEXEC.
 *
 * stderr_mode  0: the caller's, 1: /dev/null, 2: where its standard output goes
 *
 * The call does not wait for the program: if it cannot be executed the stream ends at
 * once, and the status is that of exit(127). NULL with errno if there is no child:
 * EINVAL of the arguments, and the errors of pipe2(2) and clone(2).
 */
FILE *popen_noshell(const char *file, const char *const *argv, const char *type,
		    struct popen_noshell_pass_to_pclose *pclose_arg, int stderr_mode);

/*
 * The same of a command line, split at spaces and tabs; stderr_mode is 0. A word may
 * stand in single or double quotes, as a whole. Nothing else is special, and what a
 * shell would take otherwise is refused with EINVAL: any of ! \ $ ` newline | & ; ( ) < >
 * wherever it stands, a quote within a word, one that is not closed, no word at all.
 */
FILE *popen_noshell_compat(const char *command, const char *type,
			   struct popen_noshell_pass_to_pclose *pclose_arg);

/* Closes the stream and waits for the program: its status, as of waitpid(), or -1
 * with errno. */
int pclose_noshell(struct popen_noshell_pass_to_pclose *arg);

#ifdef __cplusplus
}
#endif

#endif
