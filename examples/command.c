/* SPDX-License-Identifier: MIT */
/*
 * A check with a directory, an environment, a session, a limit and its output in a pipe, of which
 * a monitoring server starts thousands. The command is data, the call returns at once, and a
 * failure names the action.
 *
 *	command [FILE [ARGUMENT...]]
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <aspawn/command.h>

static int report(struct aspawn_child *child)
{
	struct aspawn_failure failure;
	char text[4096];
	ssize_t length;
	int status;

	if (aspawn_wait_started(child, &failure, -1) < 0) {
		aspawn_failure_text(text, sizeof text, &failure);
		fprintf(stderr, "not started: %s\n", text);
	}
	while ((length = read(child->out_fd, text, sizeof text)) > 0)
		fwrite(text, 1, (size_t)length, stdout);
	close(child->out_fd);
	int r = aspawn_wait(child, &status, NULL, -1); /* needed even if the exec failed */
	if (r < 0 && r != -PSYS_ECANCELED) {
		fprintf(stderr, "wait: %s\n", strerror(-r));
		return 1;
	}
	aspawn_status_text(text, sizeof text, status);
	printf("%s\n", text);
	return PSYS_WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	static const struct aspawn_action actions[] = {
		ASPAWN_CHDIR("/"),
		ASPAWN_SETENV("LC_ALL", "C"),
		ASPAWN_SETSID(), /* a process group too */
		ASPAWN_RLIMIT(PSYS_RLIMIT_CPU, 10, 11),
		ASPAWN_CLOSEFROM(3),
	};
	const struct aspawn_command command = {
		.size = sizeof command,
		.argv = argc > 1 ?
				argv + 1 :
				ASPAWN_ARGV(
					"sh", "-c",
					"echo directory $(pwd), locale $LC_ALL, "
					"processor time $(ulimit -t) s; "
					"test -e /proc/$$/fd/3 || echo no descriptor but 0, 1, 2"),
		.std_in = ASPAWN_STREAM_NULL,
		.std_out = ASPAWN_STREAM_PIPE,
		.actions = actions,
		.action_count = sizeof actions / sizeof *actions,
	};
	struct aspawn_child child;
	char path[4096];

	int r = aspawn_find(path, sizeof path, &command, NULL);
	printf("file %s\n", r < 0 ? strerror(-r) : path);
	r = aspawn_start(&child, &command);
	if (r < 0) {
		fprintf(stderr, "aspawn_start: %s\n", strerror(-r));
		return 1;
	}
	return report(&child); /* reached before the check has begun */
}
