/* SPDX-License-Identifier: MIT */
/* Does the least that a program can do which starts another one: fork, exec, wait. bench-cli
 * measures the command aspawn beside it. */
#include <syscall/string.h>
#include <syscall/syscall.h>

int main(int argc, char **argv, char **envp);

int main(int argc, char **argv, char **envp)
{
	int status = 127 << 8;

	if (argc < 2)
		return 2;
	const int pid = (int)psys_clone(PSYS_SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		psys_execve(argv[1], argv + 1, envp);
		psys_exit_group(127);
	}
	psys_wait4(pid, &status, 0, NULL);
	return status >> 8 & 0xff;
}
