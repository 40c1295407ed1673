/* SPDX-License-Identifier: MIT */
/* The queue. Its table has the handle, a userdata, and the tables of the jobs by their tickets. */
#include "binding.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define QUEUE "aspawn.queue"         /* the table */
#define HANDLE "aspawn.queue.handle" /* its userdata */

struct queue {
	struct aspawn_queue *queue; /* NULL: closed */
	/* To be released: Lua may raise an error while it is converted. */
	const struct aspawn_result *taken;
};

static void close_handle(struct queue *handle)
{
	struct aspawn_queue *queue = handle->queue;

	handle->queue = NULL;
	handle->taken = NULL;
	if (queue)
		aspawn_queue_close(queue);
}

static int handle_gc(lua_State *L)
{
	close_handle(lua_touserdata(L, 1));
	return 0;
}

static struct queue *handle_of(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_getfield(L, 1, "handle");
	struct queue *handle = luaL_checkudata(L, lua_gettop(L), HANDLE);
	lua_pop(L, 1);
	return handle; /* which the table keeps */
}

static struct queue *check_handle(lua_State *L)
{
	struct queue *handle = handle_of(L);

	if (!handle->queue)
		luaL_error(L, "the queue is closed");
	return handle;
}

/* An option of a table, a number from 0 to the largest. */
static uint32_t number(lua_State *L, int table, const char *name, double factor)
{
	lua_getfield(L, table, name);
	const double value = luaL_optnumber(L, -1, 0) * factor;
	lua_pop(L, 1);
	if (!(value >= 0 && value <= UINT32_MAX))
		luaL_error(L, "%s: the number is not valid", name);
	return (uint32_t)value;
}

/* queue([{ running =, jobs =, job_bytes =, delay =, servers =, no_server = }]) */
int l_queue(lua_State *L)
{
	struct aspawn_queue_options options;

	memset(&options, 0, sizeof options);
	options.size = sizeof options;
	options.flags = ASPAWN_QUEUE_FD;
	options.job_bytes = 1 << 17;
	lua_settop(L, 1);
	if (!lua_isnil(L, 1)) {
		luaL_checktype(L, 1, LUA_TTABLE);
		options.running = number(L, 1, "running", 1);
		options.jobs = number(L, 1, "jobs", 1);
		options.delay_ms = number(L, 1, "delay", 1000);
		options.servers = number(L, 1, "servers", 1);
		const uint32_t bytes = number(L, 1, "job_bytes", 1);
		if (bytes)
			options.job_bytes = bytes;
		lua_getfield(L, 1, "no_server");
		if (lua_toboolean(L, -1))
			options.flags |= ASPAWN_QUEUE_LOCAL;
		lua_pop(L, 1);
	}
	lua_newtable(L);
	luaL_getmetatable(L, QUEUE);
	lua_setmetatable(L, 2);
	lua_newtable(L);
	lua_setfield(L, 2, "jobs");
	lua_newtable(L);
	lua_setfield(L, 2, "registered");
	struct queue *handle = lua_newuserdata(L, sizeof *handle);
	memset(handle, 0, sizeof *handle);
	luaL_getmetatable(L, HANDLE);
	lua_setmetatable(L, -2);
	lua_setfield(L, 2, "handle");
	const int r = aspawn_queue_create(&handle->queue, &options);
	if (r < 0) {
		handle->queue = NULL;
		return error_of(L, r);
	}
	lua_pushvalue(L, 2);
	return 1;
}

