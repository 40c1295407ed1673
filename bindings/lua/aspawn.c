/* SPDX-License-Identifier: MIT */
/*
 * The module aspawn, for Lua 5.1 to 5.4 and LuaJIT. README.md describes its functions.
 *
 * The queue is in queue.c. io.popen() and os.execute() are the drop-ins popen() and system() of the library, which need no
 * shell for most commands, behind the results that each Lua gives.
 *
 * Lua raises errors by longjmp(): what has to be freed belongs to a userdata or a table before
 * anything is called that may raise one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "binding.h"

#include <lualib.h>

#define CHILD "aspawn.child"   /* a table */
#define HANDLE "aspawn.handle" /* its userdata */
#define OUTPUTS "aspawn.outputs"

/* Those of vendor/popen.c and vendor/system.c. */
FILE *aspawn_lua_popen(const char *command, const char *mode);
int aspawn_lua_pclose(FILE *file);
int aspawn_lua_system(const char *command);

static struct aspawn_pool pool;

/* --- results ------------------------------------------------------------------ */

int failed(lua_State *L, const char *text, int error)
{
	lua_pushnil(L);
	lua_pushstring(L, text);
	lua_pushinteger(L, error < 0 ? -error : error);
	return 3;
}

static int not_started(lua_State *L, const struct aspawn_failure *failure)
{
	char text[256];

	aspawn_failure_text(text, sizeof text, failure);
	return failed(L, text, failure->error);
}

static int system_error(lua_State *L, const char *what)
{
	const int error = errno;

	lua_pushnil(L);
	if (what)
		lua_pushfstring(L, "%s: %s", what, strerror(error));
	else
		lua_pushstring(L, strerror(error));
	lua_pushinteger(L, error);
	return 3;
}

/* true, or nil; "exit" or "signal"; its number: as os.execute() of Lua 5.2. */
static int ended(lua_State *L, int status)
{
	const bool exited = WIFEXITED(status);

	if (exited && WEXITSTATUS(status) == 0)
		lua_pushboolean(L, 1);
	else
		lua_pushnil(L);
	lua_pushstring(L, exited ? "exit" : "signal");
	lua_pushinteger(L, exited ? WEXITSTATUS(status) : WTERMSIG(status));
	return 3;
}

/* --- arguments ------------------------------------------------------------------ */

static void *anchored(struct build *build, size_t size)
{
	void *memory = lua_newuserdata(build->L, size);

	lua_rawseti(build->L, build->anchor, ++build->references);
	return memory;
}

/* The string on top of the stack, which is popped. */
static const char *text(struct build *build, const char *what)
{
	size_t length;
	const char *text = lua_tolstring(build->L, -1, &length);

	if (!text)
		luaL_error(build->L, "%s: a string is expected, not a %s", what,
			   luaL_typename(build->L, -1));
	if (strlen(text) != length)
		luaL_error(build->L, "%s: the string contains a zero", what);
	lua_rawseti(build->L, build->anchor, ++build->references);
	return text;
}

static struct aspawn_action *next_action(struct build *build)
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
	if (!(seconds * 1000 < 9e15))
		return -1;
	return seconds < 0 ? -1 : (int64_t)ceil(seconds * 1000);
}

void time_limits(lua_State *L, int options, int64_t *timeout_ms, int64_t *grace_ms)
{
	lua_getfield(L, options, "timeout");
	*timeout_ms = milliseconds(L, -1, 0);
	if (*timeout_ms == 0 && !lua_isnil(L, -1))
		*timeout_ms = 1;
	lua_getfield(L, options, "grace");
	*grace_ms = milliseconds(L, -1, 0);
	if (*grace_ms == 0 && !lua_isnil(L, -1))
		*grace_ms = -1;
	lua_pop(L, 2);
}

bool is_true(struct build *build, const char *name)
{
	lua_getfield(build->L, build->options, name);
	const bool is_true = lua_toboolean(build->L, -1);
	lua_pop(build->L, 1);
	return is_true;
}

bool option(struct build *build, const char *name)
{
	lua_getfield(build->L, build->options, name);
	if (!lua_isnil(build->L, -1))
		return true;
	lua_pop(build->L, 1);
	return false;
}

/* --- actions ---------------------------------------------------------------------- */

static const struct {
	const char *name;
	int number;
} resources[] = {
	{ "cpu", PSYS_RLIMIT_CPU },
	{ "fsize", PSYS_RLIMIT_FSIZE },
	{ "data", PSYS_RLIMIT_DATA },
	{ "stack", PSYS_RLIMIT_STACK },
	{ "core", PSYS_RLIMIT_CORE },
	{ "nproc", PSYS_RLIMIT_NPROC },
	{ "nofile", PSYS_RLIMIT_NOFILE },
	{ "memlock", PSYS_RLIMIT_MEMLOCK },
	{ "as", PSYS_RLIMIT_AS },
	{ "sigpending", PSYS_RLIMIT_SIGPENDING },
	{ "msgqueue", PSYS_RLIMIT_MSGQUEUE },
	{ "nice", PSYS_RLIMIT_NICE },
	{ "rtprio", PSYS_RLIMIT_RTPRIO },
	{ "rttime", PSYS_RLIMIT_RTTIME },
};

