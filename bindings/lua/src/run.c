/* SPDX-License-Identifier: MIT */
/* run{}: a program until its end, with its output. */
#include "binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUTS "aspawn.outputs"

static int outputs_gc(lua_State *L)
{
	struct outputs *outputs = luaL_checkudata(L, 1, OUTPUTS);

	free(outputs->out.bytes);
	free(outputs->err.bytes);
	memset(outputs, 0, sizeof *outputs);
	return 0;
}

struct outputs *new_outputs(lua_State *L)
{
	struct outputs *outputs = lua_newuserdata(L, sizeof *outputs);

	memset(outputs, 0, sizeof *outputs);
	luaL_getmetatable(L, OUTPUTS);
	lua_setmetatable(L, -2);
	return outputs;
}

int collect(void *arg, int stream, const void *bytes, size_t count)
{
	struct outputs *outputs = arg;
	struct output *to = stream == 1 ? &outputs->out : &outputs->err;

	if (to->room - to->length < count) {
		const size_t room = 2 * to->room + count;
		char *more = realloc(to->bytes, room);
		if (!more)
			return -ENOMEM;
		to->bytes = more;
		to->room = room;
	}
	if (count)
		memcpy(to->bytes + to->length, bytes, count);
	to->length += count;
	return 0;
}

void set_output(lua_State *L, const char *name, const struct output *output)
{
	lua_pushlstring(L, output->bytes ? output->bytes : "", output->length);
	lua_setfield(L, -2, name);
}

int l_run(lua_State *L)
{
	int streams[] = { ASPAWN_STREAM_NULL, ASPAWN_STREAM_PIPE, ASPAWN_STREAM_PIPE };
	struct aspawn_io io;
	struct build build;
	struct aspawn_child child;

	lua_settop(L, 1);
	luaL_checktype(L, 1, LUA_TTABLE);
	memset(&io, 0, sizeof io);
	io.size = sizeof io;
	io.input = input_option(L, 1, &io.input_size);
	if (io.input)
		streams[0] = ASPAWN_STREAM_PIPE;
	time_limits(L, 1, &io.time_limit_ms, &io.grace_ms);

	struct outputs *outputs = new_outputs(L);
	prepare(&build, L, 1, streams, NULL);
	io.flags = flags_of(L, 1, aspawn_io_flags_words);
	const struct aspawn_command *command = &build.command;
	const bool out_is_pty = command->std_out == ASPAWN_STREAM_PTY;
	const bool err_is_pty = command->std_err == ASPAWN_STREAM_PTY;
	const bool has_out = out_is_pty || command->std_out == ASPAWN_STREAM_PIPE;
	const bool has_err = (err_is_pty && !out_is_pty) || command->std_err == ASPAWN_STREAM_PIPE;
	if (io.input && command->std_in != ASPAWN_STREAM_PIPE &&
	    command->std_in != ASPAWN_STREAM_PTY)
		return luaL_error(L, "run: both input and stdin");
	io.sink = collect;
	io.arg = outputs;
	int r = start(&build, &child);
	if (r > 0)
		return r;
	r = aspawn_communicate(&child, &io);
	if (r < 0 && r != -ETIMEDOUT)
		return error_of(L, r, &io.failure);

	lua_newtable(L);
	if (has_out)
		set_output(L, "out", &outputs->out);
	if (has_err)
		set_output(L, "err", &outputs->err);
	if (r < 0)
		SET(L, "timed_out", boolean, true);
	set_given_up(L, io.cut, io.memory_peak);
	set_status(L, r == 0, io.status, &io.usage);
	return 1;
}

void open_run(lua_State *L)
{
	static const luaL_Reg methods[] = { { NULL, NULL } };

	new_class(L, OUTPUTS, methods, outputs_gc);
}
