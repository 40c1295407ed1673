/* SPDX-License-Identifier: MIT */
/* Arguments from JavaScript: addon.h. */
#include "addon.h"
#include "members.h"

struct block {
	struct block *next;
	max_align_t data[];
};

void *allocate(struct arena *arena, size_t size)
{
	struct block *block = malloc(sizeof *block + size);

	if (!block)
		return NULL;
	block->next = arena->blocks;
	arena->blocks = block;
	return block->data;
}

void free_all(struct arena *arena)
{
	while (arena->blocks) {
		struct block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
}

napi_value element(napi_env env, napi_value array, uint32_t index)
{
	napi_value value = NULL;
	bool is_array;

	if (napi_is_array(env, array, &is_array) == napi_ok && is_array)
		napi_get_element(env, array, index, &value);
	return value;
}

int64_t integer(napi_env env, napi_value value)
{
	int64_t result = 0;
	uint64_t large;
	bool is_set;

	if (napi_get_value_bigint_uint64(env, value, &large, &is_set) == napi_ok)
		return (int64_t)large;
	if (napi_get_value_bool(env, value, &is_set) == napi_ok)
		return is_set;
	napi_get_value_int64(env, value, &result);
	return result;
}

const void *bytes(napi_env env, napi_value value, size_t *length)
{
	void *data = NULL;

	*length = 0;
	napi_get_typedarray_info(env, value, NULL, length, &data, NULL, NULL);
	return *length ? data : NULL;
}

static size_t size_of(napi_env env, napi_value value)
{
	size_t length;

	bytes(env, value, &length);
	return length;
}

/* A string as UTF-8, or bytes, with a NUL; NULL if it is neither. */
static char *text(napi_env env, struct arena *arena, napi_value value, size_t *length)
{
	const char *data;
	char *to;

	if (napi_get_value_string_utf8(env, value, NULL, 0, length) == napi_ok) {
		to = allocate(arena, *length + 1);
		if (to)
			napi_get_value_string_utf8(env, value, to, *length + 1, length);
		return to;
	}
	data = bytes(env, value, length);
	to = data ? allocate(arena, *length + 1) : NULL;
	if (to)
		((char *)psys_memcpy(to, data, *length))[*length] = '\0';
	return to;
}

/* Strings with a NUL after each, as an array. Returns false if there is no memory. */
static bool to_strings(napi_env env, struct arena *arena, napi_value value, char *const **strings)
{
	size_t length = 0, count = 0;
	char *at = text(env, arena, value, &length), **array;

	*strings = NULL;
	if (!at)
		return length == 0;
	for (size_t i = 0; i < length; i++)
		count += !at[i];
	*strings = array = allocate(arena, (count + 1) * sizeof *array);
	if (!array)
		return false;
	for (size_t i = 0; i < count; i++, at += psys_strlen(at) + 1)
		array[i] = at;
	array[count] = NULL;
	return true;
}

static int *pipe_end(struct arena *arena, napi_value action, const char *name)
{
	struct pipe_end *end = allocate(arena, sizeof *end);

	if (!end)
		return NULL;
	*end = (struct pipe_end){ arena->pipes, action, name, -1 };
	arena->pipes = end;
	return &end->fd;
}

void give_pipes(napi_env env, struct arena *arena, bool is_started)
{
	for (struct pipe_end *end = arena->pipes; end; end = end->next)
		if (is_started)
			napi_set_named_property(env, end->action, end->name, number(env, end->fd));
		else if (end->fd >= 0)
			psys_close(end->fd);
}

/* An action is an object of lib/operands.js: its number is its place in the list of actions.h,
 * which generate.js writes. Returns false for an unknown number. */
static bool to_action(napi_env env, struct arena *arena, napi_value value,
		      struct aspawn_action *action)
{
	napi_value which = NULL, operands = NULL;
	size_t length;

	napi_get_named_property(env, value, "number", &which);
	napi_get_named_property(env, value, "operands", &operands);
	switch (which ? integer(env, which) : 0) {
#define OPERAND(i) element(env, operands, i)
#define INTEGER(i) integer(env, OPERAND(i))
#define TEXT(i) text(env, arena, OPERAND(i), &length)
#define ARRAY(i) bytes(env, OPERAND(i), &length)
#define COUNT(i, size) (size_of(env, OPERAND(i)) / (size))
#define PIPE(name) pipe_end(arena, value, name)
#define ACTION(number, name, ...)                            \
	case number:                                         \
		aspawn_action_##name(action, ##__VA_ARGS__); \
		return true;
#include "actions.h"
	default:
		return false;
	}
}

int to_command(napi_env env, struct arena *arena, const napi_value *v, size_t room,
	       struct request *request)
{
	struct aspawn_command *command = &request->command;
	struct aspawn_action *action;
	uint32_t count = 0;
	size_t length;

	command->size = sizeof *command;
	set_command(env, v[NUMBERS], command);
	napi_get_array_length(env, v[ACTIONS], &count);
	action = allocate(arena, (room + 1 + count) * sizeof *action);
	if (!action || !to_strings(env, arena, v[ARGS], &command->argv) ||
	    !to_strings(env, arena, v[ENVIRONMENT], &command->envp))
		return -PSYS_ENOMEM;
	command->file = text(env, arena, v[FILE_NAME], &length);
	command->actions = request->first = action += room;
	const char *directory = text(env, arena, v[DIRECTORY], &length);
	if (directory)
		aspawn_action_chdir(action++, directory);
	for (uint32_t i = 0; i < count; i++)
		if (!to_action(env, arena, element(env, v[ACTIONS], i), action++))
			return -PSYS_EINVAL;
	command->action_count = (size_t)(action - command->actions);
	return 0;
}