/* Each with the letters of its arguments: a string, an integer, a resource. */
static const struct kind {
	const char *name, *arguments;
	union {
		void (*none)(struct aspawn_action *);
		void (*i)(struct aspawn_action *, int);
		void (*ii)(struct aspawn_action *, int, int);
		void (*u)(struct aspawn_action *, unsigned);
		void (*uuu)(struct aspawn_action *, unsigned, unsigned, unsigned);
		void (*q)(struct aspawn_action *, uint64_t);
		void (*s)(struct aspawn_action *, const char *);
		void (*ss)(struct aspawn_action *, const char *, const char *);
		void (*isiu)(struct aspawn_action *, int, const char *, int, unsigned);
		void (*rqq)(struct aspawn_action *, int, uint64_t, uint64_t);
	} make;
} kinds[] = {
	{ "dup2", "ii", { .ii = aspawn_action_dup2 } },
	{ "open", "isiu", { .isiu = aspawn_action_open } },
	{ "close", "i", { .i = aspawn_action_close } },
	{ "closefrom", "i", { .i = aspawn_action_closefrom } },
	{ "setenv", "ss", { .ss = aspawn_action_setenv } },
	{ "unsetenv", "s", { .s = aspawn_action_unsetenv } },
	{ "clearenv", "", { .none = aspawn_action_clearenv } },
	{ "chdir", "s", { .s = aspawn_action_chdir } },
	{ "umask", "u", { .u = aspawn_action_umask } },
	{ "setsid", "", { .none = aspawn_action_setsid } },
	{ "setpgid", "i", { .i = aspawn_action_setpgid } },
	{ "reset_signals", "", { .none = aspawn_action_reset_signals } },
	{ "signal_default", "i", { .i = aspawn_action_signal_default } },
	{ "signal_ignore", "i", { .i = aspawn_action_signal_ignore } },
	{ "pdeathsig", "i", { .i = aspawn_action_pdeathsig } },
	{ "rlimit", "rqq", { .rqq = aspawn_action_rlimit } },
	{ "nice", "i", { .i = aspawn_action_nice } },
	{ "scheduler", "ii", { .ii = aspawn_action_scheduler } },
	{ "ioprio", "i", { .i = aspawn_action_ioprio } },
	{ "oom_score_adj", "i", { .i = aspawn_action_oom_score_adj } },
	{ "join_cgroup", "i", { .i = aspawn_action_join_cgroup } },
	{ "resuid", "uuu", { .uuu = aspawn_action_resuid } },
	{ "resgid", "uuu", { .uuu = aspawn_action_resgid } },
	{ "cap_drop", "i", { .i = aspawn_action_cap_drop } },
	{ "no_new_privs", "", { .none = aspawn_action_no_new_privs } },
	{ "chroot", "s", { .s = aspawn_action_chroot } },
	{ "unshare", "q", { .q = aspawn_action_unshare } },
	{ "hostname", "s", { .s = aspawn_action_hostname } },
	{ "write", "ss", { .ss = aspawn_action_write } },
};

static int resource(lua_State *L, const char *name)
{
	for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
		if (strcmp(name, resources[i].name) == 0)
			return resources[i].number;
	return luaL_error(L, "rlimit: no resource \"%s\"", name);
}

static uint64_t number(lua_State *L, const char *what)
{
	if (!lua_isnumber(L, -1))
		luaL_error(L, "%s: a number is expected, not a %s", what, luaL_typename(L, -1));
	const double value = lua_tonumber(L, -1);
	lua_pop(L, 1);
	/* math.huge is no limit. */
	return value >= 18446744073709551615.0 ? UINT64_MAX :
	       value < 0                       ? (uint64_t)(int64_t)value :
						 (uint64_t)value;
}

/* user is a table of uid, gid and groups. */
static void add_user(struct build *build, int table)
{
	lua_State *L = build->L;
	unsigned ids[2];

	for (int i = 0; i < 2; i++) {
		lua_rawgeti(L, table, i + 2);
		ids[i] = (unsigned)number(L, "user");
	}
	lua_rawgeti(L, table, 4);
	size_t count = 0;
	unsigned *groups = NULL;
	if (lua_istable(L, -1)) {
#if LUA_VERSION_NUM == 501
		count = lua_objlen(L, -1);
#else
		count = lua_rawlen(L, -1);
#endif
		groups = anchored(build, (count + 1) * sizeof *groups);
		for (size_t i = 0; i < count; i++) {
			lua_rawgeti(L, -1, (int)i + 1);
			groups[i] = (unsigned)number(L, "user");
		}
	}
	lua_pop(L, 1);
	aspawn_action_user(next_action(build), ids[0], ids[1], groups, count);
}

