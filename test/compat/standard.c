/* SPDX-License-Identifier: MIT */
/*
 * Tests what the standard and the manual require of posix_spawn(), only by the libc's interface.
 * The test runs with the libc itself, and with the drop-in linked and preloaded. The other files
 * whose names begin with standard_ run in the same ways.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "standard_run.h"

TEST(the_program_gets_its_arguments_and_environment)
{
	char *const envp[] = { "A=b", NULL }, *const nothing[] = { NULL };
	char text[64];

	CHECK_EQUAL(run_script("echo $# $0 $1 $A", text, sizeof text, NULL, NULL, envp), 0);
	CHECK(!strcmp(text, "1 zero one b\n"));
	CHECK_EQUAL(run_script("echo $# $A", text, sizeof text, NULL, NULL, nothing), 0);
	CHECK(!strcmp(text, "1\n"));
	CHECK_EQUAL(run_script("exit 3", text, sizeof text, NULL, NULL, environ), 3 << 8);
	CHECK_EQUAL(run_script("kill -9 $$", text, sizeof text, NULL, NULL, environ), 9);
}

TEST(pid_may_be_null)
{
	int status;

	CHECK_EQUAL(posix_spawn(NULL, "/bin/sh", NULL, NULL, sh_true, environ), 0);
	CHECK(wait(&status) > 0 && status == 0);
}

/* posix_spawn() takes a path; posix_spawnp() searches the caller's PATH. */
TEST(posix_spawnp_searches_path)
{
	char *const argv[] = { "zero", NULL }, *const envp[] = { "PATH=/no such directory", NULL };
	char folder[] = "/tmp/aspawn-compat-XXXXXX";
	pid_t pid = -5;
	int status;

	CHECK(mkdtemp(folder) && chdir(folder) == 0);
	int fd = open("a-script", O_CREAT | O_WRONLY, 0755);
	CHECK(write(fd, "#!/bin/sh\nexit 7\n", 17) == 17 && close(fd) == 0);
	CHECK_EQUAL(posix_spawn(&pid, "a-script", NULL, NULL, argv, envp), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 7 << 8);
	pid = -5;
	CHECK_EQUAL(setenv("PATH", "/bin:/usr/bin", 1), 0);
	CHECK_EQUAL(posix_spawnp(&pid, "a-script", NULL, NULL, argv, envp), ENOENT);
	CHECK_EQUAL(posix_spawn(&pid, "sh", NULL, NULL, sh_true, environ), ENOENT);
	CHECK_EQUAL(posix_spawnp(&pid, "", NULL, NULL, argv, envp), ENOENT);
	CHECK_EQUAL(symlink("loop", "loop"), 0);
	CHECK_EQUAL(posix_spawn(&pid, "loop", NULL, NULL, argv, envp), ELOOP);
	CHECK_EQUAL(unlink("loop"), 0);
	CHECK_EQUAL(pid, -5);
	CHECK_EQUAL(setenv("PATH", folder, 1), 0);
	CHECK_EQUAL(posix_spawnp(&pid, "a-script", NULL, NULL, argv, envp), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 7 << 8);
	CHECK_EQUAL(setenv("PATH", "/no such directory:", 1), 0);
	CHECK_EQUAL(posix_spawnp(&pid, "a-script", NULL, NULL, argv, envp), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 7 << 8);
	CHECK_EQUAL(posix_spawnp(&pid, "./a-script", NULL, NULL, argv, envp), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 7 << 8);
	unsetenv("PATH");
	CHECK_EQUAL(posix_spawnp(&pid, "sh", NULL, NULL, sh_true, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(unlink("a-script") == 0 && rmdir(folder) == 0);
}

TEST(programs_that_cannot_run_are_errors)
{
	char path[] = "/tmp/aspawn-compat-XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd >= 0 && write(fd, "exit 0\n", 7) == 7 && close(fd) == 0);
	CHECK_FAILS(ENOENT, "/no such file", NULL, NULL);
	CHECK_FAILS(ENOENT, "", NULL, NULL);
	CHECK_FAILS(ENOTDIR, "/dev/null/x", NULL, NULL);
	CHECK_FAILS(EACCES, "/tmp", NULL, NULL);
	CHECK_FAILS(EACCES, path, NULL, NULL);
	CHECK(chmod(path, 0755) == 0);
	CHECK_FAILS(ENOEXEC, path, NULL, NULL); /* posix_spawn() tries no shell */
	unlink(path);
}

TEST(too_many_arguments_are_e2big)
{
	static char *argv[3000];
	static char large[1024];
	pid_t pid = -5;
	int status;

	memset(large, 'x', sizeof large - 1);
	for (int i = 1; i < 1000; i++)
		argv[i] = large;
	argv[0] = "true";
	CHECK_EQUAL(posix_spawnp(&pid, "true", NULL, NULL, argv, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	if (psys_getenv(environ, "SUITE_EMULATOR"))
		return;                             /* the emulator has limits of its own */
	struct rlimit limit = { 1 << 20, 1 << 20 }; /* arguments may have a quarter of the stack */
	CHECK_EQUAL(setrlimit(RLIMIT_STACK, &limit), 0);
	pid = -5;
	CHECK_EQUAL(posix_spawnp(&pid, "true", NULL, NULL, argv, environ), E2BIG);
	CHECK_EQUAL(pid, -5);
}
