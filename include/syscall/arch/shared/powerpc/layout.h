/* SPDX-License-Identifier: MIT */
/* powerpc, 32 and 64 bits: what differs from most architectures. */
#ifndef PSYS_POWERPC_SHARED_LAYOUT_H
#define PSYS_POWERPC_SHARED_LAYOUT_H

/* uapi/asm/fcntl.h */
#define PSYS_O_DIRECTORY 040000
#define PSYS_O_NOFOLLOW 0100000
#define PSYS_O_LARGEFILE 0200000
#define PSYS_O_DIRECT 0400000

#define PSYS_MAP_NORESERVE 0x40 /* uapi/asm/mman.h */

#define PSYS_SA_RESTORER 0x04000000UL /* exists, but is not needed */

#define PSYS_SO_PASSCRED 20 /* uapi/asm/socket.h */

/* uapi/asm/ioctl.h, ioctls.h */
#define PSYS_IOC_READ 2U
#define PSYS_IOC_WRITE 4U
#define PSYS_IOC_SIZE_BITS 13
#define PSYS_TIOCSCTTY 0x540E
#define PSYS_TIOCGPGRP 0x40047477
#define PSYS_TIOCSPGRP 0x80047476
#define PSYS_TIOCGWINSZ 0x40087468
#define PSYS_TIOCSWINSZ 0x80087467
#define PSYS_TIOCSPTLCK 0x80045431
#define PSYS_TIOCGPTPEER 0x20005441
#define PSYS_TIOCNOTTY 0x5422
#define PSYS_FIONREAD 0x4004667f

/* clone takes tls before child_tid (CONFIG_CLONE_BACKWARDS). */
#define PSYS_CLONE_BACKWARDS

#define PSYS_MCL_CURRENT 0x2000
#define PSYS_MCL_FUTURE 0x4000
#define PSYS_MCL_ONFAULT 0x8000

#endif
