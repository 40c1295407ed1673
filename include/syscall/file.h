/* SPDX-License-Identifier: MIT */
/*
 * Files and descriptors: flags and structures of the calls that open, move,
 * describe and close them.
 * Source: include/uapi/linux/{fcntl,stat,close_range,memfd,mount,openat2}.h,
 * include/uapi/asm-generic/{fcntl,ioctls}.h
 */
#ifndef PSYS_FILE_H
#define PSYS_FILE_H

#include <syscall/arch.h>
#include <syscall/time.h>

/* open, openat: how */
#define PSYS_O_RDONLY 0
#define PSYS_O_WRONLY 1
#define PSYS_O_RDWR 2
#define PSYS_O_ACCMODE 3
#ifndef PSYS_O_CREAT
#define PSYS_O_CREAT 0100
#define PSYS_O_EXCL 0200
#define PSYS_O_NOCTTY 0400
#define PSYS_O_TRUNC 01000
#define PSYS_O_APPEND 02000
#define PSYS_O_NONBLOCK 04000
#define PSYS_O_DSYNC 010000
#define PSYS_O_NOATIME 01000000
#define PSYS_O_CLOEXEC 02000000
#define PSYS_O_SYNC 04010000
#define PSYS_O_PATH 010000000
#endif
#ifndef PSYS_O_DIRECTORY
#define PSYS_O_DIRECT 040000
#define PSYS_O_LARGEFILE 0100000
#define PSYS_O_DIRECTORY 0200000
#define PSYS_O_NOFOLLOW 0400000
#endif
#ifndef PSYS_O_TMPFILE
#define PSYS_O_TMPFILE (020000000 | PSYS_O_DIRECTORY)
#endif
#define PSYS_O_EMPTYPATH 0400000000 /* openat: an empty path is dirfd itself */

/* the *at calls */
#define PSYS_AT_FDCWD (-100)
#define PSYS_AT_SYMLINK_NOFOLLOW 0x100
#define PSYS_AT_REMOVEDIR 0x200
#define PSYS_AT_EACCESS 0x200
#define PSYS_AT_SYMLINK_FOLLOW 0x400
#define PSYS_AT_NO_AUTOMOUNT 0x800
#define PSYS_AT_EMPTY_PATH 0x1000
#define PSYS_AT_RECURSIVE 0x8000
#define PSYS_AT_EXECVE_CHECK 0x10000 /* execveat, 6.14: checks, and executes nothing */

/* faccessat2 */
#define PSYS_F_OK 0
#define PSYS_X_OK 1
#define PSYS_W_OK 2
#define PSYS_R_OK 4

/* lseek */
#define PSYS_SEEK_SET 0
#define PSYS_SEEK_CUR 1
#define PSYS_SEEK_END 2
#define PSYS_SEEK_DATA 3
#define PSYS_SEEK_HOLE 4

/* fcntl */
#define PSYS_F_DUPFD 0
#define PSYS_F_GETFD 1
#define PSYS_F_SETFD 2
#define PSYS_F_GETFL 3
#define PSYS_F_SETFL 4
#define PSYS_F_DUPFD_CLOEXEC 1030
#define PSYS_F_SETPIPE_SZ 1031
#define PSYS_F_GETPIPE_SZ 1032
#define PSYS_F_ADD_SEALS 1033
#define PSYS_F_GET_SEALS 1034
#define PSYS_F_SEAL_SEAL 1
#define PSYS_F_SEAL_SHRINK 2
#define PSYS_F_SEAL_GROW 4
#define PSYS_F_SEAL_WRITE 8
#define PSYS_F_SEAL_FUTURE_WRITE 16
#define PSYS_F_SEAL_EXEC 32 /* Linux 6.3 */
#define PSYS_FD_CLOEXEC 1

/* close_range, since Linux 5.9; CLOEXEC since 5.11 */
#define PSYS_CLOSE_RANGE_UNSHARE 2
#define PSYS_CLOSE_RANGE_CLOEXEC 4

