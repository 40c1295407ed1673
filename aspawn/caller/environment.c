/* SPDX-License-Identifier: MIT */
/* Makes the program's environment from the command's environment and actions. */
#include "environment.h"

#include <syscall/exec.h>
#include <syscall/string.h>

#include "../marks.h"

/* The program's libc defines it, if there is a libc. */
#ifdef ASPAWN_NO_WEAK_SYMBOLS /* for code that no linker can give the address */
static char **const environ = NULL;
#else
extern char **environ __attribute__((weak, visibility("default")));
#endif

/* Tells the last action for each changed variable. */
struct changes {
	const struct aspawn_action *actions;
	uint32_t *last; /* a table of index + 1, or NULL while the arena measures */
	size_t slots;
};

/* Returns the name of the variable that the action sets or removes, or NULL. */
static IN_SERVER const char *changed_by(const struct aspawn_action *action)
{
	if (action->kind == ASPAWN_ACTION_SETENV)
		return action->u.setenv.name;
	return action->kind == ASPAWN_ACTION_UNSETENV ? action->u.unsetenv.name : NULL;
}

/* Returns the slot of the variable, or the free slot for it. */
static IN_SERVER uint32_t *place_of(const struct changes *changes, const char *variable)
{
	const size_t length = (size_t)(psys_strchrnul(variable, '=') - variable);
	uint32_t at = 0;

	for (size_t i = 0; i < length; i++)
		at = (at ^ (unsigned char)variable[i]) * 16777619; /* FNV-1a */
	for (;; at++) {
		uint32_t *slot = &changes->last[at & (changes->slots - 1)];
		const char *other = *slot ? changed_by(&changes->actions[*slot - 1]) : NULL;
		if (!other || (!psys_strncmp(variable, other, length) && !other[length]))
			return slot;
	}
}

static IN_SERVER char *copy_variable(struct arena *arena, const char *name, const char *value)
{
	const size_t length = psys_strlen(name), rest = psys_strlen(value);
	char *to = aspw_arena_allocate(arena, length + 1 + rest + 1, 1);

	if (!to)
		return NULL;
	psys_memcpy(to, name, length);
	to[length] = '=';
	psys_memcpy(to + length + 1, value, rest + 1);
	return to;
}

static char *const nothing[] = { NULL };

PSYS_INLINE char *const *given_environment(const struct aspawn_command *command)
{
	if (command->envp)
		return command->envp;
	return &environ && environ ? environ : nothing;
}

const char *aspw_search_path(const struct aspawn_command *command)
{
	if (command->search_path)
		return command->search_path;
	for (size_t i = command->action_count; i-- > 0;) {
		const struct aspawn_action *action = &command->actions[i];
		const char *name = changed_by(action);
		if (action->kind == ASPAWN_ACTION_CLEARENV || (name && !psys_strcmp(name, "PATH")))
			return action->kind == ASPAWN_ACTION_SETENV ? action->u.setenv.value : NULL;
	}
	return psys_getenv(given_environment(command), "PATH");
}

IN_SERVER char *const *aspw_make_environment(struct arena *arena,
					     const struct aspawn_command *command, bool lends)
{
	char *const *base = given_environment(command);
	const size_t action_count = command->action_count;
	struct changes changes = { command->actions, NULL, 0 };
	size_t most = 1, count = 0, changing = 0, from = 0;

	for (size_t i = 0; i < action_count; i++) {
		changing += !!changed_by(&changes.actions[i]);
		if (changes.actions[i].kind == ASPAWN_ACTION_CLEARENV) {
			base = nothing;
			from = i + 1;
		}
	}
	if (!changing && base != nothing)
		return lends ? base : aspw_copy_strings(arena, base);
	while (base[most - 1])
		most++;
	char **to = aspw_arena_allocate(arena, (most + changing) * sizeof *to, sizeof *to);
	/* The measured size includes the variables that are replaced or removed. */
	changes.slots = aspw_slot_count(changing);
	changes.last = aspw_arena_allocate(arena, changes.slots * sizeof *changes.last, 4);
	if (changes.last)
		psys_memset(changes.last, 0, changes.slots * sizeof *changes.last);
	for (size_t i = from; i < action_count && changes.last; i++)
		if (changed_by(&changes.actions[i]))
			*place_of(&changes, changed_by(&changes.actions[i])) = (uint32_t)i + 1;
	for (size_t i = 0; i < most - 1; i++) {
		const char *variable = base[i];
		if (!variable || (changes.last && *place_of(&changes, variable)))
			continue;
		if (!lends)
			variable = aspw_copy_string(arena, variable);
		if (to)
			to[count++] = (char *)(uintptr_t)variable;
	}
	for (size_t i = from; i < action_count; i++) {
		const struct aspawn_action *action = &changes.actions[i];
		if (action->kind != ASPAWN_ACTION_SETENV ||
		    (changes.last && *place_of(&changes, action->u.setenv.name) != i + 1))
			continue;
		char *variable = copy_variable(arena, action->u.setenv.name, action->u.setenv.value);
		if (to)
			to[count++] = variable;
	}
	if (to)
		to[count] = NULL;
	return to;
}
