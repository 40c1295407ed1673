/* SPDX-License-Identifier: MIT */
/*
 * Runs a command in one call: its output in an array, or, if its length is not known, in a buffer
 * that grows; with a time limit for all that it starts.
 *
 *     cc run.c $(pkg-config --cflags --libs aspawn)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aspawn/command.h>

struct buffer {
	char *data;
	size_t length, size;
};

/* A sink: called with each piece of output. It may use malloc and stdio. */
static int append(void *arg, int stream, const void *bytes, size_t count)
{
	struct buffer *buffer = arg;

	(void)stream; /* standard error has no pipe */
	if (count > buffer->size - buffer->length) {
		size_t size = 2 * buffer->size + count;
		char *data = realloc(buffer->data, size);
		if (!data)
			return -PSYS_ENOMEM; /* ends the command */
		buffer->data = data;
		buffer->size = size;
	}
	memcpy(buffer->data + buffer->length, bytes, count);
	buffer->length += count;
	return 0;
}

static void print_kernel(void)
{
	char text[4096];
	struct aspawn_io io = {
		.size = sizeof io,
		.out = text,
		.out_size = sizeof text,
		.time_limit_ms = 10000,
	};

	if (aspawn_run(ASPAWN_COMMAND("uname", "-sr"), &io) == 0 && io.status == 0)
		printf("%s", text);
}

/* Everything: input and both outputs, actions, and a time after which the program and what
 * it has started are ended. */
static void check(const char *directory, const char *script, int64_t timeout_ms)
{
	static const char input[] = "input\n";
	char out[4096], err[1024], text[320];
	const struct aspawn_action actions[] = {
		ASPAWN_CHDIR(directory),
		ASPAWN_SETENV("LC_ALL", "C"),
		ASPAWN_RLIMIT(PSYS_RLIMIT_CPU, 10, 11),
		ASPAWN_CLOSEFROM(3),
	};
	const struct aspawn_command command = {
		.size = sizeof command,
		.argv = ASPAWN_ARGV("sh", "-c", script),
		.actions = actions,
		.action_count = sizeof actions / sizeof *actions,
	};
	struct aspawn_io io = {
		.size = sizeof io,
		.flags = ASPAWN_IO_KILL_GROUP,
		.input = input,
		.input_size = sizeof input - 1,
		.out = out,
		.out_size = sizeof out,
		.err = err,
		.err_size = sizeof err,
		.time_limit_ms = timeout_ms,
	};

	int r = aspawn_run(&command, &io);
	aspawn_io_text(text, sizeof text, r, &io); /* "exit 3", "timed out, killed by SIGTERM" */
	printf("check in %s: %s\n%s%s", directory, text, out, err);
}

static int list(const char *directory)
{
	struct buffer buffer = { NULL, 0, 0 };
	struct aspawn_io io = {
		.size = sizeof io,
		.sink = append,
		.arg = &buffer,
		.time_limit_ms = 10000,
	};
	char text[320];

	int r = aspawn_run(ASPAWN_COMMAND("ls", "-lR", "--", directory), &io);
	aspawn_io_text(text, sizeof text, r, &io);
	printf("ls %s: %s, %zu bytes\n", directory, text, buffer.length);
	free(buffer.data);
	return r < 0 || io.status;
}

int main(int argc, char **argv)
{
	print_kernel();
	check("/", "cat; pwd; echo $LC_ALL; ulimit -t; echo error >&2; exit 3", 10000);
	check("/", "sleep 100 & sleep 100", 100);
	check("/no/such/directory", "true", 10000);
	return list(argc > 1 ? argv[1] : "/usr/bin");
}
