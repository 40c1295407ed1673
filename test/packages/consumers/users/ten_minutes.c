/* SPDX-License-Identifier: MIT */
/*
 * A stranger's first program: a command with an output buffer, a time limit and another user.
 *
 *	ten_minutes SECONDS COMMAND [ARGUMENT...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <aspawn/command.h>

int main(int argc, char **argv)
{
	static const struct aspawn_action actions[] = {
		ASPAWN_USER(65534, 65534, NULL, 0),
		ASPAWN_CHDIR("/"),
		ASPAWN_CLOSEFROM(3),
	};
	char out[16384], why[320];

	if (argc < 3)
		return 2;

	const struct aspawn_command command = {
		.size = sizeof command,
		.argv = argv + 2,
		.actions = actions,
		.action_count = sizeof actions / sizeof *actions,
		.std_err = ASPAWN_STREAM_STDOUT,
	};
	struct aspawn_io io = {
		.size = sizeof io,
		.flags = ASPAWN_IO_KILL_GROUP,
		.out = out,
		.out_size = sizeof out,
		.time_limit_ms = 1000 * atoi(argv[1]),
	};

	int r = aspawn_run(&command, &io);

	fputs(out, stdout); /* what there was, also after a failure */
	switch (io.outcome) {
	case ASPAWN_OUTCOME_RAN:
		return WIFEXITED(io.status) ? WEXITSTATUS(io.status) : 128 + WTERMSIG(io.status);
	case ASPAWN_OUTCOME_NONE:
		fprintf(stderr, "%s: %s\n", argv[2], strerror(-r));
		return 125;
	case ASPAWN_OUTCOME_NOT_STARTED:
		if (!strcmp(aspawn_failure_name(&io.failure), "user"))
			fprintf(stderr, "this needs root\n");
		/* fall through */
	default:
		aspawn_io_text(why, sizeof why, r, &io);
		fprintf(stderr, "%s: %s\n", argv[2], why);
		return 124;
	}
}
