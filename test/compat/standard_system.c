/* SPDX-License-Identifier: MIT */
/* Tests what the standard and the manual require of system(), and of commands of popen(). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite/sanitizer.h"
#include "threads.h"

static volatile sig_atomic_t handled;

static void handle(int signal)
{
	handled = signal;
}

/* Holds a program to start without a shell, and a command for a shell. */
static const char *const exits_with_3[] = { "/bin/sh /dev/fd/9", "exit 3" };

static void make_fd_9(const char *script)
{
	int ends[2];

	CHECK(pipe(ends) == 0);
	CHECK(write(ends[1], script, strlen(script)) == (ssize_t)strlen(script));
	close(ends[1]);
	if (ends[0] == 9)
		return;
	CHECK_EQUAL(dup2(ends[0], 9), 9);
	close(ends[0]);
}

TEST(system_returns_the_status)
{
	make_fd_9("exit 3\n");
	for (int i = 0; i < 2; i++)
		CHECK_EQUAL(system(exits_with_3[i]), 3 << 8);
	CHECK_EQUAL(system("kill -9 $$"), 9);
	CHECK_EQUAL(system("exec /no/such/file 2>/dev/null"), 127 << 8);
	CHECK_EQUAL(system(""), 0);
	CHECK_EQUAL(system("  "), 0);
	CHECK(system(NULL) != 0);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}

/* Lua believes errno if the status is not 0. The program is not in PATH's first directory. */
TEST(system_keeps_errno_on_success)
{
	CHECK_EQUAL(setenv("PATH", "/no such directory:/nor this:/bin:/usr/bin", 1), 0);
	make_fd_9("exit 3\n");
	for (int i = 0; i < 2; i++) {
		errno = E2BIG;
		CHECK_EQUAL(system(i ? "exit 3" : "sh /dev/fd/9"), 3 << 8);
		CHECK_EQUAL(errno, E2BIG);
	}
	CHECK(system(NULL) != 0 && errno == E2BIG);
	CHECK(system("no-such-program 2>&-") == 127 << 8 && errno == E2BIG);
}

/* On 32-bit machines some stat() cannot report the size. */
TEST(system_finds_a_program_of_more_than_2_gib)
{
	static const char *const texts[] = { "#!/bin/sh\nexit 3\n", "#!/bin/sh\nexit 4\n" };
	char folder[] = "/tmp/aspawn-system-XXXXXX";

	CHECK(mkdtemp(folder) && chdir(folder) == 0);
	for (int i = 0; i < 2; i++) {
		CHECK(mkdir(i ? "b" : "a", 0755) == 0);
		int fd = open(i ? "b/tool" : "a/tool", O_CREAT | O_WRONLY, 0755);
		CHECK(write(fd, texts[i], 17) == 17 && close(fd) == 0);
	}
	CHECK_EQUAL(system("truncate -s 3G a/tool"), 0);
	char path[128];
	snprintf(path, sizeof path, "%s/a:%s/b", folder, folder);
	CHECK_EQUAL(setenv("PATH", path, 1), 0);
	CHECK_EQUAL(system("tool"), 3 << 8);
	CHECK(unlink("a/tool") == 0 && unlink("b/tool") == 0);
	CHECK(rmdir("a") == 0 && rmdir("b") == 0 && rmdir(folder) == 0);
}

