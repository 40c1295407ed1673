/* SPDX-License-Identifier: MIT */
/*
 * Runs each line of standard input as a command of the shell, with a limit of seconds, and says why
 * it ended. With a command ends all that it has started: also daemons, and what nohup has.
 *
 *     cc runner.c $(pkg-config --cflags --libs aspawn)
 *     echo 'nohup sleep 100 & make' | ./a.out 60
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aspawn/command.h>

static struct aspawn_pool pool;

/* Returns true if the command has succeeded, and nothing of it is left. */
static bool run(const char *line, int64_t limit_ms)
{
	const struct aspawn_command command = {
		.size = sizeof command,
		/* If this program is killed, the command ends too; and without lists of children
		 * (CONFIG_PROC_CHILDREN) at least its process group does. */
		.flags = ASPAWN_COMMAND_DIES_WITH_CALLER | ASPAWN_COMMAND_TREE_OR_GROUP,
		.argv = ASPAWN_ARGV("sh", "-c", line),
		.pool = &pool,
		.owner = ASPAWN_OWNER_TREE,
	};
	struct aspawn_io io = {
		.size = sizeof io,
		.time_limit_ms = limit_ms,
		.grace_ms = 500, /* from SIGTERM to SIGKILL */
	};
	char text[320];

	fflush(stdout);
	const int r = aspawn_run(&command, &io);
	aspawn_io_text(text, sizeof text, r, &io);
	printf("%s: %s\n", line, text);
	if (r == -PSYS_EOWNERDEAD)
		printf("%s: it has killed its helper, and may go on\n", line);
	return r == 0 && io.status == 0;
}

int main(int argc, char **argv)
{
	const int seconds = argc > 1 ? atoi(argv[1]) : 10;
	char line[4096];
	int failed = 0;

	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		failed += !run(line, INT64_C(1000) * seconds);
	}
	aspawn_pool_release(&pool);
	return failed != 0;
}
