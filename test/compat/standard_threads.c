/* SPDX-License-Identifier: MIT */
/* Calls posix_spawn() among signals, threads and forks. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "standard_run.h"
#include "threads.h"

static void handle(int signal)
{
	(void)signal;
}

/* The caller must not see the child of a failed spawn. */
TEST(no_sigchld_handler_runs_for_a_failed_spawn)
{
	pid_t pid;

	signal(SIGCHLD, handle);
	for (int i = 0; i < 100; i++)
		CHECK_EQUAL(posix_spawn(&pid, "/no such file", NULL, NULL, sh_true, environ),
			    ENOENT);
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 100; i++)
		CHECK_EQUAL(posix_spawn(&pid, "/no such file", NULL, NULL, sh_true, environ),
			    ENOENT);
	CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", NULL, NULL, sh_true, environ), 0);
	CHECK(waitpid(pid, NULL, 0) == -1 && errno == ECHILD);
}

TEST(posix_spawn_withstands_a_signal_storm)
{
	struct itimerval often = { { 0, 300 }, { 0, 300 } };
	pid_t pid;
	int status;

	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < scaled(500); i++) {
		CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", NULL, NULL, sh_true, environ), 0);
		while (waitpid(pid, &status, 0) < 0)
			CHECK_EQUAL(errno, EINTR);
		CHECK_EQUAL(status, 0);
		CHECK_EQUAL(posix_spawn(&pid, "/no such file", NULL, NULL, sh_true, environ),
			    ENOENT);
	}
}

static void *spawn_many(void *failed)
{
	char *argv[] = { "sh", "-c", "exit 7", NULL };
	pid_t pid;
	int status;

	for (int i = 0; i < scaled(200); i++) {
		file_actions actions;
		posix_spawn_file_actions_init(&actions);
		posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
		if (posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ) ||
		    waitpid(pid, &status, 0) != pid || status != 7 << 8 ||
		    posix_spawn(&pid, "/nowhere", &actions, NULL, argv, environ) != ENOENT)
			__atomic_store_n((int *)failed, 1, __ATOMIC_RELAXED);
		posix_spawn_file_actions_destroy(&actions);
	}
	return NULL;
}

TEST_SECONDS(twenty_threads_may_spawn, 60)
{
	check_in_threads(20, spawn_many);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}

/* A cancellation within the call would lose the child's pid. */
static void *spawn_when_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	*(int *)arg = posix_spawn(NULL, "/bin/sh", NULL, NULL, sh_true, environ) == 0 ? 1 : 2;
	pthread_testcancel();
	*(int *)arg = 3;
	return NULL;
}

TEST(a_pending_cancellation_does_not_interrupt_posix_spawn)
{
	pthread_t thread;
	int seen = 0;

	CHECK_EQUAL(pthread_create(&thread, NULL, spawn_when_cancelled, &seen), 0);
	CHECK_EQUAL(pthread_join(thread, NULL), 0);
	CHECK_EQUAL(seen, 1);
	CHECK(waitpid(-1, NULL, 0) > 0);
}

TEST_SECONDS(a_forked_child_of_spawning_threads_may_spawn, 60)
{
	pthread_t thread[4];
	int failed = 0, status;

	for (int i = 0; i < 4; i++)
		CHECK_EQUAL(pthread_create(&thread[i], NULL, spawn_many, &failed), 0);
	for (int i = 0; i < scaled(100); i++) {
		pid_t child = fork(), pid;
		if (child == 0) {
			for (int j = 0; j < 3; j++)
				if (posix_spawn(&pid, "/bin/sh", NULL, NULL, sh_true, environ) ||
				    waitpid(pid, NULL, 0) != pid)
					_exit(1);
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child);
		CHECK_EQUAL(status, 0);
	}
	for (int i = 0; i < 4; i++)
		CHECK_EQUAL(pthread_join(thread[i], NULL), 0);
	CHECK_EQUAL(failed, 0);
}
