/* SPDX-License-Identifier: MIT */
/* The program's environment: that of the command, changed by its actions. */
#include <syscall/string.h>

#include "prepared.h"

/* From the libc, if the program has one. */
extern char **environ __attribute__((weak, visibility("default")));

/* True if an action, with an index of at least from, unsets or replaces the variable; of any variable
 * if the name is NULL. */
static PSYS_UNINSTRUMENTED bool is_changed(const struct aspawn_command *command, size_t from,
					   const char *name, size_t length)
{
	for (size_t i = from; i < command->action_count; i++) {
		const struct aspawn_action *action = &command->actions[i];
		const char *other = action->kind == ASPAWN_ACTION_SETENV ? action->u.setenv.name :
				    action->kind == ASPAWN_ACTION_UNSETENV ?
									   action->u.unsetenv.name :
									   NULL;

		if (action->kind == ASPAWN_ACTION_CLEARENV ||
		    (other && (!name || (!psys_strncmp(name, other, length) && !other[length]))))
			return true;
	}
	return false;
}

static PSYS_UNINSTRUMENTED char *copy_variable(struct arena *arena, const char *name,
					       const char *value)
{
	const size_t length = psys_strlen(name), rest = psys_strlen(value);
	char *to = aspw_allocate(arena, length + 1 + rest + 1, 1);

	if (!to)
		return NULL;
	psys_memcpy(to, name, length);
	to[length] = '=';
	psys_memcpy(to + length + 1, value, rest + 1);
	return to;
}

PSYS_UNINSTRUMENTED char *const *
aspw_make_environment(struct arena *arena, const struct aspawn_command *command, bool lends)
{
	static char *const nothing[] = { NULL };
	char *const *base = command->envp ? command->envp : &environ && environ ? environ : nothing;
	size_t most = 1, count = 0;

	if (!is_changed(command, 0, NULL, 0))
		return lends ? base : aspw_copy_strings(arena, base);
	while (base[most - 1])
		most++;
	char **to = aspw_allocate(arena, (most + command->action_count) * sizeof *to, sizeof *to);
	for (size_t i = 0; i < most - 1; i++) {
		const char *variable = base[i];
		if (!variable || is_changed(command, 0, variable,
					    (size_t)(psys_strchrnul(variable, '=') - variable)))
			continue;
		if (!lends)
			variable = aspw_copy_string(arena, variable);
		if (to)
			to[count++] = (char *)(uintptr_t)variable;
	}
	for (size_t i = 0; i < command->action_count; i++) {
		const struct aspawn_action *action = &command->actions[i];
		if (action->kind != ASPAWN_ACTION_SETENV ||
		    is_changed(command, i + 1, action->u.setenv.name,
			       psys_strlen(action->u.setenv.name)))
			continue;
		char *variable = copy_variable(arena, action->u.setenv.name, action->u.setenv.value);
		if (to)
			to[count++] = variable;
	}
	if (to)
		to[count] = NULL;
	return to;
}
