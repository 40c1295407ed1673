/* SPDX-License-Identifier: MIT */
/*
 * A queue of commands (aspawn/queue.h) for JavaScript. Its owner, a JavaScript object, has the
 * struct queue attached to it: the loop polls the queue's descriptor, and calls
 * owner.results([result, ...]). The owner is kept from being collected only while it has jobs; a queue
 * that nobody has closed is closed when it is collected.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "addon.h"

struct queue {
	struct aspawn_queue *queue; /* NULL: it has ended */
	struct instance *instance;
	struct queue *next, **link;
	uv_handle *poll;
	napi_ref owner;
	napi_async_context context;
	bool is_called; /* owner.results() runs */
	bool is_closed; /* by what it has called */
};

/* --- results ---------------------------------------------------------------------- */

static void set(napi_env env, napi_value object, const char *name, napi_value value)
{
	napi_set_named_property(env, object, name, value);
}

static void set_number(napi_env env, napi_value object, const char *name, double value)
{
	napi_value to;

	if (napi_create_double(env, value, &to) == napi_ok)
		set(env, object, name, to);
}

static void set_output(napi_env env, napi_value object, const char *name, const char *bytes,
		       size_t size)
{
	napi_value buffer;

	if (bytes && napi_create_buffer_copy(env, size, bytes, NULL, &buffer) == napi_ok)
		set(env, object, name, buffer);
}

/* Milliseconds between two times of a result, of which the first may be missing. */
static double between(int64_t from, int64_t to)
{
	return from ? (double)(to - from) / 1e6 : 0;
}

static napi_value to_object(napi_env env, const struct aspawn_result *result)
{
	char text[256];
	napi_value object, value;

	napi_create_object(env, &object);
	set_number(env, object, "cookie", (double)result->cookie);
	set_number(env, object, "outcome", result->outcome);
	set_number(env, object, "pid", result->pid);
	set_number(env, object, "status", result->status);
	set_output(env, object, "stdout", result->out, result->out_length);
	set_output(env, object, "stderr", result->err, result->err_length);
	set_number(env, object, "stdoutTotal", (double)result->out_total);
	set_number(env, object, "stderrTotal", (double)result->err_total);
	set_number(env, object, "waited",
		   between(result->submitted_ns,
			   result->started_ns ? result->started_ns : result->ended_ns));
	set_number(env, object, "ran", between(result->started_ns, result->ended_ns));
	set_number(env, object, "errno", result->failure.error);
	aspawn_failure_text(text, sizeof text, &result->failure);
	if (napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value) == napi_ok)
		set(env, object, "failure", value);
	return object;
}

static void end(struct queue *queue);

/* Calls owner.results() with all that there are. */
static void take_results(uv_handle *poll, int error, int events)
{
	enum { MOST = 16 };
	struct queue *queue = uv_handle_get_data(poll);
	napi_env env = queue->instance->env;
	const struct aspawn_result *results[MOST];
	napi_handle_scope scope;
	napi_value owner, array;
	uint32_t length = 0;
	int count;

	(void)error;
	(void)events;
	napi_open_handle_scope(env, &scope);
	napi_create_array(env, &array);
	do {
		count = aspawn_queue_wait(queue->queue, results, MOST, 0);
		for (int i = 0; i < count; i++)
			napi_set_element(env, array, length++, to_object(env, results[i]));
		if (count > 0)
			aspawn_queue_release(queue->queue, results, count);
	} while (count == MOST);
	napi_get_reference_value(env, queue->owner, &owner);
	queue->is_called = true;
	if (length)
		call_owner(env, queue->context, owner, "results", 1, &array);
	queue->is_called = false;
	if (queue->is_closed)
		end(queue);
	napi_close_handle_scope(env, scope);
}

/* --- creation and end --------------------------------------------------------------- */

/* About what a server and its memory take, so that V8 collects in time what is dropped. */
enum { COST = 1 << 20 };

static void end(struct queue *queue)
{
	napi_env env = queue->instance->env;
	int64_t total;

	uv_poll_stop(queue->poll);
	close_handle(queue->instance, queue->poll);
	aspawn_queue_close(queue->queue);
	queue->queue = NULL;
	*queue->link = queue->next;
	if (queue->next)
		queue->next->link = queue->link;
	napi_delete_reference(env, queue->owner);
	napi_async_destroy(env, queue->context);
	napi_adjust_external_memory(env, -COST, &total);
}

