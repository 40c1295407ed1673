/* SPDX-License-Identifier: MIT */
/* Linked to each program of the documents: at the program's end no descriptor and no child is
 * left. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((destructor)) static void nothing_is_left(void)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	int left = 0;

	while (directory && (entry = readdir(directory)))
		if (atoi(entry->d_name) > 2 && atoi(entry->d_name) != dirfd(directory))
			left += fprintf(stderr, "descriptor %s is left open\n", entry->d_name) > 0;
	if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD)
		left += fprintf(stderr, "a child is left\n") > 0;
	if (left) {
		fflush(NULL);
		_exit(99);
	}
}
