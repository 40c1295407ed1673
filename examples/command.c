/*
 * A check with a directory, a session, a limit and a log, as a monitoring server
 * starts thousands: the command is data, the caller goes on at once, and what fails
 * has its place.
 *
 *	command [FILE [ARGUMENT...]]
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include <aspawn/command.h>
#include <syscall/errno.h>

extern char **environ;

static int report(struct aspawn_child *child, const struct aspawn_command *command, int out)
{
	struct aspawn_failure failure;
	char text[4096];
	ssize_t length;
	int status;

	if (aspawn_started(child, &failure, NULL) < 0) {
		aspawn_failure_text(text, sizeof text, &failure, command);
		fprintf(stderr, "%s: %s\n", command->file, text);
	}
	while ((length = read(out, text, sizeof text)) > 0)
		fwrite(text, 1, (size_t)length, stdout);
	close(out);
	int r = aspawn_wait(child, &status, NULL, NULL);
	if (r < 0)
		fprintf(stderr, "wait: %s\n", psys_errname(r));
	return r < 0 ? 1 : PSYS_WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	char *const usual[] = { "sh", "-c", "pwd; ulimit -t; ls -l /proc/self/fd | wc -l", NULL };
	int out;
	const struct aspawn_action actions[] = {
		ASPAWN_DEV_NULL(0),
		ASPAWN_PIPE_FROM(1, &out),
		ASPAWN_CHDIR("/"),
		ASPAWN_SETSID(),
		ASPAWN_RLIMIT(PSYS_RLIMIT_CPU, 10, 10),
		ASPAWN_CLOSEFROM(3),
	};
	const struct aspawn_command command = {
		.size = sizeof command,
		.file = argc > 1 ? argv[1] : usual[0],
		.argv = argc > 1 ? argv + 1 : usual,
		.envp = environ,
		.actions = actions,
		.action_count = sizeof actions / sizeof *actions,
	};
	struct Stack_t stack = { 0 };
	struct aspawn_child child;

	int r = aspawn_command(&child, &stack, &command);
	if (r < 0) {
		fprintf(stderr, "aspawn_command: %s\n", psys_errname(r));
		return 1;
	}
	/* The caller is here before the check has begun. */
	int status = report(&child, &command, out);
	aspawn_stack_free(&stack);
	return status;
}
