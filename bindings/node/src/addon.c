/* SPDX-License-Identifier: MIT */
/*
 * The library for Node, by Node-API and the event loop's stable functions.
 *
 * A child is a JavaScript object, its owner, to which a struct running is attached until the child
 * has ended: the loop polls its ended_fd, and calls owner.ended(status, signal). That call comes in the
 * loop's check phase, after all input and output that the loop found together with the end, and in
 * the order of the starts, as libuv does it. JavaScript has checked all arguments (lib/handle.js).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "addon.h"

/* Memory of children, for all threads. */
static struct aspawn_pool pool;

struct running {
	struct aspawn_child child;
	struct instance *instance;
	struct running *next, **link;
	uint64_t number;
	uv_handle *poll;
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

static void insert(struct running **link, struct running *running)
{
	running->next = *link;
	running->link = link;
	if (running->next)
		running->next->link = &running->next;
	*link = running;
}

static void take_out(struct running *running)
{
	*running->link = running->next;
	if (running->next)
		running->next->link = running->link;
}

/* The child is not watched any more. */
static void forget(struct running *running)
{
	take_out(running);
	close_handle(running->instance, running->poll);
	free(running);
}

napi_value number(napi_env env, int64_t value)
{
	napi_value result = NULL;

	napi_create_int64(env, value, &result);
	return result;
}

static void set_failure(napi_env env, napi_value owner, const struct aspawn_failure *failure)
{
	char text[256];
	napi_value value;

	aspawn_failure_text(text, sizeof text, failure);
	if (napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value) == napi_ok)
		napi_set_named_property(env, owner, "failure", value);
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
	if (error == -ECANCELED && aspawn_wait_started(&running->child, &failure, 0) == -ECANCELED &&
	    failure.error != -ECHILD) {
		code = failure.error;
		set_failure(env, owner, &failure);
	} else if (error < 0 && error != -ECANCELED) {
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
	while (instance->ended)
		report_end(instance->ended);
}

static void see_end(uv_handle *poll, int error, int events)
{
	struct running *running = uv_handle_get_data(poll);
	struct instance *instance = running->instance;
	struct running **link = &instance->ended;

	(void)error;
	(void)events;
	if (aspawn_ended(&running->child) == 0)
		return;
	uv_poll_stop(poll);
	take_out(running);
	while (*link && (*link)->number < running->number)
		link = &(*link)->next;
	insert(link, running);
	uv_check_start(instance->check, report_ends);
}

/* At the end of a thread its children run on, but not the jobs of its queues. */
static void cleanup(napi_async_cleanup_hook_handle handle, void *data)
{
	struct instance *instance = data;
	struct running *running;

	instance->cleanup = handle;
	while ((running = instance->first ? instance->first : instance->ended)) {
		uv_poll_stop(running->poll);
		aspawn_release(&running->child);
		forget(running);
	}
	uv_check_stop(instance->check);
	close_handle(instance, instance->check);
	close_queues(instance);
	finish_cleanup(instance);
}

void *owned_by(napi_env env, napi_callback_info info, size_t count, napi_value *arguments)
{
	void *owned = NULL;

	napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
	return napi_unwrap(env, arguments[0], &owned) == napi_ok ? owned : NULL;
}

/* --- start ---------------------------------------------------------------------------- */

static bool is_program(const char *path)
{
	struct stat status;

	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 && stat(path, &status) == 0 &&
	       S_ISREG(status.st_mode);
}

/*
 * The file that the child will execute, in the environment's PATH. NULL if there is none, or if
 * that depends on the child's directory: then the caller waits for what the child finds.
 */
static const char *find_program(const char *file, char *const *env, bool same_directory,
				char (*path)[PATH_MAX])
{
	const char *search = "/bin:/usr/bin", *end;

	if (strchr(file, '/'))
		return (*file == '/' || same_directory) && is_program(file) ? file : NULL;
	for (; *env; env++)
		if (strncmp(*env, "PATH=", 5) == 0) {
			search = *env + 5;
			break;
		}
	for (; *search == '/'; search = end + 1) {
		end = strchrnul(search, ':');
		if (snprintf(*path, sizeof *path, "%.*s/%s", (int)(end - search), search, file) >=
		    (int)sizeof *path)
			return NULL;
		if (is_program(*path))
			return *path;
		if (!*end)
			return NULL;
	}
	return NULL;
}

static bool is_directory(const char *path)
{
	char name[PATH_MAX];

	return snprintf(name, sizeof name, "%s/.", path) < (int)sizeof name &&
	       faccessat(AT_FDCWD, name, X_OK, AT_EACCESS) == 0;
}

/* In the array of streams that JavaScript gives; other numbers are descriptors. */
enum { STREAM_IGNORE = -1, STREAM_PIPE = -2 };

/* Bits of the flags that JavaScript gives. */
enum {
	DETACHED = 1,
	SET_GID = 2,
	SET_UID = 4,
	PRIVATE = 8,
	CLOSE_OTHERS = 16,
	DIES_WITH_CALLER = 32,
	NO_IMAGE = 64
};

struct streams {
	int32_t *given;
	int *child, *parent, *copies; /* -1: none */
	uint32_t count;
};

static int make_pipes(struct streams *streams)
{
	for (uint32_t i = 0; i < streams->count; i++) {
		int pair[2];

		if (streams->given[i] >= 0)
			streams->child[i] = streams->given[i];
		if (streams->given[i] != STREAM_PIPE)
			continue;
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
			return -errno;
		streams->parent[i] = pair[0];
		streams->child[i] = pair[1];
	}
	return 0;
}

/* A source that an earlier action replaces is duplicated first. */
static int add_streams(struct aspawn_action **action, struct streams *streams)
{
	for (uint32_t i = 0; i < streams->count; i++) {
		int from = streams->child[i], flags;

		if (from < 0) {
			if (i < 3)
				aspawn_action_open((*action)++, (int)i, "/dev/null",
						   i ? O_RDWR : O_RDONLY, 0);
			continue;
		}
		flags = streams->given[i] == STREAM_PIPE ? 0 : fcntl(from, F_GETFL);
		if (flags < 0)
			return -errno;
		if (i < 3 && flags & O_NONBLOCK)
			fcntl(from, F_SETFL, flags & ~O_NONBLOCK);
		if ((uint32_t)from < i && streams->child[from] != from) {
			from = streams->copies[i] =
				fcntl(from, F_DUPFD_CLOEXEC, (int)streams->count);
			if (from < 0)
				return -errno;
		}
		aspawn_action_dup2((*action)++, from, (int)i);
	}
	return 0;
}

static void close_streams(struct streams *streams, bool parents)
{
	for (uint32_t i = 0; i < streams->count; i++) {
		if (streams->given[i] == STREAM_PIPE && streams->child[i] >= 0)
			close(streams->child[i]);
		if (streams->copies[i] >= 0)
			close(streams->copies[i]);
		if (parents && streams->parent[i] >= 0)
			close(streams->parent[i]);
		else if (!parents)
			streams->given[i] = streams->parent[i];
	}
}

static int watch(struct instance *instance, struct running *running, napi_value owner)
{
	napi_env env = instance->env;
	napi_value name;
	int error;

	running->poll = malloc(uv_handle_size(UV_POLL));
	if (!running->poll)
		return -ENOMEM;
	error = uv_poll_init(instance->loop, running->poll, running->child.ended_fd);
	if (error < 0) {
		free(running->poll);
		return error;
	}
	uv_handle_set_data(running->poll, running);
	uv_poll_start(running->poll, UV_READABLE, see_end);
	running->instance = instance;
	running->number = instance->started++;
	insert(&instance->first, running);
	napi_create_reference(env, owner, 1, &running->owner);
	napi_create_string_utf8(env, "ASPAWN", NAPI_AUTO_LENGTH, &name);
	napi_async_init(env, owner, name, &running->context);
	napi_wrap(env, owner, running, NULL, NULL, NULL);
	return 0;
}

enum {
	OWNER,
	FILE_NAME,
	ARGS,
	ARG_COUNT,
	ENV,
	ENV_COUNT,
	DIRECTORY,
	STREAMS,
	FLAGS,
	UID,
	GID,
	ACTIONS,
	ARGUMENTS
};

/* As setgid() and setuid(): without privileges only the effective ID changes. */
static void add_user(napi_env env, const napi_value *v, struct aspawn_action **action,
		     uint32_t flags, bool groups)
{
	const unsigned same = (unsigned)-1;
	const bool all = geteuid() == 0;
	unsigned id;

	if (groups)
		aspawn_action_groups((*action)++, NULL, 0);
	if (flags & SET_GID) {
		id = (unsigned)integer(env, v[GID]);
		aspawn_action_resgid((*action)++, all ? id : same, id, all ? id : same);
	}
	if (flags & SET_UID) {
		id = (unsigned)integer(env, v[UID]);
		aspawn_action_resuid((*action)++, all ? id : same, id, all ? id : same);
	}
}

/* Waits for the exec, if that is not certain, or until the child has a number: its helper, if it has
 * one, may have no turn, or be stopped. */
static int await_start(struct aspawn_child *child, struct aspawn_failure *failure, bool is_certain)
{
	int r;

	do
		r = aspawn_pid(child);
	while (r == -EAGAIN);
	return r > 0 && is_certain ? 0 : aspawn_wait_started(child, failure, -1);
}

/* Starts the command, and waits for its exec unless that is certain. */
static int start(napi_env env, struct arena *arena, const napi_value *v, struct streams *streams,
		 struct running *running)
{
	struct aspawn_command command = { .size = sizeof command, .pool = &pool };
	struct aspawn_failure failure = { .error = 0 };
	struct aspawn_action *actions, *action, *user;
	char path[PATH_MAX], *directory, *file;
	const char *program;
	uint32_t count = 0, flags = 0;
	size_t length;
	bool groups;
	int error;