static void collect(napi_env env, void *data, void *hint)
{
	struct queue *queue = data;

	(void)env;
	(void)hint;
	if (queue->queue)
		end(queue);
	free(queue);
}

/* As owned_by(); NULL if it is closed. */
static struct queue *open_queue(napi_env env, napi_callback_info info, size_t count, napi_value *v)
{
	struct queue *queue = owned_by(env, info, count, v);

	return queue && queue->queue && !queue->is_closed ? queue : NULL;
}

void close_queues(struct instance *instance)
{
	while (instance->queues)
		end(instance->queues);
}

/* queueCreate(owner, [jobs, running, jobBytes, delay]): 0, or a negative error number. */
napi_value queue_create(napi_env env, napi_callback_info info)
{
	struct queue *queue = calloc(1, sizeof *queue);
	napi_value v[2], name;
	size_t count = 2;
	int64_t total;
	int error;

	napi_get_cb_info(env, info, &count, v, NULL, NULL);
	const struct aspawn_queue_options options = {
		.size = sizeof options,
		.flags = ASPAWN_QUEUE_FD,
		.jobs = (uint32_t)integer(env, element(env, v[1], 0)),
		.running = (uint32_t)integer(env, element(env, v[1], 1)),
		.job_bytes = (uint32_t)integer(env, element(env, v[1], 2)),
		.delay_ms = (uint32_t)integer(env, element(env, v[1], 3)),
	};
	uv_handle *poll = malloc(uv_handle_size(UV_POLL));

	error = queue && poll ? aspawn_queue_create(&queue->queue, &options) : -ENOMEM;
	if (error) {
		free(poll);
		free(queue);
		return number(env, error);
	}
	napi_get_instance_data(env, (void **)&queue->instance);
	error = uv_poll_init(queue->instance->loop, poll, aspawn_queue_fd(queue->queue));
	if (error < 0) {
		aspawn_queue_close(queue->queue);
		free(poll);
		free(queue);
		return number(env, error);
	}
	queue->poll = poll;
	uv_handle_set_data(poll, queue);
	uv_poll_start(poll, UV_READABLE, take_results);
	uv_unref(poll);
	queue->next = queue->instance->queues;
	queue->link = &queue->instance->queues;
	if (queue->next)
		queue->next->link = &queue->next;
	queue->instance->queues = queue;
	napi_create_reference(env, v[0], 0, &queue->owner);
	napi_create_string_utf8(env, "ASPAWN_QUEUE", NAPI_AUTO_LENGTH, &name);
	napi_async_init(env, NULL, name, &queue->context); /* Node 26 would keep the owner */
	napi_wrap(env, v[0], queue, collect, NULL, NULL);
	napi_adjust_external_memory(env, COST, &total);
	return number(env, 0);
}

/* queueClose(owner) */
napi_value queue_close(napi_env env, napi_callback_info info)
{
	napi_value v[1];
	struct queue *queue = open_queue(env, info, 1, v);

	if (!queue)
		return NULL;
	if (queue->is_called)
		queue->is_closed = true;
	else
		end(queue);
	return NULL;
}

/* --- jobs ------------------------------------------------------------------------------- */

enum {
	OWNER,
	FILE_NAME,
	ARGS,
	ARG_COUNT,
	ENV,
	ENV_COUNT,
	DIRECTORY,
	ACTIONS,
	INPUT,
	NUMBERS,
	ARGUMENTS
};

/* In the array of numbers. */
enum { COOKIE, TAIL, OUT_SIZE, ERR_SIZE, ONE_OUTPUT, TIMEOUT, GRACE, KEY, KEY_LIMIT, PRIORITY };

