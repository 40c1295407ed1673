/* SPDX-License-Identifier: MIT */
/* Another thread or a signal handler calls fork() at the worst moments of a call. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <popen_noshell.h>

#include "../suite/filter.h"

static char *const argv[] = { "sh", "-c", "exit 7", NULL };

/* Forked children that only call the drop-ins must succeed. */
static void check_forks(int count)
{
	int status;

	for (int i = 0; i < count; i++) {
		pid_t child = fork();
		if (child == 0)
			_exit(0);
		CHECK(waitpid(child, &status, 0) == child);
		CHECK_EQUAL(status, 0);
	}
}

static int stop, begun;

static void stay(int tid)
{
	(void)tid;
	__atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
	sleep_ms(20);
}

/* The stack of the spawn is too large to be kept. */
static void *spawn_with_many_actions(void *arg)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < 9000; i++)
		posix_spawn_file_actions_addclose(&actions, 9);
	filter_follow_munmap(stay);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		CHECK(posix_spawn(&pid, "/no such file", &actions, NULL, argv, environ) != 0);
	posix_spawn_file_actions_destroy(&actions);
	return arg;
}

static char large[100000];
static const char *const words[] = { "true", large, large, large, large, large, large, NULL };
static struct popen_noshell_pass_to_pclose stream;

/* The child runs in a copy of the memory: the stack can be unmapped at once. */
static FILE *open_with_large_arguments(void)
{
	psys_memset(large, 'x', sizeof large - 1);
	popen_noshell_set_fork_mode(POPEN_NOSHELL_MODE_FORK);
	return popen_noshell("true", words, "r", &stream, 0);
}

static void *open_for_ever(void *arg)
{
	filter_follow_munmap(stay);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		CHECK(open_with_large_arguments());
		CHECK_EQUAL(pclose_noshell(&stream), 0);
	}
	return arg;
}

static void check_forks_beside(void *(*function)(void *))
{
	pthread_t thread;

	CHECK_EQUAL(pthread_create(&thread, NULL, function, NULL), 0);
	while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
		sleep_ms(1);
	check_forks(100);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

TEST(a_fork_while_posix_spawn_unmaps_a_stack_is_safe)
{
	check_forks_beside(spawn_with_many_actions);
}

TEST(a_fork_while_popen_noshell_unmaps_a_stack_is_safe)
{
	check_forks_beside(open_for_ever);
}

static void interrupt(int tid)
{
	psys_tgkill(psys_getpid(), tid, SIGUSR1);
	sleep_ms(5);
}

static int handled;
static bool is_child;

static void fork_in_handler(int signal)
{
	int status;
	pid_t child = fork();

	(void)signal;
	handled++;
	if (child == 0) {
		is_child = true;
		return;
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_EQUAL(status, 0);
}

/* Both processes complete the call. */
TEST(a_handler_may_fork_while_popen_noshell_unmaps_a_stack)
{
	struct sigaction action = { .sa_handler = fork_in_handler };

	sigaction(SIGUSR1, &action, NULL);
	filter_follow_munmap(interrupt);
	for (int i = 0; i < 10; i++) {
		FILE *file = open_with_large_arguments();
		if (is_child)
			_exit(file ? 0 : 1);
		CHECK(file);
		int status = pclose_noshell(&stream); /* some heaps unmap there */
		if (is_child)
			_exit(0);
		CHECK_EQUAL(status, 0);
	}
	CHECK(handled > 0);
}

static int sibling;

/* The sibling has copies of all descriptors open at this moment. */
static void fork_a_sibling(int tid)
{
	(void)tid;
	sibling = (int)psys_clone(PSYS_SIGCHLD, NULL, NULL, NULL, NULL);
	if (sibling == 0) {
		sleep_ms(60000);
		psys_exit_group(0);
	}
}

/* The child changes the user in a copy of the memory, and cannot report through the memory. */
TEST(posix_spawn_that_resets_ids_does_not_wait_for_a_sibling)
{
	posix_spawnattr_t attr;
	int status;
	pid_t pid;

	if (geteuid())
		skip("not root");
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_RESETIDS);
	CHECK(setegid(1000) == 0 && seteuid(1000) == 0);
	filter_precede_clone(fork_a_sibling);
	CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", NULL, &attr, argv, environ), 0);
	CHECK(sibling > 0);
	CHECK_EQUAL(waitpid(sibling, NULL, WNOHANG), 0); /* the sibling still runs */
	CHECK(waitpid(pid, &status, 0) == pid && status == 7 << 8);
	CHECK_EQUAL(kill(sibling, SIGKILL), 0);
	CHECK_EQUAL(waitpid(sibling, NULL, 0), sibling);
	posix_spawnattr_destroy(&attr);
}
