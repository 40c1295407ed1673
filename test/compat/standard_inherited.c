/* SPDX-License-Identifier: MIT */
/*
 * Tests what the standard requires of inheritance, of the order of changes, and of errors. The
 * libc's posix_spawn() and the drop-in must fulfil the requirements.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "standard_run.h"

/* Runs a script with the actions and attributes. Returns the exit status. */
static int run(const char *script, const posix_spawn_file_actions_t *actions,
	       const posix_spawnattr_t *attr)
{
	char *argv[] = { "sh", "-c", (char *)(uintptr_t)script, NULL };
	pid_t pid = -5;
	int status;
	int error = posix_spawn(&pid, "/bin/sh", actions, attr, argv, environ);

	if (error)
		return -error;
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	return status;
}

/* "As though fork() had been called": without an attribute the caller's state is inherited. */
TEST(the_program_inherits_as_after_a_fork)
{
	struct rlimit limit = { 77, 88 };
	char script[512];

	umask(0123);
	CHECK(chdir("/usr") == 0 && setrlimit(RLIMIT_NOFILE, &limit) == 0);
	CHECK_EQUAL(setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 3), 0);
	snprintf(
		script, sizeof script,
		"test $PPID = %d && test $(pwd -P) = /usr && test $(umask) = 0123 && test $(nice) = %d && "
		"test $(ulimit -Sn) = 77 && test $(ulimit -Hn) = 88 && test $(cut -d' ' -f6 /proc/$$/stat) = %d",
		getpid(), getpriority(PRIO_PROCESS, 0), getsid(0));
	CHECK_EQUAL(run(script, NULL, NULL), 0);
}