TEST(a_missing_program_has_the_shells_message_and_status)
{
	char text[128] = "";
	int ends[2];

	CHECK(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
	CHECK_EQUAL(system("no-such-program with arguments"), 127 << 8);
	CHECK_EQUAL(system("/no/such/program"), 127 << 8);
	CHECK_EQUAL(system("/dev/null x"), 126 << 8);
	CHECK(read(ends[0], text, sizeof text - 1) > 0);
	CHECK(strstr(text, "no-such-program: not found"));
}

TEST(system_ignores_sigint_and_sigquit)
{
	/* The command sends the signals to the test's process. */
	static const char script[] = "kill -INT $PPID; kill -QUIT $PPID; exit 5";

	signal(SIGINT, handle);
	signal(SIGQUIT, SIG_DFL);
	CHECK_EQUAL(system(script), 5 << 8);
	CHECK_EQUAL(handled, 0);
	CHECK(signal(SIGINT, SIG_DFL) == handle);
	CHECK(signal(SIGQUIT, SIG_DFL) == SIG_DFL);

	/* The child has the caller's dispositions. */
	CHECK_EQUAL(system("kill -INT $$"), SIGINT);
	CHECK_EQUAL(WTERMSIG(system("kill -QUIT $$")), SIGQUIT);
	make_fd_9("kill -INT $$; exit 6\n");
	/* Some shells stay the program's parent and exit with 128 + signal. Others exec the
	 * program. */
	int status = system(exits_with_3[0]);
	CHECK(status == SIGINT || status == (128 + SIGINT) << 8);
	signal(SIGINT, SIG_IGN);
	CHECK_EQUAL(system("kill -INT $$; exit 6"), 6 << 8);
	make_fd_9("kill -INT $$; exit 6\n");
	CHECK_EQUAL(system(exits_with_3[0]), 6 << 8);
	CHECK(signal(SIGINT, SIG_DFL) == SIG_IGN);
}

/* SIGCHLD is blocked until the child has been waited for. */
static int stolen;

static void steal(int signal)
{
	(void)signal;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		stolen++;
}

TEST(system_blocks_sigchld)
{
	sigset_t mask;

	signal(SIGCHLD, steal);
	for (int i = 0; i < 20; i++)
		CHECK_EQUAL(system(i % 2 ? "exit 4" : "/bin/false"), i % 2 ? 4 << 8 : 1 << 8);
	CHECK_EQUAL(stolen, 0);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	CHECK(!sigismember(&mask, SIGCHLD));
	signal(SIGCHLD, SIG_IGN);
	errno = 0;
	CHECK_EQUAL(system("exit 4"), -1);
	CHECK_EQUAL(errno, ECHILD);
}

TEST(system_and_pclose_reap_no_other_children)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(6);
	CHECK(waitid(P_PID, (id_t)child, &(siginfo_t){ 0 }, WEXITED | WNOWAIT) == 0);
	CHECK_EQUAL(system("exit 4"), 4 << 8);
	CHECK_EQUAL(system("/bin/false"), 1 << 8);
	FILE *file = popen("exit 5", "r");
	CHECK(file && pclose(file) == 5 << 8);
	CHECK(waitpid(child, &status, WNOHANG) == child && status == 6 << 8);
}

/* Reads the first line of a command's output. */
static void read_line_of(const char *command, char text[64])
{
	FILE *file = popen(command, "r");

	CHECK(file && fgets(text, 64, file));
	pclose(file);
}

TEST(commands_inherit_the_environment)
{
	static const char *const commands[] = { "/usr/bin/printenv SET_BEFORE",
						"printenv SET_BEFORE && exit 0" };
	char text[64];

	for (int i = 0; i < 2; i++) {
		CHECK_EQUAL(setenv("SET_BEFORE", "words", 1), 0);
		read_line_of(commands[i], text);
		CHECK(!strcmp(text, "words\n"));
		CHECK(system("test $SET_BEFORE = words") == 0 && unsetenv("SET_BEFORE") == 0);
		CHECK_EQUAL(system(commands[i]), 1 << 8);
	}
}

/* environ is NULL. */
TEST(commands_run_without_an_environment)
{
	char text[64] = "";

	CHECK_EQUAL(clearenv(), 0);
	CHECK(!environ);
	CHECK_EQUAL(system("/bin/true"), 0);
	CHECK_EQUAL(system("exit 3"), 3 << 8);
	FILE *file = popen("/usr/bin/env", "r");
	CHECK(file);
	while (fgets(text, sizeof text, file)) /* skip the shell's own variables */
		CHECK(!strncmp(text, "PWD=", 4) || !strncmp(text, "SHLVL=", 6) ||
		      !strncmp(text, "_=", 2));
	CHECK_EQUAL(pclose(file), 0);
	file = popen("/usr/bin/cmp - /dev/null", "w");
	CHECK(file);
	CHECK_EQUAL(pclose(file), 0);
}

/* Some shells unblock signals, or reset an ignored SIGCHLD. Without a shell a command must have the
 * same signals as a shell would leave them. */
