/* SPDX-License-Identifier: MIT */
/*
 * The module aspawn, for Lua 5.1 to 5.4 and LuaJIT. README.md describes its functions.
 *
 * Lua raises errors by longjmp(): what has to be freed belongs to a userdata or a table before
 * anything is called that may raise one.
 */
#define _GNU_SOURCE
#include "binding.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* kill_cgroup(directory) */
static int l_kill_cgroup(lua_State *L)
{
	const char *directory = luaL_checkstring(L, 1);
	luaL_argcheck(L, strlen(directory) == lua_rawlen(L, 1), 1, "the string contains a zero");
	const int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return system_error(L, lua_tostring(L, 1));
	const int r = aspawn_kill_cgroup(fd);
	close(fd);
	return result_of(L, r, NULL);
}

/* clock(): seconds of the monotonic clock, as in results */
static int l_clock(lua_State *L)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	lua_pushnumber(L, (lua_Number)now.tv_sec + (lua_Number)now.tv_nsec / 1e9);
	return 1;
}

static void replace(lua_State *L, const char *library, const char *name, lua_CFunction function)
{
	lua_pushglobaltable(L);
	get_field(L, -1, library);
	luaL_checktype(L, -1, LUA_TTABLE);
	lua_pushstring(L, name);
	lua_pushcfunction(L, function);
	lua_rawset(L, -3);
}

/* install(): io.popen and os.execute are this module's. */
static int l_install(lua_State *L)
{
	replace(L, "io", "popen", l_popen);
	replace(L, "os", "execute", l_execute);
	return 0;
}

void *new_object(lua_State *L, size_t size, const char *class)
{
	void *object = memset(lua_newuserdata(L, size), 0, size);

	luaL_getmetatable(L, class);
	lua_setmetatable(L, -2);
	return object;
}

int failed(lua_State *L, const char *text, int error)
{
	lua_pushnil(L);
	lua_pushstring(L, text);
	lua_pushinteger(L, error < 0 ? -error : error);
	return 3;
}

int result_of(lua_State *L, int r, const struct aspawn_failure *failure)
{
	char text[256];

	if (r >= 0) {
		lua_pushboolean(L, 1);
		return 1;
	}
	if (!failure || !failure->error)
		return failed(L, r == -ETIMEDOUT ? "timeout" : psys_strerror(r), r);
	aspawn_failure_text(text, sizeof text, failure);
	return failed(L, text, failure->error);
}

int system_error(lua_State *L, const char *what)
{
	const int error = errno;
	const char *text = strerror(error);

	return failed(L, what ? lua_pushfstring(L, "%s: %s", what, text) : text, error);
}

void get_field(lua_State *L, int table, const char *name)
{
	lua_pushvalue(L, table);
	for (int levels = 100;; levels--) {
		lua_pushstring(L, name);
		lua_rawget(L, -2);
		if (!lua_isnil(L, -1) || !levels || !luaL_getmetafield(L, -2, "__index"))
			break;
		lua_replace(L, -3);
		if (!lua_istable(L, -2))
			break;
		lua_pop(L, 1);
	}
	lua_remove(L, -2);
}

void new_class(lua_State *L, const char *name, const luaL_Reg *methods, lua_CFunction index,
	       lua_CFunction gc)
{
	luaL_newmetatable(L, name);
	lua_newtable(L);
	if (methods)
		luaL_setfuncs(L, methods, 0);
	if (index)
		lua_pushcclosure(L, index, 1);
	lua_setfield(L, -2, "__index");
	SET(L, "__metatable", boolean, false); /* what getmetatable() returns */
	if (gc) {
		SET(L, "__gc", cfunction, gc);
		SET(L, "__close", cfunction, gc);
	}
	lua_pop(L, 1);
}

__attribute__((visibility("default"))) int luaopen_aspawn(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{ "run", l_run },         { "spawn", l_spawn },
		{ "popen", l_popen },     { "execute", l_execute },
		{ "install", l_install }, { "kill_cgroup", l_kill_cgroup },
		{ "queue", l_queue },     { "clock", l_clock },
		{ NULL, NULL },
	};
	Dl_info own;

	/* lua_close() unloads modules, while a child may still run code of this one. */
	if (dladdr(functions, &own) && own.dli_fname)
		(void)dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	open_child(L);
	open_files(L);
	open_run(L);

	lua_newtable(L);
	luaL_setfuncs(L, functions, 0);
	set_interface(L);
	return 1;
}
