/* SPDX-License-Identifier: MIT */
/* Tests what the standard and the manual require of popen() and pclose(). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "threads.h"

TEST(popen_reads)
{
	static const char *const commands[] = { "/bin/echo some words", "echo some words" };
	char text[64];

	for (int i = 0; i < 2; i++) {
		FILE *file = popen(commands[i], "r");
		CHECK(file && fgets(text, sizeof text, file) && !strcmp(text, "some words\n"));
		CHECK(!fgets(text, sizeof text, file) && feof(file));
		CHECK_EQUAL(pclose(file), 0);
	}
	FILE *file = popen("exit 9", "r");
	CHECK(file && pclose(file) == 9 << 8);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}

TEST(popen_writes)
{
	static const char *const commands[] = { "/usr/bin/cmp - %s", "cmp - %s && exit 0" };
	char path[] = "/tmp/aspawn-popen-XXXXXX", command[64];
	FILE *file = fdopen(mkstemp(path), "w");

	CHECK(file && fputs("some words\n", file) >= 0 && fclose(file) == 0);
	for (int i = 0; i < 2; i++) {
		snprintf(command, sizeof command, commands[i], path);
		file = popen(command, "w");
		CHECK(file && fputs("some words\n", file) >= 0);
		CHECK_EQUAL(pclose(file), 0);
	}
	unlink(path);
}

TEST(popen_rejects_invalid_modes)
{
	static const char *const bad[] = { "", "x", "rw", "e", "r+", "rb" };

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		errno = 0;
		CHECK(!popen("exit 0", bad[i]));
		CHECK_EQUAL(errno, EINVAL);
	}
	for (int i = 0; i < 2; i++) {
		FILE *file = popen("exit 0", i ? "re" : "r");
		CHECK(file);
		CHECK_EQUAL(fcntl(fileno(file), F_GETFD), i ? FD_CLOEXEC : 0);
		CHECK_EQUAL(pclose(file), 0);
	}
}

TEST(popens_stream_is_byte_oriented)
{
	static const char *const modes[] = { "r", "w", "re" };

	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		FILE *file = popen("exit 0", modes[i]);
		CHECK(file && fwide(file, 0) < 0);
		CHECK_EQUAL(pclose(file), 0);
	}
}

/* Otherwise cat would never see the end of the input. */
TEST(later_children_do_not_hold_earlier_streams)
{
	FILE *writers[10];

	for (int i = 0; i < 10; i++)
		CHECK((writers[i] = popen(i % 2 ? "/bin/cat" : "cat && exit 0", "w")));
	for (int i = 0; i < 10; i++)
		CHECK_EQUAL(pclose(writers[i]), 0);
}

/* The pipe's ends get the numbers of the child's streams. */
TEST(popen_works_without_standard_streams)
{
	char text[16];

	for (int i = 0; i < 4; i++) {
		int kept[3];
		for (int fd = 0; fd < 3; fd++) {
			kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
			if (fd < 2)
				close(fd);
		}
		FILE *reader = popen(i % 2 ? "/bin/echo words" : "echo words", "r");
		FILE *writer =
			popen(i / 2 ? "/usr/bin/cmp - /dev/null" : "cmp - /dev/null && exit 0", "w");
		bool read = reader && fgets(text, sizeof text, reader) && !strcmp(text, "words\n");
		int status = reader ? pclose(reader) : -1;
		bool wrote = writer && pclose(writer) == 0;
		for (int fd = 0; fd < 3; fd++) {
			dup2(kept[fd], fd);
			close(kept[fd]);
		}
		CHECK(read && status == 0 && wrote);
	}
}

TEST(pclose_is_echild_if_the_child_was_reaped)
{
	int status;
	FILE *file = popen("exit 2", "r");

	CHECK(file && wait(&status) > 0 && status == 2 << 8);
	errno = 0;
	CHECK_EQUAL(pclose(file), -1);
	CHECK_EQUAL(errno, ECHILD);
}

/* Lost data is an error, unless the program itself fails. The child is reaped in any case. */
TEST(pclose_fails_if_written_data_is_lost)
{
	static const struct {
		const char *command;
		int status;
	} rows[] = {
		{ "/bin/true", -1 },  { "exit 0", -1 },    { "/bin/false", 1 << 8 },
		{ "exit 3", 3 << 8 }, { "kill -9 $$", 9 },
	};
	siginfo_t ended;

	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		FILE *file = popen(rows[i].command, "w");
		CHECK(file && fputs("words", file) >= 0);
		CHECK_EQUAL(waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT), 0);
		errno = 0;
		CHECK_EQUAL(pclose(file), rows[i].status);
		CHECK_EQUAL(errno, EPIPE);
		CHECK(waitpid(-1, NULL, WNOHANG) == -1);
	}
	/* Only data lost at the close counts: fflush() has already reported the loss. */
	FILE *file = popen("exit 0", "w");
	CHECK(file && fputs("words", file) >= 0);
	CHECK_EQUAL(waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT), 0);
	CHECK_EQUAL(fflush(file), EOF);
	CHECK_EQUAL(pclose(file), 0);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}