TEST(commands_have_the_shells_signals)
{
	static const char *const commands[] = { "/bin/grep SigBlk /proc/self/status",
						"/bin/grep SigIgn /proc/self/status" };
	static const int ignored[] = { 0, SIGUSR2, SIGCHLD };
	char direct[64], shells[64], by_shell[64];
	sigset_t set;

	CHECK_EQUAL(system("/bin/grep -q SigBlk:.0000000000000000 /proc/self/status"), 0);
	for (int i = 0; i < 6; i++) {
		sigemptyset(&set);
		if (i % 2)
			sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_SETMASK, &set, NULL);
		if (ignored[i / 2])
			signal(ignored[i / 2], SIG_IGN);
		for (int j = 0; j < 2; j++) {
			snprintf(by_shell, sizeof by_shell, "%s; exit 0", commands[j]);
			read_line_of(commands[j], direct);
			read_line_of(by_shell, shells);
			CHECK(!strcmp(direct, shells));
		}
	}
}

/* popen() itself may also fail. */
TEST(system_is_127_without_a_shell)
{
	char directory[] = "/tmp/aspawn-compat-XXXXXX";

	if (psys_getenv(environ, "SUITE_EMULATOR"))
		skip("the emulator would be missing too");
	CHECK(mkdtemp(directory) && chdir(directory) == 0 && rmdir(directory) == 0);
	if (chroot("."))
		skip("may not change the root");
	CHECK_EQUAL(system(NULL), 0);
	CHECK_EQUAL(system("exit 3"), 127 << 8);
	CHECK_EQUAL(system("/bin/true"), 127 << 8);
	FILE *file = popen("exit 3", "r");
	CHECK(!file || pclose(file) == 127 << 8);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}

/* The child exists, but the exec of the shell fails. */
TEST(a_command_that_is_too_long_is_127)
{
	static char command[300000];

	if (psys_getenv(environ, "SUITE_EMULATOR"))
		skip("it has limits of its own");
	memset(command, ' ', sizeof command - 1);
	memcpy(command, "exit 3", 6);
	CHECK_EQUAL(system(command), 127 << 8);
	memcpy(command, "/bin/true", 9);
	CHECK_EQUAL(system(command), 127 << 8);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}

static pid_t forked = -1;
static int go[2]; /* the command that raised the signal waits for this pipe */

static void fork_in_handler(int signal)
{
	int error = errno;

	(void)signal;
	forked = fork();
	if (forked)
		CHECK_EQUAL(write(go[1], "\n", 1), 1);
	errno = error;
}

static bool is_handler(int signal, void (*handler)(int))
{
	struct sigaction action;

	return sigaction(signal, NULL, &action) == 0 && action.sa_handler == handler;
}

/* Both processes return from system(), with their dispositions restored. */
TEST(a_handler_may_fork_during_system)
{
	struct sigaction action = { .sa_handler = fork_in_handler };
	char script[64];
	int status;

	CHECK_EQUAL(pipe(go), 0);
	snprintf(script, sizeof script, "kill -ALRM %d; read x <&%d\n", (int)getpid(), go[0]);
	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < 2; i++) {
		signal(SIGINT, handle);
		signal(SIGQUIT, SIG_DFL);
		make_fd_9(script);
		forked = -1;
		int r = system(i ? script : "/bin/sh /dev/fd/9");
		CHECK(forked != -1);
		if (forked == 0) { /* the forked process has no child to wait for */
			bool right = r == -1 && is_handler(SIGINT, handle) &&
				     is_handler(SIGQUIT, SIG_DFL) &&
				     system("kill -INT $$") == SIGINT && is_handler(SIGINT, handle);
			_exit(right ? 0 : 1);
		}
		CHECK_EQUAL(r, 0);
		CHECK(is_handler(SIGINT, handle) && is_handler(SIGQUIT, SIG_DFL));
		CHECK(waitpid(forked, &status, 0) == forked);
		CHECK_EQUAL(status, 0);
	}
}

static int has_begun, is_over, forks;

static void fork_and_reap(int signal)
{
	int error = errno;
	pid_t child = fork();

	(void)signal;
	if (child == 0)
		_exit(0);
	CHECK(waitpid(child, NULL, 0) == child);
	__atomic_add_fetch(&forks, 1, __ATOMIC_RELEASE);
	errno = error;
}

/* The next signal is sent when the last one was handled: on a busy machine one would always be
 * pending otherwise, and the thread would do nothing else. */
static void *interrupt_for_ever(void *thread)
{
	int sent = 0;

	gate_wait(&has_begun);
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		if (__atomic_load_n(&forks, __ATOMIC_ACQUIRE) == sent) {
			pthread_kill(*(pthread_t *)thread, SIGALRM);
			sent++;
		}
		usleep(50);
	}
	return NULL;
}

