/* SPDX-License-Identifier: MIT */
/*
 * Runs each line of standard input as a command of the shell, with limits of seconds and MiB of memory,
 * and says why it ended. With a command ends all that it has started: also daemons, and what nohup has.
 *
 *     cc runner.c $(pkg-config --cflags --libs aspawn)
 *     echo 'nohup sleep 100 & make' | ./a.out 60 512 /sys/fs/cgroup/jobs
 *
 * The memory is that of a control group below the directory, whose cgroup.subtree_control has memory.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aspawn/command.h>

static struct aspawn_pool pool;

/* Returns true if the command has succeeded, and nothing of it is left. group -1: none. */
static bool run(const char *line, int64_t limit_ms, int group, uint64_t bytes)
{
	const struct aspawn_action limited = ASPAWN_NEW_CGROUP(group, bytes, 0, 0);
	const struct aspawn_command command = {
		.size = sizeof command,
		/* If this program is killed, the command ends too; and without lists of children
		 * (CONFIG_PROC_CHILDREN) at least its process group does. */
		.flags = ASPAWN_COMMAND_DIES_WITH_CALLER | ASPAWN_COMMAND_TREE_OR_GROUP,
		.argv = ASPAWN_ARGV("sh", "-c", line),
		.pool = &pool,
		.owner = ASPAWN_OWNER_TREE,
		.actions = &limited,
		.action_count = group >= 0,
	};
	struct aspawn_io io = {
		.size = sizeof io,
		.time_limit_ms = limit_ms,
		.grace_ms = 500, /* from SIGTERM to SIGKILL */
	};
	char text[320];

	fflush(stdout);
	const int r = aspawn_run(&command, &io);
	aspawn_io_text(text, sizeof text, r, &io); /* such as "out of memory, killed by SIGKILL" */
	printf("%s: %s\n", line, text);
	if (r == -PSYS_EOWNERDEAD)
		printf("%s: it has killed its helper, and may go on\n", line);
	return r == 0 && io.status == 0;
}

int main(int argc, char **argv)
{
	const int seconds = argc > 1 ? atoi(argv[1]) : 10;
	const uint64_t bytes = argc > 2 ? strtoull(argv[2], NULL, 10) << 20 : 0;
	const int group = argc > 3 ? open(argv[3], PSYS_O_PATH | PSYS_O_CLOEXEC) : -1;
	char line[4096];
	int failed = 0;

	if (group < 0)
		fprintf(stderr, "%s: no control group: memory has no limit\n", argv[0]);
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		failed += !run(line, INT64_C(1000) * seconds, group, bytes);
	}
	aspawn_pool_release(&pool);
	return failed != 0;
}
