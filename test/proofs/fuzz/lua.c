/* SPDX-License-Identifier: MIT */
/*
 * Makes programs for the Lua module: each byte is a choice of bindings/lua/grammar.lua. Programs
 * call the module's functions with what scripts can write: wrong types, metatables, closed handles,
 * errors in callbacks. A program may fail; the module never crashes, and no memory, descriptor or
 * process is left. With SHOW in the environment each program is printed.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lualib.h>

#include "binding.h"
#include "input.h"

enum { LIMIT_MS = 20000, MOST_STEPS = 10000000, MOST_BYTES = 64 << 20 };

__asm__(".pushsection .rodata\n"
	"grammar: .incbin \"bindings/lua/grammar.lua\"\n"
	"grammar_end: .byte 0\n"
	".popsection");
extern const char grammar[], grammar_end[];
extern struct aspawn_pool aspawn_compat_stacks;
int luaopen_aspawn(lua_State *L);

static struct input choices;
static size_t bytes_used;

/* Lua says what size it believes a block to have. */
static void *allocate(void *arg, void *old, size_t old_size, size_t size)
{
	(void)arg;
	if (!old)
		old_size = 0;
	check(!old || malloc_usable_size(old) >= old_size, "a block of Lua's has another size");
	if (size > old_size && size - old_size > MOST_BYTES - bytes_used)
		return NULL;
	void *block = NULL;
	if (size == 0)
		free(old);
	else
		block = realloc(old, size);
	check(block || !size, "no memory");
	bytes_used += size - old_size;
	return block;
}

static void too_long(lua_State *L, lua_Debug *at)
{
	(void)at;
	luaL_error(L, "too long");
}

static void open_libraries(lua_State *L)
{
	luaL_openlibs(L);
	luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
	lua_pushcfunction(L, luaopen_aspawn);
	lua_setfield(L, -2, "aspawn");
	lua_pop(L, 1);
}

static int choose(lua_State *L)
{
	lua_pushinteger(L, next_byte(&choices) % luaL_checkinteger(L, 1) + 1);
	return 1;
}

/* Leaves the function that makes programs on the stack. */
static lua_State *new_generator(void)
{
	lua_State *L = luaL_newstate();

	check(L, "no memory");
	open_libraries(L);
	check(!luaL_loadbuffer(L, grammar, (size_t)(grammar_end - grammar), "=grammar"),
	      "the grammar is no program");
	lua_pushcfunction(L, choose);
	luaL_requiref(L, "aspawn", luaopen_aspawn, 0);
	lua_getfield(L, -1, "actions");
	lua_remove(L, -2);
	check(!lua_pcall(L, 2, 1, 0), "the grammar fails");
	return L;
}

/* A program could take the finalizers from the metatable: files would stay open. */
static void protect_metatable(lua_State *L)
{
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
}

static int execute(lua_State *L)
{
	const char *program = lua_touserdata(L, 1);

	open_libraries(L);
	luaL_getmetatable(L, LUA_FILEHANDLE);
	protect_metatable(L);
	lua_pushliteral(L, "");
	lua_getmetatable(L, -1);
	protect_metatable(L);
	if (luaL_loadstring(L, program))
		return lua_error(L);
	lua_sethook(L, too_long, LUA_MASKCOUNT, MOST_STEPS);
	lua_call(L, 0, 0);
	return 0;
}

/* Runs all finalizers before lua_close(): lua_close() collects nothing made by finalizers. */
static void collect_all(lua_State *L)
{
	size_t before;

	check(!luaL_dostring(L, "io.open, io.popen, os.execute, jit = nil"), "no globals");
	lua_settop(L, 0);
	lua_sethook(L, NULL, 0, 0);
	do {
		before = bytes_used;
		lua_gc(L, LUA_GCCOLLECT);
	} while (bytes_used != before);
}

static void run(const char *program)
{
	bytes_used = 0;
	lua_State *L = lua_newstate(allocate, NULL);

	check(L, "no memory");
	lua_pushcfunction(L, execute);
	lua_pushlightuserdata(L, (void *)(uintptr_t)program);
	const int r = lua_pcall(L, 1, 0, 0);
	check(r != LUA_ERRSYNTAX, "the grammar makes no program");
	check(lua_gettop(L) == (r != LUA_OK), "another stack");
	lua_settop(L, 0);
	collect_all(L);
	lua_close(L);
	check(bytes_used == 0, "memory of Lua's is left");
}

static int count_descriptors(void)
{
	int count = 0;
	DIR *directory = opendir("/proc/self/fd");
	while (directory && readdir(directory))
		count++;
	closedir(directory);
	return count;
}

/* A sanitizer has a child too, its symbolizer. */
static int count_children(void)
{
	int count = 0, pid;
	FILE *children = fopen("/proc/thread-self/children", "r");
	while (children && fscanf(children, "%d", &pid) == 1)
		count++;
	check(children && fclose(children) == 0, "no list of children");
	return count;
}

/* Handles not ended by a wait leave zombies. Without an exec a zombie may have no SIGCHLD. The pool
 * reaps its helpers before. */
static bool has_ended(int before)
{
	while (waitpid(-1, NULL, WNOHANG) > 0) {
	}
	if (aspawn_pool_release(&pool) < 0 || aspawn_pool_release(&aspawn_compat_stacks) < 0)
		return false;
	while (waitpid(-1, NULL, WNOHANG | __WALL) > 0) {
	}
	return count_children() <= before;
}

static lua_State *begin(void)
{
	const int null = open("/dev/null", O_RDWR);

	check(null >= 0 && dup2(null, 0) == 0, "no /dev/null");
	close(null);
	signal(SIGPIPE, SIG_IGN);
	check(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, "no subreaper");
	return new_generator();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static lua_State *generator;

	if (!generator)
		generator = begin();
	choices = (struct input){ data, size };
	lua_pushvalue(generator, 1);
	check(!lua_pcall(generator, 0, 1, 0), "the grammar fails");
	const char *program = lua_tostring(generator, -1);
	if (getenv("SHOW"))
		fprintf(stderr, "%s\n", program);
	const int descriptors = count_descriptors(), children = count_children();
	run(program);
	lua_settop(generator, 1);
	for (int tries = 0; !has_ended(children); tries++) {
		check(tries < LIMIT_MS, "a process is left");
		usleep(1000);
	}
	check(count_descriptors() == descriptors, "descriptors are left");
	return 0;
}
