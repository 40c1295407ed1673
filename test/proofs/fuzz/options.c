/* SPDX-License-Identifier: MIT */
/*
 * Parses command lines of aspawn(1): each line of the input is an argument. Whatever the arguments
 * are, the command is a rest of the arguments, and the values are in their ranges.
 */
#define _GNU_SOURCE
#include "instrumented.h"

#include "../../../cli/text.c"

/* --version writes nothing here. */
#define text_write(text, fd) ((void)(text), (void)(fd))
#include "../../../cli/options.c"
#undef text_write

static void check_values(const struct options *options)
{
	const int64_t durations[] = { options->timeout, options->idle, options->cpu_time };

	for (size_t i = 0; i < COUNT_OF(durations); i++)
		check(durations[i] >= 0, "a negative duration");
	check(options->kill_after >= -1, "a negative grace");
	check(options->signal >= 0 && options->signal <= PSYS_NSIG, "a signal that there is not");
	check(options->json_fd >= -1, "a negative descriptor");
	check(options->pids > 0, "no process at all");
	check(!options->rlimits[MOST_RLIMITS].value, "too many limits");
	for (int i = 0; options->rlimits[i].value; i++)
		check(options->rlimits[i].soft <= options->rlimits[i].hard,
		      "a soft limit above the hard one");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char name[] = "aspawn";
	struct input input = { data, size };
	char *argv[MOST_LINES + 2] = { name };
	struct options *options = exact(NULL, sizeof *options);
	int argc = 1;

	while (argc <= MOST_LINES && input.size)
		argv[argc++] = next_line(&input);
	options_read(options, argc, argv);
	check(options->argv > argv && options->argv <= argv + argc,
	      "a command that is not of the arguments");
	check(*options->argv || options->is_answered || *options->error, "no command, and no error");
	check(memchr(options->error, '\0', TEXT_SIZE), "an error without an end");
	if (!*options->error)
		check_values(options);
	for (int i = 1; i < argc; i++)
		free(argv[i]);
	free(options);
	return 0;
}
