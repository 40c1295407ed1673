/* SPDX-License-Identifier: MIT */
/*
 * This is the interface of popen_noshell, for programs written for it: a stream to or from a
 * program, without a shell.
 */
#ifndef POPEN_NOSHELL_H
#define POPEN_NOSHELL_H

#include <stdio.h>
#include <sys/types.h>
#include <unistd.h> /* programs written for popen_noshell rely on this include */

#ifdef __cplusplus
extern "C" {
#endif

/* filled in for pclose_noshell() */
struct popen_noshell_pass_to_pclose {
	FILE *fp;
	pid_t pid;
};

/*
 * Searches for file in PATH, starts it with argv, and returns a stream: type "r" reads the
 * program's standard output (its input is /dev/null), type "w" writes to the program's standard
 * input (its output goes to /dev/null). The stream is CLOEXEC.
 *
 * stderr_mode  0: the caller's, 1: /dev/null, 2: the program's standard output
 *
 * The call does not wait for the exec: if the program cannot be executed, the stream ends at
 * once and the status is that of exit(127). Returns NULL with errno if no child could be made:
 * EINVAL if an argument is invalid, or an error of pipe2(2) or clone(2).
 */
FILE *popen_noshell(const char *file, const char *const *argv, const char *type,
		    struct popen_noshell_pass_to_pclose *pclose_arg, int stderr_mode);

/*
 * The same for a command line, which is split at spaces and tabs; stderr_mode is 0. A whole word
 * may be in single or double quotes. Fails with EINVAL if the line would need a shell: it has one
 * of ! \ $ ` newline | & ; ( ) < > anywhere, a quote within a word, an unclosed quote, or no word.
 */
FILE *popen_noshell_compat(const char *command, const char *type,
			   struct popen_noshell_pass_to_pclose *pclose_arg);

/* Closes the stream and waits for the program. Returns its status as waitpid() stores it, or -1
 * with errno. */
int pclose_noshell(struct popen_noshell_pass_to_pclose *arg);

/*
 * Sets how later calls of all threads start programs. CLONE, the default, shares memory and does
 * not wait for the exec. FORK copies memory. POSIX_SPAWN uses posix_spawnp(): a failed exec is an
 * error of the call. After an unknown mode every start fails with EINVAL.
 */
#define POPEN_NOSHELL_MODE_CLONE 0
#define POPEN_NOSHELL_MODE_FORK 1
#define POPEN_NOSHELL_MODE_POSIX_SPAWN 2
void popen_noshell_set_fork_mode(int mode);
int popen_noshell_get_fork_mode(void);

/*
 * Runs fn(arg) in a child that shares the caller's memory, on a stack of its own, with the
 * caller's signal mask and no signal handlers. The value that fn returns is the exit status. The
 * caller is suspended until the child executes a program or ends, as by vfork(2); fn may do what
 * a child of vfork() may, and may return. The caller's errno is unchanged.
 *
 * Returns the pid, which the caller waits for, or -1 with errno (mmap(2), clone(2)). Stores NULL
 * in *memory_to_free_on_child_exit: there is nothing to free.
 */
#define POPEN_NOSHELL_STACK_SIZE 8388608 /* bytes for fn */
pid_t popen_noshell_vmfork(int (*fn)(void *), void *arg, void **memory_to_free_on_child_exit);

#ifdef __cplusplus
}
#endif

#endif
