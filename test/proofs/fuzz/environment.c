/* SPDX-License-Identifier: MIT */
/*
 * Makes the program's environment. The input has three groups of lines, with an empty line between:
 * variables of the command; actions, -NAME to unset, ! to clear, NAME=VALUE; and the variables
 * another thread has put in the place of the first group between the two passes.
 */
#include "instrumented.h"

#include "../../../aspawn/action/action_info.c"
#include "../../../aspawn/caller/arena.c"
#include "../../../aspawn/caller/environment.c"
#include "../../../syscall/exec.c"
#include "../../../syscall/kernel_file.c"
#include "../../../syscall/string.c"

struct model {
	char *list[2 * MOST_LINES + 1];
	size_t count;
};

static bool is_variable(const char *variable, const char *name)
{
	return strcspn(variable, "=") == strlen(name) && !strncmp(variable, name, strlen(name));
}

static void remove_variable(struct model *model, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < model->count; i++)
		if (is_variable(model->list[i], name))
			free(model->list[i]);
		else
			model->list[kept++] = model->list[i];
	model->count = kept;
}

static void clear_model(struct model *model)
{
	while (model->count)
		free(model->list[--model->count]);
}

/* Applies the actions as a program would, one after another. */
static void apply(struct model *model, const struct aspawn_action *action)
{
	const char *name = action->u.setenv.name, *value = action->u.setenv.value;

	switch (action->kind) {
	case ASPAWN_ACTION_CLEARENV:
		clear_model(model);
		break;
	case ASPAWN_ACTION_UNSETENV:
		remove_variable(model, action->u.unsetenv.name);
		break;
	default:
		remove_variable(model, name);
		char *variable = exact(NULL, strlen(name) + strlen(value) + 2);
		sprintf(variable, "%s=%s", name, value);
		model->list[model->count++] = variable;
	}
}

static void compare(const struct model *model, char *const *envp, size_t size, const char *base)
{
	size_t i = 0;

	for (; i < model->count; i++) {
		check(envp[i] && !strcmp(envp[i], model->list[i]), "another environment");
		check(!base || (envp[i] >= base && envp[i] < base + size), "a string elsewhere");
	}
	check(!envp[i], "too many variables");
	const char *path = psys_getenv(envp, "PATH");
	for (i = 0; i < model->count && strncmp(model->list[i], "PATH=", 5); i++)
		continue;
	check(i < model->count ? path && !strcmp(path, model->list[i] + 5) : !path, "another PATH");
}

static size_t next_actions(struct aspawn_action *actions, const struct lines *lines)
{
	size_t count = 0;

	for (size_t i = 0; i < lines->count; i++) {
		struct aspawn_action *action = &actions[count];
		char *line = lines->list[i], *end = strchr(line, '=');
		if (*line == '!')
			*action = (struct aspawn_action)ASPAWN_CLEARENV();
		else if (*line == '-')
			*action = (struct aspawn_action)ASPAWN_UNSETENV(line + 1);
		else if (end) {
			*end = '\0';
			*action = (struct aspawn_action)ASPAWN_SETENV(line, end + 1);
		} else
			continue;
		count += aspw_check_action(action) == 0;
	}
	return count;
}

static char *const *make(struct arena *arena, const struct aspawn_command *command, bool lends,
			 size_t most)
{
	*arena = (struct arena){ exact(NULL, most), 0, most, 0 };
	return aspw_make_environment(arena, command, lends);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	const bool lends = next_byte(&input) % 2;
	struct lines base, changes, others;
	struct aspawn_action actions[MOST_LINES];
	struct model model = { .count = 0 };

	next_lines(&base, &input);
	next_lines(&changes, &input);
	next_lines(&others, &input);
	struct aspawn_command command = {
		.envp = base.list,
		.actions = actions,
		.action_count = next_actions(actions, &changes),
	};
	for (size_t i = 0; i < base.count; i++)
		model.list[model.count++] = exact(base.list[i], strlen(base.list[i]) + 1);
	for (size_t i = 0; i < command.action_count; i++)
		apply(&model, &actions[i]);

	struct arena measured = { NULL, 0, SIZE_MAX, 0 }, filled;
	aspw_make_environment(&measured, &command, lends);
	char *const *envp = make(&filled, &command, lends, measured.size);
	check(!measured.error && !filled.error && filled.size <= measured.size, "too large");
	compare(&model, envp, filled.size, lends ? NULL : filled.base);
	free(filled.base);

	command.envp = others.list;
	envp = make(&filled, &command, lends, measured.size);
	for (; !filled.error && *envp; envp++)
		check(strlen(*envp) < size, "not a variable");
	free(filled.base);
	clear_model(&model);
	free_lines(&base);
	free_lines(&changes);
	free_lines(&others);
	return 0;
}
