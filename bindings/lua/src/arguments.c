/* SPDX-License-Identifier: MIT */
/* Options and streams of a command, from a table. */
#include "binding.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

struct aspawn_pool pool;

int expected(lua_State *L, const char *what, const char *expected)
{
	return luaL_error(L, "%s: %s is expected, not %s", what, expected,
			  lua_isstring(L, -1) ? lua_tostring(L, -1) : luaL_typename(L, -1));
}

void *anchored(struct build *build, size_t size)
{
	void *memory = lua_newuserdata(build->L, size);

	luaL_ref(build->L, build->anchor);
	return memory;
}

const char *text(struct build *build, const char *what)
{
	const char *text = lua_tostring(build->L, -1);

	if (!text)
		expected(build->L, what, "a string");
	if (strlen(text) != lua_rawlen(build->L, -1))
		luaL_error(build->L, "%s: the string contains a zero", what);
	luaL_ref(build->L, build->anchor);
	return text;
}

size_t check_list(lua_State *L, int list, const char *what, const char *element)
{
	if (!lua_istable(L, list))
		expected(L, what, "a list");
	const size_t count = lua_rawlen(L, list);
	for (lua_pushnil(L); lua_next(L, list); lua_pop(L, 1))
		if (lua_type(L, -2) == LUA_TNUMBER && lua_tonumber(L, -2) > (lua_Number)count)
			luaL_error(L, "%s[%d]: a %s is expected, not nil", what, (int)count + 1,
				   element);
	return count;
}

struct aspawn_action *next_action(struct build *build)
{
	const size_t count = build->command.action_count++;

	if (count == build->room) {
		build->room = count ? 2 * count : 16;
		struct aspawn_action *more = anchored(build, build->room * sizeof *more);
		if (count)
			memcpy(more, build->actions, count * sizeof *more);
		build->command.actions = build->actions = more;
	}
	return &build->actions[count];
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

bool option(lua_State *L, int options, const char *name)
{
	get_field(L, options, name);
	if (!lua_isnil(L, -1))
		return true;
	lua_pop(L, 1);
	return false;
}

bool is_true(lua_State *L, int options, const char *name)
{
	get_field(L, options, name);
	const bool is_true = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return is_true;
}

int64_t number_option(lua_State *L, int options, const char *name, double least, double most,
		      int64_t none)
{
	return option(L, options, name) ? (int64_t)pop_number(L, name, NULL, least, most) : none;
}

/* NULL: there is none. */
static const char *text_option(struct build *build, const char *name)
{
	return option(build->L, build->options, name) ? text(build, name) : NULL;
}

static int word_option(struct build *build, const char *name, const struct constant *words,
		       int otherwise)
{
	const char *word = text_option(build, name);

	if (!word)
		return otherwise;
	while (words->name && strcmp(words->name, word) != 0)
		words++;
	return words->name ? (int)words->value : luaL_error(build->L, "%s: no \"%s\"", name, word);
}

uint64_t flags_of(lua_State *L, int options, const struct constant *words)
{
	uint64_t flags = 0;

	for (; words->name; words++)
		if (is_true(L, options, words->name))
			flags |= (uint64_t)words->value;
	return flags;
}

int pop_descriptor(lua_State *L, const char *what)
{
	stream_file *stream = luaL_checkudata(L, lua_gettop(L), LUA_FILEHANDLE);
	FILE *file = FILE_OF(stream);

	if (!file || is_closed(stream))
		return luaL_error(L, "%s: the file is closed", what);
	(void)fflush(file);
	const int fd = fileno(file);
	if (fd < 0)
		return luaL_error(L, "%s: the file has no descriptor", what);
	lua_pop(L, 1);
	return fd;
}

/* Raises an error if the table itself has an option of a run, which would be ignored; one that it
 * inherits may be for others. */
static void only_of_run(lua_State *L, int options)
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
			aspawn_action_setenv(next_action(build), name, text(build, name));
		}
	}
	lua_pop(L, 1);
}

/* From here on: a file whose descriptor is below 3. Only start() copies it: an error of Lua's would
 * leave the copy open. */
