/*
 * What the standard and the manual say of posix_spawn(), by nothing but the libc's
 * interface: for the libc itself, for the drop-in linked, and for it preloaded.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite/harness.h"

typedef posix_spawn_file_actions_t file_actions;

static char *const sh_true[] = { "sh", "-c", ":", NULL };

/* What a program that changes nothing of itself writes; a shell has its own mask. */
static void check_writes_in(const char *file, int line, char *const *argv, const char *expected,
			    posix_spawnattr_t *attr)
{
	file_actions actions;
	char text[128] = "";
	int ends[2], status;
	pid_t pid;

	CHECK_EQUAL(pipe2(ends, O_CLOEXEC), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	check_equal(file, line, "error", posix_spawnp(&pid, argv[0], &actions, attr, argv, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(read(ends[0], text, sizeof text - 1) > 0);
	close(ends[0]);
	close(ends[1]);
	posix_spawn_file_actions_destroy(&actions);
	if (strcmp(text, expected)) {
		printf("# %s", text);
		fflush(stdout);
		check_failed(file, line, expected);
	}
}
#define CHECK_WRITES(argv, expected, attr) check_writes_in(__FILE__, __LINE__, argv, expected, attr)

/* Runs the script with these actions and attributes, standard output to a pipe. */
static int run(const char *script, char *text, size_t size, file_actions *actions, posix_spawnattr_t *attr,
	       char *const *envp)
{
	char *argv[] = { "sh", "-c", (char *)(uintptr_t)script, "zero", "one", NULL };
	file_actions own;
	int ends[2], status;
	size_t length = 0;
	ssize_t r;
	pid_t pid = -5;

	CHECK_EQUAL(pipe2(ends, O_CLOEXEC), 0);
	if (!actions) {
		CHECK_EQUAL(posix_spawn_file_actions_init(&own), 0);
		actions = &own;
	}
	CHECK_EQUAL(posix_spawn_file_actions_adddup2(actions, ends[1], 1), 0);
	int error = posix_spawn(&pid, "/bin/sh", actions, attr, argv, envp);
	close(ends[1]);
	if (error) {
		CHECK_EQUAL(pid, -5);
		close(ends[0]);
		return -error;
	}
	while ((r = read(ends[0], text + length, size - 1 - length)) > 0)
		length += (size_t)r;
	text[length] = '\0';
	close(ends[0]);
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	if (actions == &own)
		CHECK_EQUAL(posix_spawn_file_actions_destroy(&own), 0);
	return status;
}

static void check_says_in(const char *file, int line, const char *script, const char *expected,
			  file_actions *actions, posix_spawnattr_t *attr)
{
	char text[512] = "";
	int status = run(script, text, sizeof text, actions, attr, environ);

	if (status || strcmp(text, expected)) {
		printf("# %s: \"%s\", status %d\n", script, text, status);
		fflush(stdout);
		check_failed(file, line, expected);
	}
}
#define CHECK_SAYS(script, expected, actions, attr) \
	check_says_in(__FILE__, __LINE__, script, expected, actions, attr)

/* It fails so, and leaves nothing behind. */
static void check_fails_in(const char *file, int line, int error, const char *path, file_actions *actions,
			   posix_spawnattr_t *attr)
{
	pid_t pid = -5;
	int descriptors = count_descriptors();
	struct psys_sigset mask = get_mask();

	check_equal(file, line, "error", posix_spawn(&pid, path, actions, attr, sh_true, environ), error);
	check_equal(file, line, "pid", pid, -5);
	check_equal(file, line, "children", waitpid(-1, NULL, WNOHANG), -1);
	check_equal(file, line, "descriptors", count_descriptors(), descriptors);
	check_equal(file, line, "mask", same_mask(get_mask(), mask), true);
}
#define CHECK_FAILS(error, path, actions, attr) check_fails_in(__FILE__, __LINE__, error, path, actions, attr)

/* --- the program --------------------------------------------------------------- */

TEST(arguments_and_environment)
{
	char *const envp[] = { "A=b", NULL }, *const nothing[] = { NULL };
	char text[64];

	CHECK_EQUAL(run("echo $# $0 $1 $A", text, sizeof text, NULL, NULL, envp), 0);
	CHECK(!strcmp(text, "1 zero one b\n"));
	CHECK_EQUAL(run("echo $# $A", text, sizeof text, NULL, NULL, nothing), 0);
	CHECK(!strcmp(text, "1\n"));
	CHECK_EQUAL(run("exit 3", text, sizeof text, NULL, NULL, environ), 3 << 8);
	CHECK_EQUAL(run("kill -9 $$", text, sizeof text, NULL, NULL, environ), 9);
}

TEST(a_pid_that_nobody_wants)
{
	int status;

	CHECK_EQUAL(posix_spawn(NULL, "/bin/sh", NULL, NULL, sh_true, environ), 0);
	CHECK(wait(&status) > 0 && status == 0);
}

/* posix_spawn() takes a path, posix_spawnp() searches in the caller's PATH. */
TEST(a_name_without_a_slash)
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

TEST(programs_that_cannot_run)
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
	CHECK_FAILS(ENOEXEC, path, NULL, NULL); /* no shell is tried */
	unlink(path);
}

TEST(more_arguments_than_fit)
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
		return; /* it has limits of its own */
	struct rlimit limit = { 1 << 20, 1 << 20 }; /* a quarter of it is for arguments */
	CHECK_EQUAL(setrlimit(RLIMIT_STACK, &limit), 0);
	pid = -5;
	CHECK_EQUAL(posix_spawnp(&pid, "true", NULL, NULL, argv, environ), E2BIG);
	CHECK_EQUAL(pid, -5);
}

/* --- file actions ---------------------------------------------------------------- */

TEST(descriptors_that_none_can_be)
{
	file_actions actions;

	CHECK_EQUAL(posix_spawn_file_actions_init(&actions), 0);
	for (int i = 0; i < 2; i++) {
		int fd = i ? (int)sysconf(_SC_OPEN_MAX) : -1;
		CHECK_EQUAL(posix_spawn_file_actions_addclose(&actions, fd), EBADF);
		CHECK_EQUAL(posix_spawn_file_actions_adddup2(&actions, fd, 1), EBADF);
		CHECK_EQUAL(posix_spawn_file_actions_adddup2(&actions, 1, fd), EBADF);
		CHECK_EQUAL(posix_spawn_file_actions_addopen(&actions, fd, "/", O_RDONLY, 0), EBADF);
		CHECK_EQUAL(posix_spawn_file_actions_addclosefrom_np(&actions, fd), EBADF);
		CHECK_EQUAL(posix_spawn_file_actions_addtcsetpgrp_np(&actions, fd), EBADF);
	}
	CHECK_SAYS("echo nothing was added", "nothing was added\n", &actions, NULL);
	CHECK_EQUAL(posix_spawn_file_actions_destroy(&actions), 0);
}

TEST(an_action_opens_a_file)
{
	file_actions actions;
	char path[] = "/dev/null";

	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addopen(&actions, 9, path, O_RDWR, 0), 0);
	memset(path, 'x', sizeof path - 1); /* it was copied */
	CHECK_EQUAL(posix_spawn_file_actions_addopen(&actions, 0, "/dev/zero", O_RDONLY, 0), 0);
	CHECK_SAYS("stat -L -c %t:%T /proc/self/fd/9 /proc/self/fd/0", "1:3\n1:5\n", &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
}

TEST(an_action_makes_a_file)
{
	file_actions actions;
	char path[] = "/tmp/aspawn-compat-XXXXXX";

	CHECK(close(mkstemp(path)) == 0 && unlink(path) == 0);
	umask(022);
	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addopen(&actions, 5, path, O_WRONLY | O_CREAT | O_EXCL, 0666), 0);
	CHECK_SAYS("stat -L -c %a /proc/self/fd/5", "644\n", &actions, NULL);
	CHECK_FAILS(EEXIST, "/bin/sh", &actions, NULL);
	CHECK_EQUAL(unlink(path), 0);
	posix_spawn_file_actions_destroy(&actions);
}

