/* SPDX-License-Identifier: MIT */
/*
 * Gives input to the image: arguments, and a command prepared at another address. The original is
 * freed before the image corrects the pointers: ASan sees a pointer forgotten by the image.
 */
#define _GNU_SOURCE
#include "instrumented.h"

#include <sys/mman.h>
#include <unistd.h>

/* Otherwise the functions would be the sanitizer's own. */
#define main image_main
#define memcpy image_memcpy
#define memset image_memset
#define memcmp image_memcmp
#include "../../../aspawn/child/image/program.c"
#undef main
#undef memcpy
#undef memset
#undef memcmp

#include "../../../aspawn/caller/arena.c"
#include "../../../aspawn/caller/start.c"
#include "../../../aspawn/caller/environment.c"
#include "actions.h"

static const char *base;
static size_t base_size;

static bool is_inside(const void *pointer, size_t size)
{
	const char *at = pointer;

	return at >= base && at + size <= base + base_size;
}

static void check_strings(char *const *copies, const struct lines *lines)
{
	check(is_inside(copies, (lines->count + 1) * sizeof *copies), "strings elsewhere");
	for (size_t i = 0; i < lines->count; i++)
		check(is_inside(copies[i], strlen(lines->list[i]) + 1) &&
			      !strcmp(copies[i], lines->list[i]),
		      "another string");
	check(!copies[lines->count], "too many strings");
}

/* Whatever the table says of its kind, an action has no pointer to data of the caller. */
static void check_words(const struct aspawn_action *copy)
{
	const char *word;

	for (size_t at = 0; at + sizeof word <= sizeof copy->u; at += sizeof word) {
		memcpy(&word, (const char *)&copy->u + at, sizeof word);
		for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
			check(word != texts[i], "a pointer to the caller's memory");
	}
}

static void compare_action(const struct aspawn_action *copy, const struct aspawn_action *action)
{
	size_t at, size;

	if (action->kind != ASPAWN_ACTION_SYSCALL) /* whose numbers may be any */
		check_words(copy);
	for (int i = 0; (at = aspw_pointer_of(action, i, &size)); i++) {
		const void *to = member_pointer(copy, at), *from = member_pointer(action, at);
		if (size == IS_STRING)
			size = from ? strlen(from) + 1 : 0;
		check(from || !to || !size, "a pointer that was NULL");
		check(!from || (is_inside(to, size) && !memcmp(to, from, size)), "another operand");
	}
}

/* Returns a copy at another address. */
static struct prepared *prepare(const struct aspawn_command *command)
{
	struct library_actions own = { .count = 0 };
	struct arena arena = { NULL, 0, SIZE_MAX, 0 };

	aspw_prepare_command(&arena, command, &own);
	check(!arena.error, "it cannot be measured");
	base_size = arena.most = arena.size;
	arena.base = aligned_alloc(STACK_ALIGN, (base_size + STACK_ALIGN - 1) & ~(STACK_ALIGN - 1));
	arena.size = 0;
	struct prepared *prepared = aspw_prepare_command(&arena, command, &own);
	check(prepared && !arena.error && arena.size == base_size, "another size");
	prepared->joined = command->action_count ? prepared->actions : NULL; /* by decide.c */
	struct prepared *copy = exact(prepared, base_size);
	free(arena.base);
	base = (const char *)copy;
	return copy;
}

static void compare_moved(const struct aspawn_command *command, const struct lines *arguments,
			  const struct lines *variables)
{
	struct prepared *copy = prepare(command);

	move_pointers(copy);
	check(is_inside(copy->file, 1) && !strcmp(copy->file, command->file), "another file");
	check(is_inside(copy->path, 1) && !strcmp(copy->path, command->search_path), "another path");
	check_strings(copy->argv, arguments);
	check_strings(copy->envp, variables);
	check(copy->count == command->action_count, "another number of actions");
	check(copy->joined == (copy->count ? copy->actions : NULL), "another action that joins");
	for (size_t i = 0; i < copy->count; i++)
		compare_action(&copy->actions[i], &command->actions[i]);
	check(is_inside(copy->image.kept, copy->count * sizeof *copy->image.kept) &&
		      is_inside(copy->fds, copy->count * sizeof *copy->fds),
	      "an array elsewhere");
	free(copy);
}

/* The environment has the number of a file and of the file's bytes. */
static void read_arguments(const char *text)
{
	static int fd = -1;
	const int64_t number = number_of(text);
	char expected[PSYS_DECIMAL_SIZE];

	if (fd < 0) {
		fd = memfd_create("image", MFD_CLOEXEC);
		check(ftruncate(fd, IMAGE_COMMAND + IMAGE_PAGE) == 0, "no file");
	}
	check((number != -1) || !*text || text[strspn(text, "0123456789")] ||
		      strspn(text, "0123456789") > 18,
	      "not a number");
	if (number >= 0 && strlen(text) < 19 && (*text != '0' || !text[1])) {
		psys_i64_to_decimal(expected, number);
		check(!*text || !strcmp(text, expected), "another number");
	}
	const int64_t size = number < IMAGE_PAGE ? number : -number;
	check(!map_command(fd, size), "zeros are a command");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct aspawn_action actions[MOST_ACTIONS_HERE];
	struct lines arguments, variables;

	char *number = next_line(&input);
	next_lines(&arguments, &input);
	next_lines(&variables, &input);
	struct aspawn_command command = {
		.file = "file",
		.argv = arguments.list,
		.envp = variables.list,
		.search_path = "/bin",
		.actions = actions,
	};
	for (int i = next_byte(&input) % MOST_ACTIONS_HERE; i > 0; i--) {
		int unused;
		struct aspawn_action *action = &actions[command.action_count];
		*action = next_action(&input, &unused);
		/* The caller performs actions of the environment, which environment.c fuzzes. */
		command.action_count += aspw_check_action(action) == 0 &&
					action->kind != ASPAWN_ACTION_SETENV &&
					action->kind != ASPAWN_ACTION_UNSETENV &&
					action->kind != ASPAWN_ACTION_CLEARENV;
	}
	/* Without an action like ASPAWN_RESUID nothing is copied for the image. */
	actions[command.action_count++] = (struct aspawn_action)ASPAWN_RESUID(1, 1, 1);
	compare_moved(&command, &arguments, &variables);
	read_arguments(number);
	free(number);
	free_lines(&arguments);
	free_lines(&variables);
	return 0;
}
