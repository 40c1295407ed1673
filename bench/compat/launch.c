/* SPDX-License-Identifier: MIT */
/* Starts COUNT children, one after the other, as a build tool or a job runner does. launch COUNT
 * MIB PROGRAM [ARGUMENT...] touches MIB of memory first. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: launch COUNT MIB PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	const size_t size = (size_t)atol(argv[2]) << 20;
	char *memory = malloc(size + 1);
	if (!memory)
		return 1;
	memset(memory, 1, size);
	for (long i = atol(argv[1]); i > 0; i--) {
		pid_t pid;
		int status, error = posix_spawn(&pid, argv[3], NULL, NULL, argv + 3, environ);
		if (error || waitpid(pid, &status, 0) != pid || status) {
			fprintf(stderr, "launch: %s: %s\n", argv[3],
				error ? strerror(error) : "it failed");
			return 1;
		}
	}
	free(memory);
	return 0;
}
