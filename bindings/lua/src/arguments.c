/* SPDX-License-Identifier: MIT */
/* Options and streams of a command, from a table. */
#define _GNU_SOURCE
#include "binding.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <lualib.h>

struct aspawn_pool pool;

int expected(lua_State *L, const char *what, const char *expected)
{
	return luaL_error(L, "%s: %s is expected, not %s", what, expected,
			  lua_isstring(L, -1) ? lua_tostring(L, -1) : luaL_typename(L, -1));
}

void *anchored(struct build *build, size_t size)
{
	void *memory = lua_newuserdata(build->L, size);

	lua_rawseti(build->L, build->anchor, ++build->references);
	return memory;
}

const char *text(struct build *build, const char *what)
{
	size_t length;
	const char *text = lua_tolstring(build->L, -1, &length);

	if (!text)
		expected(build->L, what, "a string");
	if (strlen(text) != length)
		luaL_error(build->L, "%s: the string contains a zero", what);
	lua_rawseti(build->L, build->anchor, ++build->references);
	return text;
}

void check_end(lua_State *L, int list, int count, const char *what, const char *expected)
{
	for (lua_pushnil(L); lua_next(L, list); lua_pop(L, 1))
		if (lua_type(L, -2) == LUA_TNUMBER && lua_tonumber(L, -2) > count)
			luaL_error(L, "%s[%d]: a %s is expected, not nil", what, count + 1,
				   expected);
}

struct aspawn_action *next_action(struct build *build)
{
	if (build->command.action_count == build->room) {
		build->room = build->room ? 2 * build->room : 16;
		struct aspawn_action *more = anchored(build, build->room * sizeof *more);
		if (build->command.action_count)
			memcpy(more, build->actions, build->command.action_count * sizeof *more);
		build->actions = more;
		build->command.actions = more;
	}
	return &build->actions[build->command.action_count++];
}

int64_t milliseconds(lua_State *L, int index, int64_t otherwise)
{
	if (lua_isnoneornil(L, index))
		return otherwise;
	const double seconds = luaL_checknumber(L, index);
	if (isnan(seconds))
		return luaL_error(L, "not a number of seconds");
	if (seconds * 1000 >= 9e15)
		return INT64_MAX;
	return seconds < 0 ? 0 : (int64_t)ceil(seconds * 1000);
}

int64_t time_option(lua_State *L, int options, const char *name, int64_t zero)
{
	get_field(L, options, name);
	if (!lua_isnil(L, -1) && !lua_isnumber(L, -1))
		expected(L, name, "a number");
	if (!(lua_tonumber(L, -1) >= 0))
		luaL_error(L, "%s: the number is not valid", name);
	int64_t ms = milliseconds(L, -1, 0);
	if (ms == 0 && !lua_isnil(L, -1))
		ms = zero;
	lua_pop(L, 1);
	return ms;
}

const char *input_option(lua_State *L, int options, size_t *size)
{
	get_field(L, options, "input");
	if (!lua_isnil(L, -1) && !lua_isstring(L, -1))
		expected(L, "input", "a string");
	return lua_tolstring(L, -1, size);
}

void time_limits(lua_State *L, int options, int64_t *timeout_ms, int64_t *grace_ms)
{
	*timeout_ms = time_option(L, options, "timeout", 1);
	*grace_ms = time_option(L, options, "grace", ASPAWN_GRACE_NONE);
}

bool is_true(lua_State *L, int options, const char *name)
{
	get_field(L, options, name);
	const bool is_true = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return is_true;
}

int64_t number_option(lua_State *L, int table, const char *name, double least, double most,
		      int64_t otherwise)
{
	get_field(L, table, name);
	if (!lua_isnil(L, -1))
		return (int64_t)pop_number(L, name, NULL, least, most);
	lua_pop(L, 1);
	return otherwise;
}

