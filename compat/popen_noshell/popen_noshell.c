/* SPDX-License-Identifier: MIT */
/* popen_noshell(): a stream to or from a program, without a shell */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <popen_noshell.h>

#include <syscall/syscall.h>

#include "../spawn.h"

enum { LEAVE, IGNORE, TO_OUTPUT };

static int fork_mode = POPEN_NOSHELL_MODE_CLONE;

void popen_noshell_set_fork_mode(int mode)
{
	__atomic_store_n(&fork_mode, mode, __ATOMIC_RELAXED);
}

int popen_noshell_get_fork_mode(void)
{
	return __atomic_load_n(&fork_mode, __ATOMIC_RELAXED);
}

struct program {
	const char *file;
	char *const *argv;
	int end; /* of the pipe */
	bool reads;
	int stderr_mode;
};

/*
 * Does not wait for the exec: the extra wakeup would be a good part of the whole cost. The pool
 * does not reuse a stack before its child has left it.
 */
static int start_command(pid_t *pid, const struct aspawn_command *command)
{
	struct aspawn_child child;
	int r = aspawn_start(&child, command);

	if (r < 0)
		return -r;
	*pid = aspawn_pid(&child);
	aspawn_release(&child);
	return 0;
}

static int by_aspawn(pid_t *pid, const struct program *program, bool copies)
{
	struct section section;
	/* Duplicate the pipe first: its descriptor may be 0, 1 or 2, which later actions
	 * replace. */
	struct aspawn_action actions[] = {
		ASPAWN_SIGMASK(&section.mask),
		ASPAWN_DUP2(program->end, program->reads),
		ASPAWN_DEV_NULL(!program->reads),
		ASPAWN_DEV_NULL(2),
	};
	const struct aspawn_action to_output = ASPAWN_DUP2(1, 2);
	const char *path = getenv("PATH");

	if (program->stderr_mode == TO_OUTPUT)
		actions[3] = to_output;
	const struct aspawn_command command = {
		.size = sizeof command,
		.flags = ASPAWN_COMMAND_NO_PIDFD | ASPAWN_COMMAND_INHERIT_SIGNALS,
		.memory = copies ? ASPAWN_MEMORY_COPIED : ASPAWN_MEMORY_SHARED,
		.file = program->file,
		.search_path = path ? path : "/bin:/usr/bin",
		.argv = program->argv,
		.envp = environ,
		.actions = actions,
		.action_count = program->stderr_mode == LEAVE ? 3 : 4,
		.pool = &aspawn_compat_stacks,
	};

	int error = aspawn_compat_enter(&section);
	if (error)
		return error;
	error = start_command(pid, &command);
	aspawn_compat_leave(&section);
	return error;
}

static int by_posix_spawn(pid_t *pid, const struct program *program)
{
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	error = posix_spawn_file_actions_adddup2(&actions, program->end, program->reads);
	if (!error)
		error = posix_spawn_file_actions_addopen(&actions, !program->reads, "/dev/null",
							 O_RDWR, 0);
	if (!error && program->stderr_mode == IGNORE)
		error = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_RDWR, 0);
	if (!error && program->stderr_mode == TO_OUTPUT)
		error = posix_spawn_file_actions_adddup2(&actions, 1, 2);
	if (!error)
		error = posix_spawnp(pid, program->file, &actions, NULL, program->argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

static int spawn_with_end(pid_t *pid, const struct program *program)
{
	switch (popen_noshell_get_fork_mode()) {
	case POPEN_NOSHELL_MODE_CLONE:
		return by_aspawn(pid, program, false);
	case POPEN_NOSHELL_MODE_FORK:
		return by_aspawn(pid, program, true);
	case POPEN_NOSHELL_MODE_POSIX_SPAWN:
		return by_posix_spawn(pid, program);
	default:
		return EINVAL;
	}
}

static int open_stream(struct popen_noshell_pass_to_pclose *made, struct program *program)
{
	const bool reads = program->reads;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return errno;
	program->end = ends[reads];
	made->fp = fdopen(ends[!reads], reads ? "r" : "w");
	int error = made->fp ? spawn_with_end(&made->pid, program) : errno;
	close(ends[reads]);
	if (error && made->fp)
		(void)fclose(made->fp);
	else if (error)
		close(ends[!reads]);
	return error;
}

FILE *popen_noshell(const char *file, const char *const *argv, const char *type,
		    struct popen_noshell_pass_to_pclose *pclose_arg, int stderr_mode)
{
	struct popen_noshell_pass_to_pclose made = { NULL, 0 };
	struct program program = {
		.file = file,
		.argv = (char *const *)(uintptr_t)argv,
		.reads = !strcmp(type, "r"),
		.stderr_mode = stderr_mode,
	};
	int error = EINVAL, state;

	*pclose_arg = made;
	if ((program.reads || !strcmp(type, "w")) && stderr_mode >= LEAVE &&
	    stderr_mode <= TO_OUTPUT) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		error = open_stream(&made, &program);
		pthread_setcancelstate(state, NULL);
	}
	if (error) {
		errno = error;
		return NULL;
	}
	*pclose_arg = made;
	return made.fp;
}

/* Ends the word with a NUL, in place, without its quotes. Returns what follows the word, or NULL
 * if the word is invalid. */
static char *end_of_word(char **word)
{
	static const char blank[] = " \t";
	char *text = *word, *end;

	if (*text == '\'' || *text == '"') {
		end = strchr(text + 1, *text);
		if (!end)
			return NULL;
		*word = text + 1;
		*end++ = '\0';
	} else {
		end = text + strcspn(text, " \t'\"");
	}
	if (*end && !strchr(blank, *end))
		return NULL;
	if (*end)
		*end++ = '\0';
	return end;
}

/* Splits the line in place; argv must have room for all words and NULL. Returns false if the line
 * has no word or needs a shell. */
static bool split_line(char *text, char **argv)
{
	size_t count = 0;

	if (strpbrk(text, "!\\$`\n|&;()<>"))
		return false;
	for (;;) {
		text += strspn(text, " \t");
		if (!*text)
			break;
		argv[count] = text;
		text = end_of_word(&argv[count++]);
		if (!text)
			return false;
	}
	argv[count] = NULL;
	return count;
}

FILE *popen_noshell_compat(const char *command, const char *type,
			   struct popen_noshell_pass_to_pclose *pclose_arg)
{
	char *text = strdup(command);
	char **argv = malloc((strlen(command) / 2 + 2) * sizeof *argv);
	FILE *file = NULL;

	*pclose_arg = (struct popen_noshell_pass_to_pclose){ NULL, 0 };
	if (!text || !argv)
		errno = ENOMEM;
	else if (!split_line(text, argv))
		errno = EINVAL;
	else
		file = popen_noshell(argv[0], (const char *const *)argv, type, pclose_arg, LEAVE);
	int error = errno;
	free(argv);
	free(text);
	errno = error;
	return file;
}

int pclose_noshell(struct popen_noshell_pass_to_pclose *arg)
{
	const int before = errno;
	int status, state;

	if (!arg->fp) {
		errno = EINVAL;
		return -1;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	(void)fclose(arg->fp); /* the program's status shows if written data was lost */
	pid_t pid = aspawn_compat_wait(arg->pid, &status);
	pthread_setcancelstate(state, NULL);
	if (pid < 0)
		return -1;
	errno = before;
	return status;
}