/* An action: { "chdir", "/srv" }, on top of the stack, which is popped. */
static void add_action(struct build *build, int index)
{
	lua_State *L = build->L;
	const int table = lua_gettop(L);
	const struct kind *kind = kinds;
	const char *strings[2] = { NULL, NULL };
	uint64_t numbers[4] = { 0, 0, 0, 0 };
	int string_count = 0, number_count = 0;

	if (!lua_istable(L, table))
		luaL_error(L, "action %d: a table is expected", index);
	lua_rawgeti(L, table, 1);
	const char *name = text(build, "action");
	if (strcmp(name, "user") == 0) {
		add_user(build, table);
		lua_pop(L, 1);
		return;
	}
	while (strcmp(kind->name, name) != 0)
		if (++kind == kinds + sizeof kinds / sizeof *kinds)
			luaL_error(L, "action %d: no action \"%s\"", index, name);
	for (int i = 0; kind->arguments[i]; i++) {
		lua_rawgeti(L, table, i + 2);
		if (kind->arguments[i] == 's')
			strings[string_count++] = text(build, name);
		else if (kind->arguments[i] == 'r' && !lua_isnumber(L, -1))
			numbers[number_count++] = (uint64_t)resource(L, text(build, name));
		else
			numbers[number_count++] = number(L, name);
	}
	lua_pop(L, 1);

	struct aspawn_action *action = next_action(build);
	const int first = (int)numbers[0];
	if (strcmp(kind->arguments, "") == 0)
		kind->make.none(action);
	else if (strcmp(kind->arguments, "i") == 0)
		kind->make.i(action, first);
	else if (strcmp(kind->arguments, "ii") == 0)
		kind->make.ii(action, first, (int)numbers[1]);
	else if (strcmp(kind->arguments, "u") == 0)
		kind->make.u(action, (unsigned)first);
	else if (strcmp(kind->arguments, "uuu") == 0)
		kind->make.uuu(action, (unsigned)first, (unsigned)numbers[1], (unsigned)numbers[2]);
	else if (strcmp(kind->arguments, "q") == 0)
		kind->make.q(action, numbers[0]);
	else if (strcmp(kind->arguments, "s") == 0)
		kind->make.s(action, strings[0]);
	else if (strcmp(kind->arguments, "ss") == 0)
		kind->make.ss(action, strings[0], strings[1]);
	else if (strcmp(kind->arguments, "isiu") == 0)
		kind->make.isiu(action, first, strings[0], (int)numbers[1], (unsigned)numbers[2]);
	else
		kind->make.rqq(action, first, numbers[1], numbers[2]);
}

/* env = { NAME = "value", OTHER = false } */
static void add_environment(struct build *build)
{
	lua_State *L = build->L;

	luaL_checktype(L, -1, LUA_TTABLE);
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
			const char *value = text(build, "env");
			aspawn_action_setenv(next_action(build), name, value);
		}
	}
	lua_pop(L, 1);
}

static int stream(struct build *build, const char *name, int otherwise)
{
	static const struct {
		const char *name;
		int value;
	} words[] = { { "inherit", ASPAWN_INHERIT },
		      { "null", ASPAWN_NULL },
		      { "pipe", ASPAWN_PIPE },
		      { "stdout", ASPAWN_TO_STDOUT } };
	lua_State *L = build->L;

	if (!option(build, name))
		return otherwise;
	if (lua_type(L, -1) == LUA_TSTRING) {
		const char *word = lua_tostring(L, -1);
		for (size_t i = 0; i < sizeof words / sizeof *words; i++)
			if (strcmp(word, words[i].name) == 0) {
				lua_pop(L, 1);
				return words[i].value;
			}
		return luaL_error(L, "%s: \"inherit\", \"null\", \"pipe\" or a file is expected",
				  name);
	}
	FILE *file = *(FILE **)luaL_checkudata(L, lua_gettop(L), LUA_FILEHANDLE);
	lua_pop(L, 1);
	if (!file)
		return luaL_error(L, "%s: the file is closed", name);
	(void)fflush(file);
	int fd = fileno(file);
	if (fd < 0)
		return luaL_error(L, "%s: the file has no descriptor", name);
	if (fd <= 2) {
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (fd < 0)
			return luaL_error(L, "%s: %s", name, strerror(errno));
		build->opened[build->opened_count++] = fd;
	}
	return fd;
}

