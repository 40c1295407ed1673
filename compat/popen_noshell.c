/* popen_noshell(): a stream to or from a program, without a shell. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <popen_noshell.h>

#include <syscall/syscall.h>

#include "spawn.h"

enum { LEAVE, IGNORE, TO_OUTPUT };

/*
 * Nobody waits for the exec: who reads is not woken for it, which is a good part of the
 * time. The pool does not give a stack away that the child is still on.
 */
static int start(pid_t *pid, const struct aspawn_command *command)
{
	struct Stack_t own, *stack = aspawn_compat_take_stack(&own);
	struct aspawn_child child;
	int r = aspawn_command(&child, stack, command);

	if (r == 0) {
		*pid = child.pid;
		/* Its own stack is unmapped next; and who fails writes to a pipe, if there is one. */
		if (stack == &own || child.fd >= 0)
			aspawn_started(&child, NULL, NULL);
		if (child.fd >= 0)
			psys_close(child.fd);
	}
	aspawn_compat_give_stack(stack);
	return -r;
}

static int spawn_with_end(struct popen_noshell_pass_to_pclose *made, const char *file,
			  const char *const *argv, int end, bool reads, int stderr_mode)
{
	/* The end of the pipe first: it may have a number that the others take. */
	struct aspawn_action actions[] = {
		ASPAWN_DUP2(end, reads),
		ASPAWN_DEV_NULL(!reads),
		ASPAWN_DEV_NULL(2),
	};
	const struct aspawn_action to_output = ASPAWN_DUP2(1, 2);
	const char *path = getenv("PATH");

	if (stderr_mode == TO_OUTPUT)
		actions[2] = to_output;
	const struct aspawn_command command = {
		.size = sizeof command,
		.flags = ASPAWN_COMMAND_NO_PIDFD,
		.file = file,
		.path = path ? path : "/bin:/usr/bin",
		.argv = (char *const *)(uintptr_t)argv,
		.envp = environ,
		.actions = actions,
		.action_count = stderr_mode == LEAVE ? 2 : 3,
	};
	return start(&made->pid, &command);
}

static int open_stream(struct popen_noshell_pass_to_pclose *made, const char *file,
		       const char *const *argv, bool reads, int stderr_mode)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return errno;
	made->fp = fdopen(ends[!reads], reads ? "r" : "w");
	int error = made->fp ? spawn_with_end(made, file, argv, ends[reads], reads, stderr_mode) : errno;
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
	const bool reads = !strcmp(type, "r");
	int error = EINVAL, state;

	*pclose_arg = made;
	if ((reads || !strcmp(type, "w")) && stderr_mode >= LEAVE && stderr_mode <= TO_OUTPUT) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		error = open_stream(&made, file, argv, reads, stderr_mode);
		pthread_setcancelstate(state, NULL);
	}
	if (error) {
		errno = error;
		return NULL;
	}
	*pclose_arg = made;
	return made.fp;
}

/* One word, in place: what follows it, or NULL if it is none. */
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

/* argv has room. */
static bool split(char *text, char **argv)
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

	errno = ENOMEM;
	if (text && argv) {
		errno = EINVAL;
		if (split(text, argv))
			file = popen_noshell(argv[0], (const char *const *)argv, type, pclose_arg, LEAVE);
	}
	int error = errno;
	free(argv);
	free(text);
	errno = error;
	return file;
}

int pclose_noshell(struct popen_noshell_pass_to_pclose *arg)
{
	int status, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	(void)fclose(arg->fp); /* that what was written did not arrive, the status tells */
	pid_t pid = aspawn_compat_wait(arg->pid, &status);
	pthread_setcancelstate(state, NULL);
	return pid < 0 ? -1 : status;
}