/* queue:submit{ program, arguments..., options } */
static int queue_submit(lua_State *L)
{
	static const int streams[] = { ASPAWN_INHERIT, ASPAWN_PIPE, ASPAWN_PIPE };
	struct queue *handle = check_handle(L);
	struct aspawn_job job;
	struct build build;

	lua_settop(L, 2);
	luaL_checktype(L, 2, LUA_TTABLE);
	memset(&job, 0, sizeof job);
	job.size = sizeof job;
	lua_getfield(L, 2, "input");
	job.input = luaL_optlstring(L, -1, NULL, &job.input_size);
	job.output_size = number(L, 2, "output_size", 1);
	if (!job.output_size)
		job.output_size = 1 << 14;
	job.key = number(L, 2, "key", 1);
	job.key_limit = number(L, 2, "key_limit", 1);
	job.priority = (int)number(L, 2, "priority", 1);
	job.prepared = (int)number(L, 2, "prepared", 1);
	time_limits(L, 2, &job.timeout_ms, &job.grace_ms);
	prepare(&build, L, 2, streams);
	close_opened(&build);
	struct aspawn_command *command = &build.command;
	if (command->std_in != ASPAWN_INHERIT ||
	    (command->std_out != ASPAWN_PIPE && command->std_out != ASPAWN_NULL) ||
	    command->std_err >= 0)
		return luaL_error(L, "submit: stdout and stderr are \"pipe\" or \"null\", or stderr "
				     "is \"stdout\"; stdin is input");
	job.flags = (command->std_out == ASPAWN_PIPE ? ASPAWN_JOB_OUTPUT : 0) |
		    (command->std_err == ASPAWN_PIPE      ? ASPAWN_JOB_ERROR :
		     command->std_err == ASPAWN_TO_STDOUT ? ASPAWN_JOB_ERROR_TO_OUTPUT :
							    0) |
		    (is_true(&build, "tail") ? ASPAWN_JOB_TAIL : 0) |
		    (is_true(&build, "same_group") ? ASPAWN_JOB_SAME_GROUP : 0);
	command->std_out = command->std_err = ASPAWN_INHERIT;
	command->pool = NULL;
	if (!job.prepared)
		job.command = command;
	else if (command->file || command->search_path || command->flags || command->action_count)
		return luaL_error(L, "submit: the prepared command has its own options");
	else if (command->argv[0])
		job.argv = command->argv;
	const int ticket = aspawn_queue_submit(handle->queue, &job);
	if (ticket < 0)
		return error_of(L, ticket);
	lua_getfield(L, 1, "jobs");
	lua_pushvalue(L, 2);
	lua_rawseti(L, -2, ticket);
	lua_pushinteger(L, ticket);
	return 1;
}

/* queue:prepare{ program, arguments..., options } */
static int queue_prepare(lua_State *L)
{
	static const int streams[] = { ASPAWN_INHERIT, ASPAWN_INHERIT, ASPAWN_INHERIT };
	struct queue *handle = check_handle(L);
	struct build build;

	lua_settop(L, 2);
	prepare(&build, L, 2, streams);
	close_opened(&build);
	build.command.pool = NULL;
	const int prepared = aspawn_queue_prepare(handle->queue, &build.command);
	if (prepared < 0)
		return error_of(L, prepared);
	lua_pushinteger(L, prepared);
	return 1;
}

/* queue:register(file): its descriptor. The queue keeps the file. */
static int queue_register(lua_State *L)
{
	struct queue *handle = check_handle(L);
	const int fd = descriptor_of(L, 2, "register");
	const int r = aspawn_queue_register(handle->queue, fd);

	if (r < 0)
		return error_of(L, r);
	lua_getfield(L, 1, "registered");
	lua_pushvalue(L, 2);
	lua_rawseti(L, -2, fd);
	lua_pushinteger(L, fd);
	return 1;
}

/* queue:unregister(descriptor) */
static int queue_unregister(lua_State *L)
{
	struct queue *handle = check_handle(L);
	const int fd = (int)luaL_checkinteger(L, 2);

	lua_getfield(L, 1, "registered");
	lua_pushnil(L);
	lua_rawseti(L, -2, fd);
	return done(L, aspawn_queue_unregister(handle->queue, fd));
}

static void release(struct queue *handle)
{
	const struct aspawn_result *taken = handle->taken;

	handle->taken = NULL;
	if (taken)
		aspawn_queue_release(handle->queue, &taken, 1);
}

static void set_time(lua_State *L, const char *name, int64_t nanoseconds)
{
	if (nanoseconds) {
		lua_pushnumber(L, (lua_Number)nanoseconds / 1e9);
		lua_setfield(L, -2, name);
	}
}

static void set_output(lua_State *L, const char *name, const char *bytes, size_t size,
		       const char *total_name, uint64_t total)
{
	if (bytes) {
		lua_pushlstring(L, bytes, size);
		lua_setfield(L, -2, name);
		lua_pushinteger(L, (lua_Integer)total);
		lua_setfield(L, -2, total_name);
	}
}