bool option(struct build *build, const char *name)
{
	get_field(build->L, build->options, name);
	if (!lua_isnil(build->L, -1))
		return true;
	lua_pop(build->L, 1);
	return false;
}

int descriptor_of(lua_State *L, int index, const char *name)
{
	stream_file *stream = luaL_checkudata(L, index, LUA_FILEHANDLE);
	FILE *file = FILE_OF(stream);

	if (!file || is_closed(stream))
		return luaL_error(L, "%s: the file is closed", name);
	(void)fflush(file);
	const int fd = fileno(file);
	return fd < 0 ? luaL_error(L, "%s: the file has no descriptor", name) : fd;
}

void only_of_run(lua_State *L, int options)
{
	static const char *const names[] = { "input", "timeout", "grace" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		lua_pushstring(L, names[i]);
		lua_rawget(L, options);
		if (!lua_isnil(L, -1))
			luaL_error(L, "%s: only run and submit have this option", names[i]);
		lua_pop(L, 1);
	}
}

/* env = { NAME = "value", OTHER = false } */
static void add_environment(struct build *build)
{
	lua_State *L = build->L;

	if (!lua_istable(L, -1))
		expected(L, "env", "a table");
	for (lua_pushnil(L); lua_next(L, -2);) {
		if (lua_type(L, -2) != LUA_TSTRING)
			luaL_error(L, "env: a name is no string");
		lua_pushvalue(L, -2);
		const char *name = text(build, "env");
		if (!*name || strchr(name, '='))
			luaL_error(L, "env: invalid name \"%s\"", name);
		if (lua_type(L, -1) == LUA_TBOOLEAN && !lua_toboolean(L, -1)) {
			lua_pop(L, 1);
			aspawn_action_unsetenv(next_action(build), name);
		} else {
			const char *value = text(build, name);
			aspawn_action_setenv(next_action(build), name, value);
		}
	}
	lua_pop(L, 1);
}

/* The value of an option that is a word, on top of the stack, which is popped. */
static int word(struct build *build, const char *name, const struct constant *words)
{
	const char *word = text(build, name);

	while (words->name && strcmp(words->name, word) != 0)
		words++;
	return words->name ? (int)words->value : luaL_error(build->L, "%s: no \"%s\"", name, word);
}

uint64_t flags_of(lua_State *L, int table, const struct constant *words)
{
	uint64_t flags = 0;

	for (; words->name; words++)
		if (is_true(L, table, words->name))
			flags |= (uint64_t)words->value;
	return flags;
}

/* From here on: a file whose descriptor is below 3. Only start() copies it: an error of Lua's would
 * leave the copy open. */
enum { LOW_FILE = INT_MAX - 2 };

static int stream(struct build *build, const char *name, int otherwise)
{
	lua_State *L = build->L;

	if (!option(build, name))
		return otherwise;
	if (!lua_isuserdata(L, -1))
		return word(build, name, aspawn_stream_words);
	const int fd = descriptor_of(L, lua_gettop(L), name);
	lua_pop(L, 1);
	return fd <= 2 ? LOW_FILE + fd : fd;
}

void prepare(struct build *build, lua_State *L, int index, const int streams[3],
	     struct handle *handle)
{
	luaL_checktype(L, index, LUA_TTABLE);
	luaL_checkstack(L, 16, "aspawn");
	memset(build, 0, sizeof *build);
	build->L = L;
	build->options = index;
	build->handle = handle;
	lua_newtable(L);
	build->anchor = lua_gettop(L);
	build->command.size = sizeof build->command;
	build->command.pool = &pool;

