/* SPDX-License-Identifier: MIT */
/* Shells run on a terminal: job control, size, and the end. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../suite/observe.h"

/* Reads until the text comes. Otherwise prints what was read before. */
static void expect(int fd, const char *text)
{
	struct pollfd poll_in = { fd, POLLIN, 0 };
	char seen[4096] = "";
	size_t length = 0;

	while (!strstr(seen, text) && length < sizeof seen - 1 && poll(&poll_in, 1, LONG) == 1 &&
	       read(fd, seen + length, 1) == 1)
		seen[++length] = '\0';
	if (strstr(seen, text))
		return;
	printf("# no \"%s\" in:\n# ", text);
	for (const char *at = seen; *at; at++)
		printf(*at == '\n' ? "\n# " : "%c", *at);
	printf("\n");
	fflush(stdout);
	check_failed(__FILE__, __LINE__, text);
}

static void type(int fd, const char *text)
{
	CHECK_EQUAL(write(fd, text, strlen(text)), strlen(text));
}

#define PROMPT "-shell- "
/* The terminal's echo of the job differs from the job's output. */
#define JOB "sh -c 'echo be\"\"gun; while read x; do echo \"got $x\"; done'\n"

/* Checks that Ctrl-C has ended the job, and not the shell. */
static void interrupt(int fd)
{
	type(fd, "\3");
	expect(fd, PROMPT);
	type(fd, "echo status $?\n");
	expect(fd, "status 130\r\n");
	expect(fd, PROMPT);
}

static void check_job_control(char *const *argv, int owner)
{
	const struct aspawn_action prompt = ASPAWN_SETENV("PS1", PROMPT);
	const struct aspawn_command command = {
		.size = sizeof command,
		.argv = argv,
		.actions = &prompt,
		.action_count = 1,
		.std_in = ASPAWN_STREAM_PTY,
		.std_out = ASPAWN_STREAM_PTY,
		.std_err = ASPAWN_STREAM_PTY,
		.owner = owner,
	};
	struct aspawn_failure failure;
	struct aspawn_child child;

	const int r = aspawn_start(&child, &command);
	if (r == -PSYS_ENOENT || r == -PSYS_ENODEV)
		skip("no pseudo-terminals");
	CHECK_EQUAL(r, 0);
	if (aspawn_wait_started(&child, &failure, -1) < 0) {
		aspawn_wait(&child, NULL, NULL, -1);
		skip(failure.error == -PSYS_ENOENT ? "not installed" : "no tree");
	}
	const int fd = child.pty_fd;
	expect(fd, PROMPT);
	type(fd, "stty size\n");
	expect(fd, "24 80\r\n");
	expect(fd, PROMPT);
	CHECK_EQUAL(aspawn_resize(&child, 10, 200), 0);
	type(fd, "stty size\n");
	expect(fd, "10 200\r\n");
	expect(fd, PROMPT);
	type(fd, JOB);
	expect(fd, "begun\r\n");
	type(fd, "1\n");
	expect(fd, "got 1\r\n");
	interrupt(fd);
	type(fd, JOB);
	expect(fd, "begun\r\n");
	type(fd, "\32"); /* Ctrl-Z */
	expect(fd, "Stopped");
	expect(fd, PROMPT);
	type(fd, "fg\n");
	expect(fd, "while read x"); /* the shell names the job that it continues */
	type(fd, "2\n");
	expect(fd, "got 2\r\n");
	interrupt(fd);
	close(fd);
	check_ends(&child, PSYS_SIGHUP);
}

TEST(dash_controls_jobs_on_a_terminal)
{
	char *const argv[] = { (char *)"dash", (char *)"-i", NULL };

	check_job_control(argv, ASPAWN_OWNER_CALLER);
	check_job_control(argv, ASPAWN_OWNER_PRIVATE);
}

TEST(bash_controls_jobs_on_a_terminal)
{
	char *const argv[] = { (char *)"bash", (char *)"--norc", (char *)"--noprofile",
			       (char *)"-i", NULL };

	check_job_control(argv, ASPAWN_OWNER_CALLER);
	check_job_control(argv, ASPAWN_OWNER_TREE);
}
