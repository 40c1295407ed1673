/* SPDX-License-Identifier: MIT */
/*
 * run{} and the queue, which collect output.
 *
 * The queue is a userdata. Its uservalue, which no script can reach, keeps the tables of the jobs
 * by their tickets, and those of prepared commands by their numbers, with the files that these use.
 *
 * What allocates may run a finalizer of the script, which may close the queue: check_queue() is the
 * last thing before the library is called.
 */
#include "binding.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define OUTPUTS "aspawn.outputs"
#define QUEUE "aspawn.queue"

/* Bytes that are collected before Lua has them, whatever it does meanwhile. */
struct outputs {
	struct output {
		char *bytes;
		size_t length, room;
	} out, err;
};

static void set_seconds(lua_State *L, const char *name, struct psys_timeval time)
{
	SET(L, name, number, (lua_Number)time.tv_sec + (lua_Number)time.tv_usec / 1e6);
}

/* Sets how the program ended in the table on top of the stack. Status -1: it was not executed. */
static void set_end(lua_State *L, bool ran, int status, const struct psys_rusage *usage, int cut,
		    uint64_t memory_peak)
{
	SET(L, "ok", boolean, ran && status == 0);
	SET(L, "out_cut", boolean, cut & 1);
	SET(L, "err_cut", boolean, cut & 2);
	if (memory_peak)
		SET(L, "memory_peak", number, (lua_Number)memory_peak);
	if (status == -1)
		return;
	const bool exited = WIFEXITED(status);
	SET(L, exited ? "code" : "signal", integer, exited ? WEXITSTATUS(status) : WTERMSIG(status));
	set_seconds(L, "user", usage->ru_utime);
	set_seconds(L, "system", usage->ru_stime);
	SET(L, "max_resident", number, (lua_Number)usage->ru_maxrss);
}

static int outputs_gc(lua_State *L)
{
	struct outputs *outputs = luaL_checkudata(L, 1, OUTPUTS);

	free(outputs->out.bytes);
	free(outputs->err.bytes);
	memset(outputs, 0, sizeof *outputs);
	return 0;
}

/* The sink of both outputs. */
static int collect(void *arg, int stream, const void *bytes, size_t count)
{
	struct outputs *outputs = arg;
	struct output *to = stream == 1 ? &outputs->out : &outputs->err;

	if (to->room - to->length < count) {
		const size_t room = 2 * to->room + count;
		char *more = realloc(to->bytes, room);
		if (!more)
			return -ENOMEM;
		to->bytes = more;
		to->room = room;
	}
	if (count)
		memcpy(to->bytes + to->length, bytes, count);
	to->length += count;
	return 0;
}

static void set_output(lua_State *L, const char *name, const struct output *output)
{
	lua_pushlstring(L, output->bytes ? output->bytes : "", output->length);
	lua_setfield(L, -2, name);
}

/* Milliseconds, which are not negative; 0: there is none. zero is returned for 0 seconds. */
static int64_t time_option(lua_State *L, int options, const char *name, int64_t zero)
{
	if (!option(L, options, name))
		return 0;
	if (!lua_isnumber(L, -1))
		expected(L, name, "a number");
	if (!(lua_tonumber(L, -1) >= 0))
		luaL_error(L, "%s: the number is not valid", name);
	const int64_t ms = milliseconds(L, -1, 0);
	lua_pop(L, 1);
	return ms ? ms : zero;
}

/* The option input, which stays on the stack; NULL: there is none. */
static const char *input_option(lua_State *L, int options, size_t *size)
{
	if (!option(L, options, "input"))
		return NULL;
	if (!lua_isstring(L, -1))
		expected(L, "input", "a string");
	return lua_tolstring(L, -1, size);
}

