/* SPDX-License-Identifier: MIT */
/* The child finds and executes the program, or reports why it cannot. */
#include <syscall/string.h>

#include "prepared.h"

/* Puts the current directory and a slash at the start of the candidate's text. */
static PSYS_UNINSTRUMENTED int take_directory(struct candidate *candidate)
{
	long size = psys_getcwd(candidate->text, PSYS_PATH_MAX);

	if (size < 0)
		return (int)size;
	if (candidate->text[0] != '/') /* "(unreachable)" */
		return -PSYS_ENOENT;
	candidate->text[size - 1] = '/';
	candidate->directory = (size_t)size;
	return 0;
}

PSYS_UNINSTRUMENTED void aspawn_begin_search(struct candidate *candidate,
					     const struct prepared *prepared)
{
	candidate->directory = 0;
	candidate->error =
		prepared->flags & ASPAWN_COMMAND_RELATIVE_TO_CALLER ? take_directory(candidate) : 0;
}

static PSYS_UNINSTRUMENTED void begin(struct psys_search *search, const struct prepared *prepared,
				      struct candidate *candidate)
{
	const char *path = prepared->path ? prepared->path : psys_getenv(prepared->envp, "PATH");

	psys_search_begin(search, prepared->file, path, candidate->text, sizeof candidate->text,
			  candidate->directory);
}

/* True if the file exists: then execve(2) did not find its interpreter. */
static PSYS_UNINSTRUMENTED bool exists(const struct prepared *prepared, struct candidate *candidate)
{
	struct psys_search search;
	const char *found;

	begin(&search, prepared, candidate);
	while ((found = psys_search_next(&search)))
		if (psys_faccessat(PSYS_AT_FDCWD, found, PSYS_F_OK) == 0)
			return true;
	return false;
}

/*
 * Tries a busy file again, for 20 ms. The kernel copies a descriptor table in words of 32 or 64, and
 * then closes the unwanted descriptors of the last word. So for a moment another child may hold the
 * descriptor through which a thread has just written this program.
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
	const bool has_slash = *psys_strchrnul(prepared->file, '/');
	struct psys_search search;
	const char *found;

	if (prepared->before_exec)
		prepared->before_exec(prepared);
	begin(&search, prepared, candidate);
	while ((found = psys_search_next(&search)))
		if (!psys_search_continue(&search, candidate->error && *found != '/' ?
							   candidate->error :
							   exec_one(found, prepared, flags)))
			break;
	if (search.error == -PSYS_ENOENT && exists(prepared, candidate))
		fail_at(prepared, ASPAWN_STEP_INTERPRETER, search.error, prepared->file);
	fail_at(prepared,
		found || has_slash || search.error == -PSYS_EACCES ? ASPAWN_STEP_EXEC :
								     ASPAWN_STEP_SEARCH,
		search.error, found ? found : prepared->file);
}
