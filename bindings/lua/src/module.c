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
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* kill_cgroup(directory) */
static int l_kill_cgroup(lua_State *L)
{
	size_t length;
	const char *directory = luaL_checklstring(L, 1, &length);
	luaL_argcheck(L, strlen(directory) == length, 1, "the string contains a zero");
	const int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return system_error(L, lua_tostring(L, 1));
	const int r = aspawn_kill_cgroup(fd);
	close(fd);
	return done(L, r, NULL);
}

/* clock(): seconds of the monotonic clock, as in results */
static int l_clock(lua_State *L)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	lua_pushnumber(L, (lua_Number)now.tv_sec + (lua_Number)now.tv_nsec / 1e9);
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
		get_global(L, replaced[i].library);
		luaL_checktype(L, -1, LUA_TTABLE);
		lua_pushstring(L, replaced[i].name);
		lua_pushcfunction(L, replaced[i].function);
		lua_rawset(L, -3);
		lua_pop(L, 1);
	}
	return 0;
}

void get_field(lua_State *L, int table, const char *name)
{
	lua_pushvalue(L, table);
	for (int levels = 100;; levels--) {
		lua_pushstring(L, name);
		lua_rawget(L, -2);
		if (!lua_isnil(L, -1) || !levels || !luaL_getmetafield(L, -2, "__index"))
			break;
		if (!lua_istable(L, -1)) {
			lua_pop(L, 1);
			break;
		}
		lua_replace(L, -3);
		lua_pop(L, 1);
	}
	lua_remove(L, -2);
}

void get_global(lua_State *L, const char *name)
{
#if LUA_VERSION_NUM == 501
	get_field(L, LUA_GLOBALSINDEX, name);
#else
	lua_pushglobaltable(L);
	get_field(L, -1, name);
	lua_remove(L, -2);
#endif
}

void set_functions(lua_State *L, const luaL_Reg *functions)
{
	for (; functions->name; functions++)
		SET(L, functions->name, cfunction, functions->func);
}

void new_class(lua_State *L, const char *name, const luaL_Reg *methods, lua_CFunction gc)
{
	luaL_newmetatable(L, name);
	lua_newtable(L);
	set_functions(L, methods);
	lua_setfield(L, -2, "__index");
	SET(L, "__metatable", boolean, false); /* what getmetatable() returns */
	if (gc) {
		SET(L, "__gc", cfunction, gc);
		SET(L, "__close", cfunction, gc);
	}
	lua_pop(L, 1);
}

/* lua_close() unloads modules, while a child may still run code of this one before its exec. */
static void stay_loaded(void)
{
	static const char here;
	Dl_info own;

	if (dladdr(&here, &own) && own.dli_fname)
		(void)dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
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

	stay_loaded();
	open_child(L);
	open_files(L);
	open_run(L);
	open_queue(L);

	lua_newtable(L);
	set_functions(L, functions);
	set_interface(L);
	return 1;
}
