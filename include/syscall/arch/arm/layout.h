/* SPDX-License-Identifier: MIT */
/* arm: what differs from most architectures. */
#ifndef PSYS_ARM_LAYOUT_H
#define PSYS_ARM_LAYOUT_H

/* uapi/asm/fcntl.h */
#define PSYS_O_DIRECTORY 040000
#define PSYS_O_NOFOLLOW 0100000
#define PSYS_O_DIRECT 0200000
#define PSYS_O_LARGEFILE 0400000

#define PSYS_SA_RESTORER 0x04000000UL /* exists, but is not needed */

/* clone takes tls before child_tid (CONFIG_CLONE_BACKWARDS). */
#define PSYS_CLONE_BACKWARDS

/* The halves are in the byte order of the machine; a pair begins in an even register. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PSYS_ARG64(value) (uint32_t)((uint64_t)(value) >> 32), (uint32_t)(value)
#else
#define PSYS_ARG64(value) (uint32_t)(value), (uint32_t)((uint64_t)(value) >> 32)
#endif
#define PSYS_ARG64_ODD(value) 0, PSYS_ARG64(value)

/* As the older calls of this ABI have it. */
#define PSYS_STATFS_PACKED __attribute__((packed, aligned(4)))
#define PSYS_IPC_64 0x100

#endif