void prepare(struct build *build, lua_State *L, int index, const int streams[3])
{
	static const struct {
		const char *name;
		uint64_t flag;
	} flags[] = {
		{ "private", ASPAWN_COMMAND_PRIVATE },
		{ "autoreap", ASPAWN_COMMAND_AUTOREAP },
		{ "autokill", ASPAWN_COMMAND_AUTOKILL },
		{ "no_image", ASPAWN_COMMAND_NO_IMAGE },
		{ "shell_on_enoexec", ASPAWN_COMMAND_SHELL_ON_ENOEXEC },
	};

	luaL_checktype(L, index, LUA_TTABLE);
	luaL_checkstack(L, 16, "aspawn");
	memset(build, 0, sizeof *build);
	build->L = L;
	build->options = index;
	lua_newtable(L);
	build->anchor = lua_gettop(L);
	build->command.size = sizeof build->command;
	build->command.pool = &pool;

#if LUA_VERSION_NUM == 501
	const int count = (int)lua_objlen(L, index);
#else
	const int count = (int)lua_rawlen(L, index);
#endif
	if (count == 0)
		luaL_error(L, "no program");
	const char **argv = anchored(build, ((size_t)count + 1) * sizeof *argv);
	for (int i = 0; i < count; i++) {
		lua_rawgeti(L, index, i + 1);
		argv[i] = text(build, "argument");
	}
	argv[count] = NULL;
	build->command.argv = (char *const *)(uintptr_t)argv;
	if (option(build, "file"))
		build->command.file = text(build, "file");
	if (option(build, "path"))
		build->command.search_path = text(build, "path");
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (is_true(build, flags[i].name))
			build->command.flags |= flags[i].flag;
	if (is_true(build, "clearenv"))
		aspawn_action_clearenv(next_action(build));
	if (option(build, "env"))
		add_environment(build);
	if (is_true(build, "setsid"))
		aspawn_action_setsid(next_action(build));
	else if (is_true(build, "kill_group") || is_true(build, "group"))
		aspawn_action_setpgid(next_action(build), 0);
	if (option(build, "cwd")) {
		const char *directory = text(build, "cwd");
		aspawn_action_chdir(next_action(build), directory);
	}
	if (option(build, "actions")) {
		luaL_checktype(L, -1, LUA_TTABLE);
		for (int i = 1;; i++) {
			lua_rawgeti(L, -1, i);
			if (lua_isnil(L, -1))
				break;
			add_action(build, i);
		}
		lua_pop(L, 2);
	}
	/* Last, as they may hold descriptors. */
	build->command.std_in = stream(build, "stdin", streams[0]);
	build->command.std_out = stream(build, "stdout", streams[1]);
	build->command.std_err = stream(build, "stderr", streams[2]);
}

void close_opened(struct build *build)
{
	while (build->opened_count)
		close(build->opened[--build->opened_count]);
}

static int start(struct build *build, struct aspawn_child *child)
{
	(void)fflush(NULL); /* as io.popen() */
	const int r = aspawn_start(child, &build->command);
	close_opened(build);
	return r;
}

/* --- handles -------------------------------------------------------------------------- */

struct handle {
	struct aspawn_child child;
	bool waited;
	int result, status; /* of the wait */
	struct aspawn_failure failure;
};

static struct handle *new_handle(lua_State *L)
{
	struct handle *handle = lua_newuserdata(L, sizeof *handle);

	memset(handle, 0, sizeof *handle);
	handle->child.in_fd = handle->child.out_fd = handle->child.err_fd = -1;
	luaL_getmetatable(L, HANDLE);
	lua_setmetatable(L, -2);
	return handle;
}

