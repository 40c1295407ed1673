/* SPDX-License-Identifier: MIT */
/*
 * With ASPAWN_PRELOAD=once this library is removed from LD_PRELOAD, so that the program's children
 * do not load the library too.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

static int is_own(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !strcmp(slash ? slash + 1 : path, "libaspawn-preload.so");
}

/* Copies the list without this library. */
static void copy_others(char *list, char *rest)
{
	char *place;

	*rest = '\0';
	for (char *path = strtok_r(list, " :", &place); path; path = strtok_r(NULL, " :", &place)) {
		if (is_own(path))
			continue;
		if (*rest)
			strcat(rest, ":");
		strcat(rest, path);
	}
}

__attribute__((constructor)) static void spare_children(void)
{
	const char *setting = getenv("ASPAWN_PRELOAD"), *preload = getenv("LD_PRELOAD");

	if (!setting || strcmp(setting, "once") != 0 || !preload)
		return;
	char *list = strdup(preload), *rest = malloc(strlen(preload) + 1);
	if (list && rest) {
		copy_others(list, rest);
		if (*rest)
			setenv("LD_PRELOAD", rest, 1);
		else
			unsetenv("LD_PRELOAD");
	}
	free(list);
	free(rest);
}
