/* SPDX-License-Identifier: MIT */
/* What the files of the addon share. */
#ifndef ADDON_H
#define ADDON_H

#define NAPI_VERSION 8
#include <node_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aspawn.h"

/* Of libuv 1, whose ABI is stable. A handle is memory of uv_handle_size() bytes. */
typedef struct uv_loop_s uv_loop;
typedef struct uv_handle_s uv_handle;
enum { UV_CHECK = 2, UV_POLL = 8, UV_READABLE = 1 };
size_t uv_handle_size(int type);
void *uv_handle_get_data(const uv_handle *handle);
void uv_handle_set_data(uv_handle *handle, void *data);
int uv_poll_init(uv_loop *loop, uv_handle *handle, int fd);
int uv_poll_start(uv_handle *handle, int events, void (*call)(uv_handle *, int status, int events));
int uv_poll_stop(uv_handle *handle);
int uv_check_init(uv_loop *loop, uv_handle *handle);
int uv_check_start(uv_handle *handle, void (*call)(uv_handle *));
int uv_check_stop(uv_handle *handle);
void uv_close(uv_handle *handle, void (*call)(uv_handle *));
void uv_ref(uv_handle *handle);
void uv_unref(uv_handle *handle);
int uv_has_ref(const uv_handle *handle);

/* Of a thread: its children that run or have ended, its queues, and handles that the loop closes. */
struct instance {
	napi_env env;
	uv_loop *loop;
	struct running *first;
	struct running *ended; /* in the order of their starts */
	uint64_t started;
	uv_handle *check; /* active while there are such */
	struct queue *queues;
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

/* --- arguments from JavaScript ----------------------------------------------------- */

/* Memory of one call, freed at its end. */
struct arena {
	struct block *blocks;
};

/* NULL if there is none. */
void *allocate(struct arena *arena, size_t size);
void free_all(struct arena *arena);
/* A string as UTF-8; NULL if it is none. */
char *string(napi_env env, struct arena *arena, napi_value value, size_t *length);
/* Strings that one string has, with a NUL after each. NULL if that is not as many as count. */
char **strings(napi_env env, struct arena *arena, napi_value value, napi_value count_value);
/* NULL if it is no array. */
napi_value element(napi_env env, napi_value array, uint32_t index);
/* Of a number or a bigint. */
int64_t integer(napi_env env, napi_value value);
/* An action is [kind, numbers, strings, list] (lib/actions.js). Returns false for an unknown kind. */
bool to_action(napi_env env, struct arena *arena, napi_value value, struct aspawn_action *action);

/* --- queue.c ---------------------------------------------------------------------------- */

napi_value queue_create(napi_env env, napi_callback_info info);
napi_value queue_submit(napi_env env, napi_callback_info info);
napi_value queue_cancel(napi_env env, napi_callback_info info);
napi_value queue_reference(napi_env env, napi_callback_info info);
napi_value queue_counts(napi_env env, napi_callback_info info);
napi_value queue_close(napi_env env, napi_callback_info info);
/* At the end of a thread: closes its queues. */
void close_queues(struct instance *instance);

#endif
