/*
 * Runs a command in one call: its output in an array, and, if the length is not known, in a buffer
 * that grows.
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
static int append(void *arg, const void *bytes, size_t count)
{
	struct buffer *buffer = arg;

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
	struct aspawn_io io = { .size = sizeof io, .out = { .data = text, .size = sizeof text } };

	if (aspawn_run(ASPAWN_COMMAND("uname", "-sr"), &io) == 0 && io.status == 0)
		printf("%s", text);
}

static int list(const char *directory)
{
	struct buffer buffer = { NULL, 0, 0 };
	struct aspawn_io io = {
		.size = sizeof io,
		.out = { .sink = append, .arg = &buffer },
		.timeout_ms = 10000,
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
	return list(argc > 1 ? argv[1] : "/etc");
}