TEST(actions_are_done_in_their_order)
{
	file_actions actions;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 5, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, 5, 6);
	posix_spawn_file_actions_addclose(&actions, 5);
	posix_spawn_file_actions_addopen(&actions, 5, "/dev/zero", O_RDWR, 0);
	CHECK_SAYS("stat -L -c %t:%T /proc/self/fd/5 /proc/self/fd/6", "1:5\n1:3\n", &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 5, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_addclose(&actions, 5);
	posix_spawn_file_actions_adddup2(&actions, 5, 6);
	CHECK_FAILS(EBADF, "/bin/sh", &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
}

/* Opening closes first what was open: no further descriptor is needed. */
TEST(an_action_opens_at_the_limit_of_descriptors)
{
	struct rlimit limit = { 8, 8 };
	file_actions actions;
	pid_t pid;
	int status;

	if (psys_getenv(environ, "SUITE_EMULATOR"))
		skip("the answer takes a pipe where the memory is a copy");
	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addopen(&actions, 7, "/dev/null", O_RDWR, 0), 0);
	CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	while (fcntl(0, F_DUPFD_CLOEXEC, 3) >= 0)
		continue;
	CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", &actions, NULL, sh_true, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQUAL(posix_spawn(&pid, "/no such file", &actions, NULL, sh_true, environ), ENOENT);
	posix_spawn_file_actions_destroy(&actions);
}

