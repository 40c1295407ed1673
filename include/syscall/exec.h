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

#define PSYS_PATH_MAX 4096 /* a path's most bytes, NUL included */
#define PSYS_NAME_MAX 255  /* a file name's most bytes */

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

/* A script that the kernel refuses with -PSYS_ENOEXEC is given to /bin/sh. */
#define PSYS_EXEC_SHELL 1

/*
 * As execve(2), and what PSYS_EXEC_SHELL, the one flag, says. Returns on failure
 * only, a negative error number: -PSYS_EINVAL (unknown flag), -PSYS_E2BIG (argv too
 * long to be given to a shell), or execve(2)'s. Needs a few words of stack and, for
 * PSYS_EXEC_SHELL, those that psys_execvpe() names.
 */
PSYS_API int psys_execve_or_shell(const char *path, char *const argv[], char *const envp[], int flags);

/*
 * As execvp(3), with the list of directories given. A file with a slash is not
 * searched for. path NULL means "/bin:/usr/bin"; PSYS_EXEC_SHELL is the one
 * flag. Needs 5 KiB of stack and, for PSYS_EXEC_SHELL, 8 bytes more for each
 * element of argv.
 *
 * Returns on failure only, a negative error number: -PSYS_ENOENT (not found, or
 * an empty file), -PSYS_EACCES (found, none may be executed),
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

#ifndef PSYS_NO_UNPREFIXED
#include <syscall/unprefixed.h> /* find_exe(), handle_execve_err(), pure_syscall() */
#endif

#endif