/* Pushes the table of a result. */
static void push_result(lua_State *L, const struct aspawn_result *result)
{
	static const char *const outcomes[] = { "",          "ran",       "not started",
						"timed out", "cancelled", "lost" };
	char text[320];

	lua_newtable(L);
	lua_pushinteger(L, result->ticket);
	lua_setfield(L, -2, "ticket");
	lua_pushstring(L, outcomes[result->end]);
	lua_setfield(L, -2, "outcome");
	aspawn_result_text(text, sizeof text, result);
	lua_pushstring(L, text);
	lua_setfield(L, -2, "text");
	set_output(L, "out", result->out, result->out_size, "out_total", result->out_total);
	set_output(L, "err", result->err, result->err_size, "err_total", result->err_total);
	set_time(L, "submitted", result->submitted);
	set_time(L, "started", result->started);
	set_time(L, "executed", result->executed);
	set_time(L, "ended", result->ended);
	if (result->status != -1 && result->end != ASPAWN_JOB_NOT_STARTED) {
		set_status(L, result->end == ASPAWN_JOB_RAN, result->status, &result->usage);
	} else {
		lua_pushboolean(L, 0);
		lua_setfield(L, -2, "ok");
	}
	if (result->failure.error) {
		lua_pushinteger(L, -result->failure.error);
		lua_setfield(L, -2, "errno");
	}
}

static int next_result(lua_State *L, struct queue *handle, int64_t timeout_ms)
{
	release(handle);
	const int r = aspawn_queue_wait(handle->queue, &handle->taken, 1, timeout_ms);
	if (r <= 0) {
		handle->taken = NULL;
		return r == 0       ? failed(L, "timeout", ETIMEDOUT) :
		       r == -ECHILD ? failed(L, "no jobs", ECHILD) :
				      error_of(L, r);
	}
	lua_settop(L, 1);
	push_result(L, handle->taken);
	const int ticket = handle->taken->ticket;
	release(handle);
	lua_getfield(L, 1, "jobs");
	lua_rawgeti(L, -1, ticket);
	lua_setfield(L, 2, "job");
	lua_pushnil(L);
	lua_rawseti(L, -2, ticket);
	lua_settop(L, 2);
	return 1;
}

/* queue:wait([seconds]) */
static int queue_wait(lua_State *L)
{
	return next_result(L, check_handle(L), milliseconds(L, 2, -1));
}

static int queue_next(lua_State *L)
{
	return next_result(L, check_handle(L), -1);
}

/* for result in queue:results() do */
static int queue_results(lua_State *L)
{
	check_handle(L);
	lua_pushcfunction(L, queue_next);
	lua_pushvalue(L, 1);
	return 2;
}

/* queue:cancel([ticket]) */
static int queue_cancel(lua_State *L)
{
	struct queue *handle = check_handle(L);

	if (lua_isnoneornil(L, 2))
		return done(L, aspawn_queue_cancel_all(handle->queue));
	return done(L, aspawn_queue_cancel(handle->queue, (int)luaL_checkinteger(L, 2)));
}

/* queue:count(): waiting, running, ended */
static int queue_count(lua_State *L)
{
	struct queue *handle = check_handle(L);
	struct aspawn_queue_counts counts;
	const int r = aspawn_queue_count(handle->queue, &counts);

	if (r < 0)
		return error_of(L, r);
	lua_pushinteger(L, (lua_Integer)counts.waiting);
	lua_pushinteger(L, (lua_Integer)counts.running);
	lua_pushinteger(L, (lua_Integer)counts.ended);
	return 3;
}

/* queue:fd() */
static int queue_fd(lua_State *L)
{
	const int r = aspawn_queue_fd(check_handle(L)->queue);

	if (r < 0)
		return error_of(L, r);
	lua_pushinteger(L, r);
	return 1;
}

/* queue:close() */
static int queue_close(lua_State *L)
{
	close_handle(handle_of(L));
	return 0;
}

void open_queue(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{ "submit", queue_submit },
		{ "prepare", queue_prepare },
		{ "register", queue_register },
		{ "unregister", queue_unregister },
		{ "wait", queue_wait },
		{ "results", queue_results },
		{ "cancel", queue_cancel },
		{ "count", queue_count },
		{ "fd", queue_fd },
		{ "close", queue_close },
		{ "__close", queue_close },
		{ NULL, NULL },
	};

	metatable(L, HANDLE, handle_gc);
	new_class(L, QUEUE, methods);
}
