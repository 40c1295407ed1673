/* SPDX-License-Identifier: MIT */
/* The ways to start a filter. See methods.h. */
#define _GNU_SOURCE
#include "methods.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct files {
	int input, output[2];
};

/* All descriptors are close-on-exec, as other threads spawn meanwhile. */
static int open_files(struct files *files, const char *file)
{
	files->input = open(file, O_RDONLY | O_CLOEXEC);
	if (files->input < 0)
		return errno;
	if (pipe2(files->output, O_CLOEXEC) == 0)
		return 0;
	int error = errno;
	close(files->input);
	return error;
}

/* The parent's part after a start, successful or not. */
static int keep_output(struct running *running, const struct files *files, int error)
{
	close(files->input);
	close(files->output[1]);
	if (error)
		close(files->output[0]);
	else
		running->output = files->output[0];
	return error;
}

static int result_of(int status)
{
	if (!WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status) == 127 ? ENOENT : WEXITSTATUS(status) ? -1 : 0;
}

static int reap(struct running *running)
{
	int status;

	close(running->output);
	while (waitpid(running->pid, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return result_of(status);
}

/* ------------------------------------------------------------------ aspawn */

static struct aspawn_pool pool; /* shared by all threads */

static int start_aspawn(struct running *running, char *const filter[], const char *file)
{
	const struct aspawn_action actions[] = { ASPAWN_OPEN(0, file, PSYS_O_RDONLY, 0) };
	const struct aspawn_command command = {
		.size = sizeof command,
		.argv = filter,
		.std_out = ASPAWN_STREAM_PIPE,
		.actions = actions,
		.action_count = 1,
		.pool = &pool,
	};
	int r = aspawn_start(&running->child, &command);

	running->output = running->child.out_fd;
	return -r;
}

static int finish_aspawn(struct running *running)
{
	struct aspawn_failure failure;
	int status;

	close(running->output);
	int r = aspawn_wait(&running->child, &status, NULL, -1);
	if (r == 0)
		return result_of(status);
	aspawn_wait_started(&running->child, &failure, 0);
	return failure.error ? -failure.error : -r;
}

/* ------------------------------------------------------------- posix_spawn */

static int start_posix_spawn(struct running *running, char *const filter[], const char *file)
{
	posix_spawn_file_actions_t actions;
	struct files files;
	int error = open_files(&files, file);

	if (error)
		return error;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, files.input, 0);
	posix_spawn_file_actions_adddup2(&actions, files.output[1], 1);
	error = posix_spawnp(&running->pid, filter[0], &actions, NULL, filter, environ);
	posix_spawn_file_actions_destroy(&actions);
	return keep_output(running, &files, error);
}

/* ------------------------------------------------------------ vfork and fork */

static void execute_filter(const struct files *files, char *const filter[])
{
	dup2(files->input, 0);
	dup2(files->output[1], 1);
	execvp(filter[0], filter);
	_exit(127);
}

static int start_vfork(struct running *running, char *const filter[], const char *file)
{
	struct files files;
	int error = open_files(&files, file);

	if (error)
		return error;
	running->pid = vfork();
	if (running->pid == 0)
		execute_filter(&files, filter);
	return keep_output(running, &files, running->pid < 0 ? errno : 0);
}

static int start_fork(struct running *running, char *const filter[], const char *file)
{
	struct files files;
	int error = open_files(&files, file);

	if (error)
		return error;
	running->pid = fork();
	if (running->pid == 0)
		execute_filter(&files, filter);
	return keep_output(running, &files, running->pid < 0 ? errno : 0);
}

/* -------------------------------------------------------------------- popen */

/* Appends word to a command line, quoted for the shell. */
static int append_quoted(FILE *line, const char *word)
{
	fputs(" '", line);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", line);
		else
			fputc(*word, line);
	return fputc('\'', line);
}

static int start_popen(struct running *running, char *const filter[], const char *file)
{
	char *text = NULL;
	size_t size;
	FILE *line = open_memstream(&text, &size);

	if (!line)
		return errno;
	fputs("exec", line);
	for (size_t i = 0; filter[i]; i++)
		append_quoted(line, filter[i]);
	fputs(" <", line);
	append_quoted(line, file);
	if (fclose(line) != 0) {
		free(text);
		return ENOMEM;
	}
	running->stream = popen(text, "re");
	int error = running->stream ? 0 : errno;
	free(text);
	if (!error)
		running->output = fileno(running->stream);
	return error;
}

static int finish_popen(struct running *running)
{
	int status = pclose(running->stream);

	return status < 0 ? errno : result_of(status);
}

const struct method methods[] = {
	{ "aspawn", start_aspawn, finish_aspawn },
	{ "posix_spawn", start_posix_spawn, reap },
	{ "vfork", start_vfork, reap },
	{ "fork", start_fork, reap },
	{ "popen", start_popen, finish_popen },
};
const size_t method_count = sizeof methods / sizeof methods[0];
