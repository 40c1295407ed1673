/* SPDX-License-Identifier: MIT */
/* Which file a command would execute, as far as its caller can tell. */
#include <syscall/string.h>

#include "../action/action_info.h"
#include "../child/execute.h"
#include "environment.h"
#include "start.h"

/* The directory in which the child's search begins, and what makes the answer uncertain. */
struct origin {
	size_t length; /* of the directory with its slash, in the buffer; 0: the caller's directory */
	int lost_by;   /* the action after which the directory is not known; -1: none */
	int hidden_from; /* the first action that hides files or may fail; -1: none */
};

static int check_access(const char *path)
{
	int r = psys_faccessat2(PSYS_AT_FDCWD, path, PSYS_X_OK, PSYS_AT_EACCESS);

	if (r == -PSYS_ENOSYS || r == -PSYS_EPERM) /* before Linux 5.8, and filters */
		r = psys_faccessat(PSYS_AT_FDCWD, path, PSYS_X_OK);
	return r;
}

/* Follows a CHDIR. Returns false if the child may be unable to enter the directory. */
static bool change_directory(struct origin *origin, char *to, size_t size, const char *path)
{
	if (*path == '/')
		*origin = (struct origin){ 0, -1, origin->hidden_from };
	const size_t end =
		origin->length + psys_strlcpy(to + origin->length, path, size - origin->length);
	if (!*path || origin->lost_by >= 0 || end + 1 >= size)
		return false;
	psys_memcpy(to + end, "/", 2);
	origin->length = end + 1;
	return check_access(to) == 0;
}

static struct origin origin_of(const struct aspawn_command *command, char *to, size_t size)
{
	struct origin origin = { 0, -1, -1 };

	for (size_t i = 0; i < command->action_count; i++) {
		const struct aspawn_action *action = &command->actions[i];
		bool hides = aspw_action_info(action->kind)->hides;
		if (action->kind == ASPAWN_ACTION_CHDIR)
			hides = !change_directory(&origin, to, size, action->u.chdir.path);
		if (action->kind == ASPAWN_ACTION_FCHDIR)
			origin = (struct origin){ 0, (int)i, origin.hidden_from };
		if (hides && origin.hidden_from < 0)
			origin.hidden_from = (int)i;
	}
	if (command->flags & ASPAWN_COMMAND_RELATIVE_TO_CALLER)
		origin = (struct origin){ 0, -1, origin.hidden_from };
	return origin;
}

static int try_file(const char *path)
{
	struct psys_stat status;
	int r = check_access(path);

	if (r == 0)
		r = psys_stat(path, &status);
	return r == 0 && (status.st_mode & PSYS_S_IFMT) != PSYS_S_IFREG ? -PSYS_EACCES : r;
}

/* Returns the error that execve(2) would return for the file, or for the interpreters of a script; or 0. */
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
	struct aspawn_command known;
	struct aspawn_failure failure;
	struct psys_search search;
	const char *found;
	int r = aspw_read_command(&known, command, &failure), uncertain;

	if (r == 0 && (!to || size < PSYS_PATH_MAX))
		r = -PSYS_ERANGE;
	if (r < 0)
		return r;
	const struct origin origin = origin_of(&known, to, size);
	uncertain = origin.hidden_from;
	psys_search_begin(&search, known.file, aspw_search_path(&known), to, size, origin.length);
	while ((found = psys_search_next(&search))) {
		if (*found != '/' && (unsigned)origin.lost_by < (unsigned)uncertain)
			uncertain = origin.lost_by;
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
	/* The file itself, which is shorter than PATH_MAX, or an absolute candidate behind the directory. */
	for (size_t i = 0; found != to && (to[i] = found[i]); i++)
		continue;
	return 0;
}
