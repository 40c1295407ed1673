/* SPDX-License-Identifier: MIT */
/* spawn{}: a table with the handle, a userdata, and the files of pipes. */
#include "binding.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD "aspawn.child" /* the table, with a HANDLE */

void clear(struct handle *handle)
{
	memset(handle, 0, sizeof *handle);
	handle->child.ended_fd = handle->child.started_fd = -1;
	handle->child.in_fd = handle->child.out_fd = handle->child.err_fd = -1;
	handle->child.pty_fd = -1;
}

struct handle *new_handle(lua_State *L)
{
	struct handle *handle = new_object(L, sizeof *handle, HANDLE);

	clear(handle);
	return handle;
}

static void close_pipe(int fd)
{
	if (fd >= 0)
		close(fd);
}

static int handle_gc(lua_State *L)
{
	struct handle *handle = luaL_checkudata(L, 1, HANDLE);

	(void)wait_for(handle, 0); /* a zombie would stay */
	close_pipe(handle->child.in_fd);
	close_pipe(handle->child.out_fd);
	close_pipe(handle->child.err_fd);
	if (handle->terminal)
		*handle->terminal = NULL;
	else
		close_pipe(handle->child.pty_fd);
	for (int i = 0; i < handle->pipe_count; i++)
		close_pipe(handle->pipes[i].fd);
	aspawn_release(&handle->child);
	clear(handle); /* another finalizer may still call its methods */
	handle->waited = true;
	handle->result = -ECHILD;
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
		const bool is_known = handle->is_line && handle->failure.error != -E2BIG;
		handle->result = r == -ECANCELED && is_known ? 0 : r; /* then the status is 127 */
	}
	return handle->result;
}

int wait_result(lua_State *L, const struct handle *handle, int result)
{
	if (result < 0)
		return result_of(L, result, &handle->failure);
	const int status = handle->status;
	const bool exited = WIFEXITED(status);
	if (status == 0)
		lua_pushboolean(L, 1);
	else
		lua_pushnil(L);
	lua_pushstring(L, exited ? "exit" : "signal");
	lua_pushinteger(L, exited ? WEXITSTATUS(status) : WTERMSIG(status));
	return 3;
}

int *add_pipe(struct build *build, int number, const char *mode)
{
	struct handle *handle = build->handle;

	if (!handle || handle->pipe_count == MOST_PIPES)
		luaL_error(build->L, "actions[%d]: only a spawn has pipes of actions, at most %d",
			   build->index, MOST_PIPES);
	struct pipe *pipe = &handle->pipes[handle->pipe_count++];
	*pipe = (struct pipe){ number, -1, mode };
	return &pipe->fd;
}

static void push_end(lua_State *L, struct handle *handle, int *fd, const char *mode)
{
	if (!push_file(L, handle, fd, mode, 0))
		luaL_error(L, "%s", strerror(errno));
}

int l_spawn(lua_State *L)
{
	static const char *const names[] = { "stdin", "stdout", "stderr", "terminal" };
	static const char *const modes[] = { "w", "r", "r", "r+" };

	lua_settop(L, 1);
	lua_newtable(L);
	struct handle *handle = new_handle(L);
	lua_setfield(L, 2, "handle");
	struct build build = { .L = L, .options = 1, .handle = handle };
	prepare(&build);
	const int refusal = start(&build, &handle->child);
	if (refusal)
		return refusal;
	int *const fds[] = { &handle->child.in_fd, &handle->child.out_fd, &handle->child.err_fd,
			     &handle->child.pty_fd };
	for (int i = 0; i < 4; i++)
		if (*fds[i] >= 0) {
			push_end(L, handle, fds[i], modes[i]);
			lua_setfield(L, 2, names[i]);
		}
	lua_newtable(L);
	for (int i = 0; i < handle->pipe_count; i++) {
		push_end(L, handle, &handle->pipes[i].fd, handle->pipes[i].mode);
		lua_rawseti(L, -2, handle->pipes[i].number);
	}
	if (handle->pipe_count)
		lua_setfield(L, 2, "pipes");
	lua_settop(L, 2);
	if (aspawn_describe(&handle->child, ASPAWN_FACT_MODE) != ASPAWN_MODE_NONE)
		SET(L, "pid", integer, aspawn_pid(&handle->child)); /* no helper clones it */
	luaL_getmetatable(L, CHILD);
	lua_setmetatable(L, 2);
	return 1;
}