TEST(a_descriptor_duplicated_to_itself_is_inherited)
{
	file_actions actions;
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	char script[64];

	posix_spawn_file_actions_init(&actions);
	snprintf(script, sizeof script, "test -e /proc/self/fd/%d && echo there || echo closed", fd);
	CHECK_SAYS(script, "closed\n", NULL, NULL);
	posix_spawn_file_actions_adddup2(&actions, fd, fd);
	CHECK_SAYS(script, "there\n", &actions, NULL);
	CHECK_EQUAL(fcntl(fd, F_GETFD), FD_CLOEXEC);
	posix_spawn_file_actions_destroy(&actions);
}

TEST(closing_what_is_not_open)
{
	file_actions actions;

	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addclose(&actions, 77), 0);
	CHECK_SAYS("echo started", "started\n", &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
}

TEST(all_are_closed_from_here)
{
	file_actions actions;

	for (int i = 10; i < 200; i++)
		CHECK_EQUAL(dup2(0, i), i);
	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_adddup2(&actions, 1, 5), 0);
	CHECK_EQUAL(posix_spawn_file_actions_addclosefrom_np(&actions, 6), 0);
	CHECK_EQUAL(posix_spawn_file_actions_adddup2(&actions, 2, 12), 0);
	/* The pipe that run() adds would be closed by then. */
	pid_t pid;
	int status;
	char *argv[] = { "sh", "-c", "for f in /proc/self/fd/*; do case ${f##*/} in [0125]|12) ;; *) test ! -e $f || exit 1; esac; done; test -e /proc/self/fd/12", NULL };
	CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQUAL(status, 0);
	CHECK(fcntl(150, F_GETFD) == 0); /* the parent's own are as before */
	posix_spawn_file_actions_destroy(&actions);
}