enum { LOW_FILE = INT_MAX - 2 };

static int stream(struct build *build, const char *name, int otherwise)
{
	get_field(build->L, build->options, name);
	if (lua_isuserdata(build->L, -1)) {
		const int fd = pop_descriptor(build->L, name);
		return fd <= 2 ? LOW_FILE + fd : fd;
	}
	lua_pop(build->L, 1);
	return word_option(build, name, aspawn_stream_words, otherwise);
}

struct aspawn_command *prepare(struct build *build)
{
	struct aspawn_command *command = &build->command;
	lua_State *L = build->L;
	const int index = build->options;

	luaL_checktype(L, index, LUA_TTABLE);
	luaL_checkstack(L, 16, "aspawn");
	lua_newtable(L);
	build->anchor = lua_gettop(L);
	command->size = sizeof *command;
	command->pool = &pool;

	const int count = (int)check_list(L, index, "argument ", "string");
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
	command->argv = (char *const *)(uintptr_t)argv;
	command->file = text_option(build, "file");
	command->search_path = text_option(build, "path");
	command->flags = flags_of(L, index, aspawn_command_flags_words);
	command->owner = word_option(build, "owner", aspawn_owner_words, 0);
	command->memory = word_option(build, "memory", aspawn_memory_words, 0);
	if (option(L, index, "stop_signal"))
		command->stop_signal = (int)pop_number(L, "stop_signal", "SIG", 0, PSYS_NSIG);
	if (is_true(L, index, "clearenv"))
		aspawn_action_clearenv(next_action(build));
	if (option(L, index, "env"))
		add_environment(build);
	if (is_true(L, index, "setsid"))
		aspawn_action_setsid(next_action(build));
	else if (is_true(L, index, "kill_group") || is_true(L, index, "group"))
		aspawn_action_setpgid(next_action(build), 0);
	const char *directory = text_option(build, "cwd");
	if (directory)
		aspawn_action_chdir(next_action(build), directory);
	if (option(L, index, "actions")) {
		const int action_count = (int)check_list(L, lua_gettop(L), "actions", "table");
		for (int i = 1; i <= action_count; i++) {
			lua_rawgeti(L, -1, i);
			add_action(build, i);
		}
		lua_pop(L, 1);
	}
	command->std_in = stream(build, "stdin", command->std_in);
	command->std_out = stream(build, "stdout", command->std_out);
	command->std_err = stream(build, "stderr", command->std_err);
	command->pty_rows = (unsigned)number_option(L, index, "pty_rows", 0, UINT_MAX, 0);
	command->pty_columns = (unsigned)number_option(L, index, "pty_columns", 0, UINT_MAX, 0);
	if ((command->pty_rows || command->pty_columns) && !has_terminal(command))
		luaL_error(L, "pty_rows, pty_columns: no stream is \"pty\"");
	if (!build->is_run)
		only_of_run(L, index);
	return command;
}

bool has_terminal(const struct aspawn_command *command)
{
	return command->std_in == ASPAWN_STREAM_PTY || command->std_out == ASPAWN_STREAM_PTY ||
	       command->std_err == ASPAWN_STREAM_PTY;
}

int start(struct build *build, struct aspawn_child *child)
{
	struct aspawn_command *command = &build->command;
	int *const streams[] = { &command->std_in, &command->std_out, &command->std_err };
	struct aspawn_failure failure = { 0 };
	int copies[] = { -1, -1, -1 }, r = 0;

	(void)fflush(NULL); /* as io.popen() */
	for (int i = 0; i < 3 && r >= 0; i++)
		if (*streams[i] >= LOW_FILE)
			r = *streams[i] = copies[i] =
				(int)psys_fcntl(*streams[i] - LOW_FILE, PSYS_F_DUPFD_CLOEXEC, 3);
	if (r >= 0) {
		r = aspawn_start(child, command);
		if (r < 0)
			(void)aspawn_wait_started(child, &failure, 0);
	}
	for (int i = 0; i < 3; i++)
		if (copies[i] >= 0)
			close(copies[i]);
	return r < 0 ? result_of(build->L, r, &failure) : 0;
}
