/* SPDX-License-Identifier: MIT */
/* Moves output, and the input of a terminal, through the tool (--idle, --output-limit, --pty).
 * Otherwise the command has the tool's own streams. Runs in the tool. */
#include "cli.h"

enum { CHUNK = 4096 /* what a pipe takes at once */, ROUNDS = 16 };

struct pump {
	int from, to; /* -1: ended */
	int64_t *bytes, *dropped;
	uint64_t limit;
	int at, length; /* what is yet to be written */
	char buffer[CHUNK];
};

static struct pump pumps[PUMPS];
static int64_t last_output;

void pump_set(int index, int from, int to)
{
	pumps[index].from = from;
	pumps[index].to = to;
}

static void make_pipe(struct setting *setting, int stream)
{
	int ends[2] = { -1, -1 };

	if (setting->is_closed[stream])
		return;
	const int r = psys_pipe2(ends, PSYS_O_CLOEXEC);
	if (r < 0) {
		options_refuse(&setting->options, "pipe", NULL, "there is no descriptor left");
		return;
	}
	psys_fcntl(ends[0], PSYS_F_SETFL, PSYS_O_NONBLOCK);
	setting->streams[stream] = ends[1];
	pump_set(stream, ends[0], stream);
}

void streams_prepare(struct setting *setting)
{
	const struct options *options = &setting->options;
	struct result *result = &setting->result;

	for (int i = 0; i < PUMPS; i++) {
		pump_set(i, -1, -1);
		pumps[i].limit = i ? options->output_limit : UINT64_MAX;
		pumps[i].bytes = &result->bytes[i];
		pumps[i].dropped = &result->dropped[i];
	}
	last_output = now_ms();
	result->counts = options->pty || options->idle || options->output_limit != UINT64_MAX;
	if (options->pty)
		terminal_make(setting);
	else if (result->counts) {
		make_pipe(setting, 1);
		make_pipe(setting, 2);
	}
}

void streams_give(const struct setting *setting)
{
	for (int i = 0; i < 3; i++)
		if (setting->streams[i] > 2 &&
		    (i == 0 || setting->streams[i] != setting->streams[i - 1]))
			psys_close(setting->streams[i]);
}

void streams_poll(struct psys_pollfd polled[PUMPS])
{
	for (int i = 0; i < PUMPS; i++)
		polled[i] = (struct psys_pollfd){ pumps[i].length ? pumps[i].to : pumps[i].from,
						  pumps[i].length ? PSYS_POLLOUT : PSYS_POLLIN, 0 };
}

bool stream_is_ready(int fd, short events)
{
	struct psys_pollfd polled = { fd, events, 0 };
	struct psys_timespec none = { 0, 0 };

	return psys_ppoll(&polled, 1, &none, NULL, 0) > 0;
}

/* Two pumps share the descriptor of a terminal. */
static void end_pump(struct pump *pump)
{
	/* so that the program gets SIGPIPE, if nobody reads its output */
	if (pump != &pumps[0])
		psys_close(pump->from);
	pump->from = -1;
	pump->length = 0;
}

/* Returns false if nothing can be read now. */
static bool fill(struct pump *pump)
{
	if (pump->from < 0 || !stream_is_ready(pump->from, PSYS_POLLIN))
		return false;
	const long r = psys_read(pump->from, pump->buffer, CHUNK);
	if (r == -PSYS_EAGAIN || r == -PSYS_EINTR)
		return false;
	if (r <= 0) { /* EIO: no process has the terminal any more */
		end_pump(pump);
		return false;
	}
	const uint64_t bytes = (uint64_t)*pump->bytes;
	const uint64_t room = bytes < pump->limit ? pump->limit - bytes : 0;
	pump->length = room < (uint64_t)r ? (int)room : (int)r;
	pump->at = 0;
	*pump->bytes += r;
	*pump->dropped += r - pump->length;
	if (pump != &pumps[0])
		last_output = now_ms();
	return true;
}

/* Returns false if nothing can be written now. */
static bool empty(struct pump *pump)
{
	if (!pump->length)
		return true;
	if (pump != &pumps[0])
		last_output = now_ms(); /* whoever waits for a slow reader is not idle */
	if (!stream_is_ready(pump->to, PSYS_POLLOUT))
		return false;
	const long r = psys_write(pump->to, pump->buffer + pump->at, (size_t)pump->length);
	if (r == -PSYS_EAGAIN || r == -PSYS_EINTR)
		return false;
	if (r < 0)
		end_pump(pump);
	pump->at += (int)r;
	pump->length -= r < 0 ? pump->length : (int)r;
	return true;
}

void streams_turn(void)
{
	for (int i = 0; i < PUMPS; i++)
		for (int round = 0; round < ROUNDS && empty(&pumps[i]) && fill(&pumps[i]); round++)
			continue;
}

int64_t streams_last_output(void)
{
	return last_output;
}

bool streams_are_done(bool are_held)
{
	for (int i = 1; i < PUMPS; i++)
		if (pumps[i].length || (pumps[i].from >= 0 &&
					(are_held || stream_is_ready(pumps[i].from, PSYS_POLLIN))))
			return false;
	return true;
}

bool streams_input_ended(void)
{
	return pumps[0].from < 0 && !pumps[0].length;
}