static void close_pipe(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int handle_gc(lua_State *L)
{
	struct handle *handle = lua_touserdata(L, 1);

	close_pipe(&handle->child.in_fd);
	close_pipe(&handle->child.out_fd);
	close_pipe(&handle->child.err_fd);
	aspawn_release(&handle->child);
	return 0;
}

/* Returns -ETIMEDOUT, or what aspawn_wait() returned, also if called again. */
static int wait_for(struct handle *handle, int64_t timeout_ms)
{
	if (!handle->waited) {
		const int r = aspawn_wait(&handle->child, &handle->status, NULL, timeout_ms);
		if (r == -ETIMEDOUT)
			return r;
		if (r == -ECANCELED)
			aspawn_wait_started(&handle->child, &handle->failure, 0);
		handle->waited = true;
		handle->result = r;
	}
	return handle->result;
}

static int wait_result(lua_State *L, const struct handle *handle, int result)
{
	if (result == 0)
		return ended(L, handle->status);
	if (result == -ETIMEDOUT)
		return failed(L, "timeout", result);
	if (result == -ECANCELED)
		return not_started(L, &handle->failure);
	return failed(L, psys_strerror(result), result);
}

/* --- files ---------------------------------------------------------------------------- */

/*
 * A file of Lua's io library around a FILE, with a function of ours to close it. LuaJIT's files
 * have no such function; there a stream of the libc's calls ours (fopencookie(3)).
 */
static bool is_luajit(lua_State *L)
{
	lua_getfield(L, LUA_REGISTRYINDEX, "aspawn.luajit");
	const bool is_luajit = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return is_luajit;
}

/* The child of a file, which its end waits for, is in the registry by the address of the FILE. */
static void keep_child(lua_State *L, FILE *file, int handle)
{
	lua_pushlightuserdata(L, file);
	lua_pushvalue(L, handle);
	lua_rawset(L, LUA_REGISTRYINDEX);
}

static int close_result(lua_State *L, int status)
{
#if LUA_VERSION_NUM == 501
	if (status == -1)
		return system_error(L, NULL);
	lua_pushboolean(L, 1);
	return 1;
#else
	return luaL_execresult(L, status);
#endif
}

#if LUA_VERSION_NUM == 501
typedef FILE *stream_file;
#define FILE_OF(stream) (*(stream))
#else
typedef luaL_Stream stream_file;
#define FILE_OF(stream) ((stream)->f)
#endif

static FILE *closing(lua_State *L)
{
	stream_file *stream = luaL_checkudata(L, 1, LUA_FILEHANDLE);
	FILE *file = FILE_OF(stream);

	FILE_OF(stream) = NULL;
	return file;
}

static int close_plain(lua_State *L)
{
	if (fclose(closing(L)) != 0)
		return system_error(L, NULL);
	lua_pushboolean(L, 1);
	return 1;
}

static int close_line(lua_State *L)
{
	return close_result(L, aspawn_lua_pclose(closing(L)));
}

static int close_child(lua_State *L)
{
	FILE *file = closing(L);

	lua_pushlightuserdata(L, file);
	lua_rawget(L, LUA_REGISTRYINDEX);
	lua_pushlightuserdata(L, file);
	lua_pushnil(L);
	lua_rawset(L, LUA_REGISTRYINDEX);
	struct handle *handle = lua_touserdata(L, -1);
	const int closed = fclose(file) ? -errno : 0;
	const int result = wait_for(handle, -1);
	if (result == 0 && handle->status == 0 && closed < 0)
		return failed(L, strerror(-closed), closed);
	return result == 0 ? close_result(L, handle->status) : wait_result(L, handle, result);
}

/* Pushes a file that is closed. */
static stream_file *new_file(lua_State *L, lua_CFunction close)
{
	stream_file *stream = lua_newuserdata(L, sizeof *stream);

	FILE_OF(stream) = NULL;
#if LUA_VERSION_NUM == 501
	lua_newtable(L);
	lua_pushcfunction(L, close);
	lua_setfield(L, -2, "__close");
	lua_setfenv(L, -2);
#else
	stream->closef = NULL;
#endif
	luaL_getmetatable(L, LUA_FILEHANDLE);
	lua_setmetatable(L, -2);
	(void)close;
	return stream;
}

static void set_file(stream_file *stream, FILE *file, lua_CFunction close)
{
	FILE_OF(stream) = file;
#if LUA_VERSION_NUM == 501
	(void)close;
#else
	stream->closef = close;
#endif
}

#if LUA_VERSION_NUM == 501
struct cookie {
	FILE *file;
	bool is_line;
	struct handle handle;
};

static ssize_t cookie_read(void *arg, char *to, size_t size)
{
	return read(fileno(((struct cookie *)arg)->file), to, size);
}

static ssize_t cookie_write(void *arg, const char *from, size_t size)
{
	const ssize_t count = write(fileno(((struct cookie *)arg)->file), from, size);

	return count < 0 ? 0 : count; /* fopencookie(3): 0 is an error */
}

static int cookie_close(void *arg)
{
	struct cookie *cookie = arg;
	int r;

	if (cookie->is_line) {
		r = aspawn_lua_pclose(cookie->file) == -1 ? -1 : 0;
	} else {
		r = fclose(cookie->file);
		wait_for(&cookie->handle, -1);
	}
	free(cookie);
	return r;
}

/* Pushes a file of LuaJIT's own and puts the stream into it; takes the FILE, and the handle. */
static int push_luajit_file(lua_State *L, FILE *file, const struct handle *handle, bool reads)
{
	const cookie_io_functions_t functions = { .read = cookie_read,
						  .write = cookie_write,
						  .close = cookie_close };
	struct cookie *cookie = calloc(1, sizeof *cookie);
	FILE *own = NULL;

	if (cookie) {
		cookie->file = file;
		cookie->is_line = !handle;
		if (handle)
			cookie->handle = *handle;
		own = fopencookie(cookie, reads ? "r" : "w", functions);
	}
	lua_getfield(L, LUA_REGISTRYINDEX, "aspawn.open");
	lua_pushstring(L, "/dev/null");
	if (!own || lua_pcall(L, 1, 1, 0) != 0 || !lua_isuserdata(L, -1)) {
		errno = ENOMEM;
		if (own)
			(void)fclose(own);
		else if (handle)
			(void)fclose(file);
		else
			aspawn_lua_pclose(file);
		return system_error(L, NULL);
	}
	FILE **place = lua_touserdata(L, -1);
	(void)fclose(*place);
	*place = own;
	return 1;
}
#endif

/* --- functions --------------------------------------------------------------------------- */

static int popen_line(lua_State *L)
{
	const char *command = luaL_checkstring(L, 1);
	const char *mode = luaL_optstring(L, 2, "r");

#if LUA_VERSION_NUM >= 503
	luaL_argcheck(L, (mode[0] == 'r' || mode[0] == 'w') && !mode[1], 2, "invalid mode");
#endif
	(void)fflush(NULL);
#if LUA_VERSION_NUM == 501
	if (is_luajit(L)) {
		FILE *file = aspawn_lua_popen(command, mode);
		return file ? push_luajit_file(L, file, NULL, *mode == 'r') :
			      system_error(L, command);
	}
#endif
	stream_file *stream = new_file(L, close_line);
	FILE *file = aspawn_lua_popen(command, mode);
	if (!file)
		return system_error(L, command);
	set_file(stream, file, close_line);
	return 1;
}

static int popen_table(lua_State *L)
{
	const char *mode = luaL_optstring(L, 2, "r");
	const bool reads = *mode == 'r';
	const int streams[] = { reads ? ASPAWN_INHERIT : ASPAWN_PIPE,
				reads ? ASPAWN_PIPE : ASPAWN_INHERIT, ASPAWN_INHERIT };
	struct build build;

	luaL_argcheck(L, (reads || *mode == 'w') && !mode[1], 2, "invalid mode");
	struct handle *handle = new_handle(L);
	const int handle_index = lua_gettop(L);
	stream_file *stream = is_luajit(L) ? NULL : new_file(L, close_child);
	const int file_index = lua_gettop(L);
	prepare(&build, L, 1, streams);
	if ((reads ? build.command.std_out : build.command.std_in) != ASPAWN_PIPE)
		return luaL_error(L, "popen: the mode says which stream is a pipe");
	int r = start(&build, &handle->child);
	if (r < 0)
		return failed(L, psys_strerror(r), r);
	int *fd = reads ? &handle->child.out_fd : &handle->child.in_fd;
	FILE *file = fdopen(*fd, reads ? "r" : "w");
	if (!file)
		return system_error(L, NULL);
	*fd = -1;
#if LUA_VERSION_NUM == 501
	if (!stream) {
		const struct handle moved = *handle;
		memset(handle, 0, sizeof *handle);
		handle->child.in_fd = handle->child.out_fd = handle->child.err_fd = -1;
		return push_luajit_file(L, file, &moved, reads);
	}
#endif
	set_file(stream, file, close_child);
	keep_child(L, file, handle_index);
	lua_pushvalue(L, file_index);
	return 1;
}

/* popen(command [, mode]) */
static int l_popen(lua_State *L)
{
	lua_settop(L, 2);
	return lua_istable(L, 1) ? popen_table(L) : popen_line(L);
}

/* execute([command]) */
static int l_execute(lua_State *L)
{
	const char *command = luaL_optstring(L, 1, NULL);

	errno = 0;
	const int status = aspawn_lua_system(command);
#if LUA_VERSION_NUM == 501
	lua_pushinteger(L, status);
	return 1;
#else
	if (command)
		return luaL_execresult(L, status);
	lua_pushboolean(L, status);
	return 1;
#endif
}

static const char *const stream_names[] = { "stdin", "stdout", "stderr" };

/* spawn{ program, arguments..., options } */
static int l_spawn(lua_State *L)
{
	static const int streams[] = { ASPAWN_INHERIT, ASPAWN_INHERIT, ASPAWN_INHERIT };
	struct build build;

	lua_settop(L, 1);
	lua_newtable(L);
	luaL_getmetatable(L, CHILD);
	lua_setmetatable(L, 2);
	struct handle *handle = new_handle(L);
	lua_setfield(L, 2, "handle");
	stream_file *files[3] = { NULL, NULL, NULL };
	if (!is_luajit(L))
		for (int i = 0; i < 3; i++) {
			files[i] = new_file(L, close_plain);
			lua_setfield(L, 2, stream_names[i]);
		}
	prepare(&build, L, 1, streams);
	const int r = start(&build, &handle->child);
	if (r < 0)
		return failed(L, psys_strerror(r), r);
	int *const fds[] = { &handle->child.in_fd, &handle->child.out_fd, &handle->child.err_fd };
	for (int i = 0; i < 3; i++) {
		FILE *file = *fds[i] >= 0 ? fdopen(*fds[i], i ? "r" : "w") : NULL;
		if (!file) {
			if (*fds[i] >= 0)
				return system_error(L, NULL);
			lua_pushnil(L);
			lua_setfield(L, 2, stream_names[i]);
			continue;
		}
		*fds[i] = -1;
		if (files[i]) {
			set_file(files[i], file, close_plain);
			continue;
		}
		lua_getfield(L, LUA_REGISTRYINDEX, "aspawn.open");
		lua_pushstring(L, "/dev/null");
		lua_call(L, 1, 1);
		FILE **place = lua_touserdata(L, -1);
		if (!place) {
			(void)fclose(file);
			return luaL_error(L, "/dev/null cannot be opened");
		}
		(void)fclose(*place);
		*place = file;
		lua_setfield(L, 2, stream_names[i]);
	}
	lua_pushinteger(L, handle->child.pid);
	lua_setfield(L, 2, "pid");
	lua_pushvalue(L, 2);
	return 1;
}

static struct handle *check_handle(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 2);
	lua_getfield(L, 1, "handle");
	struct handle *handle = luaL_checkudata(L, lua_gettop(L), HANDLE);
	return handle; /* which the table keeps */
}