int l_run(lua_State *L)
{
	struct aspawn_io io = { .size = sizeof io };
	struct aspawn_child child;

	lua_settop(L, 1);
	luaL_checktype(L, 1, LUA_TTABLE);
	io.input = input_option(L, 1, &io.input_size);
	io.time_limit_ms = time_option(L, 1, "timeout", 1);
	io.grace_ms = time_option(L, 1, "grace", ASPAWN_GRACE_NONE);
	io.flags = flags_of(L, 1, aspawn_io_flags_words);
	io.sink = collect;
	struct outputs *outputs = io.arg = new_object(L, sizeof *outputs, OUTPUTS);
	struct build build = { .L = L, .options = 1, .is_run = true };
	build.command.std_in = io.input ? ASPAWN_STREAM_PIPE : ASPAWN_STREAM_NULL;
	build.command.std_out = build.command.std_err = ASPAWN_STREAM_PIPE;
	const struct aspawn_command *command = prepare(&build);
	if (io.input && command->std_in != ASPAWN_STREAM_PIPE &&
	    command->std_in != ASPAWN_STREAM_PTY)
		return luaL_error(L, "run: both input and stdin");
	int r = start(&build, &child);
	if (r > 0)
		return r;
	r = aspawn_communicate(&child, &io);
	if (r < 0 && r != -ETIMEDOUT)
		return result_of(L, r, &io.failure);

	lua_newtable(L);
	const bool is_pty = command->std_out == ASPAWN_STREAM_PTY;
	if (is_pty || command->std_out == ASPAWN_STREAM_PIPE)
		set_output(L, "out", &outputs->out);
	if (command->std_err == ASPAWN_STREAM_PIPE ||
	    (command->std_err == ASPAWN_STREAM_PTY && !is_pty))
		set_output(L, "err", &outputs->err);
	if (r < 0)
		SET(L, "timed_out", boolean, true);
	set_end(L, r == 0, io.status, &io.usage, io.cut, io.memory_peak);
	return 1;
}

static struct aspawn_queue *check_queue(lua_State *L)
{
	struct aspawn_queue **queue = luaL_checkudata(L, 1, QUEUE);

	if (!*queue)
		luaL_error(L, "the queue is closed");
	return *queue;
}

static int queue_close(lua_State *L)
{
	struct aspawn_queue **queue = luaL_checkudata(L, 1, QUEUE);

	aspawn_queue_close(*queue); /* of NULL it does nothing */
	*queue = NULL;
	return 0;
}

/* Returns the number of a job or a command, whose table, the second argument, the queue keeps. */
static int keep(lua_State *L, int64_t number, const struct aspawn_failure *failure)
{
	if (number < 0)
		return result_of(L, (int)number, failure);
	lua_getuservalue(L, 1);
	lua_pushint64(L, number);
	lua_pushvalue(L, 2);
	lua_rawset(L, -3);
	lua_pushint64(L, number);
	return 1;
}

/* queue([{ running =, jobs =, job_bytes =, delay =, no_server = }]) */
int l_queue(lua_State *L)
{
	struct aspawn_queue_options options = { .size = sizeof options, .flags = ASPAWN_QUEUE_FD };

	lua_settop(L, 1);
	if (lua_isnil(L, 1))
		lua_newtable(L);
	const int at = lua_gettop(L);
	luaL_checktype(L, at, LUA_TTABLE);
	options.running = (uint32_t)number_option(L, at, "running", 1, UINT32_MAX, 0);
	options.jobs = (uint32_t)number_option(L, at, "jobs", 1, UINT32_MAX, 0);
	options.job_bytes = (uint32_t)number_option(L, at, "job_bytes", 1, UINT32_MAX, 1 << 17);
	const int64_t delay_ms = time_option(L, at, "delay", 0);
	options.delay_ms = delay_ms < UINT32_MAX ? (uint32_t)delay_ms : UINT32_MAX;
	if (is_true(L, at, "no_server"))
		options.flags |= ASPAWN_QUEUE_LOCAL;
	struct aspawn_queue **queue = new_object(L, sizeof(struct aspawn_queue *), QUEUE);
	lua_newtable(L);
	lua_setuservalue(L, -2);
	const int r = aspawn_queue_create(queue, &options);
	return r == 0 ? 1 : result_of(L, r, NULL);
}

/* True if standard error of the prepared command goes where its standard output goes. */
static bool has_one_output(lua_State *L, int64_t prepared)
{
	lua_getuservalue(L, 1);
	lua_pushint64(L, prepared);
	lua_rawget(L, -2);
	if (lua_istable(L, -1))
		get_field(L, lua_gettop(L), "stderr");
	const char *name = lua_tostring(L, -1);
	return name && strcmp(name, "stdout") == 0;
}

