/* SPDX-License-Identifier: MIT */
/* Calls posix_spawn(), popen() and system() in unusual places. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite/sanitizer.h"
#include "standard_run.h"

static bool reads_words(const char *command)
{
	char text[16];
	FILE *file = popen(command, "r");

	return file && fgets(text, sizeof text, file) && !strcmp(text, "words\n") &&
	       pclose(file) == 0;
}

static bool all_of_them_work(void)
{
	int status;
	pid_t pid;

	return reads_words("/bin/echo words") && reads_words("echo words") &&
	       system("/bin/true") == 0 && system("exit 3") == 3 << 8 &&
	       posix_spawnp(&pid, "sh", NULL, NULL, sh_true, environ) == 0 &&
	       waitpid(pid, &status, 0) == pid && status == 0;
}

static void *call_all(void *right)
{
	*(bool *)right = all_of_them_work();
	return NULL;
}

/* glibc allows no smaller stack. musl allows 2 KiB, too little for musl's own functions. */
TEST(calls_work_on_a_stack_of_16_kib)
{
	const long least = sysconf(_SC_THREAD_STACK_MIN);
	pthread_attr_t attr;
	pthread_t thread;
	bool right = false;

	if (HAS_ASAN)
		skip("ASan needs more");
	CHECK_EQUAL(pthread_attr_init(&attr), 0);
	CHECK_EQUAL(pthread_attr_setstacksize(&attr, least > 16384 ? (size_t)least : 16384), 0);
	CHECK_EQUAL(pthread_create(&thread, &attr, call_all, &right), 0);
	CHECK_EQUAL(pthread_join(thread, NULL), 0);
	CHECK(right);
}

/* Returns the error of a posix_spawn() in a child of vfork(), with shared memory. */
static __attribute__((noinline)) int spawn_in_child_of_vfork(const char *path)
{
	volatile int error = -1;
	int status;
	pid_t child = vfork();

	if (child == 0) {
		pid_t pid;
		error = posix_spawn(&pid, path, NULL, NULL, sh_true, environ);
		_exit(error || (waitpid(pid, &status, 0) == pid && status == 0) ? 0 : 1);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_EQUAL(status, 0);
	return error;
}

TEST(posix_spawn_works_in_a_child_of_vfork)
{
	for (int i = 0; i < 20; i++) {
		int found = spawn_in_child_of_vfork("/bin/sh"),
		    not_found = spawn_in_child_of_vfork("/no such file");
		CHECK(!memory_is_shared() || (found == 0 && not_found == ENOENT));
	}
	CHECK(all_of_them_work());
}

static int result;

static void call_all_at_exit(void)
{
	char right = all_of_them_work();

	CHECK_EQUAL(write(result, &right, 1), 1);
}

TEST(calls_work_in_atexit_functions)
{
	int ends[2], status;
	char right = 0;

	CHECK_EQUAL(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		result = ends[1];
		atexit(call_all_at_exit);
		exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(read(ends[0], &right, 1) == 1 && right);
}

TEST(calls_work_without_an_environment)
{
	int status;
	pid_t pid;

	environ = NULL;
	CHECK(all_of_them_work());
	CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", NULL, NULL, sh_true, NULL), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}
