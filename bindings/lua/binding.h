/* SPDX-License-Identifier: MIT */
/* What aspawn.c has and queue.c uses. */
#ifndef ASPAWN_LUA_H
#define ASPAWN_LUA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lauxlib.h>
#include <lua.h>

#include "vendor/aspawn.h"

#pragma GCC visibility push(hidden)

/* --- arguments ---------------------------------------------------------------- */

/* A command that is being built. What it points to is anchored in a table of Lua's. */
struct build {
	lua_State *L;
	int options, anchor; /* indices of the stack */
	int references;
	struct aspawn_command command;
	struct aspawn_action *actions;
	size_t room;
	int opened[3], opened_count; /* copies of low descriptors, to close after the start */
};

/* From the table at the index: options, and the arguments as its list. */
void prepare(struct build *build, lua_State *L, int index, const int streams[3]);
void close_opened(struct build *build);

/* Leaves the option on the stack if it is there. */
bool option(struct build *build, const char *name);
bool is_true(struct build *build, const char *name);

/* Of seconds at the index, rounded up; negative: no limit. */
int64_t milliseconds(lua_State *L, int index, int64_t otherwise);

/* The options timeout and grace of the table, as of struct aspawn_io. */
void time_limits(lua_State *L, int options, int64_t *timeout_ms, int64_t *grace_ms);

/* --- results ------------------------------------------------------------------- */

/* nil, text, number, as the functions of io. */
int failed(lua_State *L, const char *text, int error);

/* Sets ok, code or signal, and the usage, in the table on top of the stack. */
void set_status(lua_State *L, bool ran, int status, const struct psys_rusage *usage);

/* --- the module ------------------------------------------------------------------ */

void set_functions(lua_State *L, const luaL_Reg *functions);
void metatable(lua_State *L, const char *name, lua_CFunction gc);

/* queue{ options } */
int l_queue(lua_State *L);
void open_queue(lua_State *L);

#pragma GCC visibility pop

#endif
