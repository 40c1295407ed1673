/* SPDX-License-Identifier: MIT */
/* What the files of the module share. */
#ifndef ASPAWN_LUA_H
#define ASPAWN_LUA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "aspawn.h"

#pragma GCC visibility push(hidden)

/* Lua 5.1 has no integers of 64 bits, but its numbers are exact below 2^53. */
#if LUA_VERSION_NUM < 503
#define lua_pushint64(L, number) lua_pushnumber(L, (lua_Number)(number))
#else
#define lua_pushint64 lua_pushinteger
#endif
#if LUA_VERSION_NUM == 501
#define lua_rawlen lua_objlen
#define lua_getuservalue lua_getfenv
#define lua_setuservalue lua_setfenv
#define lua_pushglobaltable(L) lua_pushvalue(L, LUA_GLOBALSINDEX)
#define luaL_setfuncs(L, functions, upvalues) luaL_register(L, NULL, functions)
typedef FILE *stream_file;
#define FILE_OF(stream) (*(stream))
#define is_closed(stream) false
#else
typedef luaL_Stream stream_file;
#define FILE_OF(stream) ((stream)->f)
#define is_closed(stream) (!(stream)->closef) /* f is what it was */
#endif

/* Sets a field of the table on top of the stack: SET(L, "ok", boolean, true). */
#define SET(L, name, type, value) (lua_push##type(L, value), lua_setfield(L, -2, name))

/* --- operands.c */

struct constant {
	const char *name; /* NULL: the end */
	int64_t value;
};

/* The constants that scripts can name, and the words of enumerations. */
extern const struct constant constants[];
extern const struct constant aspawn_stream_words[], aspawn_owner_words[], aspawn_memory_words[],
	aspawn_command_flags_words[], aspawn_io_flags_words[], aspawn_job_flags_words[];

struct build;
/* An action, { "chdir", "/srv" } or { "chdir", path = "/srv" }, on top of the stack, is popped. */
void add_action(struct build *build, int index);
/* The whole number on top, which is popped; with a prefix also the name of such a constant. */
double pop_number(lua_State *L, const char *what, const char *prefix, double least, double most);
/* Sets the version, the constants and the names of actions in the table on top of the stack. */
void set_interface(lua_State *L);

/* --- arguments.c */

/* A command that is built from a table: options, and the arguments as its list. What the command
 * points to is anchored in a table of Lua's. */
struct build {
	lua_State *L;
	int options, anchor; /* the tables' indices of the stack */
	bool is_run;         /* has the options input, timeout and grace */
	/* The action that is being added: its table, place, unread operands, and name; and what an
	 * error calls its operand. */
	int table, index, unread;
	const char *action, *what;
	struct handle *handle;         /* for the pipes of actions; NULL: there can be none */
	struct aspawn_command command; /* has the streams that are used without an option */
	struct aspawn_action *actions;
	size_t room;
};

extern struct aspawn_pool pool; /* the memory of all children */

/* Returns the command of a build with L, options, the handle and streams. */
struct aspawn_command *prepare(struct build *build);
bool has_terminal(const struct aspawn_command *command);
/* Returns 0, or the number of results: why the command was refused. */
int start(struct build *build, struct aspawn_child *child);

/* Leaves the option on the stack if it is there. */
bool option(lua_State *L, int options, const char *name);
bool is_true(lua_State *L, int options, const char *name);
/* A whole number. */
int64_t number_option(lua_State *L, int options, const char *name, double least, double most,
		      int64_t none);
/* The sum of the flags whose names are true options. */
uint64_t flags_of(lua_State *L, int options, const struct constant *words);
/* Returns the milliseconds of the seconds at the index, rounded up: INT64_MAX if the time is
 * endless, 0 if it is negative. */
int64_t milliseconds(lua_State *L, int index, int64_t otherwise);

/* Raises an error about the value on top of the stack. */
int expected(lua_State *L, const char *what, const char *expected);
void *anchored(struct build *build, size_t size);
/* The string on top of the stack, which is popped. */
const char *text(struct build *build, const char *what);
/* Returns the descriptor of the open file on top of the stack. Flushes and pops the file. */
int pop_descriptor(lua_State *L, const char *what);
/* The length of a list, which may end at any nil: it is an error if the list goes on behind. */
size_t check_list(lua_State *L, int list, const char *what, const char *element);
struct aspawn_action *next_action(struct build *build);

/* --- child.c */

enum { MOST_PIPES = 8 };

struct handle {
	struct aspawn_child child;
	struct pipe { /* of an action */
		int number, fd;
		const char *mode;
	} pipes[MOST_PIPES];
	int pipe_count;
	struct handle **terminal; /* what the file of the terminal has: this handle; or NULL */
	bool is_line;             /* of a shell, or of what the shell would execute: */
	bool is_direct;
	bool waited;
	int result, status; /* of the wait */
	struct aspawn_failure failure;
};

#define HANDLE "aspawn.handle"
/* Pushes a userdata of this class, whose collection releases the child. */
struct handle *new_handle(lua_State *L);
/* Makes it no child's. */
void clear(struct handle *handle);
/* Where the start of the child stores the caller's end of a pipe for the program's descriptor. */
int *add_pipe(struct build *build, int number, const char *mode);
/* Returns -ETIMEDOUT, or what aspawn_wait() returned, also if called again. */
int wait_for(struct handle *handle, int64_t timeout_ms);
/* Pushes what os.execute() of Lua 5.2 returns: true or nil; "exit" or "signal"; its number. */
int wait_result(lua_State *L, const struct handle *handle, int result);

/* --- files.c */

/* Pushes a file of the caller's end of a pipe or terminal, which it takes. Its close waits for the
 * child if the handle is at the index of the stack; 0: it does not wait. Returns false, and errno
 * says why, if there can be no stream. */
bool push_file(lua_State *L, struct handle *handle, int *fd, const char *mode, int index);

/* --- module.c, and what it calls */

/* Pushes a userdata of zeros, of the class. */
void *new_object(lua_State *L, size_t size, const char *class);
/* nil, text, number, as the functions of io. */
int failed(lua_State *L, const char *text, int error);
/* The same of errno, with what failed, or NULL. */
int system_error(lua_State *L, const char *what);
/* true; or if r is negative, the same of this error, or of the failure if there is one. */
int result_of(lua_State *L, int r, const struct aspawn_failure *failure);

/* Pushes the field of a table, or of those that its __index is. Calls none of the script's
 * functions, as lua_getfield() may: one that calls back would have no end in LuaJIT but the
 * stack's. */
void get_field(lua_State *L, int table, const char *name);

/* For the types that the others make. index looks up what it gets, in its upvalue: the methods. A
 * userdata of the class is collected by gc. The script cannot get the metatable, but
 * debug.getmetatable() can: each function checks what it gets. */
void new_class(lua_State *L, const char *name, const luaL_Reg *methods, lua_CFunction index,
	       lua_CFunction gc);

int l_spawn(lua_State *L);
int l_popen(lua_State *L);
int l_execute(lua_State *L);
int l_run(lua_State *L);
int l_queue(lua_State *L);
void open_child(lua_State *L);
void open_files(lua_State *L);
void open_run(lua_State *L);

#pragma GCC visibility pop

#endif
