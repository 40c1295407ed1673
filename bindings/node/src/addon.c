/* SPDX-License-Identifier: MIT */
/*
 * The library for Node, by Node-API and the event loop's stable functions.
 *
 * A child is a JavaScript object, its owner, to which a struct running is attached until the child
 * has ended: the loop polls its ended_fd, and calls owner.ended(status, signal). That call comes in
 * the loop's check phase, after all input and output that the loop found together with the end, and
 * in the order of the starts, as libuv does it. JavaScript has checked all arguments
 * (lib/handle.js).
 */
#include "addon.h"

/* Memory of children, for all threads. */
static struct aspawn_pool pool;

struct running {
	struct aspawn_child child;
	int stop_signal;
	struct instance *instance;
	struct running *next; /* in instance.ended */
	uint64_t number;
	uv_handle *watch; /* of its ended_fd, or a timer */
	napi_ref owner;
	napi_async_context context;
};

static void finish_cleanup(struct instance *instance)
{
	if (instance->cleanup && !instance->closing) {
		napi_remove_async_cleanup_hook(instance->cleanup);
		free(instance);
	}
}

static void closed(uv_handle *handle)
{
	struct instance *instance = uv_handle_get_data(handle);

	free(handle);
	instance->closing--;
	finish_cleanup(instance);
}

void close_handle(struct instance *instance, uv_handle *handle)
{
	uv_handle_set_data(handle, instance);
	instance->closing++;
	uv_close(handle, closed);
}

/* The child is not watched any more. At the end of a thread its children run on. */
static void forget(void *data)
{
	struct running *running = data;

	napi_remove_env_cleanup_hook(running->instance->env, forget, running);
	close_handle(running->instance, running->watch);
	aspawn_release(&running->child); /* does nothing if it was waited for */
	free(running);
}

napi_value number(napi_env env, int64_t value)
{
	napi_value result = NULL;

	napi_create_int64(env, value, &result);
	return result;
}

void set_failure(napi_env env, napi_value object, const struct aspawn_failure *failure)
{
	char text[256];
	napi_value value;

	if (aspawn_failure_text(text, sizeof text, failure) &&
	    napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value) == napi_ok)
		napi_set_named_property(env, object, "failure", value);
}

void call_owner(napi_env env, napi_async_context context, napi_value owner, const char *method,
		size_t count, const napi_value *arguments)
{
	napi_value call, error;

	if (napi_get_named_property(env, owner, method, &call) == napi_ok)
		napi_make_callback(env, context, owner, call, count, arguments, NULL);
	if (napi_get_and_clear_last_exception(env, &error) == napi_ok) {
		napi_valuetype type;

		if (napi_typeof(env, error, &type) == napi_ok && type != napi_undefined)
			napi_fatal_exception(env, error);
	}
}

static void report_end(struct running *running)
{
	napi_env env = running->instance->env;
	napi_async_context context = running->context;
	struct aspawn_failure failure;
	napi_handle_scope scope;
	napi_value owner;
	int status = 0, code = 0, signal = 0;
	int error = aspawn_wait(&running->child, &status, NULL, -1);

	napi_open_handle_scope(env, &scope);
	napi_get_reference_value(env, running->owner, &owner);
	if (error == -PSYS_ECANCELED &&
	    aspawn_wait_started(&running->child, &failure, 0) == -PSYS_ECANCELED &&
	    failure.error != -PSYS_ECHILD) {
		code = failure.error;
		set_failure(env, owner, &failure);
	} else if (error < 0 && error != -PSYS_ECANCELED) {
		code = error;
	} else if (PSYS_WIFSIGNALED(status)) {
		signal = PSYS_WTERMSIG(status);
	} else {
		code = PSYS_WEXITSTATUS(status);
	}
	napi_remove_wrap(env, owner, NULL);
	napi_delete_reference(env, running->owner);
	forget(running);
	call_owner(env, context, owner, "ended", 2,
		   (napi_value[]){ number(env, code), number(env, signal) });
	napi_async_destroy(env, context);
	napi_close_handle_scope(env, scope);
}

