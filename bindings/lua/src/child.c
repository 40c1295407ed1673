/* SPDX-License-Identifier: MIT */
/* spawn{}: a table with the handle, a userdata, and the files of pipes. */
#include "binding.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CHILD "aspawn.child"   /* the table */
#define HANDLE "aspawn.handle" /* its userdata */

struct handle *new_handle(lua_State *L)
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

int wait_for(struct handle *handle, int64_t timeout_ms)
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

int wait_result(lua_State *L, const struct handle *handle, int result)
{
	if (result == 0)
		return ended(L, handle->status);
	if (result == -ETIMEDOUT)
		return failed(L, "timeout", result);
	if (result == -ECANCELED)
		return not_started(L, &handle->failure);
	return error_of(L, result);
}

static const char *const stream_names[] = { "stdin", "stdout", "stderr" };

int l_spawn(lua_State *L)
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
		return error_of(L, r);
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
		if (!push_in_luajit_file(L, file)) {
			(void)fclose(file);
			return luaL_error(L, "/dev/null cannot be opened");
		}
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
	return done(L, r);
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

	return done(L, handle->waited ? -ESRCH : kill(&handle->child, signal));
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

/* child:mode() */
static int child_mode(lua_State *L)
{
	const int mode = aspawn_child_mode(&check_handle(L)->child);

	lua_pushstring(L, mode == ASPAWN_MODE_IMAGE ? "image" :
			  mode == ASPAWN_MODE_FORK  ? "copied" :
						      "shared");
	return 1;
}

void open_child(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{ "started", child_started },
		{ "wait", child_wait },
		{ "kill", child_kill },
		{ "kill_group", child_kill_group },
		{ "pidfd", child_pidfd },
		{ "mode", child_mode },
		{ NULL, NULL },
	};

	metatable(L, HANDLE, handle_gc);
	new_class(L, CHILD, methods);
}
