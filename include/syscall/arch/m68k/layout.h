/* SPDX-License-Identifier: MIT */
/* m68k: what differs from most architectures. */
#ifndef PSYS_M68K_LAYOUT_H
#define PSYS_M68K_LAYOUT_H

/* uapi/asm/fcntl.h */
#define PSYS_O_DIRECTORY 040000
#define PSYS_O_NOFOLLOW 0100000
#define PSYS_O_DIRECT 0200000
#define PSYS_O_LARGEFILE 0400000

#define PSYS_SIGACTION_RESTORER /* exists, but is not used: asm/signal.h */

/* The high half first; a pair may begin in any register. */
#define PSYS_ARG64(value) (uint32_t)((uint64_t)(value) >> 32), (uint32_t)(value)
#define PSYS_ARG64_ODD(value) PSYS_ARG64(value)

#endif
