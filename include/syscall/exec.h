/*
 * Executing a program that is searched for, without heap: what execvp(3) does,
 * for a child that must not call a libc.
 */
#ifndef PSYS_EXEC_H
#define PSYS_EXEC_H

#include <syscall/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PSYS_PATH_MAX 4096                /* a path's most bytes, NUL included */
#define PSYS_NAME_MAX 255                 /* a file name's most bytes */
#define PSYS_PATH_DEFAULT "/bin:/usr/bin" /* searched where no list is given */

/*
 * Writes the next candidate for file, a name without a slash of file_len bytes,
 * into constructed_path, which has room for path_max_len + 1 bytes. *path is the
 * rest of a colon-separated list of directories, an empty one being the current
 * directory; it is moved past what was used, and NULL after the last.
 *
 *  1  a candidate is ready
 *  0  there is no further one
 * -1  this one would be longer than path_max_len: nothing was written; another
 *     call goes on with the next
 */
PSYS_API int psys_find_exe(const char *file, size_t file_len, char *constructed_path,
			   const char **path, size_t path_max_len);

/*
 * What a failed execve() of a candidate means for the search. Returns 0: try the
 * next one; *got_eaccess is set if access to this one was denied, to be
 * reported when no other is found. Otherwise returns result, a negative error
 * number: the program was found and cannot be run.
 */
PSYS_API int psys_handle_execve_err(int result, int *got_eaccess);

/*
 * The search of execvp(3), one candidate at a time, for callers that execute, or look for,
 * the candidates themselves:
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
	int error; /* why the search failed, a negative error number */
	int only;  /* 1: there is one candidate; its error is that of the search */
	const char *file;
	const char *path; /* directories that are left; NULL: none */
	char *buffer;
	size_t size, prefix;
};

/*
 * Begins a search for file in the directories of path, a colon-separated list; an empty
 * one is the current directory. NULL means PSYS_PATH_DEFAULT. A file with a slash is the
 * one candidate itself.
 *
 * Candidates are written to the size bytes of buffer, more than prefix: PSYS_PATH_MAX and
 * prefix are enough, longer candidates are left out. The first prefix bytes of buffer, 0 or
 * more, are the caller's: a directory and its slash, put before each relative candidate.
 *
 * file, path and buffer must last as long as the search. Nothing is allocated: a search
 * may be given up at any time.
 */
PSYS_API void psys_search_begin(struct psys_search *search, const char *file, const char *path,
				char *buffer, size_t size, size_t prefix);

/*
 * Returns the next candidate, in buffer or file itself, or NULL after the last one.
 * search->error is then -PSYS_ENOENT (not found, or file is empty), -PSYS_EACCES (one was
 * found, and access to it denied) or -PSYS_ENAMETOOLONG (file is longer than a name can
 * be, or than buffer).
 */
PSYS_API const char *psys_search_next(struct psys_search *search);

/*
 * To be told of the failed execve() of a candidate, a negative error number. Returns 1 if
 * the search goes on with the next candidate, and 0 if it ends here: search->error is
 * result.
 */
PSYS_API int psys_search_continue(struct psys_search *search, int result);

/* A script that the kernel refuses with -PSYS_ENOEXEC is given to /bin/sh. */
#define PSYS_EXEC_SHELL 1

/*
 * As execve(2), and what PSYS_EXEC_SHELL, the one flag, says. Returns on failure
 * only, a negative error number: -PSYS_EINVAL (unknown flag), -PSYS_E2BIG (argv too
 * long to be given to a shell), or execve(2)'s. Needs a few words of stack and, for
 * PSYS_EXEC_SHELL, those that psys_execvpe() names.
 */
PSYS_API int psys_execve_or_shell(const char *path, char *const argv[], char *const envp[],
				  int flags);

/*
 * As execvp(3), with the list of directories given. A file with a slash is not
 * searched for. path NULL means PSYS_PATH_DEFAULT; PSYS_EXEC_SHELL is the one
 * flag. Needs 5 KiB of stack and, for PSYS_EXEC_SHELL, 8 bytes more for each
 * element of argv.
 *
 * Returns on failure only, a negative error number: -PSYS_ENOENT (not found, or
 * an empty file), -PSYS_EACCES (found, but access to it is denied),
 * -PSYS_ENAMETOOLONG (file is longer than a name can be), -PSYS_EINVAL (unknown
 * flag), -PSYS_E2BIG (argv too long to be given to a shell), or execve(2)'s.
 */
PSYS_API int psys_execvpe(const char *file, char *const argv[], char *const envp[],
			  const char *path, int flags);

/* The value of name in envp, or NULL. */
PSYS_API const char *psys_getenv(char *const envp[], const char *name);

#ifdef __cplusplus
}
#endif

#if !defined(PSYS_NO_UNPREFIXED) && !defined(PSYS_DECLARATIONS_ONLY)
#include <syscall/unprefixed.h> /* find_exe(), handle_execve_err(), pure_syscall() */
#endif

#endif
