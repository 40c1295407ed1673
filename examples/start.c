/* SPDX-License-Identifier: MIT */
/*
 * aspawn(): three commands, which the child searches for in PATH; their output and errors are read
 * through pipes. The last command does not exist.
 *
 *     cc start.c $(pkg-config --cflags --libs aspawn psys)
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aspawn/aspawn.h>
#include <syscall/errno.h>
#include <syscall/exec.h>
#include <syscall/syscall.h>

/* Copied to the child's stack: need not outlive the call. */
struct command {
	char *const *argv;
	char *const *envp;
	const char *path;
	int output;
};

/* Runs in the child: may call psys_* and the like, no libc. */
static ASPAWN_CHILD int run_command(void *arg, int write_end, void *old_sigset, void *user_data,
				    size_t user_data_len)
{
	const struct command *command = user_data;
	int error;

	(void)arg, (void)user_data_len;
	if ((error = psys_dup2(command->output, 1)) >= 0 && (error = psys_dup2(1, 2)) >= 0) {
		psys_rt_sigprocmask(PSYS_SIG_SETMASK, old_sigset, NULL, PSYS_SIGSET_SIZE);
		error = psys_execvpe(command->argv[0], command->argv, command->envp, command->path,
				     0);
	}
	psys_write(write_end, &error, sizeof error); /* only on failure */
	return 127;
}

static int run(struct Stack_t *stack, char *const argv[])
{
	char text[4096];
	int output[2], error = 0, status;
	pid_t pid;
	ssize_t length;

	if (pipe2(output, O_CLOEXEC) < 0) {
		perror("pipe2");
		return 1;
	}
	struct command command = { argv, environ, psys_getenv(environ, "PATH"), output[1] };
	int message = aspawn(&pid, stack, 16384, run_command, NULL, &command, sizeof command);
	close(output[1]);
	if (message < 0) {
		fprintf(stderr, "%s: %s\n", argv[0], psys_strerror(message));
		close(output[0]);
		return 1;
	}

	printf("--- %s (pid %d)\n", argv[0], (int)pid);
	fflush(stdout);
	while ((length = read(output[0], text, sizeof text)) > 0)
		fwrite(text, 1, (size_t)length, stdout);
	close(output[0]);
	if (read(message, &error, sizeof error) == sizeof error)
		printf("could not be executed: %s, %s\n", psys_errname(error), psys_strerror(error));
	close(message);
	waitpid(pid, &status, 0);
	printf("--- %s %d\n", WIFEXITED(status) ? "exit status" : "ended by signal",
	       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return 0;
}

int main(void)
{
	char *const uname[] = { "uname", "-sr", NULL };
	char *const ls[] = { "ls", "-d", "/etc", "/no such directory", NULL };
	char *const missing[] = { "no-such-command", NULL };
	char *const *commands[] = { uname, ls, missing };
	struct Stack_t stack = { 0 }; /* reused: each child leaves it before the next begins */
	int failed = 0;

	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		failed |= run(&stack, commands[i]);
		aspawn_stack_wait(&stack, -1);
	}
	aspawn_stack_release(&stack);
	return failed;
}
