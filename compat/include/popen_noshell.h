/*
 * A stream to or from a program, without a shell: the interface of popen_noshell,
 * for programs written for it.
 */
#ifndef POPEN_NOSHELL_H
#define POPEN_NOSHELL_H

#include <stdio.h>
#include <sys/types.h>
#include <unistd.h> /* programs that were written for it have that from here */

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

/*
 * How programs are started from now on, by all threads. The default shares memory and
 * does not wait; FORK copies it; POSIX_SPAWN is posix_spawnp(), whose errors the call
 * has: NULL, and no child. With an unknown mode nothing can be started (EINVAL).
 */
#define POPEN_NOSHELL_MODE_CLONE 0
#define POPEN_NOSHELL_MODE_FORK 1
#define POPEN_NOSHELL_MODE_POSIX_SPAWN 2
void popen_noshell_set_fork_mode(int mode);
int popen_noshell_get_fork_mode(void);

/*
 * Runs fn(arg) in a child that shares the memory, on a stack of its own, with the
 * caller's signal mask and no signal handler; what fn returns is the exit status. The
 * caller is suspended until the child has executed a program or ended, as by vfork(2):
 * fn does what a child of vfork() may, and may return. The caller's errno is kept.
 *
 * Returns the pid, which is to be waited for, or -1 with errno (mmap(2), clone(2)).
 * *memory_to_free_on_child_exit is NULL: nothing is left to free(), which does no harm.
 */
#define POPEN_NOSHELL_STACK_SIZE 8388608 /* bytes that fn has */
pid_t popen_noshell_vmfork(int (*fn)(void *), void *arg, void **memory_to_free_on_child_exit);

#ifdef __cplusplus
}
#endif

#endif
