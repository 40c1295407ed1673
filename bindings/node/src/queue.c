/* SPDX-License-Identifier: MIT */
/*
 * A queue of commands (aspawn/queue.h) for JavaScript. Its owner, a JavaScript object, has the
 * struct queue attached to it: the loop polls the queue's descriptor, and calls
 * owner.results([result, ...]). The owner is kept from being collected only while it has jobs; a queue
 * that nobody has closed is closed when it is collected.
 */
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
	napi_value object;

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
	set_number(env, object, "cut", result->cut);
	set_number(env, object, "survivors", result->survivors);
	set_number(env, object, "memoryPeak", (double)result->memory_peak);
	set_number(env, object, "errno", result->failure.error);
	set_failure(env, object, &result->failure);
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
	struct instance *instance;
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

	error = queue && poll ? aspawn_queue_create(&queue->queue, &options) : -PSYS_ENOMEM;
	napi_get_instance_data(env, (void **)&instance);
	if (!error) {
		error = uv_poll_init(instance->loop, poll, aspawn_queue_fd(queue->queue));
		if (error)
			aspawn_queue_close(queue->queue);
	}
	if (error) {
		free(poll);
		free(queue);
		return number(env, error);
	}
	queue->instance = instance;
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

/* In the array of numbers. */
enum {
	STD_ERR,
	MEMORY,
	OWNED_BY,
	STOP_SIGNAL,
	FLAGS,
	COOKIE,
	PREPARED,
	OUT_SIZE,
	ERR_SIZE,
	TIME_LIMIT,
	GRACE,
	KEY,
	KEY_LIMIT,
	PRIORITY
};

/* The arguments after the object that gets the text of a failure. */
enum { OWNER, FAILED, COMMAND, NUMBERS = COMMAND + OF_COMMAND, INPUT, ARGUMENTS };

static int64_t at(napi_env env, const napi_value *v, uint32_t which)
{
	return integer(env, element(env, v[NUMBERS], which));
}

static int64_t submit(napi_env env, struct arena *arena, const napi_value *v,
		      struct aspawn_queue *queue, bool is_job)
{
	struct request request = { .command = { .size = sizeof request.command,
						.flags = ASPAWN_COMMAND_SHELL_ON_ENOEXEC,
						.std_err = (int)at(env, v, STD_ERR),
						.memory = (int)at(env, v, MEMORY),
						.owner = (int)at(env, v, OWNED_BY),
						.stop_signal = (int)at(env, v, STOP_SIGNAL) } };
	struct aspawn_job job = { .size = sizeof job };
	struct aspawn_failure failure = { .error = 0 };
	int64_t result = to_command(env, arena, v + COMMAND, 0, &request);

	if (result)
		return result;
	if (!is_job) {
		result = aspawn_queue_prepare(queue, &request.command, &failure);
		set_failure(env, v[FAILED], &failure);
		return result;
	}
	job.flags = (uint64_t)at(env, v, FLAGS);
	job.cookie = (uint64_t)at(env, v, COOKIE);
	job.prepared = at(env, v, PREPARED);
	if (job.prepared)
		job.argv = request.command.argv;
	else
		job.command = &request.command;
	job.input = bytes(env, v[INPUT], &job.input_size);
	job.out_size = (size_t)at(env, v, OUT_SIZE);
	job.err_size = (size_t)at(env, v, ERR_SIZE);
	job.time_limit_ms = at(env, v, TIME_LIMIT);
	job.grace_ms = at(env, v, GRACE);
	job.key = (uint32_t)at(env, v, KEY);
	job.key_limit = (uint32_t)at(env, v, KEY_LIMIT);
	job.priority = (int)at(env, v, PRIORITY);
	result = aspawn_queue_submit(queue, &job, &failure);
	set_failure(env, v[FAILED], &failure);
	return result;
}

static napi_value call_submit(napi_env env, napi_callback_info info, bool is_job)
{
	napi_value v[ARGUMENTS];
	struct queue *queue = open_queue(env, info, ARGUMENTS, v);
	struct arena arena = { NULL, NULL };
	const int64_t result =
		queue ? submit(env, &arena, v, queue->queue, is_job) : -PSYS_ECANCELED;

	free_all(&arena);
	return number(env, result);
}

/* queueSubmit(owner, failed, command ..., numbers, input): the ticket, or a negative error number. */
napi_value queue_submit(napi_env env, napi_callback_info info)
{
	return call_submit(env, info, true);
}

/* queuePrepare(owner, failed, command ..., numbers): the number of the command, or a negative one. */
napi_value queue_prepare(napi_env env, napi_callback_info info)
{
	return call_submit(env, info, false);
}

/* queueRelease(owner, number of a prepared command) */
napi_value queue_release(napi_env env, napi_callback_info info)
{
	napi_value v[2];
	struct queue *queue = open_queue(env, info, 2, v);

	if (queue)
		aspawn_queue_release_prepared(queue->queue, integer(env, v[1]));
	return NULL;
}

/* queueCancel(owner, ticket): 0, or a negative error number. */
napi_value queue_cancel(napi_env env, napi_callback_info info)
{
	napi_value v[2];
	struct queue *queue = open_queue(env, info, 2, v);

	return number(env,
		      queue ? aspawn_queue_cancel(queue->queue, integer(env, v[1])) : -PSYS_ESRCH);
}

/* queueReference(owner, whether): there are jobs: the loop waits for results, and the owner is kept. */
napi_value queue_reference(napi_env env, napi_callback_info info)
{
	napi_value v[2];
	struct queue *queue = open_queue(env, info, 2, v);
	const bool whether = integer(env, v[1]);
	uint32_t count;

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