static struct handle *check_handle(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 2);
	get_field(L, 1, "handle");
	luaL_argcheck(L, lua_isuserdata(L, -1), 1, "a child is expected");
	return luaL_checkudata(L, -1, HANDLE); /* which the stack keeps */
}

/* child:started([seconds]) */
static int child_started(lua_State *L)
{
	struct handle *handle = check_handle(L);
	struct aspawn_failure failure;
	const int r = aspawn_wait_started(&handle->child, &failure, milliseconds(L, 2, -1));

	return result_of(L, r, &failure);
}

/* child:wait([seconds]) */
static int child_wait(lua_State *L)
{
	struct handle *handle = check_handle(L);

	return wait_result(L, handle, wait_for(handle, milliseconds(L, 2, -1)));
}

static int send(lua_State *L, int (*kill)(struct aspawn_child *, int))
{
	lua_settop(L, 2);
	const int signal =
		lua_isnil(L, 2) ? SIGTERM : (int)pop_number(L, "signal", "SIG", 0, PSYS_NSIG);
	struct handle *handle = check_handle(L);

	return result_of(L, handle->waited ? -ESRCH : kill(&handle->child, signal), NULL);
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

/* child:kill_tree([grace]) */
static int child_kill_tree(lua_State *L)
{
	struct handle *handle = check_handle(L);
	int64_t grace_ms = milliseconds(L, 2, 0);

	if (grace_ms == 0 && !lua_isnil(L, 2))
		grace_ms = ASPAWN_GRACE_NONE;
	return result_of(L, handle->waited ? -ESRCH : aspawn_kill_tree(&handle->child, grace_ms),
			 NULL);
}

static int push_descriptor(lua_State *L, int fd)
{
	if (fd < 0)
		lua_pushnil(L);
	else
		lua_pushinteger(L, fd);
	return 1;
}

static int child_ended_fd(lua_State *L)
{
	return push_descriptor(L, check_handle(L)->child.ended_fd);
}

static int child_started_fd(lua_State *L)
{
	return push_descriptor(L, check_handle(L)->child.started_fd);
}

static int child_terminal_fd(lua_State *L)
{
	return push_descriptor(L, check_handle(L)->child.pty_fd);
}

/* child:resize(rows, columns) */
static int child_resize(lua_State *L)
{
	lua_settop(L, 3);
	const unsigned columns = (unsigned)pop_number(L, "columns", NULL, 0, UINT_MAX);
	const unsigned rows = (unsigned)pop_number(L, "rows", NULL, 0, UINT_MAX);

	return result_of(L, aspawn_resize(&check_handle(L)->child, rows, columns), NULL);
}

static int child_mode(lua_State *L)
{
	static const char *const names[] = { "suspended", "copied", "image" }; /* from VFORK on */
	struct handle *handle = check_handle(L);

	(void)!aspawn_pid(&handle->child); /* of a helper's child it is not known before */
	const int more = aspawn_describe(&handle->child, ASPAWN_FACT_MODE) - ASPAWN_MODE_VFORK;
	lua_pushstring(L, more < 0 ? "shared" : names[more]);
	return 1;
}

/* A method; or the number of a child that a helper clones, for which the caller may wait. */
static int child_index(lua_State *L)
{
	if (lua_type(L, 2) == LUA_TSTRING && !strcmp(lua_tostring(L, 2), "pid")) {
		const int pid = aspawn_pid(&check_handle(L)->child);
		if (pid <= 0)
			return 0;
		lua_pushinteger(L, pid);
		lua_pushvalue(L, -1);
		lua_setfield(L, 1, "pid");
		return 1;
	}
	lua_settop(L, 2);
	lua_rawget(L, lua_upvalueindex(1));
	return 1;
}

void open_child(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{ "started", child_started },
		{ "wait", child_wait },
		{ "kill", child_kill },
		{ "kill_group", child_kill_group },
		{ "kill_tree", child_kill_tree },
		{ "mode", child_mode },
		{ "ended_fd", child_ended_fd },
		{ "started_fd", child_started_fd },
		{ "terminal_fd", child_terminal_fd },
		{ "resize", child_resize },
		{ NULL, NULL },
	};

	new_class(L, HANDLE, NULL, NULL, handle_gc);
	new_class(L, CHILD, methods, child_index, NULL);
}
