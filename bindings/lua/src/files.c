/* SPDX-License-Identifier: MIT */
/*
 * popen() and execute(), with the results that each Lua gives. A line that a shell would only
 * execute needs no shell: the library's drop-ins (vendor/) decide that.
 *
 * A file is one of Lua's io library around a FILE, with a function of ours to close it. LuaJIT's
 * files have no such function; there a stream of the libc's calls ours (fopencookie(3)).
 */
#define _GNU_SOURCE
#include "binding.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lualib.h>

#include "shell.h"

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

/* As a shell says it that has waited for the program. */
static int status_of_shell(int status, bool is_direct)
{
	return is_direct && WIFSIGNALED(status) ? (128 + WTERMSIG(status)) << 8 : status;
}

static int close_result(lua_State *L, int status)
{
#if LUA_VERSION_NUM == 501
	return status == -1 ? system_error(L, NULL) : done(L, 0, NULL);
#else
	if (status != -1) /* Lua 5.4 takes any errno for that of the call */
		errno = 0;
	return luaL_execresult(L, status);
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
	return fclose(closing(L)) == 0 ? done(L, 0, NULL) : system_error(L, NULL);
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
		return error_of(L, closed, NULL);
	return result == 0 ? close_result(L, status_of_shell(handle->status, handle->is_direct)) :
			     wait_result(L, handle, result);
}

stream_file *new_file(lua_State *L, lua_CFunction close)
{
	stream_file *stream = lua_newuserdata(L, sizeof *stream);

	FILE_OF(stream) = NULL;
#if LUA_VERSION_NUM == 501
	lua_newtable(L);
	SET(L, "__close", cfunction, close);
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

/* Pushes a file of LuaJIT's own that has this stream. Returns false if there is none. */
static bool push_own_file(lua_State *L, FILE *file)
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

void push_in_luajit_file(lua_State *L, FILE *file)
{
	if (push_own_file(L, file))
		return;
	(void)fclose(file);
	luaL_error(L, "/dev/null cannot be opened");
}

/* A stream of the libc's that does what Lua's files do not: it waits for the child of LuaJIT's
 * popen(), or gives up the terminal of a handle. */
struct cookie {
	int fd;
	struct handle child, *terminal_of;
};

static ssize_t cookie_read(void *arg, char *to, size_t size)
{
	const ssize_t count = read(((struct cookie *)arg)->fd, to, size);

	return count < 0 && errno == EIO ? 0 : count; /* no process has the terminal any more */
}

static ssize_t cookie_write(void *arg, const char *from, size_t size)
{
	const ssize_t count = write(((struct cookie *)arg)->fd, from, size);

	return count < 0 ? 0 : count; /* fopencookie(3): 0 is an error */
}

static int cookie_seek(void *arg, off64_t *place, int whence)
{
	(void)arg, (void)place, (void)whence;
	errno = ESPIPE;
	return -1;
}

static int cookie_close(void *arg)
{
	struct cookie *cookie = arg;
	int r = close(cookie->fd);

	if (cookie->terminal_of) {
		cookie->terminal_of->child.pty_fd = -1;
		cookie->terminal_of->terminal = NULL;
	} else if (wait_for(&cookie->child, -1) == -ECANCELED) {
		errno = -cookie->child.failure.error;
		r = -1;
	}
	free(cookie);
	return r;
}

/* Returns a stream that takes the descriptor, or NULL. */
static FILE *open_cookie(int fd, const char *mode, struct cookie **opened)
{
	const cookie_io_functions_t functions = { .read = cookie_read,
						  .write = cookie_write,
						  .seek = cookie_seek,
						  .close = cookie_close };
	struct cookie *cookie = calloc(1, sizeof *cookie);
	FILE *file = cookie ? fopencookie(cookie, mode, functions) : NULL;

	if (file) {
		cookie->fd = fd;
		*opened = cookie;
	} else {
		free(cookie);
		errno = ENOMEM;
	}
	return file;
}

FILE *open_terminal(struct handle *handle)
{
	struct cookie *cookie;
	FILE *file = open_cookie(handle->child.pty_fd, "r+", &cookie);

	if (file) {
		cookie->terminal_of = handle;
		handle->terminal = &cookie->terminal_of;
		(void)setvbuf(file, NULL, _IONBF, 0); /* a write would drop what was read before */
	}
	return file;
}

/* What vendor/shell.c gets for a line of popen(), and gives to spawn_in(). */
struct line {
	struct section section;
	struct handle *handle;
	bool reads;
};

extern const char own_header[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));

/* Returns 0 if the file is a program of this machine, or a positive error number. */
static int check_program(const char *file)
{
	char header[20];
	const int fd = access(file, X_OK) == 0 ? open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;

	if (fd < 0)
		return errno == EMFILE || errno == ENFILE ? errno : ENOEXEC;
	const bool is = read(fd, header, sizeof header) == sizeof header &&
			memcmp(header, own_header, 7) == 0 && /* ELF, its class and version */
			memcmp(header + 18, own_header + 18, 2) == 0; /* the machine */
	close(fd);
	return is ? 0 : ENOEXEC;
}

