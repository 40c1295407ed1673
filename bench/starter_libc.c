/* SPDX-License-Identifier: MIT */
/* Does what starter.c does, by a static libc, as people would write it. */
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int status = 127 << 8;

	if (argc < 2)
		return 2;
	const pid_t pid = fork();
	if (pid == 0) {
		execv(argv[1], argv + 1);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}
