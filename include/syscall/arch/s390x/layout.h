/* SPDX-License-Identifier: MIT */
/* s390x: what differs from most architectures. */
#ifndef PSYS_S390X_LAYOUT_H
#define PSYS_S390X_LAYOUT_H

#define PSYS_SA_RESTORER 0x04000000UL /* exists, but is not needed */

/* clone takes stack before flags (CONFIG_CLONE_BACKWARDS2). */
#define PSYS_CLONE_BACKWARDS2

/* uapi/asm/statfs.h */
#define PSYS_ARCH_STATFS
struct psys_statfs {
	uint32_t f_type;
	uint32_t f_bsize;
	uint64_t f_blocks;
	uint64_t f_bfree;
	uint64_t f_bavail;
	uint64_t f_files;
	uint64_t f_ffree;
	struct {
		int val[2];
	} f_fsid;
	uint32_t f_namelen;
	uint32_t f_frsize;
	uint32_t f_flags;
	uint32_t f_spare[5];
};

#define PSYS_POSIX_FADV_DONTNEED 6
#define PSYS_POSIX_FADV_NOREUSE 7

#endif
