/* SPDX-License-Identifier: MIT */
/*
 * A queue of commands (aspawn/queue.h) for JavaScript. Its owner, a JavaScript object, has the
 * struct queue attached to it: the loop polls the queue's descriptor, and calls
 * owner.results([result, ...]). The owner is kept from being collected only while it has jobs; a
 * queue that nobody has closed is closed when it is collected.
 */
#include "addon.h"
#include "members.h"

struct queue {
	struct aspawn_queue *queue; /* NULL: it has ended */
	struct instance *instance;
	uv_handle *poll;
	napi_ref owner;
	napi_async_context context;
	bool is_called; /* owner.results() runs */
	bool is_closed; /* by what it has called */
};

/* --- results ---------------------------------------------------------------------- */

void set_number(napi_env env, napi_value object, const char *name, double value)
{
	napi_value to;

	if (napi_create_double(env, value, &to) == napi_ok)
		napi_set_named_property(env, object, name, to);
}

static void set_output(napi_env env, napi_value object, const char *name, const char *bytes,
		       size_t size)
{
	napi_value buffer;

	if (bytes && napi_create_buffer_copy(env, size, bytes, NULL, &buffer) == napi_ok)
		napi_set_named_property(env, object, name, buffer);
}

static napi_value to_object(napi_env env, const struct aspawn_result *result)
{
	napi_value object;

	napi_create_object(env, &object);
	give_result(env, object, result);
	set_output(env, object, "stdout", result->out, result->out_length);
	set_output(env, object, "stderr", result->err, result->err_length);
	set_number(env, object, "errno", result->failure.error);
	set_failure(env, object, &result->failure);
	return object;
}

static void end(void *data);

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

/* Also at the end of a thread. */
static void end(void *data)
{
	struct queue *queue = data;
	napi_env env = queue->instance->env;
	int64_t total;

	uv_poll_stop(queue->poll);
	close_handle(queue->instance, queue->poll);
	aspawn_queue_close(queue->queue);
	queue->queue = NULL;
	napi_remove_env_cleanup_hook(env, end, queue);
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

/* queueCreate(owner, numbers of the options): 0, or a negative error number. */
napi_value queue_create(napi_env env, napi_callback_info info)
{
	struct queue *queue = calloc(1, sizeof *queue);
	struct instance *instance;
	napi_value v[2], name;
	size_t count = 2;
	int64_t total;
	int error;

	napi_get_cb_info(env, info, &count, v, NULL, NULL);
	struct aspawn_queue_options options = { .size = sizeof options };
	uv_handle *poll = malloc(uv_handle_size(UV_POLL));

	set_queue_options(env, v[1], &options);
	options.flags = ASPAWN_QUEUE_FD;
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
	napi_add_env_cleanup_hook(env, end, queue);
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

	if (queue && queue->is_called)
		queue->is_closed = true;
	else if (queue)
		end(queue);
	return NULL;
}

/* --- jobs ------------------------------------------------------------------------------- */

/* The arguments: after the owner, the object that gets the text of a failure. */
enum { OWNER, FAILED, COMMAND, JOB = COMMAND + OF_COMMAND, INPUT, ARGUMENTS };

static int64_t submit(napi_env env, struct arena *arena, const napi_value *v,
		      struct aspawn_queue *queue, struct aspawn_failure *failure)
{
	struct request request = { .command = { .argv = NULL } };
	struct aspawn_job job = { .size = sizeof job };
	int64_t error = to_command(env, arena, v + COMMAND, 0, &request);
	bool is_job = false;

	if (error)
		return error;
	napi_is_array(env, v[JOB], &is_job);
	if (!is_job)
		return aspawn_queue_prepare(queue, &request.command, failure);
	set_job(env, v[JOB], &job);
	if (job.prepared)
		job.argv = request.command.argv;
	else
		job.command = &request.command;
	job.input = bytes(env, v[INPUT], &job.input_size);
	return aspawn_queue_submit(queue, &job, failure);
}

/* queueSubmit(owner, failed, command ..., numbers of the job, input): the ticket, or without the
 * last two the number of a prepared command; or a negative error number.
 * failed gets the failure. */
napi_value queue_submit(napi_env env, napi_callback_info info)
{
	napi_value v[ARGUMENTS];
	struct queue *queue = open_queue(env, info, ARGUMENTS, v);
	struct arena arena = { NULL, NULL };
	struct aspawn_failure failure = { .error = 0 };
	const int64_t result =
		queue ? submit(env, &arena, v, queue->queue, &failure) : -PSYS_ECANCELED;

	set_failure(env, v[FAILED], &failure);
	free_all(&arena);
	return number(env, result);
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

/* queueReference(owner, whether): there are jobs: the loop waits for results,
 * and the owner is kept. */
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