TEST(directories)
{
	file_actions actions;
	int fd = open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addchdir_np(&actions, "/dev"), 0);
	CHECK_EQUAL(posix_spawn_file_actions_addopen(&actions, 0, "zero", O_RDONLY, 0), 0);
	CHECK_SAYS("cd -P . && pwd; stat -L -c %t:%T /proc/self/fd/0", "/dev\n1:5\n", &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addfchdir_np(&actions, fd), 0);
	CHECK_SAYS("cd -P . && pwd", "/usr\n", &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addchdir_np(&actions, "no such directory"), 0);
	CHECK_FAILS(ENOENT, "/bin/sh", &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawn_file_actions_init(&actions);
	CHECK_EQUAL(posix_spawn_file_actions_addfchdir_np(&actions, 77), 0);
	CHECK_FAILS(EBADF, "/bin/sh", &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
}

/* The program is looked for where the actions have gone to. */
TEST(a_relative_path_after_a_directory)
{
	file_actions actions;
	pid_t pid;
	int status;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addchdir_np(&actions, "/bin");
	CHECK_EQUAL(posix_spawn(&pid, "./sh", &actions, NULL, sh_true, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK_EQUAL(posix_spawn(&pid, "sh", &actions, NULL, sh_true, environ), 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	posix_spawn_file_actions_destroy(&actions);
}

/* In a session of its own, whose terminal it is. */
TEST(the_foreground_of_a_terminal)
{
	file_actions actions;
	posix_spawnattr_t attr;
	int primary, terminal, status;
	pid_t pid;

	if (openpty(&primary, &terminal, NULL, NULL, NULL))
		skip("no pseudoterminals here");
	pid_t session = fork();
	if (session == 0) {
		setsid();
		if (ioctl(terminal, TIOCSCTTY, 0))
			_exit(77);
		posix_spawn_file_actions_init(&actions);
		posix_spawnattr_init(&attr);
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
		posix_spawn_file_actions_addtcsetpgrp_np(&actions, terminal);
		CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", &actions, &attr, sh_true, environ), 0);
		_exit(tcgetpgrp(terminal) == pid ? 0 : 1);
	}
	CHECK(waitpid(session, &status, 0) == session);
	if (status == 77 << 8)
		skip("no controlling terminal to be had");
	CHECK_EQUAL(status, 0);
}

TEST(a_list_is_used_again_and_is_long)
{
	file_actions actions;
	pid_t pid;
	int status;

	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < 300; i++)
		CHECK_EQUAL(posix_spawn_file_actions_addopen(&actions, 3 + i % 20, "/dev/null", O_RDWR, 0), 0);
	for (int i = 0; i < 10; i++) {
		CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", &actions, NULL, sh_true, environ), 0);
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	}
	posix_spawn_file_actions_destroy(&actions);
	posix_spawn_file_actions_init(&actions);
	CHECK_SAYS("echo empty", "empty\n", &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
}

/* --- attributes -------------------------------------------------------------------- */

TEST(groups_and_sessions)
{
	static const char group[] = "test $(cut -d' ' -f5 /proc/$$/stat) = $$ && echo leader || echo member";
	static const char session[] = "test $(cut -d' ' -f6 /proc/$$/stat) = $$ && echo leader || echo member";
	posix_spawnattr_t attr;

	posix_spawnattr_init(&attr);
	CHECK_SAYS(group, "member\n", NULL, NULL);
	CHECK_SAYS(group, "member\n", NULL, &attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	CHECK_SAYS(group, "leader\n", NULL, &attr);
	CHECK_SAYS(session, "member\n", NULL, &attr);
	posix_spawnattr_setpgroup(&attr, getpgrp());
	CHECK_SAYS(group, "member\n", NULL, &attr);
	posix_spawnattr_setpgroup(&attr, 0x3fffffff); /* there is none */
	CHECK_FAILS(EPERM, "/bin/sh", NULL, &attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID);
	CHECK_SAYS(session, "leader\n", NULL, &attr);
	CHECK_SAYS(group, "leader\n", NULL, &attr);
	posix_spawnattr_destroy(&attr);
}

TEST(the_signal_mask)
{
	char *argv[] = { "grep", "SigBlk", "/proc/self/status", NULL };
	posix_spawnattr_t attr;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_SETMASK, &set, NULL);
	CHECK_WRITES(argv, "SigBlk:\t0000000000000200\n", NULL); /* the caller's */
	posix_spawnattr_init(&attr);
	CHECK_WRITES(argv, "SigBlk:\t0000000000000200\n", &attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	CHECK_WRITES(argv, "SigBlk:\t0000000000000000\n", &attr);
	sigaddset(&set, SIGUSR2);
	posix_spawnattr_setsigmask(&attr, &set);
	CHECK_WRITES(argv, "SigBlk:\t0000000000000a00\n", &attr);
	posix_spawnattr_destroy(&attr);
}

static volatile sig_atomic_t handled;

static void handle(int signal)
{
	handled = signal;
}

TEST(signals_to_their_defaults)
{
	static const char script[] = "kill -USR1 $$; kill -USR2 $$; echo alive";
	posix_spawnattr_t attr;
	sigset_t set;
	char text[16];

	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	CHECK_SAYS(script, "alive\n", NULL, NULL); /* what is ignored stays so */
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	CHECK_SAYS(script, "alive\n", NULL, &attr);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	posix_spawnattr_setsigdefault(&attr, &set);
	CHECK_EQUAL(run(script, text, sizeof text, NULL, &attr, environ), SIGUSR2);
	signal(SIGUSR1, handle);
	CHECK_EQUAL(run(script, text, sizeof text, NULL, NULL, environ), SIGUSR1);
	sigfillset(&set); /* SIGKILL and SIGSTOP too */
	posix_spawnattr_setsigdefault(&attr, &set);
	CHECK_EQUAL(run(script, text, sizeof text, NULL, &attr, environ), SIGUSR1);
	CHECK_EQUAL(handled, 0);
	CHECK(signal(SIGUSR2, SIG_DFL) == SIG_IGN);
	posix_spawnattr_destroy(&attr);
}

TEST(scheduling)
{
	static const char script[] = "cut -d' ' -f40,41 /proc/$$/stat"; /* priority and policy */
	struct sched_param param = { 50 };
	posix_spawnattr_t attr;

	posix_spawnattr_init(&attr);
	CHECK_EQUAL(posix_spawnattr_setschedpolicy(&attr, SCHED_OTHER), 0);
	CHECK_EQUAL(posix_spawnattr_setschedparam(&attr, &param), 0);
	CHECK_SAYS(script, "0 0\n", NULL, &attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSCHEDPARAM);
	CHECK_FAILS(EINVAL, "/bin/sh", NULL, &attr); /* none for this policy */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSCHEDULER);
	CHECK_FAILS(EINVAL, "/bin/sh", NULL, &attr);

	param.sched_priority = 1;
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		skip("no policy of real time to be had");
	param.sched_priority = 7;
	CHECK_EQUAL(posix_spawnattr_setschedpolicy(&attr, SCHED_RR), 0);
	CHECK_EQUAL(posix_spawnattr_setschedparam(&attr, &param), 0);
	CHECK_SAYS(script, "7 2\n", NULL, &attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSCHEDPARAM | POSIX_SPAWN_SETSCHEDULER);
	CHECK_SAYS(script, "7 2\n", NULL, &attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSCHEDPARAM);
	CHECK_SAYS(script, "7 1\n", NULL, &attr);
	posix_spawnattr_destroy(&attr);
}

TEST(effective_ids_are_reset)
{
	posix_spawnattr_t attr;

	if (geteuid())
		skip("not root");
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_RESETIDS);
	CHECK_SAYS("id -u; id -g", "0\n0\n", NULL, &attr);
	CHECK(setegid(1000) == 0 && seteuid(1000) == 0);
	int dumpable = psys_prctl(PSYS_PR_GET_DUMPABLE, 0, 0, 0, 0);
	char *argv[] = { "sed", "-n", "s/^\\([UG]id\\):\\t\\([0-9]*\\)\\t\\([0-9]*\\).*/\\1 \\2 \\3/p",
			 "/proc/self/status", NULL };
	CHECK_WRITES(argv, "Uid 0 1000\nGid 0 1000\n", NULL);
	CHECK_WRITES(argv, "Uid 0 0\nGid 0 0\n", &attr);
	CHECK(geteuid() == 1000 && getegid() == 1000);
	CHECK_EQUAL(psys_prctl(PSYS_PR_GET_DUMPABLE, 0, 0, 0, 0), dumpable);
	posix_spawnattr_destroy(&attr);
}

/* --- signals, threads, forks -------------------------------------------------------- */

/* The child of a spawn that fails is nobody's to see. */
TEST(a_failure_raises_no_handler_that_could_reap)
{
	pid_t pid;

	signal(SIGCHLD, handle);
	for (int i = 0; i < 100; i++)
		CHECK_EQUAL(posix_spawn(&pid, "/no such file", NULL, NULL, sh_true, environ), ENOENT);
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 100; i++)
		CHECK_EQUAL(posix_spawn(&pid, "/no such file", NULL, NULL, sh_true, environ), ENOENT);
	CHECK_EQUAL(posix_spawn(&pid, "/bin/sh", NULL, NULL, sh_true, environ), 0);
	CHECK(waitpid(pid, NULL, 0) == -1 && errno == ECHILD);
}

TEST(a_signal_storm)
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
		CHECK_EQUAL(posix_spawn(&pid, "/no such file", NULL, NULL, sh_true, environ), ENOENT);
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
		if (posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ) || waitpid(pid, &status, 0) != pid ||
		    status != 7 << 8 || posix_spawn(&pid, "/nowhere", &actions, NULL, argv, environ) != ENOENT)
			__atomic_store_n((int *)failed, 1, __ATOMIC_RELAXED);
		posix_spawn_file_actions_destroy(&actions);
	}
	return NULL;
}

