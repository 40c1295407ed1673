/* SPDX-License-Identifier: MIT */
/* Finds the file that a command would execute, as far as the caller can tell. */
#include <syscall/string.h>

#include "../action/action_info.h"
#include "../child/execute.h"
#include "environment.h"
#include "start.h"

static int check_access(const char *path)
{
	int r = psys_faccessat2(PSYS_AT_FDCWD, path, PSYS_X_OK, PSYS_AT_EACCESS);

	if (r == -PSYS_ENOSYS || r == -PSYS_EPERM) /* before Linux 5.8, and filters */
		r = psys_faccessat(PSYS_AT_FDCWD, path, PSYS_X_OK);
	return r;
}

/* Follows a CHDIR in the buffer, where the child's directory has *length bytes with the slash.
 * False if the child may be unable to enter the directory. */
static bool change_directory(char *to, size_t size, size_t *length, const char *path)
{
	const size_t at = *path == '/' ? 0 : *length;
	const size_t end = at + psys_strlcpy(to + at, path, size - at);
	const bool is_path = *path && end + 1 < size;

	*length = is_path ? end + 1 : 0;
	if (is_path)
		psys_memcpy(to + end, "/", 2);
	return is_path && check_access(to) == 0;
}

static int try_file(const char *path)
{
	struct psys_stat status;
	int r = check_access(path);

	if (r == 0)
		r = psys_stat(path, &status);
	return r == 0 && (status.st_mode & PSYS_S_IFMT) != PSYS_S_IFREG ? -PSYS_EACCES : r;
}

/* Returns 0, or the error of execve(2) for the file, or for the interpreters of a script. */
static int try_program(const char *path)
{
	char head[SCRIPT_HEAD];

	for (int depth = 0; path && *path; depth++) {
		const int r = try_file(path);
		if (r < 0 || depth > MOST_INTERPRETERS)
			return r < 0 ? r : -PSYS_ELOOP;
		path = aspw_interpreter_of(path, head);
	}
	return 0;
}

int aspawn_find(char *to, size_t size, const struct aspawn_command *command, int *action)
{
	struct aspawn_command copy;
	struct aspawn_failure failure;
	struct psys_search search;
	const char *found;
	size_t directory = 0; /* 0 for the caller's */
	int r = aspw_read_command(&copy, command, &failure), uncertain = ASPAWN_STEP_NONE;

	if (r == 0 && (!to || size < PSYS_PATH_MAX))
		r = -PSYS_ERANGE;
	if (r < 0)
		return r;
	for (size_t i = 0; i < copy.action_count; i++) {
		const struct aspawn_action *done = &copy.actions[i];
		const bool hides =
			done->kind == ASPAWN_ACTION_CHDIR ?
				!change_directory(to, size, &directory, done->u.chdir.path) :
				aspw_action_infos[done->kind].hides;
		if (hides && uncertain < 0)
			uncertain = (int)i;
	}
	if (copy.flags & ASPAWN_COMMAND_RELATIVE_TO_CALLER)
		directory = 0;
	psys_search_begin(&search, copy.file, aspw_search_path(&copy), to, size, directory);
	while ((found = psys_search_next(&search))) {
		r = try_program(found);
		if (r == 0 || !psys_search_continue(&search, r))
			break;
	}
	if (action)
		*action = uncertain;
	if (!found || r < 0) {
		*to = '\0';
		return search.error;
	}
	/* found is the file itself, shorter than PATH_MAX, or an absolute candidate behind the
	 * directory. */
	for (size_t i = 0; found != to && (to[i] = found[i]); i++)
		continue;
	return 0;
}