static int64_t submit(napi_env env, struct arena *arena, const napi_value *v, struct queue *queue)
{
	struct aspawn_command command = { .size = sizeof command,
					  .flags = ASPAWN_COMMAND_SHELL_ON_ENOEXEC };
	struct aspawn_job job = { .size = sizeof job, .command = &command };
	struct aspawn_action *actions, *action;
	char *directory;
	uint32_t count = 0;
	size_t length;
	void *input = NULL;
	bool has_input = false;

	napi_get_array_length(env, v[ACTIONS], &count);
	command.file = string(env, arena, v[FILE_NAME], &length);
	command.argv = strings(env, arena, v[ARGS], v[ARG_COUNT]);
	command.envp = strings(env, arena, v[ENV], v[ENV_COUNT]);
	directory = string(env, arena, v[DIRECTORY], &length);
	actions = action = allocate(arena, (count + 2) * sizeof *actions);
	if (!command.file || !command.argv || !command.envp || !actions)
		return -EINVAL;
	aspawn_action_reset_signals(action++);
	if (directory)
		aspawn_action_chdir(action++, directory);
	for (uint32_t i = 0; i < count; i++)
		if (!to_action(env, arena, element(env, v[ACTIONS], i), action++))
			return -EINVAL;
	command.actions = actions;
	command.action_count = (size_t)(action - actions);
	/* Node 18 aborts if it is asked for the bytes of another value. */
	if (napi_is_buffer(env, v[INPUT], &has_input) == napi_ok && has_input &&
	    napi_get_buffer_info(env, v[INPUT], &input, &length) == napi_ok && length) {
		job.input = input;
		job.input_size = length;
	}
	job.cookie = (uint64_t)integer(env, element(env, v[NUMBERS], COOKIE));
	job.flags = integer(env, element(env, v[NUMBERS], TAIL)) ? ASPAWN_JOB_TAIL : 0;
	job.out_size = (size_t)integer(env, element(env, v[NUMBERS], OUT_SIZE));
	job.err_size = (size_t)integer(env, element(env, v[NUMBERS], ERR_SIZE));
	if (integer(env, element(env, v[NUMBERS], ONE_OUTPUT)))
		command.std_err = ASPAWN_STREAM_STDOUT;
	job.time_limit_ms = integer(env, element(env, v[NUMBERS], TIMEOUT));
	job.grace_ms = integer(env, element(env, v[NUMBERS], GRACE));
	job.key = (uint32_t)integer(env, element(env, v[NUMBERS], KEY));
	job.key_limit = (uint32_t)integer(env, element(env, v[NUMBERS], KEY_LIMIT));
	job.priority = (int)integer(env, element(env, v[NUMBERS], PRIORITY));
	return aspawn_queue_submit(queue->queue, &job, NULL);
}

/*
 * queueSubmit(owner, file, args, count, env, count, directory, actions, input, numbers): the
 * ticket, or a negative error number. args and env are strings with a NUL after each element.
 */
napi_value queue_submit(napi_env env, napi_callback_info info)
{
	napi_value v[ARGUMENTS];
	struct queue *queue = open_queue(env, info, ARGUMENTS, v);
	struct arena arena = { NULL };
	const int64_t result = queue ? submit(env, &arena, v, queue) : -ECANCELED;

	free_all(&arena);
	return number(env, result);
}

/* queueCancel(owner, ticket): 0, or a negative error number. */
napi_value queue_cancel(napi_env env, napi_callback_info info)
{
	napi_value v[2];
	struct queue *queue = open_queue(env, info, 2, v);

	return number(env, queue ? aspawn_queue_cancel(queue->queue, integer(env, v[1])) : -ESRCH);
}

/* queueReference(owner, whether): there are jobs: the loop waits for results, and the owner is kept. */
napi_value queue_reference(napi_env env, napi_callback_info info)
{
	napi_value v[2];
	struct queue *queue = open_queue(env, info, 2, v);
	bool whether = true;
	uint32_t count;

	napi_get_value_bool(env, v[1], &whether);
	if (queue && whether != uv_has_ref(queue->poll)) {
		(whether ? uv_ref : uv_unref)(queue->poll);
		(whether ? napi_reference_ref : napi_reference_unref)(env, queue->owner, &count);
	}
	return NULL;
}

/* queueCounts(owner): an object, or undefined. */
napi_value queue_counts(napi_env env, napi_callback_info info)
{
	napi_value v[1], object = NULL;
	struct queue *queue = open_queue(env, info, 1, v);

	if (!queue)
		return NULL;
	napi_create_object(env, &object);
	set_number(env, object, "waiting", aspawn_queue_count(queue->queue, ASPAWN_COUNT_WAITING));
	set_number(env, object, "running", aspawn_queue_count(queue->queue, ASPAWN_COUNT_RUNNING));
	set_number(env, object, "servers", aspawn_queue_count(queue->queue, ASPAWN_COUNT_SERVERS));
	return object;
}