static void report_ends(uv_handle *check)
{
	struct instance *instance = uv_handle_get_data(check);

	uv_check_stop(check);
	for (struct running *running; (running = instance->ended);) {
		instance->ended = running->next;
		report_end(running);
	}
}

static void has_ended(struct running *running)
{
	struct instance *instance = running->instance;
	struct running **link = &instance->ended;

	while (*link && (*link)->number < running->number)
		link = &(*link)->next;
	running->next = *link;
	*link = running;
	uv_check_start(instance->check, report_ends);
}

static void look_again(uv_handle *timer)
{
	struct running *running = uv_handle_get_data(timer);

	if (aspawn_ended(&running->child) != 0) /* the timer keeps the loop until the check phase */
		has_ended(running);
}

/* Somebody has killed the child's helper, whose descriptor stays readable. */
static void look_by_timer(struct running *running)
{
	enum { EVERY_MS = 20 };
	uv_handle *poll = running->watch, *timer = malloc(uv_handle_size(UV_TIMER));

	if (!timer)
		return;
	uv_timer_init(running->instance->loop, timer);
	uv_handle_set_data(timer, running);
	uv_timer_start(timer, look_again, EVERY_MS, EVERY_MS);
	if (!uv_has_ref(poll))
		uv_unref(timer);
	running->watch = timer;
	uv_poll_stop(poll);
	close_handle(running->instance, poll);
}

static void see_end(uv_handle *poll, int error, int events)
{
	struct running *running = uv_handle_get_data(poll);

	(void)error;
	(void)events;
	if (aspawn_ended(&running->child) == 0) {
		look_by_timer(running);
		return;
	}
	uv_poll_stop(poll);
	has_ended(running);
}

/* At the end of a thread, after the hooks of its children and queues. */
static void cleanup(napi_async_cleanup_hook_handle handle, void *data)
{
	struct instance *instance = data;

	instance->cleanup = handle;
	uv_check_stop(instance->check);
	close_handle(instance, instance->check);
	finish_cleanup(instance);
}

void *owned_by(napi_env env, napi_callback_info info, size_t count, napi_value *arguments)
{
	void *owned = NULL;

	napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
	return napi_unwrap(env, arguments[0], &owned) == napi_ok ? owned : NULL;
}

/* --- start ---------------------------------------------------------------------------- */

/* In the array of streams that JavaScript gives; other numbers are descriptors. */
enum { STREAM_IGNORE = -1, STREAM_PIPE = -2, STREAM_PTY = -3 };

struct streams {
	int32_t *given;
	int *child, *parent, *copies; /* -1: none */
	size_t count;
};

/* The descriptor, or if it is below 3 a duplicate in its place; -1 if there is none. */
static int above_streams(int fd)
{
	if (fd > 2)
		return fd;
	const long copy = psys_fcntl(fd, PSYS_F_DUPFD_CLOEXEC, 3);
	psys_close(fd);
	return copy < 0 ? -1 : (int)copy;
}

static int make_pipes(struct streams *streams)
{
	for (size_t i = 0; i < streams->count; i++) {
		int pair[2], error;

		if (streams->given[i] >= 0)
			streams->child[i] = streams->given[i];
		if (streams->given[i] != STREAM_PIPE)
			continue;
		error = psys_socketpair(PSYS_AF_UNIX, PSYS_SOCK_STREAM | PSYS_SOCK_CLOEXEC, 0, pair);
		if (error < 0)
			return error;
		streams->parent[i] = above_streams(pair[0]);
		streams->child[i] = above_streams(pair[1]);
		if (streams->parent[i] < 0 || streams->child[i] < 0)
			return -PSYS_EMFILE;
	}
	return 0;
}

