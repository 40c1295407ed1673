/* SPDX-License-Identifier: MIT */
/*
 * The queue, a userdata. Its uservalue, which no script can reach, keeps the tables of the jobs by
 * their tickets, and those of prepared commands by their numbers, with the files that these use.
 *
 * What allocates may run a finalizer of the script, which may close the queue: check_queue() is the
 * last thing before the library is called.
 */
#include "binding.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define QUEUE "aspawn.queue"

static struct aspawn_queue *check_queue(lua_State *L)
{
	struct aspawn_queue **queue = luaL_checkudata(L, 1, QUEUE);

	if (!*queue)
		luaL_error(L, "the queue is closed");
	return *queue;
}

/* queue:close() */
static int queue_close(lua_State *L)
{
	struct aspawn_queue **queue = luaL_checkudata(L, 1, QUEUE), *closed = *queue;

	*queue = NULL;
	if (closed)
		aspawn_queue_close(closed);
	return 0;
}

/* The queue keeps the value at the index; 0: nothing. */
static void keep(lua_State *L, lua_Number key, int index)
{
	lua_getuservalue(L, 1);
	lua_pushnumber(L, key);
	if (index)
		lua_pushvalue(L, index);
	else
		lua_pushnil(L);
	lua_rawset(L, -3);
	lua_pop(L, 1);
}

/* queue([{ running =, jobs =, job_bytes =, delay =, no_server = }]) */
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
		options.running = (uint32_t)number_option(L, 1, "running", 1, UINT32_MAX, 0);
		options.jobs = (uint32_t)number_option(L, 1, "jobs", 1, UINT32_MAX, 0);
		options.job_bytes =
			(uint32_t)number_option(L, 1, "job_bytes", 1, UINT32_MAX, 1 << 17);
		const int64_t delay_ms = time_option(L, 1, "delay", 0);
		options.delay_ms = delay_ms < UINT32_MAX ? (uint32_t)delay_ms : UINT32_MAX;
		if (is_true(L, 1, "no_server"))
			options.flags |= ASPAWN_QUEUE_LOCAL;
	}
	struct aspawn_queue **queue = lua_newuserdata(L, sizeof(struct aspawn_queue *));
	*queue = NULL;
	lua_newtable(L);
	lua_setuservalue(L, -2);
	luaL_getmetatable(L, QUEUE);
	lua_setmetatable(L, -2);
	const int r = aspawn_queue_create(queue, &options);
	if (r < 0) {
		*queue = NULL;
		return error_of(L, r, NULL);
	}
	return 1;
}

/* True if standard error of the prepared command goes where its standard output goes. */
static bool has_one_output(lua_State *L, int64_t prepared)
{
	const int top = lua_gettop(L);

	lua_getuservalue(L, 1);
	lua_pushnumber(L, (lua_Number)prepared);
	lua_rawget(L, -2);
	if (lua_istable(L, -1))
		get_field(L, top + 2, "stderr");
	const char *name = lua_tostring(L, -1);
	const bool is = name && strcmp(name, "stdout") == 0;
	lua_settop(L, top);
	return is;
}

