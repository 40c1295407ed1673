/* system(), with or without its shell. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <syscall/syscall.h>

#include "shell.h"

/* While any thread waits in system(), the terminal's signals are for its child: the
 * first one has them ignored, the last one brings back what was there. A handler may
 * call fork() while its own thread has the lock, so that is recursive. */
static struct {
	pthread_mutex_t lock;
	int callers;
	struct sigaction interrupt, quit;
} ignored = { .lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP };

/* No other thread is halfway while there is a fork. */
static void before_fork(void)
{
	pthread_mutex_lock(&ignored.lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&ignored.lock);
}

/* The child inherits the signals as they are, so it keeps the count and what was there:
 * it may be in system() itself, by a handler that forked, and what another thread had
 * ignored is not to be taken for what it wants. The lock is of a thread that is not here. */
static void in_forked_child(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

	ignored.lock = unlocked;
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

struct call {
	sigset_t mask;
	pid_t pid;
};

static void finish(const struct call *call)
{
	restore_signals();
	pthread_sigmask(SIG_SETMASK, &call->mask, NULL);
}

/* A thread that is cancelled leaves no child behind. */
static void cancelled(void *arg)
{
	struct call *call = arg;

	kill(call->pid, SIGKILL);
	while (psys_wait4(call->pid, NULL, 0, NULL) == -PSYS_EINTR)
		continue;
	finish(call);
}

static int wait_for(struct call *call)
{
	int status;
	pid_t r;

	pthread_cleanup_push(cancelled, call);
	r = aspawn_compat_wait(call->pid, &status);
	pthread_cleanup_pop(0);
	return r < 0 ? -1 : status;
}

int system(const char *command)
{
	struct psys_sigset defaults;
	struct call call;
	sigset_t block;

	if (!command)
		return access("/bin/sh", X_OK) == 0;
	sigemptyset(&block);
	sigaddset(&block, SIGCHLD);
	int error = pthread_sigmask(SIG_BLOCK, &block, &call.mask);
	if (error) {
		errno = error;
		return -1;
	}
	ignore_signals(&defaults);

	const struct aspawn_action action = ASPAWN_SIGNALS_DEFAULT(&defaults);
	struct spawn spawn = {
		.pid = &call.pid,
		.path = "",
		.before = { &action, 1 },
		.mask = (struct psys_sigset *)&call.mask,
	};
	error = aspawn_compat_spawn_line(&spawn, command);
	/* A shell that cannot be executed is one that has ended so. */
	int status = error == EAGAIN || error == ENOMEM ? -1 : 127 << 8;
	if (!error) {
		status = wait_for(&call);
		error = status < 0 ? errno : 0;
	}
	finish(&call);
	if (error)
		errno = error;
	return status;
}