/* memfd_create */
#define PSYS_MFD_CLOEXEC 1
#define PSYS_MFD_ALLOW_SEALING 2
#define PSYS_MFD_NOEXEC_SEAL 8 /* Linux 6.3 */
#define PSYS_MFD_EXEC 16       /* Linux 6.3 */

/* file types and permissions in a mode */
#define PSYS_S_IFMT 0170000
#define PSYS_S_IFSOCK 0140000
#define PSYS_S_IFLNK 0120000
#define PSYS_S_IFREG 0100000
#define PSYS_S_IFBLK 0060000
#define PSYS_S_IFDIR 0040000
#define PSYS_S_IFCHR 0020000
#define PSYS_S_IFIFO 0010000

/* ioctl: the format of most request numbers (uapi/asm-generic/ioctl.h) */
#ifndef PSYS_IOC_READ
#define PSYS_IOC_WRITE 1U
#define PSYS_IOC_READ 2U
#define PSYS_IOC_SIZE_BITS 14
#endif
#define PSYS_IOC(direction, type, number, size)                                                  \
	((unsigned long)(direction) << (16 + PSYS_IOC_SIZE_BITS) | (unsigned long)(size) << 16 | \
	 (unsigned long)(type) << 8 | (unsigned long)(number))

/* ioctl: terminals; some architectures have other values */
#ifndef PSYS_TIOCSCTTY
#define PSYS_TIOCSCTTY 0x540E
#define PSYS_TIOCGPGRP 0x540F
#define PSYS_TIOCSPGRP 0x5410
#define PSYS_TIOCGWINSZ 0x5413
#define PSYS_TIOCSWINSZ 0x5414
#define PSYS_TIOCSPTLCK 0x40045431
#define PSYS_TIOCGPTPEER 0x5441
#define PSYS_TIOCNOTTY 0x5422
#define PSYS_FIONREAD 0x541B
#endif
struct psys_winsize {
	unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};

/* statx: requested and returned fields */
#define PSYS_STATX_TYPE 0x0001U
#define PSYS_STATX_MODE 0x0002U
#define PSYS_STATX_NLINK 0x0004U
#define PSYS_STATX_UID 0x0008U
#define PSYS_STATX_GID 0x0010U
#define PSYS_STATX_INO 0x0100U
#define PSYS_STATX_SIZE 0x0200U
#define PSYS_STATX_BASIC_STATS 0x07ffU

struct psys_statx_timestamp {
	int64_t tv_sec;
	uint32_t tv_nsec;
	int32_t __reserved;
};

struct psys_statx {
	uint32_t stx_mask;
	uint32_t stx_blksize;
	uint64_t stx_attributes;
	uint32_t stx_nlink;
	uint32_t stx_uid;
	uint32_t stx_gid;
	uint16_t stx_mode;
	uint16_t __spare0[1];
	uint64_t stx_ino;
	uint64_t stx_size;
	uint64_t stx_blocks;
	uint64_t stx_attributes_mask;
	struct psys_statx_timestamp stx_atime;
	struct psys_statx_timestamp stx_btime;
	struct psys_statx_timestamp stx_ctime;
	struct psys_statx_timestamp stx_mtime;
	uint32_t stx_rdev_major;
	uint32_t stx_rdev_minor;
	uint32_t stx_dev_major;
	uint32_t stx_dev_minor;
	uint64_t stx_mnt_id;
	uint32_t stx_dio_mem_align;
	uint32_t stx_dio_offset_align;
	uint64_t stx_subvol;
	uint32_t stx_atomic_write_unit_min;
	uint32_t stx_atomic_write_unit_max;
	uint32_t stx_atomic_write_segments_max;
	uint32_t stx_dio_read_offset_align;
	uint32_t stx_atomic_write_unit_max_opt;
	uint32_t __spare2[1];
	uint64_t __spare3[8];
};

/* stat, lstat, fstat, fstatat: one structure on every architecture, filled in by statx. Sizes,
 * inode numbers and times have 64 bits. */
