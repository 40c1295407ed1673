/* SPDX-License-Identifier: MIT */
/* As peers.py says, for libuv: WAY is "start", or "user", for another user. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { SLOTS = 16 };

struct slot {
	uv_process_t process;
	uv_pipe_t output;
	int open, length;
	char text[64];
	double blocked;
};

static uv_process_options_t options;
static struct slot slots[SLOTS];
static double until;
static long done;

static double now(void)
{
	return (double)uv_hrtime() / 1e3;
}

static void start(struct slot *self);

static void closed(uv_handle_t *handle)
{
	struct slot *self = handle->data;

	if (--self->open)
		return;
	if (self->length != 5 || memcmp(self->text, "text\n", 5) != 0)
		abort();
	done++;
	if (now() < until)
		start(self);
}

static void ended(uv_process_t *process, int64_t status, int signal)
{
	if (status || signal)
		abort();
	uv_close((uv_handle_t *)process, closed);
}

static void give(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
	struct slot *self = handle->data;

	(void)size;
	*buffer = uv_buf_init(self->text + self->length,
			      (unsigned)sizeof self->text - (unsigned)self->length);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
	struct slot *self = stream->data;

	(void)buffer;
	if (count > 0)
		self->length += (int)count;
	else if (count < 0)
		uv_close((uv_handle_t *)stream, closed);
}

static void start(struct slot *self)
{
	uv_stdio_container_t stdio[3] = { { .flags = UV_IGNORE }, { .flags = UV_IGNORE } };
	double begin;

	uv_pipe_init(uv_default_loop(), &self->output, 0);
	stdio[1].flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE;
	stdio[1].data.stream = (uv_stream_t *)&self->output;
	options.stdio = stdio;
	options.stdio_count = 3;
	self->open = 2;
	self->length = 0;
	begin = now();
	if (uv_spawn(uv_default_loop(), &self->process, &options) < 0)
		abort();
	self->blocked = now() - begin;
	self->process.data = self->output.data = self;
	uv_read_start((uv_stream_t *)&self->output, give, on_read);
}

int main(int argc, char **argv)
{
	char *args[] = { argv[3], NULL };
	int count;
	double seconds, begin;
	size_t size;
	volatile char *memory;

	if (argc != 7)
		return 1;
	count = atoi(argv[4]);
	seconds = atof(argv[5]) * 1e6;
	size = (size_t)atoi(argv[6]) << 20;
	memory = malloc(size + 1);
	if (!memory)
		return 1;
	for (size_t i = 0; i <= size; i += 4096)
		memory[i] = 1;
	options.file = argv[3];
	options.args = args;
	options.exit_cb = ended;
	if (strcmp(argv[1], "user") == 0) {
		options.flags = UV_PROCESS_SETUID;
		options.uid = 65534;
	}
	begin = now();
	if (strcmp(argv[2], "blocked") == 0) {
		for (int i = -3; i < count && (i <= 0 || now() - begin < seconds); i++) {
			if (i == 0)
				begin = now();
			start(&slots[0]);
			uv_run(uv_default_loop(), UV_RUN_DEFAULT);
			if (i >= 0)
				printf("%.1f\n", slots[0].blocked);
		}
	} else {
		until = begin + seconds;
		for (int i = 0; i < SLOTS; i++)
			start(&slots[i]);
		uv_run(uv_default_loop(), UV_RUN_DEFAULT);
		printf("%.1f\n", (double)done * 1e6 / (now() - begin));
	}
	free((void *)memory);
	return 0;
}
