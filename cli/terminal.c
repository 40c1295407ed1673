/* SPDX-License-Identifier: MIT */
/*
 * The terminal of --pty, and the user's own, which is raw meanwhile. Runs in the tool; the guard is
 * a process that sets the user's terminal back if the tool is killed, and holds nothing else.
 */
#include "cli.h"
#include "termios.h"

enum { ROWS = 24, COLUMNS = 80 };

static struct {
	int here, peer;   /* the tool's end, and a copy of the program's */
	bool is_terminal; /* the tool's input is one */
	bool is_raw;
	struct termios saved;
	int guard, guard_fd;
} terminal = { .here = -1, .peer = -1, .guard_fd = -1 };

static int get_modes(int fd, struct termios *modes)
{
	return (int)psys_ioctl(fd, TCGETS, (uintptr_t)modes);
}

static int set_modes(int fd, const struct termios *modes)
{
	return (int)psys_ioctl(fd, TCSETS, (uintptr_t)modes);
}

void terminal_resize(void)
{
	struct psys_winsize size = { ROWS, COLUMNS, 0, 0 };

	psys_ioctl(0, PSYS_TIOCGWINSZ, (uintptr_t)&size);
	size.ws_row = size.ws_row ? size.ws_row : ROWS;
	size.ws_col = size.ws_col ? size.ws_col : COLUMNS;
	psys_ioctl(terminal.here, PSYS_TIOCSWINSZ, (uintptr_t)&size);
}

static int open_pair(void)
{
	const int flags = PSYS_O_RDWR | PSYS_O_NOCTTY | PSYS_O_CLOEXEC, locked = 0;

	terminal.here = psys_open("/dev/ptmx", flags | PSYS_O_NONBLOCK, 0);
	if (terminal.here < 0)
		return terminal.here;
	psys_ioctl(terminal.here, PSYS_TIOCSPTLCK, (uintptr_t)&locked);
	terminal.peer = (int)psys_ioctl(terminal.here, PSYS_TIOCGPTPEER, (uintptr_t)flags);
	return terminal.peer;
}

/* The user's modes are the new terminal's too. */
void terminal_make(struct setting *setting)
{
	const bool has_file = setting->options.stdin_file;
	struct termios modes;

	if (open_pair() < 0) {
		options_refuse(&setting->options, "--pty", NULL,
			       "there is no /dev/ptmx, or no terminal left");
		return;
	}
	terminal.is_terminal = get_modes(0, &terminal.saved) >= 0;
	if (get_modes(terminal.here, &modes) >= 0 && !terminal.is_terminal) {
		modes.c_lflag &= ~(unsigned)ECHO;
		set_modes(terminal.here, &modes);
	} else {
		set_modes(terminal.here, &terminal.saved);
	}
	terminal_resize();
	for (int i = has_file; i < 3; i++)
		setting->streams[i] = terminal.peer;
	pump_set(1, terminal.here, 1);
	if (!has_file && !setting->is_closed[0] && !terminal.is_terminal)
		pump_set(0, 0, terminal.here);
}

/* In the background the terminal is another job's. */
void terminal_enter(void)
{
	struct termios raw = terminal.saved;
	int group = 0;

	if (!terminal.is_terminal || terminal.is_raw ||
	    (psys_ioctl(0, PSYS_TIOCGPGRP, (uintptr_t)&group) >= 0 && group != psys_getpgid(0)))
		return;
	raw.c_iflag = raw.c_oflag = raw.c_lflag = 0;
	terminal.is_raw = set_modes(0, &raw) >= 0;
	pump_set(0, 0, terminal.here);
	terminal_resize();
}

/* Now and then: a shell does not tell that the tool has come to the foreground; and after the
 * program has read an end of file, the next read shall find one too. A line editor such as readline
 * reads the character itself in a raw mode, where a second is enough between two of them. */
void terminal_tend(void)
{
	static int64_t next;
	struct termios modes;

	terminal_enter();
	if (terminal.is_terminal || !streams_input_ended() || get_modes(terminal.here, &modes) < 0)
		return;
	if (stream_is_ready(terminal.peer, PSYS_POLLIN) ||
	    (!(modes.c_lflag & ICANON) && now_ms() < next))
		return;
	next = now_ms() + 1000;
	psys_write(terminal.here, "\4", 1);
}

void terminal_leave(void)
{
	if (!terminal.is_raw)
		return;
	set_modes(0, &terminal.saved);
	pump_set(0, -1, -1);
	terminal.is_raw = false;
}

/* --- the guard ------------------------------------------------------------------------- */

/* The end of the pipe without a byte is the tool's death. */
static void guard_main(int fd)
{
	char byte;
	long r;

	psys_setpgid(0, 0);
	psys_dup3(fd, 1, 0);
	psys_close_range(2, ~0U, 0);
	while ((r = psys_read(1, &byte, 1)) == -PSYS_EINTR)
		continue;
	if (r == 0)
		set_modes(0, &terminal.saved);
	psys_exit_group(0);
}

/* Its exit signal is 0, so that no wait for the program finds it. */
void terminal_guard(void)
{
	int ends[2] = { -1, -1 };

	if (!terminal.is_terminal || psys_pipe2(ends, PSYS_O_CLOEXEC) < 0)
		return;
	terminal.guard = psys_clone(0, NULL, NULL, NULL, NULL);
	if (terminal.guard == 0) {
		psys_close(ends[1]);
		guard_main(ends[0]);
	}
	psys_close(ends[0]);
	terminal.guard_fd = ends[1];
}

void terminal_end(void)
{
	struct psys_siginfo info;

	terminal_leave();
	if (terminal.guard <= 0)
		return;
	psys_write(terminal.guard_fd, "", 1);
	psys_waitid(PSYS_P_PID, terminal.guard, &info, (int)(PSYS_WEXITED | PSYS___WALL), NULL);
}
