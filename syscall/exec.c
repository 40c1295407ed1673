/* SPDX-License-Identifier: MIT */
/* Searches as execvp(3) does, without heap, environment or errno. */
#include <syscall/exec.h>
#include <syscall/string.h>
#include <syscall/syscall.h>

PSYS_UNINSTRUMENTED int psys_find_exe(const char *file, size_t file_len, char *constructed_path,
				      const char **path, size_t path_max_len)
{
	const char *directory = *path;
	if (!directory)
		return 0;
	const char *end = psys_strchrnul(directory, ':');
	size_t length = (size_t)(end - directory);
	size_t slash = length != 0; /* an empty directory is the current one */

	*path = *end ? end + 1 : NULL;
	if (length > path_max_len || file_len > path_max_len - length ||
	    slash > path_max_len - length - file_len)
		return -1;
	psys_memcpy(constructed_path, directory, length);
	if (slash)
		constructed_path[length] = '/';
	psys_memcpy(constructed_path + length + slash, file, file_len);
	constructed_path[length + slash + file_len] = '\0';
	return 1;
}

PSYS_UNINSTRUMENTED int psys_handle_execve_err(int result, int *got_eaccess)
{
	switch (-result) {
	case PSYS_EACCES:
		*got_eaccess = 1;
		return 0;
	case PSYS_ENOENT:
	case PSYS_ENOTDIR:
	case PSYS_ENAMETOOLONG:
	case PSYS_ELOOP:
	case PSYS_ENODEV: /* automounters and network file systems */
	case PSYS_ETIMEDOUT:
	case PSYS_ESTALE:
		return 0;
	default:
		return result;
	}
}

PSYS_UNINSTRUMENTED void psys_search_begin(struct psys_search *search, const char *file,
					   const char *path, char *buffer, size_t size,
					   size_t prefix)
{
	const int has_slash = *psys_strchrnul(file, '/') != '\0';

	if (!path)
		path = PSYS_PATH_DEFAULT;
	search->error = -PSYS_ENOENT;
	search->only = has_slash || !*path;
	search->file = file;
	search->path = *file ? path : NULL;
	search->buffer = buffer;
	search->size = size;
	search->prefix = prefix;
	if (!has_slash && psys_strlen(file) > PSYS_NAME_MAX) {
		search->error = -PSYS_ENAMETOOLONG;
		search->path = NULL;
	}
}

/* A file with a slash is the only candidate. */
static PSYS_UNINSTRUMENTED const char *file_itself(struct psys_search *search, char *to, size_t room)
{
	search->path = NULL;
	if (*search->file == '/' || !search->prefix)
		return search->file;
	if (psys_strlcpy(to, search->file, room) < room)
		return search->buffer;
	search->error = -PSYS_ENAMETOOLONG;
	return NULL;
}

PSYS_UNINSTRUMENTED const char *psys_search_next(struct psys_search *search)
{
	char *to = search->buffer + search->prefix;
	const size_t room = search->size - search->prefix;
	int found = -1;

	if (!search->path)
		return NULL;
	if (*psys_strchrnul(search->file, '/'))
		return file_itself(search, to, room);
	while (found < 0)
		found = psys_find_exe(search->file, psys_strlen(search->file), to, &search->path,
				      room - 1);
	if (!found)
		return NULL;
	return *to == '/' ? to : search->buffer;
}

PSYS_UNINSTRUMENTED int psys_search_continue(struct psys_search *search, int result)
{
	int got_eaccess = 0;

	if ((search->only && result != -PSYS_ENOENT) ||
	    psys_handle_execve_err(result, &got_eaccess) < 0) {
		search->error = result;
		search->path = NULL;
		return 0;
	}
	if (got_eaccess)
		search->error = -PSYS_EACCES;
	return 1;
}

/*
 * Executes /bin/sh path argv[1] ... The array is filled from the end, next to the used part of the
 * stack: if the array is too large for the stack, the first write beyond hits the guard page.
 */
static PSYS_UNINSTRUMENTED int exec_shell(const char *path, char *const argv[], char *const envp[])
{
	static const char shell[] = "/bin/sh";
	enum { most = 1 << 17 };
	size_t count = 0;

	while (argv[count])
		if (++count > most)
			return -PSYS_E2BIG;

	const char *shell_argv[count + 3];
	shell_argv[count ? count + 1 : 2] = NULL;
	for (size_t i = count; i > 1; i--) {
		shell_argv[i] = argv[i - 1];
		__asm__ volatile("" ::: "memory"); /* keep the order */
	}
	shell_argv[1] = path;
	shell_argv[0] = shell;
	return psys_execve(shell, (char *const *)shell_argv, envp);
}

PSYS_UNINSTRUMENTED int psys_execve_or_shell(const char *path, char *const argv[],
					     char *const envp[], int flags)
{
	if (flags & ~PSYS_EXEC_SHELL)
		return -PSYS_EINVAL;

	int result = psys_execve(path, argv, envp);
	if (result == -PSYS_ENOEXEC && (flags & PSYS_EXEC_SHELL))
		result = exec_shell(path, argv, envp);
	return result;
}

PSYS_UNINSTRUMENTED int psys_execvpe(const char *file, char *const argv[], char *const envp[],
				     const char *path, int flags)
{
	char buffer[PSYS_PATH_MAX];
	struct psys_search search;
	const char *candidate;

	if (flags & ~PSYS_EXEC_SHELL)
		return -PSYS_EINVAL;
	psys_search_begin(&search, file, path, buffer, sizeof buffer, 0);
	while ((candidate = psys_search_next(&search)))
		if (!psys_search_continue(&search,
					  psys_execve_or_shell(candidate, argv, envp, flags)))
			break;
	return search.error;
}

PSYS_UNINSTRUMENTED const char *psys_getenv(char *const envp[], const char *name)
{
	size_t length = psys_strlen(name);

	for (; *envp; envp++)
		if (!psys_strncmp(*envp, name, length) && (*envp)[length] == '=')
			return *envp + length + 1;
	return NULL;
}
