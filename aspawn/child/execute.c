/* SPDX-License-Identifier: MIT */
/* The child finds and executes the program, or reports why it cannot. */
#include "execute.h"

#include <syscall/string.h>

#include "../marks.h"

__attribute__((noinline)) IN_CHILD void aspw_store_report(struct prepared *prepared, int error,
							  const char *subject)
{
	struct aspawn_failure *report = prepared->report;
	const size_t most = sizeof report->subject - 1;

	if (subject) { /* keep the end of a subject that is too long */
		const size_t length = psys_strlen(subject);
		psys_strlcpy(report->subject, length > most ? subject + length - most : subject,
			     most + 1);
	}
	__atomic_store_n(&report->error, error, __ATOMIC_RELEASE);
}

/* After a failed exec SIGPIPE is no longer blocked. If the parent is gone, the write raises it. */
IN_CHILD void aspw_write_report(const struct prepared *prepared)
{
	const struct psys_timespec at_once = { 0, 0 };
	struct psys_sigset pipe;

	if (prepared->report_fd < 0)
		return;
	psys_sigemptyset(&pipe);
	psys_sigaddset(&pipe, PSYS_SIGPIPE);
	psys_rt_sigprocmask(PSYS_SIG_BLOCK, &pipe, NULL, PSYS_SIGSET_SIZE);
	if (psys_write(prepared->report_fd, prepared->report, sizeof *prepared->report) ==
	    -PSYS_EPIPE)
		psys_rt_sigtimedwait(&pipe, NULL, &at_once, PSYS_SIGSET_SIZE);
}

IN_CHILD void aspw_exit_failed(struct prepared *prepared, int error, const char *subject)
{
	aspw_store_report(prepared, error, subject);
	aspw_write_report(prepared);
	psys_exit_group(127);
}

/* Puts the current directory and a slash at the start of the candidate's text. */
static IN_CHILD int take_directory(struct candidate *candidate)
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

IN_CHILD void aspw_begin_search(struct candidate *candidate, const struct prepared *prepared)
{
	candidate->directory = 0;
	candidate->error =
		prepared->flags & ASPAWN_COMMAND_RELATIVE_TO_CALLER ? take_directory(candidate) : 0;
}

static IN_CHILD void begin_candidates(struct psys_search *search, const struct prepared *prepared,
				      struct candidate *candidate)
{
	psys_search_begin(search, prepared->file, prepared->path, candidate->text,
			  sizeof candidate->text, candidate->directory);
}

/* Returns the error of a path whose directory is unknown, or 0. */
static IN_CHILD int error_of(const struct candidate *candidate, const char *path)
{
	return *path == '/' ? 0 : candidate->error;
}

/* Returns the first existing candidate, or NULL. execve(2) did not find this file's interpreter. */
static IN_CHILD const char *find_existing(const struct prepared *prepared,
					  struct candidate *candidate)
{
	struct psys_search search;
	const char *found;

	begin_candidates(&search, prepared, candidate);
	while ((found = psys_search_next(&search)))
		if (!error_of(candidate, found) &&
		    psys_faccessat(PSYS_AT_FDCWD, found, PSYS_F_OK) == 0)
			break;
	return found;
}

IN_ANY char *aspw_interpreter_of(const char *script, char head[SCRIPT_HEAD])
{
	const int fd = psys_open(script, PSYS_O_NONBLOCK | PSYS_O_CLOEXEC, 0);
	const long length = psys_read(fd, head, SCRIPT_HEAD - 1);
	char *name = head + 2, *end;

	psys_close(fd);
	if (length < 2 || head[0] != '#' || head[1] != '!')
		return NULL;
	head[length] = '\0';
	while (*name == ' ' || *name == '\t')
		name++;
	for (end = name; *end && *end != ' ' && *end != '\t' && *end != '\n';)
		end++;
	*end = '\0';
	return name;
}

/*
 * Tries again for 20 ms if the file is busy. The kernel copies a descriptor table in words of 32 or
 * 64, and then closes the unwanted descriptors of the last word. For a moment another child may
 * hold the descriptor by which a thread has just written this program.
 */
static IN_CHILD int exec_one(const char *path, struct prepared *prepared, int flags)
{
	const struct psys_timespec nap = { 0, 1000000 };

	for (int tries = 0;; tries++) {
		int r = psys_execve_or_shell(path, prepared->argv, prepared->envp, flags);
		if (r != -PSYS_ETXTBSY || tries == 20)
			return r;
		aspw_store_report(prepared, r, path);
		psys_nanosleep(&nap, NULL);
		aspw_store_report(prepared, 0, "");
	}
}

/* True if execve(2) always takes strings of this size. E2BIG then means that the memory cgroup has
 * no page for the strings: the OOM killer spares a child whose parent is suspended, and has found
 * no other process. */
static IN_CHILD bool strings_are_few(const struct prepared *prepared)
{
	enum { FEW_BYTES = 128 * 1024 }; /* ARG_MAX of linux/limits.h */
	char *const *const lists[] = { prepared->argv, prepared->envp };
	size_t size = PSYS_PATH_MAX;

	for (int i = 0; i < 2; i++)
		for (char *const *string = lists[i]; *string; string++)
			size += psys_strlen(*string) + 1 + sizeof *string;
	return size <= FEW_BYTES;
}

IN_CHILD void aspw_execute_program(struct prepared *prepared, struct candidate *candidate)
{
	const int flags = prepared->flags & ASPAWN_COMMAND_SHELL_ON_ENOEXEC ? PSYS_EXEC_SHELL : 0;
	const bool has_slash = *psys_strchrnul(prepared->file, '/');
	struct psys_search search;
	char head[SCRIPT_HEAD];
	const char *found, *missing = NULL;

	if (prepared->before_exec)
		prepared->before_exec(prepared);
	begin_candidates(&search, prepared, candidate);
	while ((found = psys_search_next(&search))) {
		const int error = error_of(candidate, found);
		if (!psys_search_continue(&search, error ? error : exec_one(found, prepared, flags)))
			break;
	}
	if (search.error == -PSYS_E2BIG && strings_are_few(prepared))
		search.error = -PSYS_ENOMEM;
	if (!found && !has_slash && search.error != -PSYS_EACCES)
		prepared->report->step = ASPAWN_STEP_SEARCH;
	aspw_store_report(prepared, search.error, found ? found : prepared->file);
	found = search.error == -PSYS_ENOENT ? find_existing(prepared, candidate) : NULL;
	if (found)
		prepared->report->step = ASPAWN_STEP_INTERPRETER;
	for (int i = 0; found && !missing && i < MOST_INTERPRETERS; i++) {
		found = aspw_interpreter_of(found, head);
		if (found && psys_faccessat(PSYS_AT_FDCWD, found, PSYS_F_OK) < 0)
			missing = found;
	}
	aspw_exit_failed(prepared, search.error, missing);
}