/* child:started([seconds]) */
static int child_started(lua_State *L)
{
	struct handle *handle = check_handle(L);
	struct aspawn_failure failure;
	const int r = aspawn_wait_started(&handle->child, &failure, milliseconds(L, 2, -1));

	if (r == -ETIMEDOUT)
		return failed(L, "timeout", r);
	if (r == -ECANCELED)
		return not_started(L, &failure);
	if (r < 0)
		return failed(L, psys_strerror(r), r);
	lua_pushboolean(L, 1);
	return 1;
}

/* child:wait([seconds]) */
static int child_wait(lua_State *L)
{
	struct handle *handle = check_handle(L);

	return wait_result(L, handle, wait_for(handle, milliseconds(L, 2, -1)));
}

static int send(lua_State *L, int (*kill)(struct aspawn_child *, int))
{
	struct handle *handle = check_handle(L);
	const int signal = (int)luaL_optinteger(L, 2, SIGTERM);
	const int r = handle->waited ? -ESRCH : kill(&handle->child, signal);

	if (r < 0)
		return failed(L, psys_strerror(r), r);
	lua_pushboolean(L, 1);
	return 1;
}

/* child:kill([signal]) */
static int child_kill(lua_State *L)
{
	return send(L, aspawn_kill);
}

/* child:kill_group([signal]) */
static int child_kill_group(lua_State *L)
{
	return send(L, aspawn_kill_group);
}