/* queue:submit{ program, arguments..., options } */
static int queue_submit(lua_State *L)
{
	static const int streams[] = { ASPAWN_STREAM_DEFAULT, ASPAWN_STREAM_PIPE,
				       ASPAWN_STREAM_PIPE };
	struct aspawn_failure failure;
	struct aspawn_job job;
	struct build build;

	lua_settop(L, 2);
	luaL_checkudata(L, 1, QUEUE);
	luaL_checktype(L, 2, LUA_TTABLE);
	memset(&job, 0, sizeof job);
	job.size = sizeof job;
	job.input = input_option(L, 2, &job.input_size);
	const size_t kept = (size_t)number_option(L, 2, "output_size", 0, UINT32_MAX, 1 << 14) + 1;
	job.key = (uint32_t)number_option(L, 2, "key", 1, UINT32_MAX, 0);
	job.key_limit = (uint32_t)number_option(L, 2, "key_limit", 1, UINT32_MAX, 0);
	job.priority = (int)number_option(L, 2, "priority", 0, INT_MAX, 0);
	job.prepared = number_option(L, 2, "prepared", 1, 9007199254740992.0, 0);
	time_limits(L, 2, &job.time_limit_ms, &job.grace_ms);
	prepare(&build, L, 2, streams, NULL);
	struct aspawn_command *command = &build.command;
	if (command->std_in != ASPAWN_STREAM_DEFAULT ||
	    (command->std_out != ASPAWN_STREAM_PIPE && command->std_out != ASPAWN_STREAM_NULL) ||
	    command->std_err >= 0 || has_terminal(command))
		return luaL_error(L, "submit: stdout and stderr are \"pipe\" or \"null\", or stderr "
				     "is \"stdout\"; stdin is input");
	if (command->flags & ASPAWN_COMMAND_DIES_WITH_CALLER)
		return luaL_error(L, "submit: dies_with_caller is no option of a job");
	job.flags = flags_of(L, 2, aspawn_job_flags_words);
	if (command->std_out == ASPAWN_STREAM_PIPE)
		job.out_size = kept;
	if (command->std_err == ASPAWN_STREAM_PIPE && !has_one_output(L, job.prepared))
		job.err_size = kept;
	command->std_out = ASPAWN_STREAM_DEFAULT;
	if (command->std_err != ASPAWN_STREAM_STDOUT)
		command->std_err = ASPAWN_STREAM_DEFAULT;
	if (!job.prepared)
		job.command = command;
	else if (command->file || command->search_path || command->flags || command->owner ||
		 command->memory || command->action_count || command->std_err ||
		 command->stop_signal)
		return luaL_error(L, "submit: the prepared command has its own options");
	else if (command->argv[0])
		job.argv = command->argv;
	const int64_t ticket = aspawn_queue_submit(check_queue(L), &job, &failure);
	if (ticket < 0)
		return error_of(L, (int)ticket, &failure);
	keep(L, (lua_Number)ticket, 2);
	push_integer(L, ticket);
	return 1;
}

/* queue:prepare{ program, arguments..., options } */
static int queue_prepare(lua_State *L)
{
	static const int streams[] = { ASPAWN_STREAM_DEFAULT, ASPAWN_STREAM_DEFAULT,
				       ASPAWN_STREAM_DEFAULT };
	struct aspawn_failure failure;
	struct build build;

	lua_settop(L, 2);
	prepare(&build, L, 2, streams, NULL);
	only_of_run(L, 2);
	const int64_t prepared = aspawn_queue_prepare(check_queue(L), &build.command, &failure);
	if (prepared < 0)
		return error_of(L, (int)prepared, &failure);
	keep(L, (lua_Number)prepared, 2);
	push_integer(L, prepared);
	return 1;
}

static void set_time(lua_State *L, const char *name, int64_t nanoseconds)
{
	if (nanoseconds)
		SET(L, name, number, (lua_Number)nanoseconds / 1e9);
}

/* Pushes the table of a result, whose output has been copied. */
static void push_result(lua_State *L, const struct aspawn_result *result,
			const struct outputs *outputs)
{
	char text[320];

	lua_newtable(L);
	push_integer(L, result->ticket);
	lua_setfield(L, -2, "ticket");
	SET(L, "outcome", string, aspawn_outcome_name(result->outcome));
	aspawn_result_text(text, sizeof text, result);
	SET(L, "text", string, text);
	if (result->out) {
		set_output(L, "out", &outputs->out);
		SET(L, "out_total", integer, (lua_Integer)result->out_total);
	}
	if (result->err) {
		set_output(L, "err", &outputs->err);
		SET(L, "err_total", integer, (lua_Integer)result->err_total);
	}
	set_time(L, "submitted", result->submitted_ns);
	set_time(L, "started", result->started_ns);
	set_time(L, "executed", result->executed_ns);
	set_time(L, "ended", result->ended_ns);
	if (result->status != -1 && result->outcome != ASPAWN_OUTCOME_NOT_STARTED)
		set_status(L, result->outcome == ASPAWN_OUTCOME_RAN, result->status, &result->usage);
	else
		SET(L, "ok", boolean, false);
	set_given_up(L, result->cut, result->memory_peak);
	if (result->survivors)
		SET(L, "survivors", integer, result->survivors);
	if (result->failure.error)
		SET(L, "errno", integer, -result->failure.error);
}