/* queue:submit{ program, arguments..., options } */
static int queue_submit(lua_State *L)
{
	struct build build = { .L = L, .options = 2, .is_run = true };
	struct aspawn_job job = { .size = sizeof job };
	struct aspawn_failure failure;

	lua_settop(L, 2);
	luaL_checkudata(L, 1, QUEUE);
	luaL_checktype(L, 2, LUA_TTABLE);
	job.input = input_option(L, 2, &job.input_size);
	const size_t kept = (size_t)number_option(L, 2, "output_size", 0, UINT32_MAX, 1 << 14) + 1;
	job.key = (uint32_t)number_option(L, 2, "key", 1, UINT32_MAX, 0);
	job.key_limit = (uint32_t)number_option(L, 2, "key_limit", 1, UINT32_MAX, 0);
	job.priority = (int)number_option(L, 2, "priority", 0, INT_MAX, 0);
	job.prepared = number_option(L, 2, "prepared", 1, 9007199254740992.0, 0);
	job.time_limit_ms = time_option(L, 2, "timeout", 1);
	job.grace_ms = time_option(L, 2, "grace", ASPAWN_GRACE_NONE);
	build.command.std_out = build.command.std_err = ASPAWN_STREAM_PIPE;
	struct aspawn_command *command = prepare(&build);
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
	return keep(L, aspawn_queue_submit(check_queue(L), &job, &failure), &failure);
}

/* queue:prepare{ program, arguments..., options } */
static int queue_prepare(lua_State *L)
{
	struct build build = { .L = L, .options = 2 };
	struct aspawn_failure failure;

	lua_settop(L, 2);
	const struct aspawn_command *command = prepare(&build);
	return keep(L, aspawn_queue_prepare(check_queue(L), command, &failure), &failure);
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
	SET(L, "ticket", int64, result->ticket);
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
	set_end(L, result->outcome == ASPAWN_OUTCOME_RAN,
		result->outcome == ASPAWN_OUTCOME_NOT_STARTED ? -1 : result->status, &result->usage,
		result->cut, result->memory_peak);
	if (result->survivors)
		SET(L, "survivors", integer, result->survivors);
	if (result->failure.error)
		SET(L, "errno", integer, -result->failure.error);
}

static int next_result(lua_State *L, int64_t timeout_ms)
{
	const struct aspawn_result *taken;
	struct outputs *outputs = new_object(L, sizeof *outputs, OUTPUTS);
	struct aspawn_queue *queue = check_queue(L);
	int r = aspawn_queue_wait(queue, &taken, 1, timeout_ms);

	if (r <= 0)
		return r == -ECHILD ? failed(L, "no jobs", r) :
				      result_of(L, r == 0 ? -ETIMEDOUT : r, NULL);
	const struct aspawn_result result = *taken;
	r = collect(outputs, 1, taken->out, taken->out_length);
	if (r == 0)
		r = collect(outputs, 2, taken->err, taken->err_length);
	aspawn_queue_release(queue, &taken, 1);
	push_result(L, &result, outputs);
	lua_getuservalue(L, 1);
	lua_pushint64(L, result.ticket);
	lua_rawget(L, -2);
	lua_setfield(L, -3, "job");
	lua_pushint64(L, result.ticket);
	lua_pushnil(L);
	lua_rawset(L, -3);
	lua_pop(L, 1);
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
	if (lua_isnone(L, 2)) /* nil is what submit() returns without a job */
		return result_of(L, aspawn_queue_cancel_all(check_queue(L)), NULL);
	const double ticket = luaL_checknumber(L, 2);
	const bool is_one = ticket >= 0 && ticket < 9007199254740992.0 && ticket == floor(ticket);
	return result_of(L, aspawn_queue_cancel(check_queue(L), is_one ? (int64_t)ticket : -1),
			 NULL);
}

/* queue:count(): waiting, running, ended */
static int queue_count(lua_State *L)
{
	for (int what = ASPAWN_COUNT_WAITING; what <= ASPAWN_COUNT_ENDED; what++) {
		const int r = aspawn_queue_count(check_queue(L), what);

		if (r < 0)
			return result_of(L, r, NULL);
		lua_pushinteger(L, r);
	}
	return 3;
}

static int queue_fd(lua_State *L)
{
	const int r = aspawn_queue_fd(check_queue(L));

	if (r < 0)
		return result_of(L, r, NULL);
	lua_pushinteger(L, r);
	return 1;
}

void open_run(lua_State *L)
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

	new_class(L, OUTPUTS, NULL, NULL, outputs_gc);
	new_class(L, QUEUE, methods, NULL, queue_close);
}
