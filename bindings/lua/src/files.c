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
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shell.h"

int aspawn_lua_system(const char *command);

/* As a shell says it that has waited for the program. */
static int status_of_shell(int status, bool is_direct)
{
	return is_direct && WIFSIGNALED(status) ? (128 + WTERMSIG(status)) << 8 : status;
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

static int close_plain(lua_State *L)
{
	return fclose(closing(L)) == 0 ? result_of(L, 0, NULL) : system_error(L, NULL);
}

static int close_child(lua_State *L)
{
	const int closed = fclose(closing(L)) ? -errno : 0;

	lua_getuservalue(L, 1);
	lua_getfield(L, -1, "child");
	struct handle *handle = luaL_checkudata(L, -1, HANDLE);
	int result = wait_for(handle, -1);
	if (result == 0 && handle->status == 0)
		result = closed;
	if (result == 0 && LUA_VERSION_NUM == 501)
		return result_of(L, 0, NULL);
	handle->status = status_of_shell(handle->status, handle->is_direct);
	return wait_result(L, handle, result);
}

#define OPEN "aspawn.open" /* io.open, in the registry */

/* Pushes a file of LuaJIT's own, and returns the place of its stream. */
static stream_file *open_null(lua_State *L)
{
	lua_getfield(L, LUA_REGISTRYINDEX, OPEN);
	lua_pushvalue(L, -1);
	lua_pushnil(L); /* while it runs: if it was the script's, it may call this */
	lua_setfield(L, LUA_REGISTRYINDEX, OPEN);
	lua_pushstring(L, "/dev/null");
	const int r = lua_pcall(L, 1, 1, 0);
	lua_insert(L, -2);
	lua_setfield(L, LUA_REGISTRYINDEX, OPEN);
	stream_file *stream = r == 0 ? lua_touserdata(L, -1) : NULL;
	luaL_getmetatable(L, LUA_FILEHANDLE);
	if (!stream || !lua_getmetatable(L, -2) || !lua_rawequal(L, -1, -2) || !FILE_OF(stream))
		luaL_error(L, "/dev/null cannot be opened");
	lua_pop(L, 2);
	return stream;
}

/* Pushes a file, which has a stream only in LuaJIT. The index is that of push_file(). */
static stream_file *new_file(lua_State *L, int index)
{
	const lua_CFunction close = index ? close_child : close_plain;

	/* The symbols of the program tell of LuaJIT: a script may change each global. */
	if (LUA_VERSION_NUM == 501 && dlsym(RTLD_DEFAULT, "luaJIT_setmode"))
		return open_null(L);
	stream_file *stream = new_object(L, sizeof *stream, LUA_FILEHANDLE);
#if LUA_VERSION_NUM != 501
	stream->closef = close;
#endif
	lua_newtable(L);
	SET(L, "__close", cfunction, close); /* Lua 5.1 looks there */
	if (index)
		SET(L, "child", value, index);
	lua_setuservalue(L, -2);
	return stream;
}

/* A stream of the libc's: of LuaJIT's popen(), or of a terminal, whose handle knows it too. */
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

/* Returns a stream that takes the descriptor, and the child, for which its end waits, unless the
 * descriptor is its terminal. NULL: errno says why. */
static FILE *open_cookie(struct handle *handle, int fd, const char *mode)
{
	const cookie_io_functions_t functions = { cookie_read, cookie_write, cookie_seek,
						  cookie_close };
	struct cookie *cookie = calloc(1, sizeof *cookie);
	FILE *file = cookie ? fopencookie(cookie, mode, functions) : NULL;

	if (!file) {
		free(cookie);
		errno = ENOMEM;
		return NULL;
	}
	cookie->fd = fd;
	if (fd == handle->child.pty_fd) {
		cookie->terminal_of = handle;
		handle->terminal = &cookie->terminal_of;
		(void)setvbuf(file, NULL, _IONBF, 0); /* a write would drop what was read before */
	} else {
		cookie->child = *handle;
		clear(handle);
	}
	return file;
}

bool push_file(lua_State *L, struct handle *handle, int *fd, const char *mode, int index)
{
	stream_file *stream = new_file(L, index);
	FILE *null = FILE_OF(stream);
	/* A terminal's size is changed by the handle. LuaJIT's files have no function to wait. */
	const bool is_cookie = fd == &handle->child.pty_fd || (index && null);
	FILE *file = is_cookie ? open_cookie(handle, *fd, mode) : fdopen(*fd, mode);

	if (!file)
		return false;
	if (!is_cookie)
		*fd = -1;
	if (null)
		(void)fclose(null);
	FILE_OF(stream) = file;
	return true;
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
	const struct spawn spawn = { .pid = NULL };
	struct line line = { .handle = handle, .reads = reads };
	struct build build = { .L = L, .options = 1 };

	if (lua_istable(L, 1)) {
		*(reads ? &build.command.std_out : &build.command.std_in) = ASPAWN_STREAM_PIPE;
		const struct aspawn_command *command = prepare(&build);
		if ((reads ? command->std_out : command->std_in) != ASPAWN_STREAM_PIPE ||
		    has_terminal(command))
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
	const int refusal = start_piped(L, handle, reads);
	if (refusal)
		return refusal;
	int *fd = reads ? &handle->child.out_fd : &handle->child.in_fd;
	return push_file(L, handle, fd, reads ? "r" : "w", 3) ? 1 : system_error(L, NULL);
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
#else
	if (command)
		return luaL_execresult(L, status);
	lua_pushboolean(L, status);
#endif
	return 1;
}

void open_files(lua_State *L)
{
	lua_getfield(L, LUA_REGISTRYINDEX, OPEN);
	lua_pushglobaltable(L);
	get_field(L, -1, "io");
	if (lua_isnil(L, -3) && lua_istable(L, -1)) {
		get_field(L, -1, "open");
		lua_setfield(L, LUA_REGISTRYINDEX, OPEN);
	}
	lua_pop(L, 3);
}