	const int count = (int)lua_rawlen(L, index);
	if (count == 0 && !is_true(L, index, "prepared"))
		luaL_error(L, "no program");
	const char **argv = anchored(build, ((size_t)count + 1) * sizeof *argv);
	for (int i = 0; i < count; i++) {
		lua_rawgeti(L, index, i + 1);
		if (!lua_isstring(L, -1))
			luaL_error(L, "argument [%d]: a string is expected, not %s", i + 1,
				   luaL_typename(L, -1));
		argv[i] = text(build, "argument");
	}
	argv[count] = NULL;
	check_end(L, index, count, "argument ", "string");
	build->command.argv = (char *const *)(uintptr_t)argv;
	if (option(build, "file"))
		build->command.file = text(build, "file");
	if (option(build, "path"))
		build->command.search_path = text(build, "path");
	build->command.flags = flags_of(L, index, aspawn_command_flags_words);
	if (option(build, "owner"))
		build->command.owner = word(build, "owner", aspawn_owner_words);
	if (option(build, "memory"))
		build->command.memory = word(build, "memory", aspawn_memory_words);
	if (option(build, "stop_signal"))
		build->command.stop_signal = (int)pop_number(L, "stop_signal", "SIG", 0, PSYS_NSIG);
	if (is_true(L, index, "clearenv"))
		aspawn_action_clearenv(next_action(build));
	if (option(build, "env"))
		add_environment(build);
	if (is_true(L, index, "setsid"))
		aspawn_action_setsid(next_action(build));
	else if (is_true(L, index, "kill_group") || is_true(L, index, "group"))
		aspawn_action_setpgid(next_action(build), 0);
	if (option(build, "cwd")) {
		const char *directory = text(build, "cwd");
		aspawn_action_chdir(next_action(build), directory);
	}
	if (option(build, "actions")) {
		if (!lua_istable(L, -1))
			expected(L, "actions", "a list");
		for (int i = 1;; i++) {
			lua_rawgeti(L, -1, i);
			if (lua_isnil(L, -1)) {
				check_end(L, lua_gettop(L) - 1, i - 1, "actions", "table");
				break;
			}
			add_action(build, i);
		}
		lua_pop(L, 2);
	}
	build->command.std_in = stream(build, "stdin", streams[0]);
	build->command.std_out = stream(build, "stdout", streams[1]);
	build->command.std_err = stream(build, "stderr", streams[2]);
	build->command.pty_rows = (unsigned)number_option(L, index, "pty_rows", 0, UINT_MAX, 0);
	build->command.pty_columns =
		(unsigned)number_option(L, index, "pty_columns", 0, UINT_MAX, 0);
	if (build->command.pty_rows + build->command.pty_columns && !has_terminal(&build->command))
		luaL_error(L, "pty_rows, pty_columns: no stream is \"pty\"");
}

bool has_terminal(const struct aspawn_command *command)
{
	return command->std_in == ASPAWN_STREAM_PTY || command->std_out == ASPAWN_STREAM_PTY ||
	       command->std_err == ASPAWN_STREAM_PTY;
}

/* Copies the descriptor of a file below 3, to close after the start.
 * Returns a negative error number, or 0. */
static int copy_low(struct build *build, int *stream)
{
	if (*stream < LOW_FILE)
		return 0;
	*stream = fcntl(*stream - LOW_FILE, F_DUPFD_CLOEXEC, 3);
	if (*stream < 0)
		return -errno;
	build->opened[build->opened_count++] = *stream;
	return 0;
}

int start(struct build *build, struct aspawn_child *child)
{
	struct aspawn_command *command = &build->command;
	struct aspawn_failure failure = { 0 };

	(void)fflush(NULL); /* as io.popen() */
	int r = copy_low(build, &command->std_in);
	if (r == 0)
		r = copy_low(build, &command->std_out);
	if (r == 0)
		r = copy_low(build, &command->std_err);
	const bool is_copied = r == 0;
	if (is_copied)
		r = aspawn_start(child, command);
	while (build->opened_count)
		close(build->opened[--build->opened_count]);
	if (r == 0)
		return 0;
	if (is_copied)
		(void)aspawn_wait_started(child, &failure, 0);
	return error_of(build->L, r, &failure);
}