struct psys_stat {
	uint64_t st_dev;
	uint64_t st_ino;
	uint64_t st_rdev;   /* the device that a device file stands for */
	int64_t st_size;    /* bytes */
	uint64_t st_blocks; /* of 512 bytes */
	struct psys_timespec st_atim;
	struct psys_timespec st_mtim;
	struct psys_timespec st_ctim;
	uint32_t st_mode; /* PSYS_S_IFMT: the type */
	uint32_t st_nlink;
	uint32_t st_uid;
	uint32_t st_gid;
	uint32_t st_blksize; /* bytes: a good size for reads and writes */
	uint32_t __reserved;
};

/* Device numbers of st_dev, st_rdev and mknodat, as makedev(3). */
#define PSYS_MAKEDEV(major, minor)                                                     \
	(((uint64_t)((major)&0xfffff000U) << 32) | ((uint64_t)((major)&0xfffU) << 8) | \
	 ((uint64_t)((minor)&0xffffff00U) << 12) | ((minor)&0xffU))
#define PSYS_MAJOR(device) \
	((unsigned)((uint64_t)(device) >> 32 & 0xfffff000U) | ((unsigned)((device) >> 8) & 0xfffU))
#define PSYS_MINOR(device) \
	((unsigned)((uint64_t)(device) >> 12 & 0xffffff00U) | ((unsigned)(device)&0xffU))

/* getdents64: records of this form, d_reclen bytes each */
struct psys_dirent64 {
	uint64_t d_ino;
	int64_t d_off;
	unsigned short d_reclen;
	unsigned char d_type;
	char d_name[1]; /* with its NUL, to the end of the record */
};
#define PSYS_DT_UNKNOWN 0
#define PSYS_DT_DIR 4
#define PSYS_DT_REG 8
#define PSYS_DT_LNK 10

/* readv, writev, sendmsg, ... */
struct psys_iovec {
	void *iov_base;
	size_t iov_len;
};

/* openat2, since Linux 5.6 */
struct psys_open_how {
	uint64_t flags;
	uint64_t mode;
	uint64_t resolve;
};
#define PSYS_RESOLVE_NO_XDEV 0x01
#define PSYS_RESOLVE_NO_MAGICLINKS 0x02
#define PSYS_RESOLVE_NO_SYMLINKS 0x04
#define PSYS_RESOLVE_BENEATH 0x08
#define PSYS_RESOLVE_IN_ROOT 0x10
#define PSYS_RESOLVE_CACHED 0x20

/* mount, umount2 */
#define PSYS_MS_RDONLY 1
#define PSYS_MS_NOSUID 2
#define PSYS_MS_NODEV 4
#define PSYS_MS_NOEXEC 8
#define PSYS_MS_SYNCHRONOUS 16
#define PSYS_MS_REMOUNT 32
#define PSYS_MS_MANDLOCK 64
#define PSYS_MS_DIRSYNC 128
#define PSYS_MS_NOSYMFOLLOW 256 /* 5.10 */
#define PSYS_MS_NOATIME 1024
#define PSYS_MS_NODIRATIME 2048
#define PSYS_MS_BIND 4096
#define PSYS_MS_MOVE 8192
#define PSYS_MS_REC 16384
#define PSYS_MS_SILENT 32768
#define PSYS_MS_POSIXACL (1 << 16)
#define PSYS_MS_UNBINDABLE (1 << 17)
#define PSYS_MS_PRIVATE (1 << 18)
#define PSYS_MS_SLAVE (1 << 19)
#define PSYS_MS_SHARED (1 << 20)
#define PSYS_MS_RELATIME (1 << 21)
#define PSYS_MS_I_VERSION (1 << 23)
#define PSYS_MS_STRICTATIME (1 << 24)
#define PSYS_MS_LAZYTIME (1 << 25)
#define PSYS_MNT_FORCE 1
#define PSYS_MNT_DETACH 2
#define PSYS_MNT_EXPIRE 4

