/* SPDX-License-Identifier: MIT */
/* popen() and pclose(), which use a shell only where the command needs it */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include <syscall/syscall.h>

#include "shell.h"

/* Open streams: later children must not inherit them, and pclose() finds the child's pid here. */
static struct stream {
	struct stream *next;
	FILE *file;
	pid_t pid;
	int fd;
	ino_t pipe;
	bool is_open; /* set before each spawn; false after the caller's fclose() */
} * streams;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* In a forked child: the lock may belong to a thread of the parent. The list is consistent at
 * every instant. */
static void renew_lock(void)
{
	pthread_mutex_init(&lock, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, renew_lock);
}

static ino_t pipe_of(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) ? status.st_ino : 0;
}

struct mode {
	bool reads, cloexec;
};

static bool parse_mode(const char *text, struct mode *mode)
{
	bool writes = false;

	mode->reads = mode->cloexec = false;
	for (; *text; text++)
		switch (*text) {
		case 'r':
			mode->reads = true;
			break;
		case 'w':
			writes = true;
			break;
		case 'e':
			mode->cloexec = true;
			break;
		default:
			return false;
		}
	return mode->reads != writes;
}

static ASPAWN_CHILD int close_streams(void *first)
{
	for (const struct stream *stream = first; stream; stream = stream->next)
		if (stream->is_open)
			psys_close(stream->fd);
	return 0;
}

static int spawn_with_end(struct stream *stream, const char *command, int end, int target)
{
	const struct aspawn_action actions[] = { ASPAWN_CALL(close_streams, streams),
						 ASPAWN_DUP2(end, target) };
	const struct spawn spawn = { .pid = &stream->pid, .path = "", .actions = { actions, 2 } };
	struct section section;

	for (struct stream *other = streams; other; other = other->next)
		other->is_open = pipe_of(other->fd) == other->pipe;
	int error = aspawn_compat_enter(&section);
	if (error)
		return error;
	error = aspawn_compat_spawn_line(&section, &spawn, command);
	aspawn_compat_leave(&section);
	return error;
}

/* The thread holds the lock. The caller's end is CLOEXEC until the stream is in the list; otherwise
 * a child of another thread could inherit this end. */
static int open_stream(struct stream *stream, const char *command, const struct mode *mode)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return errno;
	const int own = ends[!mode->reads], childs = ends[mode->reads];
	stream->fd = own;
	stream->pipe = pipe_of(own);
	stream->file = fdopen(own, mode->reads ? "r" : "w");
	int error = errno;
	if (stream->file) {
		fwide(stream->file, -1); /* POSIX: byte-oriented */
		error = spawn_with_end(stream, command, childs, mode->reads);
	}
	close(childs);
	if (!error) {
		if (!mode->cloexec)
			fcntl(own, F_SETFD, 0);
		return 0;
	}
	if (stream->file)
		(void)fclose(stream->file);
	else
		close(own);
	return error;
}

static struct stream *take_out(const FILE *file)
{
	for (struct stream **at = &streams; *at; at = &(*at)->next) {
		struct stream *found = *at;
		if (found->file != file)
			continue;
		*at = found->next;
		return found;
	}
	return NULL;
}

FILE *popen(const char *command, const char *text)
{
	struct mode mode;
	struct stream *stream;
	const int before = errno;
	int state;

	if (!parse_mode(text, &mode)) {
		errno = EINVAL;
		return NULL;
	}
	stream = calloc(1, sizeof *stream);
	if (!stream)
		return NULL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&lock);
	int error = open_stream(stream, command, &mode);
	if (!error) {
		free(take_out(stream->file)); /* an older stream that fclose() closed */
		stream->next = streams;
		streams = stream;
	}
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(state, NULL);
	if (error)
		free(stream);
	errno = error ? error : before;
	return error ? NULL : stream->file;
}

/* A stream that is not from popen() is only closed, as by glibc's pclose(). */
int pclose(FILE *file)
{
	const int before = errno;
	int status, state;

	pthread_mutex_lock(&lock);
	struct stream *stream = take_out(file);
	if (stream) /* fclose() may wait for room in the pipe: no later child may hold it open */
		fcntl(stream->fd, F_SETFD, FD_CLOEXEC);
	pthread_mutex_unlock(&lock);
	if (!stream)
		return fclose(file);
	const pid_t pid = stream->pid;
	free(stream);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	const int error = fclose(file) ? errno : 0;
	pid_t r = aspawn_compat_wait(pid, &status);
	pthread_setcancelstate(state, NULL);
	if (r < 0)
		return -1;
	errno = error ? error : before;
	/* -1: the program succeeded, but the last written data is lost. */
	return status || !error ? status : -1;
}
