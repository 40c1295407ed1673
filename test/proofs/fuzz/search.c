/* SPDX-License-Identifier: MIT */
/*
 * Searches PATH. Two bytes are the sizes of the buffer and of the directory that candidates begin
 * with. Three lines follow: PATH, empty for the default; the file; and a byte for each candidate,
 * the reason why the candidate cannot be executed. The rest of the input is a script, whose
 * interpreter is searched for, and so is the whole input.
 */
#define _GNU_SOURCE
#include "instrumented.h"

#include <sys/mman.h>
#include <unistd.h>

#include "../../../aspawn/child/execute.c"
#include "../../../syscall/exec.c"
#include "../../../syscall/string.c"

static const int errors[] = { PSYS_ENOENT, PSYS_EACCES,  PSYS_ENOTDIR, PSYS_ENAMETOOLONG,
			      PSYS_ELOOP,  PSYS_ENOEXEC, PSYS_E2BIG };

static bool ends_search(int error)
{
	return error == PSYS_ENOEXEC || error == PSYS_E2BIG;
}

/* Returns the next directory with room for the file and a NUL, or NULL. */
static const char *next_directory(const char **path, size_t file, size_t room, size_t *length)
{
	while (*path) {
		const char *directory = *path;
		*length = strcspn(directory, ":");
		*path = directory[*length] ? directory + *length + 1 : NULL;
		if (*length + (*length > 0) + file + 1 <= room)
			return directory;
	}
	return NULL;
}

static void search(const char *file, const char *path, const char *results, size_t prefix,
		   size_t size)
{
	const bool slash = strchr(file, '/');
	const char *rest = *path ? path : PSYS_PATH_DEFAULT, *found;
	char *buffer = exact(NULL, size), expected[8192];
	int last = PSYS_ENOENT;
	struct psys_search state;

	memset(buffer, 'p', size);
	if (prefix)
		buffer[0] = buffer[prefix - 1] = '/';
	psys_search_begin(&state, file, *path ? path : NULL, buffer, size, prefix);
	if (!slash && strlen(file) > PSYS_NAME_MAX) {
		rest = NULL;
		last = PSYS_ENAMETOOLONG;
	}
	for (bool first = true; (found = psys_search_next(&state)); first = false) {
		const bool absolute = slash ? *file == '/' : *rest == '/';
		size_t length = 0;
		const char *directory =
			slash ? (first ? "" : NULL) :
				next_directory(&rest, strlen(file), size - prefix, &length);
		check(directory && *file, "a candidate that there is not");
		snprintf(expected, sizeof expected, "%.*s%.*s%s%s",
			 (int)(slash             ? absolute ? 0 : prefix :
			       *directory == '/' ? 0 :
						   prefix),
			 buffer, (int)length, directory, length ? "/" : "", file);
		check(!strcmp(found, expected), "another candidate");
		const int error = errors[(unsigned char)*results % (sizeof errors / sizeof *errors)];
		results += *results != '\0';
		const bool goes_on = psys_search_continue(&state, -error);
		check(goes_on == (slash ? error == PSYS_ENOENT : !ends_search(error)),
		      "it goes on, or ends, after another error");
		if (error == PSYS_EACCES || !goes_on)
			last = error;
		if (!goes_on)
			rest = NULL;
	}
	size_t length;
	check(slash || !*file || !next_directory(&rest, strlen(file), size - prefix, &length),
	      "a candidate is missing");
	check(state.error == -last || (slash && state.error == -PSYS_ENAMETOOLONG && prefix),
	      "another error");
	free(buffer);
}

/* Sometimes so many blanks come first that the name does not fit. */
static void interpret(int fd, const uint8_t *text, size_t size)
{
	char path[32], script[2 * SCRIPT_HEAD], *head = exact(NULL, SCRIPT_HEAD);
	const size_t begin = size % 2 ? SCRIPT_HEAD - 8 : 0;
	size = size < SCRIPT_HEAD ? size : SCRIPT_HEAD;

	memset(script, ' ', begin);
	if (begin)
		memcpy(script, "#!", 2);
	memcpy(script + begin, text, size);
	size += begin;
	check(ftruncate(fd, 0) == 0 && pwrite(fd, script, size, 0) == (ssize_t)size, "no file");
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	const char *name = aspw_interpreter_of(path, head);
	check(!name == (size < 2 || memcmp(script, "#!", 2) != 0), "an interpreter of no script");
	if (name) {
		script[size < SCRIPT_HEAD - 1 ? size : SCRIPT_HEAD - 1] = '\0';
		const char *at = script + 2 + strspn(script + 2, " \t");
		const size_t length = strcspn(at, " \t\n");
		check(strlen(name) == length && !memcmp(name, at, length), "another interpreter");
	}
	free(head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	const size_t prefix = next_byte(&input) % 40, room = 1 + 2 * (size_t)next_byte(&input);
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("script", MFD_CLOEXEC);
	interpret(fd, data, size);
	char *path = next_line(&input), *file = next_line(&input), *results = next_line(&input);
	search(file, path, results, prefix, prefix + room);
	interpret(fd, input.data, input.size);
	free(path);
	free(file);
	free(results);
	return 0;
}
