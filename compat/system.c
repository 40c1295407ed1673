/* SPDX-License-Identifier: MIT */
/* system(), which uses a shell only where the command needs it */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <syscall/syscall.h>

#include "shell.h"

/* While any thread is in system(), SIGINT and SIGQUIT are ignored, and end only the child. The
 * first caller ignores both signals, the last restores the caller's dispositions. A thread blocks
 * all signals before it takes the lock: otherwise a handler could call fork(), which waits for the
 * lock of its own thread. */
static struct {
	pthread_mutex_t lock;
	int callers;
	struct sigaction interrupt, quit;
} ignored = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A fork waits until no other thread is changing the dispositions. */
static void before_fork(void)
{
	pthread_mutex_lock(&ignored.lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&ignored.lock);
}

/* The child inherits ignored signals, so it keeps the count and the saved dispositions: a handler
 * may have forked during system(), and the child must not take SIG_IGN of another thread's
 * system() for its own disposition. The lock is made anew: its owner is the parent's thread. */
static void in_forked_child(void)
{
	pthread_mutex_init(&ignored.lock, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, in_forked_child);
}

static void ignore_signals(struct psys_sigset *defaults)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigemptyset(&ignore.sa_mask);
	psys_sigemptyset(defaults);
	pthread_mutex_lock(&ignored.lock);
	if (ignored.callers++ == 0) {
		sigaction(SIGINT, &ignore, &ignored.interrupt);
		sigaction(SIGQUIT, &ignore, &ignored.quit);
	}
	if (ignored.interrupt.sa_handler != SIG_IGN)
		psys_sigaddset(defaults, SIGINT);
	if (ignored.quit.sa_handler != SIG_IGN)
		psys_sigaddset(defaults, SIGQUIT);
	pthread_mutex_unlock(&ignored.lock);
}

static void restore_signals(void)
{
	pthread_mutex_lock(&ignored.lock);
	if (--ignored.callers == 0) {
		sigaction(SIGINT, &ignored.interrupt, NULL);
		sigaction(SIGQUIT, &ignored.quit, NULL);
	}
	pthread_mutex_unlock(&ignored.lock);
}

struct line {
	struct psys_sigset mask; /* the caller's */
	pid_t pid;
};

/* Returns 0, or a positive error number if there is no child. */
static int start_line(struct line *line, struct section *section, const char *command)
{
	struct psys_sigset defaults;

	line->mask = section->mask;
	ignore_signals(&defaults);
	const struct aspawn_action action = ASPAWN_SIGNALS_DEFAULT(&defaults);
	const struct spawn spawn = {
		.pid = &line->pid,
		.path = "",
		.before = { &action, 1 },
		.mask = &line->mask,
	};
	const int error = aspawn_compat_spawn_line(section, &spawn, command);
	if (error)
		restore_signals();
	else /* keep SIGCHLD blocked until the child is reaped */
		psys_sigaddset(&section->mask, SIGCHLD);
	return error;
}

static void finish_line(const struct line *line)
{
	block_signals(NULL);
	restore_signals();
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &line->mask, NULL, PSYS_SIGSET_SIZE);
}

/* Cancellation handler: kill and reap the child. */
static void end_cancelled(void *arg)
{
	struct line *line = arg;

	kill(line->pid, SIGKILL);
	while (psys_wait4(line->pid, NULL, 0, NULL) == -PSYS_EINTR)
		continue;
	finish_line(line);
}

static int wait_for(struct line *line)
{
	int status;
	pid_t r;

	pthread_cleanup_push(end_cancelled, line);
	r = aspawn_compat_wait(line->pid, &status);
	pthread_cleanup_pop(0);
	return r < 0 ? -1 : status;
}

int system(const char *command)
{
	struct section section;
	struct line line;
	const int before = errno;

	if (!command) {
		const bool has_shell = access("/bin/sh", X_OK) == 0;
		errno = before;
		return has_shell;
	}
	int error = aspawn_compat_enter(&section);
	if (error) {
		errno = error;
		return -1;
	}
	error = start_line(&line, &section, command);
	aspawn_compat_leave(&section);
	if (error) {
		errno = error;
		/* POSIX: if the shell cannot be executed, the status is that of exit(127). */
		return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE ?
			       -1 :
			       127 << 8;
	}
	int status = wait_for(&line);
	error = status < 0 ? errno : 0;
	finish_line(&line);
	errno = error ? error : before;
	return status;
}
