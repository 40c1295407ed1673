/* SPDX-License-Identifier: MIT */
/* Existing programs call popen_noshell() like this. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include <popen_noshell.h>

#include "threads.h"

static void check_reads_in(const char *file, int line, FILE *stream, const char *expected,
			   struct popen_noshell_pass_to_pclose *arg)
{
	char text[256];

	if (!stream)
		check_failed(file, line, "a stream");
	size_t length = fread(text, 1, sizeof text - 1, stream);
	text[length] = '\0';
	if (strcmp(text, expected)) {
		printf("# %s\n", text);
		fflush(stdout);
		check_failed(file, line, expected);
	}
	check_equal(file, line, "status", pclose_noshell(arg), 0);
}
#define CHECK_READS(stream, expected) check_reads_in(__FILE__, __LINE__, stream, expected, &arg)

/* A program may read wide characters, as from a stream of fdopen(). */
TEST(noshells_stream_has_no_orientation)
{
	struct popen_noshell_pass_to_pclose arg;
	FILE *file = popen_noshell_compat("echo words", "r", &arg);

	CHECK(file && fwide(file, 0) == 0 && fgetwc(file) == L'w');
	CHECK_EQUAL(pclose_noshell(&arg), 0);
}

static const char *const both[] = { "sh", "-c", "echo output; echo error >&2", NULL };

TEST(noshell_reads)
{
	static const char *const words[] = { "echo", "some words", "$HOME", "", NULL };
	static const char *const input[] = { "cat", NULL };
	struct popen_noshell_pass_to_pclose arg;

	CHECK_READS(popen_noshell("echo", words, "r", &arg, 0), "some words $HOME \n");
	CHECK_READS(popen_noshell("cat", input, "r", &arg, 0), ""); /* from /dev/null */
	FILE *file = popen_noshell("sh", (const char *const[]){ "sh", "-c", "exit 5", NULL }, "r",
				   &arg, 0);
	CHECK(file == arg.fp && arg.pid > 0);
	CHECK_EQUAL(fcntl(fileno(file), F_GETFD), FD_CLOEXEC);
	CHECK_EQUAL(pclose_noshell(&arg), 5 << 8);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}

/* All modes read, write and reject the same. Only POSIX_SPAWN returns the error of the exec. */
TEST(noshell_behaves_the_same_in_each_mode)
{
	static const char *const none[] = { "no-such-program", NULL };
	static const char *const cat[] = { "sh", "-c", "read a; test \"$a\" = words", NULL };
	struct popen_noshell_pass_to_pclose arg;
	int descriptors = count_descriptors();

	CHECK_EQUAL(popen_noshell_get_fork_mode(), POPEN_NOSHELL_MODE_CLONE);
	for (int mode = POPEN_NOSHELL_MODE_CLONE; mode <= POPEN_NOSHELL_MODE_POSIX_SPAWN; mode++) {
		popen_noshell_set_fork_mode(mode);
		CHECK_EQUAL(popen_noshell_get_fork_mode(), mode);
		CHECK_READS(popen_noshell("sh", both, "r", &arg, 1), "output\n");
		CHECK_READS(popen_noshell("sh", both, "r", &arg, 2), "output\nerror\n");
		CHECK_READS(popen_noshell_compat("echo 'a b'", "r", &arg), "a b\n");
		FILE *file = popen_noshell("sh", cat, "w", &arg, 1);
		CHECK(file && fputs("words\n", file) >= 0);
		CHECK_EQUAL(pclose_noshell(&arg), 0);
		errno = 0;
		file = popen_noshell(none[0], none, "r", &arg, 0);
		if (mode == POPEN_NOSHELL_MODE_POSIX_SPAWN) {
			CHECK(!file && errno == ENOENT);
		} else {
			CHECK(file && fgetc(file) == EOF);
			CHECK_EQUAL(pclose_noshell(&arg), 127 << 8);
		}
	}
	popen_noshell_set_fork_mode(3);
	CHECK(!popen_noshell("sh", both, "r", &arg, 0) && errno == EINVAL);
	popen_noshell_set_fork_mode(POPEN_NOSHELL_MODE_CLONE);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}

static void do_nothing(int signal)
{
	(void)signal;
}

