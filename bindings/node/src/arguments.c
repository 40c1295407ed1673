/* SPDX-License-Identifier: MIT */
/* Arguments from JavaScript: addon.h. */
#include <stdlib.h>
#include <string.h>

#include "addon.h"

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

char *string(napi_env env, struct arena *arena, napi_value value, size_t *length)
{
	char *text;

	if (napi_get_value_string_utf8(env, value, NULL, 0, length) != napi_ok)
		return NULL;
	text = allocate(arena, *length + 1);
	if (text)
		napi_get_value_string_utf8(env, value, text, *length + 1, length);
	return text;
}

char **strings(napi_env env, struct arena *arena, napi_value value, napi_value count_value)
{
	size_t length = 0;
	uint32_t count = 0;
	char *text = string(env, arena, value, &length), **array, *at = text;

	napi_get_value_uint32(env, count_value, &count);
	array = allocate(arena, (count + 1) * sizeof *array);
	if (!text || !array)
		return NULL;
	for (uint32_t i = 0; i < count; i++) {
		if (at >= text + length)
			return NULL;
		array[i] = at;
		at += strlen(at) + 1;
	}
	array[count] = NULL;
	return at == text + length ? array : NULL;
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
	bool lossless;

	if (napi_get_value_bigint_uint64(env, value, &large, &lossless) == napi_ok)
		return (int64_t)large;
	napi_get_value_int64(env, value, &result);
	return result;
}

bool to_action(napi_env env, struct arena *arena, napi_value value, struct aspawn_action *action)
{
	napi_value numbers = element(env, value, 1), texts = element(env, value, 2),
		   list = element(env, value, 3);
	int64_t kind = integer(env, element(env, value, 0));
	int64_t n[5] = { 0 };
	const char *s[4] = { NULL };
	uint32_t count = 0;
	unsigned *groups;
	size_t length;

	for (uint32_t i = 0; i < 5; i++)
		n[i] = integer(env, element(env, numbers, i));
	for (uint32_t i = 0; i < 4; i++)
		s[i] = string(env, arena, element(env, texts, i), &length);
	if (list)
		napi_get_array_length(env, list, &count);
	groups = allocate(arena, count * sizeof *groups);
	if (!groups)
		return false;
	for (uint32_t i = 0; i < count; i++)
		groups[i] = (unsigned)integer(env, element(env, list, i));

	switch (kind) {
	case ASPAWN_ACTION_DUP2:
		aspawn_action_dup2(action, (int)n[0], (int)n[1]);
		break;
	case ASPAWN_ACTION_OPENAT:
		aspawn_action_open(action, (int)n[0], s[0], (int)n[1], (unsigned)n[2]);
		break;
	case ASPAWN_ACTION_CLOSE:
		aspawn_action_close(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_CLOSEFROM:
		aspawn_action_closefrom(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_ONLY_BELOW:
		aspawn_action_only_below(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_CLOEXEC_FROM:
		aspawn_action_cloexec_from(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_SETENV:
		aspawn_action_setenv(action, s[0], s[1]);
		break;
	case ASPAWN_ACTION_UNSETENV:
		aspawn_action_unsetenv(action, s[0]);
		break;
	case ASPAWN_ACTION_CLEARENV:
		aspawn_action_clearenv(action);
		break;
	case ASPAWN_ACTION_CHDIR:
		aspawn_action_chdir(action, s[0]);
		break;
	case ASPAWN_ACTION_FCHDIR:
		aspawn_action_fchdir(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_UMASK:
		aspawn_action_umask(action, (unsigned)n[0]);
		break;
	case ASPAWN_ACTION_SETSID:
		aspawn_action_setsid(action);
		break;
	case ASPAWN_ACTION_SETPGID:
		aspawn_action_setpgid(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_CONTROLLING_TERMINAL:
		aspawn_action_controlling_terminal(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_FOREGROUND:
		aspawn_action_foreground(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_SIGNAL_DEFAULT:
		aspawn_action_signal_default(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_SIGNAL_IGNORE:
		aspawn_action_signal_ignore(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_PDEATHSIG:
		aspawn_action_pdeathsig(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_RLIMIT:
		aspawn_action_rlimit(action, (int)n[0], (uint64_t)n[1], (uint64_t)n[2]);
		break;
	case ASPAWN_ACTION_NICE:
		aspawn_action_nice(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_SCHEDULER:
		aspawn_action_scheduler(action, (int)n[0], (int)n[1]);
		break;
	case ASPAWN_ACTION_IOPRIO:
		aspawn_action_ioprio(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_OOM_SCORE_ADJ:
		aspawn_action_oom_score_adj(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_JOIN_CGROUP:
		aspawn_action_join_cgroup(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_USER:
		aspawn_action_user(action, (unsigned)n[0], (unsigned)n[1], groups, count);
		break;
	case ASPAWN_ACTION_CAP_DROP:
		aspawn_action_cap_drop(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_CAP_AMBIENT:
		aspawn_action_cap_ambient(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_NO_NEW_PRIVS:
		aspawn_action_no_new_privs(action);
		break;
	case ASPAWN_ACTION_LANDLOCK:
		aspawn_action_landlock(action, (int)n[0]);
		break;
	case ASPAWN_ACTION_CHROOT:
		aspawn_action_chroot(action, s[0]);
		break;
	case ASPAWN_ACTION_UNSHARE:
		aspawn_action_unshare(action, (uint64_t)n[0]);
		break;
	case ASPAWN_ACTION_SETNS:
		aspawn_action_setns(action, (int)n[0], (int)n[1]);
		break;
	case ASPAWN_ACTION_MOUNT:
		aspawn_action_mount(action, s[0], s[1], s[2], (uint64_t)n[0], s[3]);
		break;
	case ASPAWN_ACTION_HOSTNAME:
		aspawn_action_hostname(action, s[0]);
		break;
	case ASPAWN_ACTION_WRITE:
		aspawn_action_write(action, s[0], s[1]);
		break;
	default:
		return false;
	}
	return true;
}