TEST(pending_signals_are_not_inherited)
{
	char *argv[] = { "grep", "-q", "^ShdPnd:\t0*$", "/proc/self/status", NULL };
	sigset_t set;
	pid_t pid;
	int status;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	CHECK(kill(getpid(), SIGUSR1) == 0);
	CHECK_EQUAL(posix_spawnp(&pid, "grep", NULL, NULL, argv, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(sigpending(&set) == 0 && sigismember(&set, SIGUSR1));
}

static FILE *make_file(char *path, const char *text)
{
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "r+");

	CHECK(file && write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
	      lseek(fd, 0, SEEK_SET) == 0);
	return file;
}

/* Parent and child share the open file description. */
TEST(inherited_descriptors_share_their_offset)
{
	char path[] = "/tmp/aspawn-compat-XXXXXX", script[64];
	FILE *file = make_file(path, "first\nsecond\n");
	int fd = fileno(file);

	snprintf(script, sizeof script, "read line <&%d; test $line = first", fd);
	CHECK_EQUAL(run(script, NULL, NULL), 0);
	CHECK(lseek(fd, 0, SEEK_CUR) > 0);
	unlink(path);
}

/* Record locks belong to the process: the child's close must not release them. */
TEST(the_parent_keeps_its_record_locks)
{
	char path[] = "/tmp/aspawn-compat-XXXXXX";
	FILE *file = make_file(path, "text");
	posix_spawn_file_actions_t actions;
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int status;

	CHECK_EQUAL(fcntl(fileno(file), F_SETLK, &lock), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addclose(&actions, fileno(file));
	CHECK_EQUAL(run(":", &actions, NULL), 0);
	CHECK_EQUAL(run(":", NULL, NULL), 0);
	pid_t child = fork();
	if (child == 0)
		_exit(fcntl(fileno(file), F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK &&
				      lock.l_pid == getppid() ?
			      0 :
			      1);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	posix_spawn_file_actions_destroy(&actions);
	unlink(path);
}

/* Attributes come first: an action opens files with the real user's privileges. */
TEST(ids_are_reset_before_the_actions)
{
	char path[] = "/tmp/aspawn-compat-XXXXXX";
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;

	if (geteuid())
		skip("not root");
	(void)fclose(make_file(path, "text"));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 5, path, O_RDONLY, 0);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_RESETIDS);
	CHECK_EQUAL(seteuid(1000), 0);
	CHECK_EQUAL(run(":", &actions, NULL), -EACCES);
	CHECK_EQUAL(run("read line <&5; test $line = text", &actions, &attr), 0);
	CHECK(seteuid(0) == 0 && unlink(path) == 0);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
}

/* The program's set-user-ID bit takes effect after all attributes. */
TEST(set_user_id_programs_change_their_user)
{
	char path[] = "/tmp/aspawn-compat-XXXXXX", script[128];
	char *argv[] = { "id", "-u", NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char text[16];
	int ends[2], status;
	pid_t pid;

	if (geteuid() || psys_getenv(environ, "SUITE_EMULATOR"))
		skip("not root, or not a program of this machine's");
	close(mkstemp(path));
	snprintf(script, sizeof script,
		 "cat $(command -v id) >%s && chown 1234 %s && chmod 4755 %s", path, path, path);
	CHECK_EQUAL(run(script, NULL, NULL), 0);
	CHECK_EQUAL(pipe2(ends, O_CLOEXEC), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	posix_spawnattr_init(&attr);
	for (int i = 0; i < 2; i++) {
		posix_spawnattr_setflags(&attr, (short)(i ? POSIX_SPAWN_RESETIDS : 0));
		CHECK_EQUAL(posix_spawn(&pid, path, &actions, &attr, argv, environ), 0);
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
		memset(text, 0, sizeof text);
		CHECK(read(ends[0], text, sizeof text - 1) > 0);
		if (!strcmp(text, "0\n")) {
			unlink(path);
			skip("the file system knows no such bit");
		}
		CHECK(!strcmp(text, "1234\n"));
	}
	unlink(path);
}

/* Errors of open(), dup2() and exec() are the error of the call. */
TEST(errors_of_actions_and_exec_are_returned)
{
	char loop[] = "/tmp/aspawn-compat-XXXXXX", name[300];
	static const struct {
		const char *path;
		int flags, error;
	} rows[] = {
		{ "/no such file", O_RDONLY, ENOENT },
		{ "/tmp", O_WRONLY, EISDIR },
		{ "/dev/null/x", O_RDONLY, ENOTDIR },
		{ "/dev/null", O_RDONLY | O_DIRECTORY, ENOTDIR },
	};
	posix_spawn_file_actions_t actions;
	char *argv[] = { "x", NULL };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		posix_spawn_file_actions_init(&actions);
		posix_spawn_file_actions_addopen(&actions, 5, rows[i].path, rows[i].flags, 0);
		CHECK_EQUAL(run(":", &actions, NULL), -rows[i].error);
		posix_spawn_file_actions_destroy(&actions);
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, 77, 5);
	CHECK_EQUAL(run(":", &actions, NULL), -EBADF);
	posix_spawn_file_actions_destroy(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_init(&actions),
		    0); /* init makes a destroyed object usable again */
	CHECK_EQUAL(run(":", &actions, NULL), 0);
	posix_spawn_file_actions_destroy(&actions);

	CHECK(mkdtemp(loop) && rmdir(loop) == 0 && symlink(loop, loop) == 0);
	CHECK_EQUAL(posix_spawn(NULL, loop, NULL, NULL, argv, environ), ELOOP);
	unlink(loop);
	memset(name, 'x', sizeof name - 1);
	*name = '/';
	name[sizeof name - 1] = '\0';
	CHECK_EQUAL(posix_spawn(NULL, name, NULL, NULL, argv, environ), ENAMETOOLONG);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}

/* posix_spawn() returns the error of fork(). */
TEST(posix_spawn_is_eagain_at_rlimit_nproc)
{
	struct rlimit none = { 0, 0 };

	if (geteuid() || psys_getenv(environ, "SUITE_EMULATOR"))
		skip("not root, which no limit holds, or not a process of its own");
	CHECK(setrlimit(RLIMIT_NPROC, &none) == 0 && setuid(1000) == 0);
	CHECK_EQUAL(run(":", NULL, NULL), -EAGAIN);
	CHECK(!popen("exit 3", "r"));
	CHECK(system("exit 3") != 3 << 8);
}

/* Attribute objects are always the libc's; the drop-in only reads the objects. */
TEST(attributes_return_the_values_set)
{
	posix_spawnattr_t attr;
	struct sched_param param = { 3 };
	sigset_t set, other;
	short flags = -1;
	pid_t group = -1;
	int policy = -1;

	CHECK_EQUAL(posix_spawnattr_init(&attr), 0);
	CHECK(posix_spawnattr_getflags(&attr, &flags) == 0 && flags == 0);
	CHECK(posix_spawnattr_getpgroup(&attr, &group) == 0 && group == 0);
	for (short flag = POSIX_SPAWN_RESETIDS; flag <= POSIX_SPAWN_SETSCHEDULER;
	     flag = (short)(flag * 2))
		CHECK(posix_spawnattr_setflags(&attr, flag) == 0 &&
		      posix_spawnattr_getflags(&attr, &flags) == 0 && flags == flag);
	CHECK(posix_spawnattr_setpgroup(&attr, 7) == 0 &&
	      posix_spawnattr_getpgroup(&attr, &group) == 0 && group == 7);
	if (has_scheduling()) {
		CHECK(posix_spawnattr_setschedpolicy(&attr, SCHED_RR) == 0);
		CHECK(posix_spawnattr_getschedpolicy(&attr, &policy) == 0 && policy == SCHED_RR);
		CHECK(posix_spawnattr_setschedparam(&attr, &param) == 0);
		param.sched_priority = 0;
		CHECK(posix_spawnattr_getschedparam(&attr, &param) == 0 &&
		      param.sched_priority == 3);
	}
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(posix_spawnattr_setsigmask(&attr, &set) == 0 &&
	      posix_spawnattr_getsigmask(&attr, &other) == 0);
	CHECK(sigismember(&other, SIGUSR1) && !sigismember(&other, SIGUSR2));
	sigaddset(&set, SIGUSR2);
	CHECK(posix_spawnattr_setsigdefault(&attr, &set) == 0 &&
	      posix_spawnattr_getsigdefault(&attr, &other) == 0);
	CHECK(sigismember(&other, SIGUSR1) && sigismember(&other, SIGUSR2));
	CHECK_EQUAL(posix_spawnattr_destroy(&attr), 0);
	CHECK_EQUAL(posix_spawnattr_init(&attr), 0);
	CHECK_EQUAL(run(":", NULL, &attr), 0);
}