/* mount_setattr, open_tree_attr */
#define PSYS_MOUNT_ATTR_RDONLY 0x00000001
#define PSYS_MOUNT_ATTR_NOSUID 0x00000002
#define PSYS_MOUNT_ATTR_NODEV 0x00000004
#define PSYS_MOUNT_ATTR_NOEXEC 0x00000008
#define PSYS_MOUNT_ATTR__ATIME 0x00000070 /* the mask of the next three */
#define PSYS_MOUNT_ATTR_RELATIME 0x00000000
#define PSYS_MOUNT_ATTR_NOATIME 0x00000010
#define PSYS_MOUNT_ATTR_STRICTATIME 0x00000020
#define PSYS_MOUNT_ATTR_NODIRATIME 0x00000080
#define PSYS_MOUNT_ATTR_IDMAP 0x00100000
#define PSYS_MOUNT_ATTR_NOSYMFOLLOW 0x00200000 /* 5.14 */
struct psys_mount_attr {
	uint64_t attr_set;
	uint64_t attr_clr;
	uint64_t propagation;
	uint64_t userns_fd;
};

/* fsopen, fsmount, fsconfig, open_tree, move_mount */
#define PSYS_FSOPEN_CLOEXEC 1
#define PSYS_FSMOUNT_CLOEXEC 1
#define PSYS_FSMOUNT_NAMESPACE 2
#define PSYS_FSCONFIG_SET_FLAG 0
#define PSYS_FSCONFIG_SET_STRING 1
#define PSYS_FSCONFIG_SET_BINARY 2
#define PSYS_FSCONFIG_SET_PATH 3
#define PSYS_FSCONFIG_SET_PATH_EMPTY 4
#define PSYS_FSCONFIG_SET_FD 5
#define PSYS_FSCONFIG_CMD_CREATE 6
#define PSYS_FSCONFIG_CMD_RECONFIGURE 7
#define PSYS_FSCONFIG_CMD_CREATE_EXCL 8 /* 6.6 */
#define PSYS_OPEN_TREE_CLONE 1
#define PSYS_OPEN_TREE_NAMESPACE 2
#define PSYS_OPEN_TREE_CLOEXEC PSYS_O_CLOEXEC
#define PSYS_MOVE_MOUNT_F_SYMLINKS 0x00000001
#define PSYS_MOVE_MOUNT_F_AUTOMOUNTS 0x00000002
#define PSYS_MOVE_MOUNT_F_EMPTY_PATH 0x00000004
#define PSYS_MOVE_MOUNT_T_SYMLINKS 0x00000010
#define PSYS_MOVE_MOUNT_T_AUTOMOUNTS 0x00000020
#define PSYS_MOVE_MOUNT_T_EMPTY_PATH 0x00000040
#define PSYS_MOVE_MOUNT_SET_GROUP 0x00000100 /* 5.15 */
#define PSYS_MOVE_MOUNT_BENEATH 0x00000200   /* 6.5 */

/* statmount, listmount; listns. __extension__ here and below: C99 has no anonymous members, and C++
 * no arrays without a size; compilers have both. */
__extension__ struct psys_mnt_id_req {
	uint32_t size;
	union {
		uint32_t mnt_ns_fd;
		uint32_t mnt_fd;
	};
	uint64_t mnt_id;
	uint64_t param;
	uint64_t mnt_ns_id;
};

__extension__ struct psys_ns_id_req {
	uint32_t size;
	uint32_t spare;
	uint64_t ns_id;
	struct {
		uint32_t ns_type;
		uint32_t spare2;
		uint64_t user_ns_id;
	};
};

/* statfs, fstatfs: the kernel's struct statfs64 where the architecture has it */
#if !defined(PSYS_ARCH_STATFS) && !defined(PSYS_DECLARATIONS_ONLY)
#if PSYS_KERNEL_LONG_BITS == 64
typedef psys_kernel_long psys_statfs_word;
#else
typedef uint32_t psys_statfs_word;
#endif
#ifndef PSYS_STATFS_PACKED
#define PSYS_STATFS_PACKED
#endif
struct psys_statfs {
	psys_statfs_word f_type;
	psys_statfs_word f_bsize;
	uint64_t f_blocks;
	uint64_t f_bfree;
	uint64_t f_bavail;
	uint64_t f_files;
	uint64_t f_ffree;
	struct {
		int val[2];
	} f_fsid;
	psys_statfs_word f_namelen;
	psys_statfs_word f_frsize;
	psys_statfs_word f_flags;
	psys_statfs_word f_spare[4];
} PSYS_STATFS_PACKED;
#endif