/* Before the action first. A source that an earlier action replaces is duplicated. */
static int add_streams(struct aspawn_action **first, struct streams *streams)
{
	for (size_t i = streams->count; i-- > 0;) {
		int from = streams->child[i];
		long flags = 0;

		if (from < 0) {
			if (i < 3 && streams->given[i] != STREAM_PTY)
				aspawn_action_open(--*first, (int)i, "/dev/null",
						   i ? PSYS_O_RDWR : PSYS_O_RDONLY, 0);
			continue;
		}
		if (streams->given[i] != STREAM_PIPE)
			flags = psys_fcntl(from, PSYS_F_GETFL, 0);
		if (flags < 0)
			return (int)flags;
		if (i < 3 && flags & PSYS_O_NONBLOCK)
			psys_fcntl(from, PSYS_F_SETFL, (unsigned long)(flags & ~PSYS_O_NONBLOCK));
		if ((size_t)from < i && streams->child[from] != from) {
			from = streams->copies[i] = (int)psys_fcntl(from, PSYS_F_DUPFD_CLOEXEC,
								    (unsigned long)streams->count);
			if (from < 0)
				return from;
		}
		aspawn_action_dup2(--*first, from, (int)i);
	}
	return 0;
}

/* Closes the child's, and on request the caller's, which JavaScript gets otherwise. */
static void close_streams(struct streams *streams, bool all)
{
	for (size_t i = 0; i < streams->count; i++) {
		if (streams->given[i] == STREAM_PIPE && streams->child[i] >= 0)
			psys_close(streams->child[i]);
		if (streams->copies[i] >= 0)
			psys_close(streams->copies[i]);
		if (all && streams->parent[i] >= 0)
			psys_close(streams->parent[i]);
		streams->given[i] = all ? -1 : streams->parent[i];
	}
}

static int watch(struct instance *instance, struct running *running, napi_value owner)
{
	napi_env env = instance->env;
	napi_value name;
	int error;

	running->watch = malloc(uv_handle_size(UV_POLL));
	if (!running->watch)
		return -PSYS_ENOMEM;
	error = uv_poll_init(instance->loop, running->watch, running->child.ended_fd);
	if (error < 0) {
		free(running->watch);
		return error;
	}
	uv_handle_set_data(running->watch, running);
	uv_poll_start(running->watch, UV_READABLE, see_end);
	running->instance = instance;
	running->number = instance->started++;
	napi_add_env_cleanup_hook(env, forget, running);
	napi_create_reference(env, owner, 1, &running->owner);
	napi_create_string_utf8(env, "ASPAWN", NAPI_AUTO_LENGTH, &name);
	napi_async_init(env, owner, name, &running->context);
	napi_wrap(env, owner, running, NULL, NULL, NULL);
	return 0;
}

/* Waits for the exec, if that is not certain, or until the child has a number: its helper, if it
 * has one, may have no turn, or be stopped. */
static int await_start(struct aspawn_child *child, struct aspawn_failure *failure, bool is_certain)
{
	int r;

	do
		r = aspawn_pid(child);
	while (r == -PSYS_EAGAIN);
	return r > 0 && is_certain ? 0 : aspawn_wait_started(child, failure, -1);
}

enum { OWNER, COMMAND, STREAMS = COMMAND + OF_COMMAND, CERTAIN, ARGUMENTS };

/* Starts the command, and waits for its exec unless that is certain. */
static int start(napi_env env, struct arena *arena, const napi_value *v, struct streams *streams,
		 struct running *running)
{
	struct request request = { .command = { .pool = &pool } };
	struct aspawn_command *command = &request.command;
	struct aspawn_failure failure = { .error = 0 };
	char path[PSYS_PATH_MAX];
	int uncertain, error = to_command(env, arena, v + COMMAND, streams->count, &request);

