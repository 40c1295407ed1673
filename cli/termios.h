/* SPDX-License-Identifier: MIT */
/* The modes of a terminal as the kernel has them: the library's headers have none,
 * as it sets no modes. */
#ifndef CLI_TERMIOS_H
#define CLI_TERMIOS_H

/* Architectures agree on the first four members, and on ECHO. */
struct termios {
	unsigned c_iflag, c_oflag, c_cflag, c_lflag;
	unsigned char rest[48]; /* the line discipline, control characters, speeds */
};

enum { ECHO = 8 };

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

#endif