/* The wait is interrupted, and the last written data is lost. */
TEST(noshell_keeps_errno_on_success)
{
	static const char *const argv[] = {
		"sh", "-c", "for i in 1 2 3 4 5; do kill -ALRM $PPID; sleep 0.02; done; exit 3", NULL
	};
	struct sigaction action = { .sa_handler = do_nothing };
	struct popen_noshell_pass_to_pclose arg;
	siginfo_t ended;

	CHECK_EQUAL(setenv("PATH", "/no such directory:/nor this:/bin:/usr/bin", 1), 0);
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGPIPE, &action, NULL);
	errno = E2BIG;
	CHECK(popen_noshell("sh", argv, "r", &arg, 0) && errno == E2BIG);
	CHECK_EQUAL(pclose_noshell(&arg), 3 << 8);
	CHECK_EQUAL(errno, E2BIG);
	FILE *file = popen_noshell_compat("sh -c ':'", "w", &arg);
	CHECK(file && fputs("words", file) >= 0 && errno == E2BIG);
	CHECK_EQUAL(waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT), 0);
	CHECK_EQUAL(pclose_noshell(&arg), 0);
	CHECK_EQUAL(errno, E2BIG);
}

struct filter {
	int in[2], out[2];
	int status;
};

/* Existing programs call functions of the libc in the child. */
static int run_filter(void *arg)
{
	static char *const argv[] = { "tr", "a-z", "A-Z", NULL };
	const struct filter *filter = arg;
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	if (sigismember(&mask, SIGUSR1) != 1 || sigismember(&mask, SIGUSR2) != 0)
		return 2;
	if (dup2(filter->in[0], 0) < 0 || dup2(filter->out[1], 1) < 0)
		return 3;
	execvp(argv[0], argv);
	return 4;
}

/* The function needs more stack than a stack of the pool has. */
static int return_status(void *arg)
{
	volatile char frame[4 << 20];
	struct filter *filter = arg;

	for (size_t i = 0; i < sizeof frame; i += 4096)
		frame[i] = 1;
	execv("/no such file", (char *[]){ NULL });
	if (memory_is_shared())
		filter->status++; /* the caller sees this, as memory is shared */
	return 6 + frame[0];
}

TEST(noshell_vmfork_runs_a_function)
{
	struct filter filter = { .status = 0 };
	void *memory = &filter;
	char text[16] = "";
	sigset_t mask, before;
	int status, descriptors = count_descriptors();

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigprocmask(SIG_SETMASK, &mask, &before);
	CHECK(pipe2(filter.in, O_CLOEXEC) == 0 && pipe2(filter.out, O_CLOEXEC) == 0);
	pid_t pid = popen_noshell_vmfork(run_filter, &filter, &memory);
	CHECK(pid > 0 && !memory);
	close(filter.in[0]);
	close(filter.out[1]);
	CHECK_EQUAL(write(filter.in[1], "words", 5), 5);
	close(filter.in[1]);
	CHECK(read(filter.out[0], text, sizeof text) == 5 && !strcmp(text, "WORDS"));
	close(filter.out[0]);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);

	errno = E2BIG;
	pid = popen_noshell_vmfork(return_status, &filter, &memory);
	CHECK_EQUAL(errno, E2BIG);
	CHECK_EQUAL(filter.status, memory_is_shared());
	CHECK(waitpid(pid, &status, 0) == pid && status == 7 << 8);
	sigprocmask(SIG_SETMASK, &before, NULL);
	CHECK_EQUAL(count_descriptors(), descriptors);
}

TEST(noshell_writes)
{
	static const char *const argv[] = { "sh", "-c", "read a; echo seen; test \"$a\" = words",
					    NULL };
	struct popen_noshell_pass_to_pclose arg;
	FILE *file = popen_noshell("sh", argv, "w", &arg, 0);

	CHECK(file && fputs("words\n", file) >= 0);
	CHECK_EQUAL(pclose_noshell(&arg), 0);
}

TEST(noshell_redirects_standard_error)
{
	struct popen_noshell_pass_to_pclose arg;
	int ends[2];
	char text[16] = "";

	CHECK(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0 && dup2(ends[1], 2) == 2);
	CHECK_READS(popen_noshell("sh", both, "r", &arg, 1), "output\n");
	CHECK_READS(popen_noshell("sh", both, "r", &arg, 2), "output\nerror\n");
	CHECK(read(ends[0], text, sizeof text) == -1 && errno == EAGAIN);
	CHECK_READS(popen_noshell("sh", both, "r", &arg, 0), "output\n");
	CHECK(read(ends[0], text, sizeof text) == 6 && !strcmp(text, "error\n"));
	for (int mode = 0; mode < 3; mode++) {
		CHECK(popen_noshell("sh", both, "w", &arg, mode));
		CHECK_EQUAL(pclose_noshell(&arg), 0);
	}
	CHECK(!popen_noshell("sh", both, "r", &arg, 3) && errno == EINVAL);
	CHECK(!popen_noshell("sh", both, "r", &arg, -1) && errno == EINVAL);
}