/* fork() takes the locks of the heap. The interrupted thread must not hold the locks. */
TEST_SECONDS(a_handler_may_fork_beside_another_thread_during_system, 180)
{
	static char command[22000];
	struct sigaction action = { .sa_handler = fork_and_reap };
	pthread_t self = pthread_self(), thread;

	if (HAS_ASAN)
		skip("a fork of what ASan maps takes longer than the time between two signals");
#ifdef M_TRIM_THRESHOLD /* the heap then makes more system calls, with its locks held */
	mallopt(M_TRIM_THRESHOLD, 0);
	mallopt(M_TOP_PAD, 0);
	mallopt(M_MMAP_THRESHOLD, 1 << 24);
#endif
	memset(command, ' ', sizeof command - 1);
	memcpy(command, "/bin/true", 9);
	sigaction(SIGALRM, &action, NULL);
	CHECK_EQUAL(pthread_create(&thread, NULL, interrupt_for_ever, &self), 0);
	gate_open(&has_begun); /* musl's fork() would wait for an interrupted pthread_create() */
	for (int i = 0; i < scaled(600); i++)
		CHECK_EQUAL(system(i % 4 ? command : "exit 0"), 0);
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	CHECK_EQUAL(pthread_join(thread, NULL), 0);
	CHECK(forks > 0);
	note("forks:", forks);
}

static void *system_until_stopped(void *command)
{
	system(command);
	return NULL;
}

/* The forked child inherits ignored signals; the child's commands get the dispositions from before
 * any system(). */
TEST(a_fork_during_another_threads_system_keeps_signals)
{
	char command[64], byte;
	int ready[2], end[2], status;
	pthread_t thread;

	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, handle);
	CHECK(pipe(ready) == 0 && pipe(end) == 0);
	snprintf(command, sizeof command, "echo >&%d; read x <&%d", ready[1], end[0]);
	CHECK_EQUAL(pthread_create(&thread, NULL, system_until_stopped, command), 0);
	CHECK_EQUAL(read(ready[0], &byte, 1), 1);
	pid_t child = fork();
	if (child == 0) {
		for (int i = 0; i < 2; i++) {
			make_fd_9("kill -INT $$; exit 6\n");
			int r = system(exits_with_3[0]);
			if (!is_handler(SIGINT, SIG_IGN) ||
			    system("kill -INT $$; exit 3") != SIGINT ||
			    WTERMSIG(system("kill -QUIT $$; exit 3")) != SIGQUIT ||
			    (r != SIGINT && r != (128 + SIGINT) << 8))
				_exit(1);
		}
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_EQUAL(write(end[1], "\n", 1), 1);
	CHECK_EQUAL(pthread_join(thread, NULL), 0);
	CHECK_EQUAL(status, 0);
	CHECK(is_handler(SIGINT, SIG_DFL) && is_handler(SIGQUIT, handle));
}

static void *call_system(void *failed)
{
	for (int i = 0; i < scaled(40); i++)
		if (system(i % 2 ? "exit 4" : "/bin/false") != (i % 2 ? 4 << 8 : 1 << 8))
			__atomic_store_n((int *)failed, 1, __ATOMIC_RELAXED);
	return NULL;
}

TEST_SECONDS(system_is_thread_safe, 60)
{
	signal(SIGINT, handle);
	check_in_threads(8, call_system);
	CHECK(signal(SIGINT, SIG_DFL) == handle);
}

static void *sleep_in_system(void *arg)
{
	system(arg);
	return NULL;
}

/* The dispositions are restored. */
TEST(cancelling_system_ends_its_child)
{
	char *const commands[] = { "/bin/sleep 100", "sleep 100 && :" };
	pthread_t thread;
	void *result;

	if (psys_getenv(environ, "SUITE_EMULATOR"))
		skip("the emulator dies of such signals");
	signal(SIGINT, handle);
	for (int i = 0; i < 2; i++) {
		CHECK_EQUAL(pthread_create(&thread, NULL, sleep_in_system, commands[i]), 0);
		usleep(50000);
		CHECK_EQUAL(pthread_cancel(thread), 0);
		CHECK_EQUAL(pthread_join(thread, &result), 0);
		CHECK(result == PTHREAD_CANCELED);
		CHECK(waitpid(-1, NULL, WNOHANG) == -1);
	}
	CHECK(signal(SIGINT, SIG_DFL) == handle);
}
