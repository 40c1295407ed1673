/* SPDX-License-Identifier: MIT */
/*
 * Finds command lines of system() and popen() that need no shell. The first lines of the input are
 * the environment. The command follows an empty line. A directly executed command has nothing that
 * a shell could understand otherwise.
 */
#define _GNU_SOURCE
#include "instrumented.h"

#include <ctype.h>
#include <sys/stat.h>

/* A path with a 0 does not exist, a path with a d is a directory, any other path is a program. */
static int stat_random(const char *path, struct stat *status)
{
	memset(status, 0, sizeof *status);
	status->st_mode = strchr(path, 'd') ? S_IFDIR | 0755 : S_IFREG | 0755;
	status->st_ino = (unsigned char)path[strlen(path) / 2];
	return strchr(path, '0') ? -1 : 0;
}

#define stat(path, status) stat_random(path, status)
#include "../../../compat/shell.c"
#undef stat

static void *scratch;

void *aspawn_compat_scratch(struct section *section, size_t size)
{
	(void)section;
	return scratch = exact(NULL, size);
}

int aspawn_compat_spawn_in(struct section *section, const struct spawn *spawn)
{
	(void)section;
	(void)spawn;
	abort(); /* nothing is spawned here */
}

static bool is_plain_byte(char byte)
{
	return isalnum((unsigned char)byte) || (byte && strchr("_./+-,:@%=", byte));
}

/* Shells have more words of their own. */
static void check_first_word(const char *word)
{
	static const char *const own[] = { ".",    ":",    "cd",   "echo", "eval", "exec",
					   "exit", "for",  "if",   "kill", "pwd",  "read",
					   "set",  "test", "time", "true", "type", "while" };

	check(!strchr(word, '=') && *word != '-' && *word != '%', "an assignment, or a job");
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		check(strcmp(word, own[i]) != 0, "a word of the shell's");
}

static void check_arguments(const char *command, char *const *argv)
{
	for (; *argv; argv++) {
		command += strspn(command, " \t");
		const size_t length = strcspn(command, " \t");
		check(length && length == strlen(*argv) && !strncmp(command, *argv, length),
		      "another argument");
		for (size_t i = 0; i < length; i++)
			check(is_plain_byte(command[i]), "a special character");
		command += length;
	}
	check(!command[strspn(command, " \t")], "an argument is missing");
}

static bool is_same_name(const char *a, const char *b)
{
	const size_t length = strcspn(a, "=");

	return length == strcspn(b, "=") && !strncmp(a, b, length);
}

static void check_environment(char *const *envp)
{
	static const char *const own[] = { "BASH_ENV=", "ENV=", "IFS=", "PS4=", "SHELLOPTS=" };

	for (size_t i = 0; envp[i]; i++) {
		const char *name = envp[i];
		check((isalpha((unsigned char)*name) || *name == '_') && strchr(name, '='),
		      "no identifier");
		for (; *name != '='; name++)
			check(isalnum((unsigned char)*name) || *name == '_', "no identifier");
		for (size_t j = 0; j < i; j++)
			check(!is_same_name(envp[i], envp[j]), "a variable is there twice");
		for (size_t j = 0; j < sizeof own / sizeof *own; j++)
			check(!is_same_name(envp[i], own[j]), "a variable of the shell's");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	char **const before = environ;
	struct section section = { .scratch = NULL };
	struct direct direct;
	struct lines variables;

	next_lines(&variables, &input);
	char *command = exact(NULL, input.size + 1);
	memcpy(command, input.data, input.size);
	command[input.size] = '\0';
	environ = variables.list;
	if (aspawn_compat_is_direct(command, &section, &direct)) {
		check_first_word(direct.argv[0]);
		check_arguments(command, direct.argv);
		check_environment(direct.envp);
		check(!strpbrk(direct.path, "0d"), "no program");
	}
	environ = before;
	free(scratch);
	scratch = NULL;
	free(command);
	free_lines(&variables);
	return 0;
}
