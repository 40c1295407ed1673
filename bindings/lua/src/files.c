/* SPDX-License-Identifier: MIT */
/*
 * popen() and execute(): the drop-ins popen() and system() of the library, which need no shell for
 * most commands, behind the results that each Lua gives.
 *
 * A file is one of Lua's io library around a FILE, with a function of ours to close it. LuaJIT's files
 * have no such function; there a stream of the libc's calls ours (fopencookie(3)).
 */
#define _GNU_SOURCE
#include "binding.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lualib.h>

/* Those of vendor/popen.c and vendor/system.c. */
FILE *aspawn_lua_popen(const char *command, const char *mode);
int aspawn_lua_pclose(FILE *file);
int aspawn_lua_system(const char *command);

/* Of the program, as a script may change each global. */
bool is_luajit(void)
{
	return LUA_VERSION_NUM == 501 && dlsym(RTLD_DEFAULT, "luaJIT_setmode");
}

/* The child of a file, which its end waits for, is in the registry by the address of the FILE. */
static void keep_child(lua_State *L, FILE *file, int handle)
{
	lua_pushlightuserdata(L, file);
	lua_pushvalue(L, handle);
	lua_rawset(L, LUA_REGISTRYINDEX);
}

#if LUA_VERSION_NUM > 501
/* That of Lua 5.4 takes any errno for that of the call. */
static int exec_result(lua_State *L, int status)
{
	if (status != -1)
		errno = 0;
	return luaL_execresult(L, status);
}
#endif

static int close_result(lua_State *L, int status)
{
#if LUA_VERSION_NUM == 501
	if (status == -1)
		return system_error(L, NULL);
	lua_pushboolean(L, 1);
	return 1;
#else
	return exec_result(L, status);
#endif
}

static FILE *closing(lua_State *L)
{
	stream_file *stream = luaL_checkudata(L, 1, LUA_FILEHANDLE);
	FILE *file = FILE_OF(stream);

	if (!file)
		luaL_error(L, "the file is closed");
	FILE_OF(stream) = NULL;
	return file;
}

int close_plain(lua_State *L)
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
	struct handle *handle = check_child(L, -1);
	const int closed = fclose(file) ? -errno : 0;
	const int result = wait_for(handle, -1);
	if (result == 0 && handle->status == 0 && closed < 0)
		return failed(L, strerror(-closed), closed);
	return result == 0 ? close_result(L, handle->status) : wait_result(L, handle, result);
}

stream_file *new_file(lua_State *L, lua_CFunction close)
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

void set_file(stream_file *stream, FILE *file, lua_CFunction close)
{
	FILE_OF(stream) = file;
#if LUA_VERSION_NUM == 501
	(void)close;
#else
	stream->closef = close;
#endif
}

#define OPEN "aspawn.open" /* io.open, in the registry */

bool push_in_luajit_file(lua_State *L, FILE *file)
{
	lua_getfield(L, LUA_REGISTRYINDEX, OPEN);
	lua_pushvalue(L, -1);
	lua_pushnil(L); /* while it runs: if it was the script's, it may call this */
	lua_setfield(L, LUA_REGISTRYINDEX, OPEN);
	lua_pushstring(L, "/dev/null");
	const int r = lua_pcall(L, 1, 1, 0);
	lua_insert(L, -2);
	lua_setfield(L, LUA_REGISTRYINDEX, OPEN);
	if (r != 0 || !lua_getmetatable(L, -1))
		return false;
	luaL_getmetatable(L, LUA_FILEHANDLE);
	const bool is_file = lua_rawequal(L, -1, -2);
	lua_pop(L, 2);
	FILE **place = lua_touserdata(L, -1);
	if (!is_file || !*place)
		return false;
	(void)fclose(*place);
	*place = file;
	return true;
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
	if (!own || !push_in_luajit_file(L, own)) {
		errno = ENOMEM;
		if (own)
			(void)fclose(own);
		else if (handle)
			(void)fclose(file);
		else
			aspawn_lua_pclose(file);
		return system_error(L, NULL);
	}
	return 1;
}
#endif

static int popen_line(lua_State *L)
{
	const char *command = luaL_checkstring(L, 1);
	const char *mode = luaL_optstring(L, 2, "r");

#if LUA_VERSION_NUM >= 503
	luaL_argcheck(L, (mode[0] == 'r' || mode[0] == 'w') && !mode[1], 2, "invalid mode");
#endif
	(void)fflush(NULL);
#if LUA_VERSION_NUM == 501
	if (is_luajit()) {
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
	const int streams[] = { reads ? ASPAWN_STREAM_DEFAULT : ASPAWN_STREAM_PIPE,
				reads ? ASPAWN_STREAM_PIPE : ASPAWN_STREAM_DEFAULT,
				ASPAWN_STREAM_DEFAULT };
	struct build build;

	luaL_argcheck(L, (reads || *mode == 'w') && !mode[1], 2, "invalid mode");
	struct handle *handle = new_handle(L);
	const int handle_index = lua_gettop(L);
	stream_file *stream = is_luajit() ? NULL : new_file(L, close_child);
	const int file_index = lua_gettop(L);
	prepare(&build, L, 1, streams, NULL);
	if ((reads ? build.command.std_out : build.command.std_in) != ASPAWN_STREAM_PIPE)
		return luaL_error(L, "popen: the mode says which stream is a pipe");
	const int refusal = start(&build, &handle->child);
	if (refusal)
		return refusal;
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

int l_popen(lua_State *L)
{
	lua_settop(L, 2);
	return lua_istable(L, 1) ? popen_table(L) : popen_line(L);
}

int l_execute(lua_State *L)
{
	const char *command = luaL_optstring(L, 1, NULL);

	const int status = aspawn_lua_system(command);
#if LUA_VERSION_NUM == 501
	lua_pushinteger(L, status);
	return 1;
#else
	if (command)
		return exec_result(L, status);
	lua_pushboolean(L, status);
	return 1;
#endif
}

void open_files(lua_State *L)
{
	lua_getfield(L, LUA_REGISTRYINDEX, OPEN);
	get_global(L, "io");
	if (lua_isnil(L, -2) && lua_istable(L, -1)) {
		get_field(L, -1, "open");
		lua_setfield(L, LUA_REGISTRYINDEX, OPEN);
	}
	lua_pop(L, 2);
}