TEST_SECONDS(twenty_threads, 60)
{
	pthread_t threads[20];
	int failed = 0;

	for (int i = 0; i < 20; i++)
		CHECK_EQUAL(pthread_create(&threads[i], NULL, spawn_many, &failed), 0);
	for (int i = 0; i < 20; i++)
		CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
	CHECK_EQUAL(failed, 0);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}

/* It is not acted on in the call: the caller learns of its child. */
static void *spawn_when_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	*(int *)arg = posix_spawn(NULL, "/bin/sh", NULL, NULL, sh_true, environ) == 0 ? 1 : 2;
	pthread_testcancel();
	*(int *)arg = 3;
	return NULL;
}

TEST(a_cancellation_that_is_pending)
{
	pthread_t thread;
	int seen = 0;

	CHECK_EQUAL(pthread_create(&thread, NULL, spawn_when_cancelled, &seen), 0);
	CHECK_EQUAL(pthread_join(thread, NULL), 0);
	CHECK_EQUAL(seen, 1);
	CHECK(waitpid(-1, NULL, 0) > 0);
}

/* Of a process with threads that are spawning. */
TEST_SECONDS(a_forked_child_spawns, 60)
{
	pthread_t thread[4];
	int failed = 0, status;

	for (int i = 0; i < 4; i++)
		CHECK_EQUAL(pthread_create(&thread[i], NULL, spawn_many, &failed), 0);
	for (int i = 0; i < scaled(100); i++) {
		pid_t child = fork(), pid;
		if (child == 0) {
			for (int j = 0; j < 3; j++)
				if (posix_spawn(&pid, "/bin/sh", NULL, NULL, sh_true, environ) || waitpid(pid, NULL, 0) != pid)
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