	if (!error)
		error = make_pipes(streams);
	if (!error)
		error = add_streams(&request.first, streams);
	if (error)
		return error;
	command->action_count += (size_t)(command->actions - request.first);
	command->actions = request.first;
	running->stop_signal = command->stop_signal ? command->stop_signal : PSYS_SIGTERM;
	const bool is_certain = integer(env, v[CERTAIN]) &&
				!aspawn_find(path, sizeof path, command, &uncertain) &&
				uncertain == ASPAWN_STEP_NONE;

	const bool on_pty = streams->count && streams->given[0] == STREAM_PTY;
	if (on_pty)
		command->std_in = command->std_out = command->std_err = ASPAWN_STREAM_PTY;
	error = aspawn_start(&running->child, command);
	if (on_pty) /* -1 after an error */
		streams->parent[0] = running->child.pty_fd;
	if (error < 0) {
		aspawn_wait_started(&running->child, &failure, 0);
	} else if (await_start(&running->child, &failure, is_certain) != -PSYS_ECANCELED) {
		give_pipes(env, arena, true);
		return 0;
	} else {
		aspawn_wait(&running->child, NULL, NULL, -1);
		give_pipes(env, arena, false);
		error = failure.error;
	}
	set_failure(env, v[OWNER], &failure);
	return error;
}

/*
 * spawn(owner, command ..., streams, certain): the pid, or a negative error number. certain: what
 * the file alone decides about. streams, an Int32Array, then has the parent's descriptors, or -1.
 */
static napi_value spawn(napi_env env, napi_callback_info info)
{
	napi_value v[ARGUMENTS];
	struct instance *instance;
	struct arena arena = { NULL, NULL };
	struct streams streams = { .count = 0 };
	struct running *running = calloc(1, sizeof *running);
	size_t count = ARGUMENTS;
	void *given = NULL;
	int error, result;

	napi_get_cb_info(env, info, &count, v, NULL, NULL);
	napi_get_instance_data(env, (void **)&instance);
	napi_get_typedarray_info(env, v[STREAMS], NULL, &streams.count, &given, NULL, NULL);
	streams.given = given;
	streams.child = allocate(&arena, 3 * streams.count * sizeof(int));
	if (!running || !streams.child) {
		free(running);
		free_all(&arena);
		return number(env, -PSYS_ENOMEM);
	}
	psys_memset(streams.child, -1, 3 * streams.count * sizeof(int));
	streams.parent = streams.child + streams.count;
	streams.copies = streams.parent + streams.count;

	error = start(env, &arena, v, &streams, running);
	if (!error) {
		result = aspawn_pid(&running->child);
		error = watch(instance, running, v[OWNER]);
		if (error)
			aspawn_release(&running->child);
	}
	if (error) {
		free(running);
		result = error;
	}
	/* Node opens the streams of a program that is missing, and reads their end. */
	close_streams(&streams, error && error != -PSYS_ENOENT && error != -PSYS_EACCES &&
					error != -PSYS_EAGAIN);
	free_all(&arena);
	return number(env, result);
}

/* --- a running child --------------------------------------------------------------------- */

/* A signal to a tree, whose stop signal is followed by SIGKILL a second later, or to the group. */
static int kill_all(struct running *running, int signal)
{
	struct aspawn_child *child = &running->child;
	const bool is_tree = aspawn_describe(child, ASPAWN_FACT_OWNER) == ASPAWN_OWNER_TREE;

	if (is_tree && (signal == running->stop_signal || signal == PSYS_SIGKILL))
		return aspawn_kill_tree(child, signal == PSYS_SIGKILL ? ASPAWN_GRACE_NONE : 0);
	return aspawn_kill_group(child, signal);
}