/* True if the last line of this thread was executed without a shell. */
static __thread bool was_direct;

/* In place of aspawn_compat_spawn_in(), which waits until it is known that the exec has not failed:
 * as that would block popen(), a file that is no program of this machine goes to the shell. */
int aspawn_lua_spawn_in(struct section *section, const struct spawn *spawn)
{
	const struct line *line = (struct line *)section;
	const char *second = spawn->argv[1] ? spawn->argv[2] : NULL;
	const struct aspawn_action mask = ASPAWN_SIGMASK(&section->mask);
	struct aspawn_command command = { .size = sizeof command,
					  .flags = ASPAWN_COMMAND_INHERIT_SIGNALS,
					  .file = spawn->file,
					  .argv = spawn->argv,
					  .envp = spawn->envp,
					  .actions = &mask,
					  .action_count = 1,
					  .pool = &pool };

	was_direct = strcmp(spawn->file, "/bin/sh") != 0 || !second || strcmp(second, "--") != 0;
	if (spawn->pid) /* of system() */
		return aspawn_compat_spawn_in(section, spawn);
	const int error = check_program(spawn->file);
	if (error)
		return error;
	*(line->reads ? &command.std_out : &command.std_in) = ASPAWN_STREAM_PIPE;
	return -aspawn_start(&line->handle->child, &command);
}

/* Starts the first argument. Returns 0, or the number of results: why it cannot be started. */
static int start_piped(lua_State *L, struct handle *handle, bool reads)
{
	const int streams[] = { reads ? ASPAWN_STREAM_DEFAULT : ASPAWN_STREAM_PIPE,
				reads ? ASPAWN_STREAM_PIPE : ASPAWN_STREAM_DEFAULT,
				ASPAWN_STREAM_DEFAULT };
	const struct spawn spawn = { .pid = NULL };
	struct line line = { .handle = handle, .reads = reads };
	struct build build;

	if (lua_istable(L, 1)) {
		prepare(&build, L, 1, streams, NULL);
		only_of_run(L, 1);
		if ((reads ? build.command.std_out : build.command.std_in) != ASPAWN_STREAM_PIPE ||
		    has_terminal(&build.command))
			return luaL_error(L, "popen: the mode says which stream is a pipe");
		return start(&build, &handle->child);
	}
	(void)fflush(NULL);
	handle->is_line = true;
	/* No program gets such an argument, be it the shell. */
	const bool is_long = strlen(lua_tostring(L, 1)) >= 32 * (size_t)sysconf(_SC_PAGESIZE);
	int error = is_long ? E2BIG : aspawn_compat_enter(&line.section);
	if (error == 0) {
		error = aspawn_compat_spawn_line(&line.section, &spawn, lua_tostring(L, 1));
		aspawn_compat_leave(&line.section);
	}
	handle->is_direct = was_direct;
	errno = error;
	return error ? system_error(L, lua_tostring(L, 1)) : 0;
}

int l_popen(lua_State *L)
{
	const char *line = lua_istable(L, 1) ? NULL : luaL_checkstring(L, 1);
	const char *mode = luaL_optstring(L, 2, "r");
	const bool reads = strchr(mode, 'r');

	lua_settop(L, 2);
	if (!line || LUA_VERSION_NUM >= 503) {
		luaL_argcheck(L, (reads || *mode == 'w') && !mode[1], 2, "invalid mode");
	} else if (mode[strspn(mode, "rwe")] || reads == !!strchr(mode, 'w')) { /* as popen(3) */
		errno = EINVAL;
		return system_error(L, line);
	}
	struct handle *handle = new_handle(L);
	stream_file *stream = is_luajit() ? NULL : new_file(L, close_child);
	const int refusal = start_piped(L, handle, reads);
	if (refusal)
		return refusal;
	int *fd = reads ? &handle->child.out_fd : &handle->child.in_fd;
	const char *opened_as = reads ? "r" : "w";
	struct cookie *cookie;
	FILE *file = stream ? fdopen(*fd, opened_as) : open_cookie(*fd, opened_as, &cookie);
	if (!file)
		return system_error(L, NULL);
	*fd = -1;
	if (!stream) {
		cookie->child = *handle;
		clear(handle);
		push_in_luajit_file(L, file);
		return 1;
	}
	set_file(stream, file, close_child);
	keep_child(L, file, 3);
	lua_pushvalue(L, 4);
	return 1;
}

int l_execute(lua_State *L)
{
	const char *command = luaL_optstring(L, 1, NULL);

	was_direct = false;
	errno = 0; /* as Lua 5.4 */
	int status = aspawn_lua_system(command);
	if (command)
		status = status_of_shell(status, was_direct);
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
