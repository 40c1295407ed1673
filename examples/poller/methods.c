/* SPDX-License-Identifier: MIT */
/* The ways to start a check. See methods.h. */
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

#include <syscall/errno.h>
#include <syscall/syscall.h>

static int fail(char why[REASON], const char *what, int error)
{
	snprintf(why, REASON, "%s: %s", what, psys_errname(error));
	return -1;
}

static int make_nonblocking(int fd)
{
	return fcntl(fd, F_SETFL, O_NONBLOCK);
}

ssize_t methods_read(struct running *running, char *to, size_t size)
{
	ssize_t length = read(running->output, to, size);

	if (!running->stream || running->pid || length <= 0)
		return length;

	/* The shell of popen first writes its pid, in a write of its own. */
	const char *end = memchr(to, '\n', (size_t)length);
	if (!end)
		return length;
	running->pid = (pid_t)strtol(to, NULL, 10);
	running->pidfd = psys_pidfd_open(running->pid, 0);
	length -= ++end - to;
	if (length == 0) { /* 0 would mean end of file */
		errno = EAGAIN;
		return -1;
	}
	memmove(to, end, (size_t)length);
	return length;
}

void methods_close_output(struct running *running)
{
	if (running->output >= 0 && !running->stream) /* pclose() closes a stream's */
		close(running->output);
	running->output = -1;
}

void methods_kill(const struct method *method, const struct running *running)
{
	if (running->pid <= 0)
		return;
	/* The check is not reaped, so no other process has its pid. */
	if (method->has_group)
		kill(-running->pid, SIGKILL);
	kill(running->pid, SIGKILL);
}

/* ------------------------------------------------------------------ aspawn */

static struct aspawn_pool pool;
static struct aspawn_action actions[] = {
	ASPAWN_SETSID(), /* no terminal either: nobody could answer a prompt */
	ASPAWN_CLOSEFROM(3),
	ASPAWN_RLIMIT(PSYS_RLIMIT_NOFILE, 0, 0),
};
/* The last action sets a limit, if there is one to set. */
static size_t action_count = sizeof actions / sizeof *actions - 1;

void methods_limit_descriptors(const struct rlimit *limit)
{
	aspawn_action_rlimit(&actions[action_count++], PSYS_RLIMIT_NOFILE, limit->rlim_cur,
			     limit->rlim_max);
}

static int start_aspawn(struct running *running, char *const words[], char why[REASON])
{
	const struct aspawn_command command = {
		.size = sizeof command,
		.flags = ASPAWN_COMMAND_NONBLOCK,
		.argv = words,
		.std_in = ASPAWN_NULL,
		.std_out = ASPAWN_PIPE,
		.std_err = ASPAWN_TO_STDOUT,
		.actions = actions,
		.action_count = action_count,
		.pool = &pool,
	};
	int r = aspawn_start(&running->child, &command);

	if (r < 0)
		return fail(why, "start", r);
	running->pid = running->child.pid;
	running->pidfd = running->child.pidfd;
	running->output = running->child.out_fd;
	return 0;
}

static int finish_aspawn(struct running *running, int *status, char why[REASON])
{
	struct aspawn_failure failure;

	aspawn_wait_started(&running->child, &failure, -1); /* the child has ended: does not block */
	int r = aspawn_wait(&running->child, status, NULL, -1);
	if (r == -PSYS_ECANCELED)
		aspawn_failure_text(why, REASON, &failure);
	else if (r < 0)
		fail(why, "wait", r);
	return r < 0 ? -1 : 0;
}

/* ------------------------------------------------------------- posix_spawn */

static int spawn(pid_t *pid, char *const words[], int pipe)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&files, pipe, 1);
	posix_spawn_file_actions_adddup2(&files, pipe, 2);
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 34) /* elsewhere rely on close-on-exec */
	posix_spawn_file_actions_addclosefrom_np(&files, 3);
#endif
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	int error = posix_spawnp(pid, words[0], &files, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return error;
}

static int start_posix_spawn(struct running *running, char *const words[], char why[REASON])
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return fail(why, "pipe", errno);
	int error = spawn(&running->pid, words, ends[1]);
	close(ends[1]);
	if (error) {
		close(ends[0]);
		return fail(why, "posix_spawn", error);
	}
	running->pidfd = psys_pidfd_open(running->pid, 0);
	if (running->pidfd < 0) {
		error = -running->pidfd;
		kill(running->pid, SIGKILL);
		waitpid(running->pid, NULL, 0);
		close(ends[0]);
		return fail(why, "pidfd_open", error);
	}
	running->output = ends[0];
	make_nonblocking(ends[0]);
	return 0;
}

static int finish_posix_spawn(struct running *running, int *status, char why[REASON])
{
	pid_t pid;

	while ((pid = waitpid(running->pid, status, 0)) < 0 && errno == EINTR)
		;
	close(running->pidfd);
	return pid < 0 ? fail(why, "wait", errno) : 0;
}

/* -------------------------------------------------------------------- popen */

/* Appends " 'word'", quoted for the shell. */
static void append_quoted(FILE *line, const char *word)
{
	fputs(" '", line);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", line);
		else
			fputc(*word, line);
	fputc('\'', line);
}

/*
 * popen() does not return the pid of its child. Without the pid only the end of the pipe, which a
 * grandchild may hold, shows the child's end, and the child cannot be killed. So the shell writes
 * its pid before it executes the check.
 */
static int start_popen(struct running *running, char *const words[], char why[REASON])
{
	char *text = NULL;
	size_t size;
	FILE *line = open_memstream(&text, &size);

	if (!line)
		return fail(why, "popen", errno);
	fputs("echo $$; exec </dev/null 2>&1", line);
	for (; *words; words++)
		append_quoted(line, *words);
	if (fclose(line) != 0) {
		free(text);
		return fail(why, "popen", ENOMEM);
	}
	running->stream = popen(text, "re");
	int error = errno;
	free(text);
	if (!running->stream)
		return fail(why, "popen", error);
	running->pid = 0;
	running->pidfd = -1;
	running->output = fileno(running->stream);
	make_nonblocking(running->output);
	return 0;
}

static int finish_popen(struct running *running, int *status, char why[REASON])
{
	*status = pclose(running->stream);
	int error = errno;
	running->stream = NULL;
	if (running->pidfd >= 0)
		close(running->pidfd);
	return *status < 0 ? fail(why, "pclose", error) : 0;
}

const struct method methods[METHODS] = {
	{ "aspawn", true, start_aspawn, finish_aspawn },
	{ "posix_spawn", true, start_posix_spawn, finish_posix_spawn },
	{ "popen", false, start_popen, finish_popen },
};