TEST(noshell_reports_errors)
{
	static const char *const argv[] = { "no-such-program", NULL };
	struct popen_noshell_pass_to_pclose arg;
	int descriptors = count_descriptors();

	for (int i = 0; i < 3; i++) {
		FILE *file = popen_noshell(argv[0], argv, "r", &arg, i);
		CHECK(file && fgetc(file) == EOF);
		CHECK_EQUAL(pclose_noshell(&arg), 127 << 8);
	}
	CHECK(!popen_noshell("sh", both, "x", &arg, 0) && errno == EINVAL);
	CHECK(!popen_noshell("sh", both, "rw", &arg, 0) && errno == EINVAL);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}

TEST(noshell_splits_command_lines)
{
	static const struct {
		const char *command, *output;
	} rows[] = {
		{ "echo a b", "a b\n" },
		{ "  echo\ta   b ", "a b\n" },
		{ "echo 'a   b' \"c  d\"", "a   b c  d\n" },
		{ "echo 'a \" b' \"c ' d\"", "a \" b c ' d\n" },
		{ "'echo' x", "x\n" },
		{ "echo a '' b", "a  b\n" },
		{ "echo *.none ~ # x", "*.none ~ # x\n" },
	};
	static const char *const bad[] = {
		"",           "   ",           "echo 'a",      "echo a'b'",
		"echo 'a'b",  "echo \"a\"'b'", "echo \"",      "echo a\\ b",
		"echo $HOME", "echo `id`",     "echo a;id",    "echo a|id",
		"echo a&",    "echo >a",       "echo <a",      "echo (a)",
		"echo a\nid", "echo !1",       "echo '$HOME'", "echo a\"",
	};
	struct popen_noshell_pass_to_pclose arg;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		CHECK_READS(popen_noshell_compat(rows[i].command, "r", &arg), rows[i].output);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		errno = 0;
		CHECK(!popen_noshell_compat(bad[i], "r", &arg));
		CHECK_EQUAL(errno, EINVAL);
		CHECK_EQUAL(pclose_noshell(&arg), -1); /* there is no stream */
	}
	CHECK(popen_noshell_compat("cat", "w", &arg));
	CHECK_EQUAL(pclose_noshell(&arg), 0);
}

/* Tries each combination of closed standard streams. */
TEST(noshell_works_without_standard_streams)
{
	char text[64];

	for (int i = 0; i < 8; i++) {
		struct popen_noshell_pass_to_pclose reader, writer;
		int kept[3];
		for (int fd = 0; fd < 3; fd++) {
			kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
			if (i & 1 << fd)
				close(fd);
		}
		FILE *in = popen_noshell("sh", both, "r", &reader, 2);
		FILE *out = popen_noshell_compat("cat", "w", &writer);
		bool right = in && out && fgets(text, sizeof text, in) && !strcmp(text, "output\n");
		right = right && fgets(text, sizeof text, in) && !strcmp(text, "error\n");
		right = right && pclose_noshell(&reader) == 0 && pclose_noshell(&writer) == 0;
		for (int fd = 0; fd < 3; fd++) {
			dup2(kept[fd], fd);
			close(kept[fd]);
		}
		CHECK(right);
	}
}

/* There are more children than the library keeps scratch memory and stacks. */
TEST(noshell_runs_many_at_once)
{
	enum { count = 60 };
	struct popen_noshell_pass_to_pclose args[count];
	char line[16];

	for (int i = 0; i < count; i++)
		CHECK(popen_noshell_compat("echo words", "r", &args[i]));
	for (int i = 0; i < count; i++) {
		CHECK(fgets(line, sizeof line, args[i].fp) && !strcmp(line, "words\n"));
		CHECK_EQUAL(pclose_noshell(&args[i]), 0);
	}
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
}

static void *call_noshell(void *failed)
{
	for (int i = 0; i < scaled(50); i++) {
		struct popen_noshell_pass_to_pclose arg;
		char text[16] = "";
		FILE *file = popen_noshell_compat("/bin/echo words", "r", &arg);
		if (!file || !fgets(text, sizeof text, file) || strcmp(text, "words\n") ||
		    pclose_noshell(&arg))
			__atomic_store_n((int *)failed, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST_SECONDS(noshell_is_thread_safe, 60)
{
	check_in_threads(8, call_noshell);
}