/* name_to_handle_at, open_by_handle_at */
__extension__ struct psys_file_handle {
	uint32_t handle_bytes; /* of f_handle: before the call its size */
	int handle_type;
	unsigned char f_handle[];
};

/* file_getattr, file_setattr */
struct psys_file_attr {
	uint64_t fa_xflags;
	uint32_t fa_extsize;
	uint32_t fa_nextents;
	uint32_t fa_projid;
	uint32_t fa_cowextsize;
};

/* setxattrat, getxattrat; setxattr */
struct psys_xattr_args {
	uint64_t value; /* its address */
	uint32_t size;
	uint32_t flags;
} __attribute__((aligned(8)));
#define PSYS_XATTR_CREATE 1
#define PSYS_XATTR_REPLACE 2

/* cachestat */
struct psys_cachestat_range {
	uint64_t off;
	uint64_t len;
};

struct psys_cachestat {
	uint64_t nr_cache; /* pages */
	uint64_t nr_dirty;
	uint64_t nr_writeback;
	uint64_t nr_evicted;
	uint64_t nr_recently_evicted;
};

/* flock */
#define PSYS_LOCK_SH 1
#define PSYS_LOCK_EX 2
#define PSYS_LOCK_NB 4
#define PSYS_LOCK_UN 8

/* renameat2, fallocate, fadvise64, sync_file_range, splice */
#define PSYS_RENAME_NOREPLACE 1
#define PSYS_RENAME_EXCHANGE 2
#define PSYS_FALLOC_FL_KEEP_SIZE 1
#define PSYS_FALLOC_FL_PUNCH_HOLE 2
#define PSYS_POSIX_FADV_NORMAL 0
#define PSYS_POSIX_FADV_RANDOM 1
#define PSYS_POSIX_FADV_SEQUENTIAL 2
#define PSYS_POSIX_FADV_WILLNEED 3
#ifndef PSYS_POSIX_FADV_DONTNEED
#define PSYS_POSIX_FADV_DONTNEED 4
#define PSYS_POSIX_FADV_NOREUSE 5
#endif
#define PSYS_SYNC_FILE_RANGE_WAIT_BEFORE 1
#define PSYS_SYNC_FILE_RANGE_WRITE 2
#define PSYS_SYNC_FILE_RANGE_WAIT_AFTER 4
#define PSYS_SPLICE_F_MOVE 1
#define PSYS_SPLICE_F_NONBLOCK 2

/* preadv2, pwritev2 */
#define PSYS_RWF_HIPRI 0x01
#define PSYS_RWF_DSYNC 0x02
#define PSYS_RWF_SYNC 0x04
#define PSYS_RWF_NOWAIT 0x08
#define PSYS_RWF_APPEND 0x10

/* inotify_init1, inotify_add_watch; fanotify_init, fanotify_mark */
#define PSYS_IN_CLOEXEC PSYS_O_CLOEXEC
#define PSYS_IN_NONBLOCK PSYS_O_NONBLOCK
#define PSYS_IN_MODIFY 0x00000002
#define PSYS_IN_CLOSE_WRITE 0x00000008
#define PSYS_IN_CREATE 0x00000100
#define PSYS_IN_DELETE 0x00000200
#define PSYS_FAN_CLOEXEC 0x00000001
#define PSYS_FAN_NONBLOCK 0x00000002
#define PSYS_FAN_OPEN 0x00000020
#define PSYS_FAN_MARK_ADD 0x00000001
#define PSYS_FAN_MARK_REMOVE 0x00000002

/* timerfd_create */
#define PSYS_TFD_CLOEXEC PSYS_O_CLOEXEC
#define PSYS_TFD_NONBLOCK PSYS_O_NONBLOCK

#endif
