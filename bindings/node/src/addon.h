/* SPDX-License-Identifier: MIT */
/*
 * What the files of the addon share. It uses Node-API, libuv, the library with its system calls,
 * and of a libc only what is declared here: so one addon serves with glibc and with musl.
 */
#ifndef ADDON_H
#define ADDON_H

#define NAPI_VERSION 8
#include <node_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aspawn.h"

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void free(void *memory);

/* Of libuv 1, whose ABI is stable. A handle is memory of uv_handle_size() bytes. */
typedef struct uv_loop_s uv_loop;
typedef struct uv_handle_s uv_handle;
enum { UV_CHECK = 2, UV_POLL = 8, UV_TIMER = 13, UV_READABLE = 1 };
size_t uv_handle_size(int type);
void *uv_handle_get_data(const uv_handle *handle);
void uv_handle_set_data(uv_handle *handle, void *data);
int uv_poll_init(uv_loop *loop, uv_handle *handle, int fd);
int uv_poll_start(uv_handle *handle, int events, void (*call)(uv_handle *, int status, int events));
int uv_poll_stop(uv_handle *handle);
int uv_timer_init(uv_loop *loop, uv_handle *handle);
int uv_timer_start(uv_handle *handle, void (*call)(uv_handle *), uint64_t after_ms,
		   uint64_t every_ms);
int uv_check_init(uv_loop *loop, uv_handle *handle);
int uv_check_start(uv_handle *handle, void (*call)(uv_handle *));
int uv_check_stop(uv_handle *handle);
void uv_close(uv_handle *handle, void (*call)(uv_handle *));
void uv_ref(uv_handle *handle);
void uv_unref(uv_handle *handle);
int uv_has_ref(const uv_handle *handle);

/* Of a thread: its children that have ended, and handles that the loop closes. */
struct instance {
	napi_env env;
	uv_loop *loop;
	struct running *ended; /* in the order of their starts */
	uint64_t started;
	uv_handle *check; /* active while there are such */
	size_t closing;
	napi_async_cleanup_hook_handle cleanup; /* called: it waits until closing is 0 */
};

/* The loop closes the handle, which has been stopped, and frees it. */
void close_handle(struct instance *instance, uv_handle *handle);
/* Calls a method of owner from the loop. */
void call_owner(napi_env env, napi_async_context context, napi_value owner, const char *method,
		size_t count, const napi_value *arguments);
/* Gets the arguments. Returns what is attached to the first, the owner; NULL if that has ended. */
void *owned_by(napi_env env, napi_callback_info info, size_t count, napi_value *arguments);
/* Exact below 2^53. */
napi_value number(napi_env env, int64_t value);
void set_number(napi_env env, napi_value object, const char *name, double value);
/* Sets object.failure to the text of a failure, if there is one. */
void set_failure(napi_env env, napi_value object, const struct aspawn_failure *failure);

/* --- arguments from JavaScript ----------------------------------------------------- */

/* Memory of one call, freed at its end. */
struct arena {
	struct block *blocks;
	struct pipe_end *pipes;
};

/* What the start stores for a pipe action: lib/operands.js. */
struct pipe_end {
	struct pipe_end *next;
	napi_value action;
	const char *name;
	int fd; /* -1: none */
};

/* NULL if there is none. */
void *allocate(struct arena *arena, size_t size);
void free_all(struct arena *arena);
/* NULL if it is no array. */
napi_value element(napi_env env, napi_value array, uint32_t index);
/* Returns the value of a number, a bigint or a boolean. */
int64_t integer(napi_env env, napi_value value);
/* The bytes of a Uint8Array; NULL if it is none. */
const void *bytes(napi_env env, napi_value value, size_t *length);

/* A command has these arguments, one after the other. args and env are strings with a NUL after
 * each element, the numbers an array (members.h). All may be undefined. */
enum { FILE_NAME, ARGS, ENVIRONMENT, DIRECTORY, ACTIONS, NUMBERS, OF_COMMAND };

struct request {
	struct aspawn_command command;
	struct aspawn_action *first; /* of the command's; there is room before it */
};

/* Returns 0 or a negative error number. room: for so many actions before the first. */
int to_command(napi_env env, struct arena *arena, const napi_value *v, size_t room,
	       struct request *request);
/* The command was started, or not: sets the ends of its pipes, or closes them. */
void give_pipes(napi_env env, struct arena *arena, bool is_started);

/* --- queue.c ---------------------------------------------------------------------------- */

napi_value queue_create(napi_env env, napi_callback_info info);
napi_value queue_submit(napi_env env, napi_callback_info info);
napi_value queue_release(napi_env env, napi_callback_info info);
napi_value queue_cancel(napi_env env, napi_callback_info info);
napi_value queue_reference(napi_env env, napi_callback_info info);
napi_value queue_counts(napi_env env, napi_callback_info info);
napi_value queue_close(napi_env env, napi_callback_info info);

#endif