/* child:pidfd() */
static int child_pidfd(lua_State *L)
{
	const struct handle *handle = check_handle(L);

	if (handle->waited || handle->child.pidfd < 0)
		lua_pushnil(L);
	else
		lua_pushinteger(L, handle->child.pidfd);
	return 1;
}

/* --- run ------------------------------------------------------------------------------- */

struct outputs {
	struct output {
		char *bytes;
		size_t length, room;
	} out, err;
};

static int outputs_gc(lua_State *L)
{
	struct outputs *outputs = lua_touserdata(L, 1);

	free(outputs->out.bytes);
	free(outputs->err.bytes);
	memset(outputs, 0, sizeof *outputs);
	return 0;
}

static int collect(void *arg, const void *bytes, size_t count)
{
	struct output *to = arg;

	if (to->room - to->length < count) {
		const size_t room = 2 * to->room + count;
		char *more = realloc(to->bytes, room);
		if (!more)
			return -ENOMEM;
		to->bytes = more;
		to->room = room;
	}
	memcpy(to->bytes + to->length, bytes, count);
	to->length += count;
	return 0;
}

static void set_output(lua_State *L, const char *name, const struct output *output, bool is_pipe)
{
	if (!is_pipe)
		return;
	lua_pushlstring(L, output->bytes ? output->bytes : "", output->length);
	lua_setfield(L, -2, name);
}

