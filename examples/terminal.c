/* SPDX-License-Identifier: MIT */
/*
 * Runs a command on a terminal of its own, and copies between that and its own: what programs need
 * that record sessions, or offer shells. ./terminal bash
 *
 *     cc terminal.c $(pkg-config --cflags --libs aspawn)
 */
#define _DEFAULT_SOURCE
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <aspawn/command.h>

/* Reading a terminal that no program has is an error. */
static int copy(int from, int to)
{
	char bytes[4096];
	const ssize_t length = read(from, bytes, sizeof bytes);

	return length > 0 && write(to, bytes, (size_t)length) == length;
}

int main(int argc, char **argv)
{
	struct aspawn_command command = { .size = sizeof command, .file = "sh" };
	struct aspawn_child child;
	struct termios saved, raw;
	struct winsize size;
	int status;

	if (argc > 1)
		command.argv = argv + 1, command.file = NULL;
	command.std_in = command.std_out = command.std_err = ASPAWN_STREAM_PTY;
	const int is_terminal = tcgetattr(0, &saved) == 0 && ioctl(0, TIOCGWINSZ, &size) == 0;
	if (is_terminal) /* later sizes, after SIGWINCH, are for aspawn_resize() */
		command.pty_rows = size.ws_row, command.pty_columns = size.ws_col;
	if (aspawn_start(&child, &command) < 0)
		return 1;
	if (is_terminal) {
		raw = saved;
		cfmakeraw(&raw); /* Ctrl-C is for the command */
		tcsetattr(0, TCSADRAIN, &raw);
	}
	struct pollfd fds[] = { { child.pty_fd, POLLIN, 0 }, { 0, POLLIN, 0 } };
	while (poll(fds, 2, -1) > 0 && !(fds[0].revents && !copy(child.pty_fd, 1)))
		if (fds[1].revents && !copy(0, child.pty_fd)) {
			fds[1].fd = -1;
			if (write(child.pty_fd, "\4", 1) != 1) /* Ctrl-D: the end of the input */
				break;
		}
	if (is_terminal)
		tcsetattr(0, TCSADRAIN, &saved);
	close(child.pty_fd);
	return aspawn_wait(&child, &status, NULL, -1) < 0 || status != 0;
}
