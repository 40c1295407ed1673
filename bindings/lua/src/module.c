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
#include <unistd.h>

/* kill_cgroup(directory) */
static int l_kill_cgroup(lua_State *L)
{
	const int fd = open(luaL_checkstring(L, 1), O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return system_error(L, lua_tostring(L, 1));
	const int r = aspawn_kill_cgroup(fd);
	close(fd);
	return done(L, r);
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

void new_class(lua_State *L, const char *name, const luaL_Reg *methods)
{
	luaL_newmetatable(L, name);
	lua_pushvalue(L, -1);
	lua_setfield(L, -2, "__index");
	set_functions(L, methods);
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
		{ "queue", l_queue },     { NULL, NULL },
	};

	stay_loaded();
	open_child(L);
	open_files(L);
	open_run(L);
	open_queue(L);

	lua_newtable(L);
	set_functions(L, functions);
	lua_pushliteral(L, "0.2.0");
	lua_setfield(L, -2, "VERSION");
	return 1;
}