static int next_result(lua_State *L, int64_t timeout_ms)
{
	const struct aspawn_result *taken;
	struct outputs *outputs = new_outputs(L);
	struct aspawn_queue *queue = check_queue(L);
	int r = aspawn_queue_wait(queue, &taken, 1, timeout_ms);

	if (r <= 0)
		return r == -ECHILD ? failed(L, "no jobs", r) :
				      error_of(L, r == 0 ? -ETIMEDOUT : r, NULL);
	const struct aspawn_result result = *taken;
	r = collect(outputs, 1, taken->out, taken->out_length);
	if (r == 0)
		r = collect(outputs, 2, taken->err, taken->err_length);
	aspawn_queue_release(queue, &taken, 1);
	push_result(L, &result, outputs);
	lua_getuservalue(L, 1);
	lua_pushnumber(L, (lua_Number)result.ticket);
	lua_rawget(L, -2);
	lua_setfield(L, -3, "job");
	lua_pop(L, 1);
	keep(L, (lua_Number)result.ticket, 0);
	return r < 0 ? luaL_error(L, "not enough memory") : 1;
}

/* queue:wait([seconds]) */
static int queue_wait(lua_State *L)
{
	return next_result(L, milliseconds(L, 2, -1));
}

static int queue_next(lua_State *L)
{
	return next_result(L, -1);
}

/* for result in queue:results() do */
static int queue_results(lua_State *L)
{
	check_queue(L);
	lua_pushcfunction(L, queue_next);
	lua_pushvalue(L, 1);
	return 2;
}

/* queue:cancel([ticket]) */
static int queue_cancel(lua_State *L)
{
	const bool all =
		lua_isnone(L, 2); /* nil is what submit() returned for a job that it refused */
	const double ticket = all ? 0 : luaL_checknumber(L, 2);
	const bool is_one = ticket >= 0 && ticket < 9007199254740992.0 && ticket == floor(ticket);
	struct aspawn_queue *queue = check_queue(L);

	return done(L,
		    all ? aspawn_queue_cancel_all(queue) :
			  aspawn_queue_cancel(queue, is_one ? (int64_t)ticket : -1),
		    NULL);
}

/* queue:count(): waiting, running, ended */
static int queue_count(lua_State *L)
{
	for (int what = ASPAWN_COUNT_WAITING; what <= ASPAWN_COUNT_ENDED; what++) {
		const int r = aspawn_queue_count(check_queue(L), what);

		if (r < 0)
			return error_of(L, r, NULL);
		lua_pushinteger(L, r);
	}
	return 3;
}

/* queue:fd() */
static int queue_fd(lua_State *L)
{
	const int r = aspawn_queue_fd(check_queue(L));

	if (r < 0)
		return error_of(L, r, NULL);
	lua_pushinteger(L, r);
	return 1;
}

void open_queue(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{ "submit", queue_submit },
		{ "prepare", queue_prepare },
		{ "wait", queue_wait },
		{ "results", queue_results },
		{ "cancel", queue_cancel },
		{ "count", queue_count },
		{ "fd", queue_fd },
		{ "close", queue_close },
		{ NULL, NULL },
	};

	new_class(L, QUEUE, methods, queue_close);
}
