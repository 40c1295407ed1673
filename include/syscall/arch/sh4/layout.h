/* SPDX-License-Identifier: MIT */
/* sh4: what differs from most architectures. */
#ifndef PSYS_SH4_LAYOUT_H
#define PSYS_SH4_LAYOUT_H

#define PSYS_SA_RESTORER 0x04000000UL /* exists, but is not needed */

/* uapi/asm/ioctls.h */
#define PSYS_TIOCSCTTY 0x540E
#define PSYS_TIOCGPGRP 0x80047477
#define PSYS_TIOCSPGRP 0x40047476
#define PSYS_TIOCGWINSZ 0x80087468
#define PSYS_TIOCSWINSZ 0x40087467
#define PSYS_TIOCSPTLCK 0x40045431
#define PSYS_TIOCGPTPEER 0x5441
#define PSYS_TIOCNOTTY 0x5422
#define PSYS_FIONREAD 0x8004667f

/* The low half first; a pair may begin in any register. */
#define PSYS_ARG64(value) (uint32_t)(value), (uint32_t)((uint64_t)(value) >> 32)
#define PSYS_ARG64_ODD(value) PSYS_ARG64(value)
#define PSYS_ARG64_PREAD(value) 0, PSYS_ARG64(value) /* arch/sh/kernel/sys_sh32.c */

#endif