/* The standard leaves the call undefined, but programs make the mistake, and glibc closes the
 * stream. */
TEST(pclose_closes_a_stream_that_is_not_popens)
{
	FILE *file = popen("/bin/cat", "w");
	FILE *volatile other = fopen("/dev/null", "r"); /* volatile: gcc warns of the mistake */

	CHECK(file && other);
	int fd = fileno(other);
	CHECK_EQUAL(pclose(other), 0);
	CHECK(fcntl(fd, F_GETFD) == -1);
	CHECK((other = fopen("/dev/full", "w")) && fputs("words", other) >= 0);
	fd = fileno(other);
	errno = 0;
	CHECK_EQUAL(pclose(other), EOF);
	CHECK_EQUAL(errno, ENOSPC);
	CHECK(fcntl(fd, F_GETFD) == -1);
	CHECK_EQUAL(pclose(file), 0);
}

TEST(popen_is_emfile_at_the_limit_of_descriptors)
{
	struct rlimit limit = { 10, 10 };
	int descriptors = count_descriptors();

	CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	while (dup(0) >= 0)
		continue;
	errno = 0;
	CHECK(!popen("exit 2", "r"));
	CHECK_EQUAL(errno, EMFILE);
	close(9); /* one free descriptor is not enough */
	CHECK(!popen("/bin/true", "r"));
	CHECK(fcntl(9, F_GETFD) == -1);
	for (int fd = 3; fd < 9; fd++)
		close(fd);
	CHECK(count_descriptors() <= descriptors);
	FILE *file = popen("exit 2", "r");
	CHECK(file && pclose(file) == 2 << 8);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}

static volatile sig_atomic_t handled;
static int go[2];

static void let_go(int signal)
{
	handled = signal;
	CHECK_EQUAL(write(go[1], "\n", 1), 1);
}

/* The command ends once a signal was handled. */
TEST(pclose_is_not_interrupted_by_signals)
{
	struct sigaction action = { .sa_handler = let_go };

	CHECK(pipe2(go, O_CLOEXEC) == 0 && dup2(go[0], 9) == 9);
	FILE *file = popen("read line <&9; exit 2", "r");
	CHECK(file);
	sigaction(SIGALRM, &action, NULL);
	ualarm(10000, 10000);
	CHECK_EQUAL(pclose(file), 2 << 8);
	CHECK_EQUAL(handled, SIGALRM);
}

static void *close_stream(void *file)
{
	CHECK_EQUAL(pclose(file), 0);
	return NULL;
}

/* The pipe has no room for the written data yet when another thread starts a command. */
TEST(pclose_does_not_wait_for_another_threads_command)
{
	static char bytes[1 << 20];
	pthread_t thread;
	int pipe[2];

	CHECK(pipe2(pipe, O_CLOEXEC) == 0 && dup2(pipe[0], 9) == 9);
	FILE *file = popen("read line <&9; cat >/dev/null", "w");
	CHECK(file);
	const int room = fcntl(fileno(file), F_SETPIPE_SZ, 4096);
	CHECK(room > 0 && write(fileno(file), bytes, (size_t)room) == room &&
	      fputc('a', file) == 'a');
	CHECK_EQUAL(pthread_create(&thread, NULL, close_stream, file), 0);
	while (ftrylockfile(file) == 0) { /* until fclose() writes */
		funlockfile(file);
		usleep(1000);
	}
	FILE *other = popen("cat", "w");
	CHECK_EQUAL(write(pipe[1], "\n", 1), 1);
	CHECK_EQUAL(pthread_join(thread, NULL), 0);
	CHECK(other && pclose(other) == 0);
	close(9);
}

static void *call_popen(void *failed)
{
	char text[64];

	for (int i = 0; i < scaled(40); i++) {
		FILE *file = popen(i % 2 ? "/bin/echo words" : "echo words", "r");
		if (!file || !fgets(text, sizeof text, file) || strcmp(text, "words\n") ||
		    pclose(file))
			__atomic_store_n((int *)failed, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST_SECONDS(popen_is_thread_safe, 60)
{
	check_in_threads(8, call_popen);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}

TEST(a_forked_child_may_open_streams)
{
	int status;
	FILE *file = popen("cat && exit 0", "w");
	pid_t child = fork();

	CHECK(file);
	if (child == 0) {
		FILE *other = popen("/bin/true", "r");
		_exit(other && pclose(other) == 0 ? 0 : 1);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK_EQUAL(pclose(file), 0);
}