/* kill(owner, signal, whether its group or tree): 0, or a negative error number. */
static napi_value kill_child(napi_env env, napi_callback_info info)
{
	napi_value v[3];
	struct running *running = owned_by(env, info, 3, v);

	if (!running)
		return number(env, -PSYS_ESRCH);
	const int signal = (int)integer(env, v[1]);
	return number(env, integer(env, v[2]) ? kill_all(running, signal) :
						aspawn_kill(&running->child, signal));
}

/* resize(owner, rows, columns): 0, or a negative error number. */
static napi_value resize(napi_env env, napi_callback_info info)
{
	napi_value v[3];
	struct running *running = owned_by(env, info, 3, v);

	return number(env, running ? aspawn_resize(&running->child, (unsigned)integer(env, v[1]),
						   (unsigned)integer(env, v[2])) :
				     0);
}

/* killCgroup(fd) */
static napi_value kill_cgroup(napi_env env, napi_callback_info info)
{
	napi_value v[1];
	size_t count = 1;

	napi_get_cb_info(env, info, &count, v, NULL, NULL);
	return number(env, aspawn_kill_cgroup((int)integer(env, v[0])));
}

/* reference(owner, whether): the loop waits for the child, or not. */
static napi_value reference(napi_env env, napi_callback_info info)
{
	napi_value v[2];
	struct running *running = owned_by(env, info, 2, v);

	if (running)
		(integer(env, v[1]) ? uv_ref : uv_unref)(running->watch);
	return NULL;
}

/* mode(owner): enum aspawn_clone_mode of a running child. */
static napi_value mode(napi_env env, napi_callback_info info)
{
	napi_value v[1];
	struct running *running = owned_by(env, info, 1, v);

	return number(env, running ? aspawn_describe(&running->child, ASPAWN_FACT_MODE) :
				     ASPAWN_MODE_NONE);
}

/* isSupported(): 1 if the kernel has pidfds that can be polled. A lack of descriptors or memory
 * does not say that it has none. */
static napi_value is_supported(napi_env env, napi_callback_info info)
{
	const int fd = psys_pidfd_open(psys_getpid(), 0);

	(void)info;
	if (fd >= 0)
		psys_close(fd);
	return number(env,
		      fd >= 0 || fd == -PSYS_EMFILE || fd == -PSYS_ENFILE || fd == -PSYS_ENOMEM);
}

NAPI_MODULE_INIT()
{
#define FUNCTION(name, call)                                                  \
	{                                                                     \
		name, NULL, call, NULL, NULL, NULL, napi_default_method, NULL \
	}
	static const napi_property_descriptor functions[] = {
		FUNCTION("spawn", spawn),
		FUNCTION("kill", kill_child),
		FUNCTION("resize", resize),
		FUNCTION("killCgroup", kill_cgroup),
		FUNCTION("reference", reference),
		FUNCTION("isSupported", is_supported),
		FUNCTION("mode", mode),
		FUNCTION("queueCreate", queue_create),
		FUNCTION("queueSubmit", queue_submit),
		FUNCTION("queueRelease", queue_release),
		FUNCTION("queueCancel", queue_cancel),
		FUNCTION("queueReference", queue_reference),
		FUNCTION("queueCounts", queue_counts),
		FUNCTION("queueClose", queue_close),
	};
	struct instance *instance = calloc(1, sizeof *instance);
	uv_handle *check = malloc(uv_handle_size(UV_CHECK));

	if (!instance || !check ||
	    napi_get_uv_event_loop(env, (struct uv_loop_s **)&instance->loop) != napi_ok) {
		free(instance);
		free(check);
		napi_throw_error(env, NULL, "aspawn: no event loop");
		return NULL;
	}
	uv_check_init(instance->loop, check);
	uv_unref(check);
	uv_handle_set_data(check, instance);
	instance->check = check;
	instance->env = env;
	napi_set_instance_data(env, instance, NULL, NULL);
	napi_add_async_cleanup_hook(env, cleanup, instance, NULL);
	napi_define_properties(env, exports, sizeof functions / sizeof *functions, functions);
	return exports;
}