	napi_get_value_uint32(env, v[FLAGS], &flags);
	napi_get_array_length(env, v[ACTIONS], &count);
	file = string(env, arena, v[FILE_NAME], &length);
	directory = string(env, arena, v[DIRECTORY], &length);
	command.argv = strings(env, arena, v[ARGS], v[ARG_COUNT]);
	command.envp = strings(env, arena, v[ENV], v[ENV_COUNT]);
	actions = action = allocate(arena, (streams->count + count + 8) * sizeof *actions);
	if (!file || !command.argv || !command.envp || !actions)
		return -EINVAL;

	aspawn_action_reset_signals(action++);
	if (flags & DETACHED)
		aspawn_action_setsid(action++);
	error = make_pipes(streams);
	if (!error)
		error = add_streams(&action, streams);
	if (error)
		return error;
	if (directory)
		aspawn_action_chdir(action++, directory);
	for (uint32_t i = 0; i < count; i++)
		if (!to_action(env, arena, element(env, v[ACTIONS], i), action++))
			return -EINVAL;

	program = find_program(file, command.envp, !directory, &path);
	command.file = program && !count ? program : file;
	command.flags = ASPAWN_COMMAND_SHELL_ON_ENOEXEC |
			(flags & DIES_WITH_CALLER ? ASPAWN_COMMAND_DIES_WITH_CALLER : 0);
	command.owner = flags & PRIVATE ? ASPAWN_OWNER_PRIVATE : ASPAWN_OWNER_CALLER;
	command.memory = flags & NO_IMAGE ? ASPAWN_MEMORY_COPIED : ASPAWN_MEMORY_SHARED;
	command.actions = actions;
	user = action;
	groups = flags & (SET_GID | SET_UID) && geteuid() == 0;
	for (;;) {
		action = user;
		add_user(env, v, &action, flags, groups);
		if (flags & CLOSE_OTHERS)
			aspawn_action_closefrom(action++, (int)streams->count);
		command.action_count = (size_t)(action - actions);
		error = aspawn_start(&running->child, &command);
		if (error < 0)
			return error;
		error = await_start(&running->child, &failure,
				    program && action == user + !!(flags & CLOSE_OTHERS) &&
					    (!directory || is_directory(directory)) && !count);
		if (error != -ECANCELED)
			return 0;
		aspawn_wait(&running->child, NULL, NULL, -1);
		/* A user namespace may forbid setgroups(), which Node does not mind. */
		if (groups && failure.kind == ASPAWN_ACTION_GROUPS) {
			groups = false;
			continue;
		}
		set_failure(env, v[OWNER], &failure);
		return failure.error;
	}
}

/*
 * spawn(owner, file, args, count, env, count, directory, streams, flags, uid, gid, actions): the
 * pid, or a negative error number. args and env are strings with a NUL after each element.
 * streams, an Int32Array, then has the parent's descriptors, or -1.
 */
static napi_value spawn(napi_env env, napi_callback_info info)
{
	napi_value v[ARGUMENTS];
	struct instance *instance;
	struct arena arena = { NULL };
	struct streams streams = { .count = 0 };
	struct running *running;
	size_t count = ARGUMENTS, length = 0;
	void *given = NULL;
	int error, result;

	napi_get_cb_info(env, info, &count, v, NULL, NULL);
	napi_get_instance_data(env, (void **)&instance);
	napi_get_typedarray_info(env, v[STREAMS], NULL, &length, &given, NULL, NULL);
	streams.given = given;
	streams.child = allocate(&arena, 3 * length * sizeof(int) + 1);
	running = calloc(1, sizeof *running);
	if (!running || !streams.child) {
		free(running);
		free_all(&arena);
		return number(env, -ENOMEM);
	}
	streams.count = (uint32_t)length;
	memset(streams.child, -1, 3 * length * sizeof(int));
	streams.parent = streams.child + length;
	streams.copies = streams.parent + length;

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
	close_streams(&streams, error && error != -ENOENT && error != -EACCES && error != -EAGAIN);
	free_all(&arena);
	return number(env, result);
}

/* --- a running child --------------------------------------------------------------------- */

/* kill(owner, signal), killGroup(owner, signal): 0, or a negative error number. */
static napi_value kill_child(napi_env env, napi_callback_info info)
{
	napi_value v[2];
	struct running *running = owned_by(env, info, 2, v);

	return number(env, running ? aspawn_kill(&running->child, (int)integer(env, v[1])) : -ESRCH);
}

static napi_value kill_group(napi_env env, napi_callback_info info)
{
	napi_value v[2];
	struct running *running = owned_by(env, info, 2, v);

	return number(env, running ? aspawn_kill_group(&running->child, (int)integer(env, v[1])) :
				     -ESRCH);
}

/* killCgroup(fd) */
static napi_value kill_cgroup(napi_env env, napi_callback_info info)
{
	napi_value v[1];
	size_t count = 1;

	napi_get_cb_info(env, info, &count, v, NULL, NULL);
	return number(env, aspawn_kill_cgroup((int)integer(env, v[0])));
}

/* reference(owner, whether): the loop waits for the child, or not. isReferenced(owner) */
static napi_value reference(napi_env env, napi_callback_info info)
{
	napi_value v[2];
	struct running *running = owned_by(env, info, 2, v);
	bool whether = true;

	napi_get_value_bool(env, v[1], &whether);
	if (running)
		(whether ? uv_ref : uv_unref)(running->poll);
	return NULL;
}

static napi_value is_referenced(napi_env env, napi_callback_info info)
{
	napi_value v[1], result;
	struct running *running = owned_by(env, info, 1, v);

	napi_get_boolean(env, running && uv_has_ref(running->poll), &result);
	return result;
}

/* mode(owner): enum aspawn_clone_mode of a running child. */
static napi_value mode(napi_env env, napi_callback_info info)
{
	napi_value v[1];
	struct running *running = owned_by(env, info, 1, v);

	return number(env, running ? aspawn_describe(&running->child, ASPAWN_FACT_MODE) :
				     ASPAWN_MODE_NONE);
}

/* isSupported(): the kernel has pidfds that can be polled. */
static napi_value is_supported(napi_env env, napi_callback_info info)
{
	int fd = psys_pidfd_open(getpid(), 0);
	napi_value result;

	(void)info;
	if (fd >= 0)
		close(fd);
	napi_get_boolean(env, fd >= 0, &result);
	return result;
}

/* errorName(number) */
static napi_value error_name(napi_env env, napi_callback_info info)
{
	napi_value v[1], name = NULL;
	size_t count = 1;

	napi_get_cb_info(env, info, &count, v, NULL, NULL);
	napi_create_string_utf8(env, psys_errname((int)integer(env, v[0])), NAPI_AUTO_LENGTH, &name);
	return name;
}

NAPI_MODULE_INIT()
{
	static const struct {
		const char *name;
		napi_callback call;
	} functions[] = {
		{ "spawn", spawn },
		{ "kill", kill_child },
		{ "killGroup", kill_group },
		{ "killCgroup", kill_cgroup },
		{ "reference", reference },
		{ "isReferenced", is_referenced },
		{ "isSupported", is_supported },
		{ "mode", mode },
		{ "errorName", error_name },
		{ "queueCreate", queue_create },
		{ "queueSubmit", queue_submit },
		{ "queueCancel", queue_cancel },
		{ "queueReference", queue_reference },
		{ "queueCounts", queue_counts },
		{ "queueClose", queue_close },
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
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		napi_value function;

		napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].call,
				     NULL, &function);
		napi_set_named_property(env, exports, functions[i].name, function);
	}
	return exports;
}
