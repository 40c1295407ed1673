/* SPDX-License-Identifier: MIT */
/* Makes the terminal of a command, a pair with an end for the caller and one for the program. */
#include "terminal.h"

#include "../marks.h"
#include "../spawn/descriptor_table.h"
#include "handle.h"

enum {
	DEFAULT_ROWS = 24,
	DEFAULT_COLUMNS = 80,
	PTY_FLAGS = PSYS_O_RDWR | PSYS_O_NOCTTY | PSYS_O_CLOEXEC,
};

static IN_SERVER int set_window_size(int fd, unsigned rows, unsigned columns)
{
	const struct psys_winsize size = { (unsigned short)rows, (unsigned short)columns, 0, 0 };

	return (int)psys_ioctl(fd, PSYS_TIOCSWINSZ, (uintptr_t)&size);
}

/* Signals may interrupt the open of either end. */
static IN_SERVER int open_callers_end(bool nonblock)
{
	int r;

	do
		r = psys_open("/dev/ptmx", PTY_FLAGS | (nonblock ? PSYS_O_NONBLOCK : 0), 0);
	while (r == -PSYS_EINTR);
	return aspw_descriptors_avoid_streams(r);
}

/* The kernel finds the program's end by the caller's. A path in /dev/pts might be another
 * file's. */
static IN_SERVER int open_programs_end(int fd)
{
	const int locked = 0;
	int r = (int)psys_ioctl(fd, PSYS_TIOCSPTLCK, (uintptr_t)&locked);

	if (r < 0)
		return r;
	do
		r = (int)psys_ioctl(fd, PSYS_TIOCGPTPEER, PTY_FLAGS);
	while (r == -PSYS_EINTR);
	return aspw_descriptors_avoid_streams(r);
}

IN_SERVER int aspw_make_terminal(int ends[2], const struct aspawn_command *command)
{
	const unsigned rows = command->pty_rows, columns = command->pty_columns;

	ends[0] = open_callers_end(command->flags & ASPAWN_COMMAND_NONBLOCK);
	if (ends[0] < 0)
		return ends[0];
	int r = set_window_size(ends[0], rows ? rows : DEFAULT_ROWS,
				columns ? columns : DEFAULT_COLUMNS);
	ends[1] = r < 0 ? r : open_programs_end(ends[0]);
	return ends[1] < 0 ? ends[1] : 0;
}

int aspawn_resize(struct aspawn_child *child, unsigned rows, unsigned columns)
{
	if (!child || !child_state(child)->on_pty || rows > UINT16_MAX || columns > UINT16_MAX)
		return -PSYS_EINVAL;
	return set_window_size(child->pty_fd, rows, columns);
}
