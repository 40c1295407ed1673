/* SPDX-License-Identifier: MIT */
/*
 * Makes the terminal of --pty, and sets the user's own terminal to raw mode meanwhile. Runs in the
 * tool. The guard is a process that restores the user's terminal if the tool is killed. It holds
 * only the terminal and a pipe.
 */
#include "cli.h"

enum { ROWS = 24, COLUMNS = 80, ECHO = 8 };
enum { FLAGS = PSYS_O_RDWR | PSYS_O_NOCTTY | PSYS_O_CLOEXEC };

/* The kernel has the modes of a terminal in this form. The library sets no modes, and its headers
 * lack the structure. Architectures agree on the first four members, and on ECHO. */
struct termios {
	unsigned c_iflag, c_oflag, c_cflag, c_lflag;
	unsigned char rest[48]; /* the line discipline, control characters, speeds */
};

#if defined __mips__
#define TCGETS 0x540D
#define TCSETS 0x540E
#elif defined __powerpc__
#define TCGETS 0x402C7413
#define TCSETS 0x802C7414
#elif defined __sparc__
#define TCGETS 0x40245408
#define TCSETS 0x80245409
#else
#define TCGETS 0x5401
#define TCSETS 0x5402
#endif

#if defined __powerpc__
#define ICANON 0x0100U
#else
#define ICANON 0x0002U
#endif

static struct {
	int here;         /* the tool's end */
	bool is_terminal; /* the tool's input is a terminal */
	bool is_raw;
	struct termios saved; /* the user's, or the command's without a terminal */
	int guard, guard_fd;
} terminal = { .here = -1, .guard_fd = -1 };

void terminal_resize(void)
{
	struct psys_winsize size = { ROWS, COLUMNS, 0, 0 };

	psys_ioctl(0, PSYS_TIOCGWINSZ, (uintptr_t)&size);
	size.ws_row = size.ws_row ? size.ws_row : ROWS;
	size.ws_col = size.ws_col ? size.ws_col : COLUMNS;
	psys_ioctl(terminal.here, PSYS_TIOCSWINSZ, (uintptr_t)&size);
}

static int open_peer(void)
{
	return (int)psys_ioctl(terminal.here, PSYS_TIOCGPTPEER, (uintptr_t)FLAGS);
}

/* The new terminal gets the modes of the user's terminal. */
void terminal_make(struct setting *setting)
{
	const bool has_file = setting->options.stdin_file;
	const int locked = 0;

	terminal.here = psys_open("/dev/ptmx", FLAGS | PSYS_O_NONBLOCK, 0);
	psys_ioctl(terminal.here, PSYS_TIOCSPTLCK, (uintptr_t)&locked);
	const int peer = open_peer();
	if (peer < 0) {
		options_refuse(&setting->options, "--pty", NULL,
			       "there is no /dev/ptmx, or no terminal left");
		return;
	}
	terminal.is_terminal = psys_ioctl(0, TCGETS, (uintptr_t)&terminal.saved) >= 0;
	if (!terminal.is_terminal) {
		psys_ioctl(terminal.here, TCGETS, (uintptr_t)&terminal.saved);
		terminal.saved.c_lflag &= ~(unsigned)ECHO;
	}
	psys_ioctl(terminal.here, TCSETS, (uintptr_t)&terminal.saved);
	terminal_resize();
	for (int i = has_file; i < 3; i++)
		setting->streams[i] = peer;
	pump_set(1, terminal.here, 1);
	if (!has_file && !setting->is_closed[0] && !terminal.is_terminal)
		pump_set(0, 0, terminal.here);
}

/* In the background the terminal belongs to another job. */
void terminal_enter(void)
{
	struct termios raw = terminal.saved;
	int group = 0;

	if (!terminal.is_terminal || terminal.is_raw ||
	    (psys_ioctl(0, PSYS_TIOCGPGRP, (uintptr_t)&group) >= 0 && group != psys_getpgid(0)))
		return;
	raw.c_iflag = raw.c_oflag = raw.c_lflag = 0;
	terminal.is_raw = psys_ioctl(0, TCSETS, (uintptr_t)&raw) >= 0;
	pump_set(0, 0, terminal.here);
	terminal_resize();
}

/* Opens the program's end only for a moment, as an open end would keep the output open. */
static bool has_unread_input(void)
{
	const int peer = open_peer();
	const bool has_input = stream_is_ready(peer, PSYS_POLLIN);

	psys_close(peer);
	return has_input;
}

/* Runs now and then, as a shell does not tell when the tool comes to the foreground. After the
 * program has read an end of file, its next read shall find an end of file too. A line editor like
 * readline reads the character itself in a raw mode: a character in a second is enough. */
void terminal_tend(void)
{
	static int64_t next;
	struct termios modes;

	terminal_enter();
	if (terminal.is_terminal || !streams_input_ended() ||
	    psys_ioctl(terminal.here, TCGETS, (uintptr_t)&modes) < 0)
		return;
	if (has_unread_input() || (!(modes.c_lflag & ICANON) && now_ms() < next))
		return;
	next = now_ms() + 1000;
	psys_write(terminal.here, "\4", 1);
}

void terminal_leave(void)
{
	if (!terminal.is_raw)
		return;
	psys_ioctl(0, TCSETS, (uintptr_t)&terminal.saved);
	pump_set(0, -1, -1);
	terminal.is_raw = false;
}

/* --- the guard ------------------------------------------------------------------------- */

/* The tool was killed if the pipe ends without a byte. */
static void guard_main(int fd)
{
	char byte;

	psys_setpgid(0, 0);
	psys_dup3(fd, 1, 0);
	psys_close_range(2, ~0U, 0);
	if (psys_read(1, &byte, 1) == 0)
		psys_ioctl(0, TCSETS, (uintptr_t)&terminal.saved);
	psys_exit_group(0);
}

/* The guard's exit signal is 0: a wait for the program does not find the guard. */
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
