/* SPDX-License-Identifier: MIT */
/*
 * Searches for a program and executes it, as execvp(3), without heap: for a child that must not
 * call a libc.
 */
#ifndef PSYS_EXEC_H
#define PSYS_EXEC_H

#include <syscall/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PSYS_PATH_MAX 4096                /* bytes of a path, NUL included */
#define PSYS_NAME_MAX 255                 /* bytes of a file name */
#define PSYS_PATH_DEFAULT "/bin:/usr/bin" /* the default search path */

/*
 * Writes the next candidate for file, a name without a slash of file_len bytes, to
 * constructed_path, an array of path_max_len + 1 bytes. *path is the rest of a colon-separated list
 * of directories, in which an empty one is the current directory. The call advances *path past the
 * directory, and stores NULL after the last.
 *
 *  1  constructed_path is the next candidate
 *  0  there are no more directories
 * -1  the candidate would be longer than path_max_len: nothing was written, and another call goes
 *     on with the next directory
 */
PSYS_API int psys_find_exe(const char *file, size_t file_len, char *constructed_path,
			   const char **path, size_t path_max_len);

/*
 * Decides if a search goes on after execve() of a candidate has failed with result. Returns 0 if it
 * does, and sets *got_eaccess if access was denied: the caller reports -PSYS_EACCES if no other
 * candidate is found. Otherwise returns result: the program was found and cannot be executed.
 */
PSYS_API int psys_handle_execve_err(int result, int *got_eaccess);

/*
 * The search of execvp(3), one candidate at a time, for callers that execute or check the
 * candidates themselves:
 *
 *	struct psys_search search;
 *	const char *candidate;
 *
 *	psys_search_begin(&search, file, path, buffer, sizeof buffer, 0);
 *	while ((candidate = psys_search_next(&search)))
 *		if (!psys_search_continue(&search, psys_execve(candidate, argv, envp)))
 *			break;
 *	return search.error;
 */
struct psys_search {
	int error; /* of the failed search, a negative error number */
	int only;  /* 1: there is one candidate; its error is the error of the search */
	const char *file;
	const char *path; /* remaining directories; NULL: none */
	char *buffer;
	size_t size, prefix;
};

/*
 * Begins a search for file in the directories of path, a colon-separated list in which an empty
 * directory is the current one. path NULL means PSYS_PATH_DEFAULT. A file with a slash is the only
 * candidate.
 *
 * Candidates are written to buffer of size bytes; prefix + PSYS_PATH_MAX bytes are enough, and
 * longer candidates are skipped. The first prefix bytes of buffer, which may be 0, are a directory
 * and its slash, stored by the caller: they stay before each relative candidate.
 *
 * file, path and buffer must stay valid during the search. Nothing is allocated, so a search need
 * not be finished.
 */
PSYS_API void psys_search_begin(struct psys_search *search, const char *file, const char *path,
				char *buffer, size_t size, size_t prefix);

/*
 * Returns the next candidate, which is in buffer or file itself, or NULL after the last one.
 * search->error is then -PSYS_ENOENT (not found, or file is empty), -PSYS_EACCES (found, but access
 * was denied) or -PSYS_ENAMETOOLONG (file is longer than a name may be,
 * or with a slash than buffer).
 */
PSYS_API const char *psys_search_next(struct psys_search *search);

/*
 * Call this with the negative error number of a failed execve() of a candidate. Returns 1 if the
 * search goes on with the next candidate, and 0 if it ends; then search->error is result.
 */
PSYS_API int psys_search_continue(struct psys_search *search, int result);

/* Execute a file that the kernel rejects with -PSYS_ENOEXEC by /bin/sh. */
#define PSYS_EXEC_SHELL 1

/*
 * As execve(2); flags is 0 or PSYS_EXEC_SHELL. Returns only on failure: -PSYS_EINVAL (unknown
 * flag), -PSYS_E2BIG (argv is too long for a shell), or an error of execve(2). Needs a few words of
 * stack and, with PSYS_EXEC_SHELL, 8 bytes more for each element of argv.
 */
PSYS_API int psys_execve_or_shell(const char *path, char *const argv[], char *const envp[],
				  int flags);

/*
 * As execvp(3), with a search path and an environment. A file with a slash is not searched for.
 * path NULL means PSYS_PATH_DEFAULT; flags is 0 or PSYS_EXEC_SHELL. Needs 5 KiB of stack and, with
 * PSYS_EXEC_SHELL, 8 bytes more for each element of argv.
 *
 * Returns only on failure: -PSYS_ENOENT (not found, or file is empty), -PSYS_EACCES (found, but
 * access was denied), -PSYS_ENAMETOOLONG (file is longer than a name may be), -PSYS_EINVAL
 * (unknown flag), -PSYS_E2BIG (argv is too long for a shell), or an error of execve(2).
 */
PSYS_API int psys_execvpe(const char *file, char *const argv[], char *const envp[],
			  const char *path, int flags);

/* Returns the value of name in envp, or NULL. */
PSYS_API const char *psys_getenv(char *const envp[], const char *name);

#ifdef __cplusplus
}
#endif

#if !defined(PSYS_NO_UNPREFIXED) && !defined(PSYS_DECLARATIONS_ONLY)
#include <syscall/unprefixed.h> /* find_exe(), handle_execve_err(), pure_syscall() */
#endif

#endif
