/* Where the child finds the program, and what it says if it cannot be executed. */
#include <syscall/string.h>

#include "prepared.h"

static PSYS_UNINSTRUMENTED int take_directory(struct candidate *candidate)
{
	char *end = candidate->text + PSYS_PATH_MAX;
	long size = psys_getcwd(candidate->text, PSYS_PATH_MAX);

	if (size < 0)
		return (int)size;
	if (candidate->text[0] != '/') /* "(unreachable)" */
		return -PSYS_ENOENT;
	for (long i = 0; i < size - 1; i++)
		end[-2 - i] = candidate->text[size - 2 - i];
	end[-1] = '/';
	candidate->directory = (size_t)size;
	return 0;
}

PSYS_UNINSTRUMENTED void aspawn_begin_search(struct candidate *candidate, const struct prepared *prepared)
{
	candidate->directory = 0;
	candidate->error = prepared->flags & ASPAWN_COMMAND_RELATIVE_TO_CALLER ? take_directory(candidate) : 0;
}

/* The next path to try: NULL after the last. One that is too long is left out. */
static PSYS_UNINSTRUMENTED const char *next_candidate(struct candidate *candidate, const char *file,
						      const char **path)
{
	char *to = candidate->text + PSYS_PATH_MAX;

	if (*psys_strchrnul(file, '/')) {
		if (!*path)
			return NULL;
		*path = NULL;
		if (*file == '/' || !candidate->directory)
			return file;
		if (psys_strlcpy(to, file, PSYS_PATH_MAX) < PSYS_PATH_MAX)
			return to - candidate->directory;
		candidate->error = -PSYS_ENAMETOOLONG;
		return file;
	}
	size_t length = psys_strlen(file);
	int found = length <= PSYS_NAME_MAX ? -1 : 0;
	while (found < 0)
		found = psys_find_exe(file, length, to, path, PSYS_PATH_MAX - 1);
	return !found ? NULL : *to == '/' ? to : to - candidate->directory;
}

/* Whether there is such a file: then it was its interpreter that was not found. */
static PSYS_UNINSTRUMENTED bool exists(struct candidate *candidate, const char *file, const char *path)
{
	const char *found;

	while ((found = next_candidate(candidate, file, &path)))
		if (psys_faccessat(PSYS_AT_FDCWD, found, PSYS_F_OK) == 0)
			return true;
	return false;
}

/*
 * The kernel copies a table of descriptors in whole words of 32 or 64, and closes what was
 * not wanted of the last one: for that moment another child may hold what a thread has
 * just written this program through. So a busy one is tried again, for 20 ms.
 */
static PSYS_UNINSTRUMENTED int exec_one(const char *path, const struct prepared *prepared, int flags)
{
	const struct psys_timespec nap = { 0, 1000000 };
	int r = psys_execve_or_shell(path, prepared->argv, prepared->envp, flags);

	for (int tries = 0; r == -PSYS_ETXTBSY && tries < 20; tries++) {
		psys_nanosleep(&nap, NULL);
		r = psys_execve_or_shell(path, prepared->argv, prepared->envp, flags);
	}
	return r;
}

static PSYS_UNINSTRUMENTED _Noreturn void fail_at(struct prepared *prepared, int step, int error,
						  const char *file)
{
	prepared->report.step = step;
	aspawn_fail(prepared, error, file);
}

PSYS_UNINSTRUMENTED void aspawn_execute(struct prepared *prepared, struct candidate *candidate)
{
	const int flags = prepared->flags & ASPAWN_COMMAND_SHELL_ON_ENOEXEC ? PSYS_EXEC_SHELL : 0;
	const char *file = prepared->file, *path = prepared->path, *all, *found;
	const bool has_slash = *psys_strchrnul(file, '/');
	int error = -PSYS_ENOENT, got_eaccess = 0;

	if (!path)
		path = psys_getenv(prepared->envp, "PATH");
	if (!path)
		path = "/bin:/usr/bin";
	all = path;
	if (!*file)
		fail_at(prepared, ASPAWN_STEP_SEARCH, -PSYS_ENOENT, file);
	while ((found = next_candidate(candidate, file, &path))) {
		int r = candidate->error && *found != '/' ? candidate->error :
			exec_one(found, prepared, flags);
		/* An empty search path, the current directory, leaves nothing to go on to. */
		if (has_slash || (!*all && r != -PSYS_ENOENT) || psys_handle_execve_err(r, &got_eaccess) < 0) {
			error = r;
			break;
		}
	}
	if (!found && got_eaccess)
		error = -PSYS_EACCES;
	else if (!found && !has_slash && psys_strlen(file) > PSYS_NAME_MAX)
		error = -PSYS_ENAMETOOLONG;
	if (error == -PSYS_ENOENT && exists(candidate, file, all))
		fail_at(prepared, ASPAWN_STEP_INTERPRETER, error, file);
	fail_at(prepared, found || has_slash || got_eaccess ? ASPAWN_STEP_EXEC : ASPAWN_STEP_SEARCH, error,
		found ? found : file);
}
