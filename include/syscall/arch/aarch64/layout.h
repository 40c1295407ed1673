/* SPDX-License-Identifier: MIT */
/* aarch64: what differs from most architectures (uapi/asm/fcntl.h). */
#ifndef PSYS_AARCH64_LAYOUT_H
#define PSYS_AARCH64_LAYOUT_H

#define PSYS_O_DIRECTORY 040000
#define PSYS_O_NOFOLLOW 0100000
#define PSYS_O_DIRECT 0200000
#define PSYS_O_LARGEFILE 0400000

#define PSYS_SA_RESTORER 0x04000000UL /* exists, but is not needed */

/* clone takes tls before child_tid (CONFIG_CLONE_BACKWARDS). */
#define PSYS_CLONE_BACKWARDS

#endif
