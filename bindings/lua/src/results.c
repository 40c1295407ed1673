/* SPDX-License-Identifier: MIT */
/* What the functions return. */
#include "binding.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

void push_integer(lua_State *L, int64_t number)
{
#if LUA_VERSION_NUM >= 503
	lua_pushinteger(L, number);
#else
	lua_pushnumber(L, (lua_Number)number);
#endif
}

int failed(lua_State *L, const char *text, int error)
{
	lua_pushnil(L);
	lua_pushstring(L, text);
	lua_pushinteger(L, error < 0 ? -error : error);
	return 3;
}

int error_of(lua_State *L, int r, const struct aspawn_failure *failure)
{
	char text[256];

	if (!failure || !failure->error)
		return failed(L, r == -ETIMEDOUT ? "timeout" : psys_strerror(r), r);
	aspawn_failure_text(text, sizeof text, failure);
	return failed(L, text, failure->error);
}

int done(lua_State *L, int r, const struct aspawn_failure *failure)
{
	if (r < 0)
		return error_of(L, r, failure);
	lua_pushboolean(L, 1);
	return 1;
}

int system_error(lua_State *L, const char *what)
{
	const int error = errno;
	const char *text = strerror(error);

	return failed(L, what ? lua_pushfstring(L, "%s: %s", what, text) : text, error);
}

int ended(lua_State *L, int status)
{
	const bool exited = WIFEXITED(status);

	if (exited && WEXITSTATUS(status) == 0)
		lua_pushboolean(L, 1);
	else
		lua_pushnil(L);
	lua_pushstring(L, exited ? "exit" : "signal");
	lua_pushinteger(L, exited ? WEXITSTATUS(status) : WTERMSIG(status));
	return 3;
}

static double seconds(struct psys_timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

void set_given_up(lua_State *L, int cut, uint64_t memory_peak)
{
	SET(L, "out_cut", boolean, cut & 1);
	SET(L, "err_cut", boolean, cut & 2);
	if (memory_peak)
		SET(L, "memory_peak", number, (lua_Number)memory_peak);
}

void set_status(lua_State *L, bool ran, int status, const struct psys_rusage *usage)
{
	const bool exited = WIFEXITED(status);

	SET(L, "ok", boolean, ran && status == 0);
	SET(L, exited ? "code" : "signal", integer, exited ? WEXITSTATUS(status) : WTERMSIG(status));
	SET(L, "user", number, seconds(usage->ru_utime));
	SET(L, "system", number, seconds(usage->ru_stime));
	SET(L, "max_resident", number, (lua_Number)usage->ru_maxrss);
}