static double seconds(struct psys_timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

void set_status(lua_State *L, bool ran, int status, const struct psys_rusage *usage)
{
	lua_pushboolean(L, ran && status == 0);
	lua_setfield(L, -2, "ok");
	lua_pushinteger(L, WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	lua_setfield(L, -2, WIFEXITED(status) ? "code" : "signal");
	lua_pushnumber(L, seconds(usage->ru_utime));
	lua_setfield(L, -2, "user");
	lua_pushnumber(L, seconds(usage->ru_stime));
	lua_setfield(L, -2, "system");
	lua_pushnumber(L, (lua_Number)usage->ru_maxrss);
	lua_setfield(L, -2, "max_resident");
}

/* run{ program, arguments..., options } */
static int l_run(lua_State *L)
{
	int streams[] = { ASPAWN_NULL, ASPAWN_PIPE, ASPAWN_PIPE };
	struct aspawn_io io;
	struct build build;
	struct aspawn_child child;

	lua_settop(L, 1);
	luaL_checktype(L, 1, LUA_TTABLE);
	memset(&io, 0, sizeof io);
	io.size = sizeof io;
	lua_getfield(L, 1, "input");
	if (!lua_isnil(L, -1)) {
		io.input = luaL_checklstring(L, -1, &io.input_size);
		streams[0] = ASPAWN_PIPE;
	}
	time_limits(L, 1, &io.timeout_ms, &io.grace_ms);

	struct outputs *outputs = lua_newuserdata(L, sizeof *outputs);
	memset(outputs, 0, sizeof *outputs);
	luaL_getmetatable(L, OUTPUTS);
	lua_setmetatable(L, -2);
	prepare(&build, L, 1, streams);
	if (is_true(&build, "kill_group"))
		io.flags |= ASPAWN_IO_KILL_GROUP;
	const bool has_out = build.command.std_out == ASPAWN_PIPE;
	const bool has_err = build.command.std_err == ASPAWN_PIPE;
	if (io.input && build.command.std_in != ASPAWN_PIPE)
		return luaL_error(L, "run: both input and stdin");
	if (has_out)
		io.out = (struct aspawn_output){ .sink = collect, .arg = &outputs->out };
	if (has_err)
		io.err = (struct aspawn_output){ .sink = collect, .arg = &outputs->err };
	int r = start(&build, &child);
	if (r < 0)
		return failed(L, psys_strerror(r), r);
	r = aspawn_communicate(&child, &io);
	if (r == -ECANCELED)
		return not_started(L, &io.failure);
	if (r < 0 && io.end != ASPAWN_END_TIMED_OUT)
		return failed(L, psys_strerror(r), r);

	lua_newtable(L);
	set_output(L, "out", &outputs->out, has_out);
	set_output(L, "err", &outputs->err, has_err);
	if (r < 0) {
		lua_pushboolean(L, 1);
		lua_setfield(L, -2, "timed_out");
	}
	set_status(L, r == 0, io.status, &io.usage);
	return 1;
}

/* kill_cgroup(directory) */
static int l_kill_cgroup(lua_State *L)
{
	const int fd = open(luaL_checkstring(L, 1), O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return system_error(L, lua_tostring(L, 1));
	const int r = aspawn_kill_cgroup(fd);
	close(fd);
	if (r < 0)
		return failed(L, psys_strerror(r), r);
	lua_pushboolean(L, 1);
	return 1;
}

/* install(): io.popen and os.execute are this module's. */
static int l_install(lua_State *L)
{
	static const struct {
		const char *library, *name;
		lua_CFunction function;
	} replaced[] = { { "io", "popen", l_popen }, { "os", "execute", l_execute } };

	for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
		lua_getglobal(L, replaced[i].library);
		luaL_checktype(L, -1, LUA_TTABLE);
		lua_pushcfunction(L, replaced[i].function);
		lua_setfield(L, -2, replaced[i].name);
		lua_pop(L, 1);
	}
	return 0;
}

void set_functions(lua_State *L, const luaL_Reg *functions)
{
	for (; functions->name; functions++) {
		lua_pushcfunction(L, functions->func);
		lua_setfield(L, -2, functions->name);
	}
}

void metatable(lua_State *L, const char *name, lua_CFunction gc)
{
	luaL_newmetatable(L, name);
	lua_pushcfunction(L, gc);
	lua_setfield(L, -2, "__gc");
	lua_pop(L, 1);
}

/* lua_close() unloads modules, while a child may still run code of this one before its exec. */
static void stay_loaded(void)
{
	Dl_info own;

	if (dladdr(&pool, &own) && own.dli_fname)
		(void)dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

__attribute__((visibility("default"))) int luaopen_aspawn(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{ "run", l_run },         { "spawn", l_spawn },
		{ "popen", l_popen },     { "execute", l_execute },
		{ "install", l_install }, { "kill_cgroup", l_kill_cgroup },
		{ "queue", l_queue },     { NULL, NULL },
	};
	static const luaL_Reg methods[] = {
		{ "started", child_started }, { "wait", child_wait },
		{ "kill", child_kill },       { "kill_group", child_kill_group },
		{ "pidfd", child_pidfd },     { NULL, NULL },
	};

	stay_loaded();
	metatable(L, HANDLE, handle_gc);
	metatable(L, OUTPUTS, outputs_gc);
	luaL_newmetatable(L, CHILD);
	lua_pushvalue(L, -1);
	lua_setfield(L, -2, "__index");
	set_functions(L, methods);
	lua_pop(L, 1);
	open_queue(L);

	lua_getglobal(L, "jit");
	lua_pushboolean(L, lua_istable(L, -1));
	lua_setfield(L, LUA_REGISTRYINDEX, "aspawn.luajit");
	lua_getglobal(L, "io");
	lua_getfield(L, -1, "open");
	lua_setfield(L, LUA_REGISTRYINDEX, "aspawn.open");
	lua_pop(L, 2);

	lua_newtable(L);
	set_functions(L, functions);
	lua_pushliteral(L, "0.2.0");
	lua_setfield(L, -2, "VERSION");
	return 1;
}
