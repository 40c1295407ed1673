/* SPDX-License-Identifier: MIT */
/*
 * The wrappers that table.h marks PSYS_IRREGULAR: old calls that newer architectures replace by
 * newer calls, wide calls that have another number on 32-bit architectures, calls with 64-bit
 * arguments or an order of arguments that depends on the architecture, calls that do not return.
 */
#ifndef PSYS_IRREGULAR_H
#define PSYS_IRREGULAR_H

#include <syscall/syscall.h>

/*
 * PSYS_SYSCALL(name, ...) makes the call with up to six arguments (on mips seven, psys_call7) of
 * any integer or pointer type. Its value is the kernel's long, a psys_word.
 */
#define PSYS_SYSCALL(...) PSYS_RAW(PSYS_NR_##__VA_ARGS__)
#define PSYS_RAW(...) PSYS_JOIN(PSYS_RAW, PSYS_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define PSYS_RAW0(nr) psys_call0(nr)
#define PSYS_RAW1(nr, a) psys_call1(nr, PSYS_WORD(a))
#define PSYS_RAW2(nr, a, b) psys_call2(nr, PSYS_WORD(a), PSYS_WORD(b))
#define PSYS_RAW3(nr, a, b, c) psys_call3(nr, PSYS_WORD(a), PSYS_WORD(b), PSYS_WORD(c))
#define PSYS_RAW4(nr, a, b, c, d) \
	psys_call4(nr, PSYS_WORD(a), PSYS_WORD(b), PSYS_WORD(c), PSYS_WORD(d))
#define PSYS_RAW5(nr, a, b, c, d, e) \
	psys_call5(nr, PSYS_WORD(a), PSYS_WORD(b), PSYS_WORD(c), PSYS_WORD(d), PSYS_WORD(e))
#define PSYS_RAW6(nr, a, b, c, d, e, f)                                                      \
	psys_call6(nr, PSYS_WORD(a), PSYS_WORD(b), PSYS_WORD(c), PSYS_WORD(d), PSYS_WORD(e), \
		   PSYS_WORD(f))
#define PSYS_RAW7(nr, a, b, c, d, e, f, g)                                                   \
	psys_call7(nr, PSYS_WORD(a), PSYS_WORD(b), PSYS_WORD(c), PSYS_WORD(d), PSYS_WORD(e), \
		   PSYS_WORD(f), PSYS_WORD(g))
#define PSYS_COUNT(...) PSYS_COUNT_(__VA_ARGS__, 7, 6, 5, 4, 3, 2, 1, 0, 0)
#define PSYS_COUNT_(nr, a1, a2, a3, a4, a5, a6, a7, count, ...) count
#define PSYS_JOIN(a, b) PSYS_JOIN_(a, b)
#define PSYS_JOIN_(a, b) a##b

/*
 * Passes a 64-bit argument in as many registers as the architecture requires. ODD is for an
 * argument before which some 32-bit ABIs skip a register, as they pass pairs in even ones; PREAD
 * is for the offset of pread and pwrite. This is the default: one register, and none skipped.
 */
#ifndef PSYS_ARG64
#define PSYS_ARG64(value) (value)
#define PSYS_ARG64_ODD(value) PSYS_ARG64(value)
#endif
#ifndef PSYS_ARG64_PREAD
#define PSYS_ARG64_PREAD(value) PSYS_ARG64_ODD(value)
#endif

/* An offset of preadv and the like: two longs on every architecture, low half first
 * (fs/read_write.c, pos_from_hilo); if one long holds the offset, the other is 0. */
#ifndef PSYS_ARG_HALVES
#define PSYS_ARG_HALVES(value)            \
	(unsigned long)(uint64_t)(value), \
		(unsigned long)((uint64_t)(value) >> 16 >> (8 * sizeof(long) - 16))
#endif

/* exit(2) ends the calling thread, exit_group(2) the process. */
PSYS_INLINE __attribute__((noreturn)) void psys_exit(int status)
{
	for (;;)
		PSYS_SYSCALL(exit, status);
}

PSYS_INLINE __attribute__((noreturn)) void psys_exit_group(int status)
{
	for (;;)
		PSYS_SYSCALL(exit_group, status);
}

/* open(2): mode is used only with O_CREAT and O_TMPFILE. */
PSYS_INLINE int psys_open(const char *path, int flags, unsigned mode)
{
	return psys_openat(PSYS_AT_FDCWD, path, flags, mode);
}

/* dup2(2): with equal descriptors nothing changes, not even CLOEXEC. */
PSYS_INLINE int psys_dup2(int oldfd, int newfd)
{
#ifdef PSYS_NR_dup2
	return (int)PSYS_SYSCALL(dup2, oldfd, newfd);
#else
	if (oldfd == newfd) {
		long flags = psys_fcntl(oldfd, PSYS_F_GETFD, 0);
		return flags < 0 ? (int)flags : newfd;
	}
	return psys_dup3(oldfd, newfd, 0);
#endif
}

/* pipe(2): some architectures return the descriptors in registers. */
PSYS_INLINE int psys_pipe(int *fds)
{
	return psys_pipe2(fds, 0);
}

/* nanosleep(2) */
PSYS_INLINE int psys_nanosleep(const struct psys_timespec *request, struct psys_timespec *remain)
{
#ifdef PSYS_NR_nanosleep
	return (int)PSYS_SYSCALL(nanosleep, request, remain);
#else /* the old call has 32-bit time; kernel/time/hrtimer.c uses the same clock for it */
	return psys_clock_nanosleep(PSYS_CLOCK_MONOTONIC, 0, request, remain);
#endif
}

/* time(2): on x32 the result is wider than a long. */
#ifdef PSYS_HAVE_TIME
PSYS_INLINE psys_kernel_long psys_time(psys_kernel_long *seconds)
{
	return PSYS_SYSCALL(time, seconds);
}
#endif

/* pread(2), pwrite(2): offset in bytes. */
PSYS_INLINE long psys_pread64(int fd, void *buf, size_t count, int64_t offset)
{
	return (long)PSYS_SYSCALL(pread64, fd, buf, count, PSYS_ARG64_PREAD(offset));
}

PSYS_INLINE long psys_pwrite64(int fd, const void *buf, size_t count, int64_t offset)
{
	return (long)PSYS_SYSCALL(pwrite64, fd, buf, count, PSYS_ARG64_PREAD(offset));
}

PSYS_INLINE long psys_preadv(int fd, const struct psys_iovec *iov, size_t count, int64_t offset)
{
	return (long)PSYS_SYSCALL(preadv, fd, iov, count, PSYS_ARG_HALVES(offset));
}

PSYS_INLINE long psys_pwritev(int fd, const struct psys_iovec *iov, size_t count, int64_t offset)
{
	return (long)PSYS_SYSCALL(pwritev, fd, iov, count, PSYS_ARG_HALVES(offset));
}

PSYS_INLINE long psys_preadv2(int fd, const struct psys_iovec *iov, size_t count, int64_t offset,
			      int flags)
{
	return (long)PSYS_SYSCALL(preadv2, fd, iov, count, PSYS_ARG_HALVES(offset), flags);
}

PSYS_INLINE long psys_pwritev2(int fd, const struct psys_iovec *iov, size_t count, int64_t offset,
			       int flags)
{
	return (long)PSYS_SYSCALL(pwritev2, fd, iov, count, PSYS_ARG_HALVES(offset), flags);
}

/* truncate(2), ftruncate(2): length in bytes. */
PSYS_INLINE int psys_truncate(const char *path, int64_t length)
{
#ifdef PSYS_NR_truncate64
	return (int)PSYS_SYSCALL(truncate64, path, PSYS_ARG64_ODD(length));
#else
	return (int)PSYS_SYSCALL(truncate, path, length);
#endif
}

PSYS_INLINE int psys_ftruncate(int fd, int64_t length)
{
#ifdef PSYS_NR_ftruncate64
	return (int)PSYS_SYSCALL(ftruncate64, fd, PSYS_ARG64_ODD(length));
#else
	return (int)PSYS_SYSCALL(ftruncate, fd, length);
#endif
}

/* fallocate(2), readahead(2): offset and length in bytes. */
PSYS_INLINE int psys_fallocate(int fd, int mode, int64_t offset, int64_t length)
{
	return (int)PSYS_SYSCALL(fallocate, fd, mode, PSYS_ARG64(offset), PSYS_ARG64(length));
}

PSYS_INLINE int psys_readahead(int fd, int64_t offset, size_t count)
{
	return (int)PSYS_SYSCALL(readahead, fd, PSYS_ARG64_ODD(offset), count);
}

/* posix_fadvise(2), sync_file_range(2): some architectures move the last argument, to skip no
 * register. */
PSYS_INLINE int psys_fadvise64(int fd, int64_t offset, int64_t length, int advice)
{
#ifdef PSYS_NR_arm_fadvise64_64
	return (int)PSYS_SYSCALL(arm_fadvise64_64, fd, advice, PSYS_ARG64(offset),
				 PSYS_ARG64(length));
#elif defined(PSYS_FADVISE_ADVICE_SECOND)
	return (int)PSYS_SYSCALL(fadvise64_64, fd, advice, PSYS_ARG64(offset), PSYS_ARG64(length));
#elif defined(PSYS_NR_fadvise64_64)
	return (int)PSYS_SYSCALL(fadvise64_64, fd, PSYS_ARG64_ODD(offset), PSYS_ARG64(length),
				 advice);
#else
	return (int)PSYS_SYSCALL(fadvise64, fd, PSYS_ARG64_ODD(offset), PSYS_ARG64(length), advice);
#endif
}

PSYS_INLINE int psys_sync_file_range(int fd, int64_t offset, int64_t length, unsigned flags)
{
#ifdef PSYS_NR_sync_file_range2
	return (int)PSYS_SYSCALL(sync_file_range2, fd, flags, PSYS_ARG64(offset),
				 PSYS_ARG64(length));
#else
	return (int)PSYS_SYSCALL(sync_file_range, fd, PSYS_ARG64_ODD(offset), PSYS_ARG64(length),
				 flags);
#endif
}

/* fanotify_mark(2) */
PSYS_INLINE int psys_fanotify_mark(int fd, unsigned flags, uint64_t mask, int dirfd,
				   const char *path)
{
	return (int)PSYS_SYSCALL(fanotify_mark, fd, flags, PSYS_ARG64(mask), dirfd, path);
}

/* sendfile(2): reads and advances *offset; NULL: the file's own offset. */
PSYS_INLINE long psys_sendfile(int out_fd, int in_fd, int64_t *offset, size_t count)
{
#ifdef PSYS_NR_sendfile64
	return (long)PSYS_SYSCALL(sendfile64, out_fd, in_fd, offset, count);
#else
	return (long)PSYS_SYSCALL(sendfile, out_fd, in_fd, offset, count);
#endif
}

/*
 * fstatat(2), stat(2), lstat(2), fstat(2), implemented by statx(2), Linux 4.11. Return 0 or an
 * error of statx. *status is written only on success; status must not be NULL.
 *
 * -PSYS_EACCES         a directory of path may not be searched
 * -PSYS_EBADF          fd or, with a relative path, dirfd is not open
 * -PSYS_EFAULT         path is an invalid address
 * -PSYS_EINVAL         a flag other than PSYS_AT_SYMLINK_NOFOLLOW and PSYS_AT_EMPTY_PATH
 * -PSYS_ELOOP          too many symbolic links
 * -PSYS_ENAMETOOLONG   path, or a name in it, is too long
 * -PSYS_ENOENT         no such file, or an empty path without PSYS_AT_EMPTY_PATH
 * -PSYS_ENOSYS         Linux before 4.11, or a filter that rejects statx
 * -PSYS_ENOTDIR        a directory of path, or dirfd, is not a directory
 *
 * As the kernel's own stat, they do not trigger an automount.
 */
PSYS_INLINE int psys_fstatat(int dirfd, const char *path, struct psys_stat *status, int flags)
{
	struct psys_statx statx;
	int error = psys_statx(dirfd, path, flags | PSYS_AT_NO_AUTOMOUNT, PSYS_STATX_BASIC_STATS,
			       &statx);

	if (error < 0)
		return error;
	status->st_dev = PSYS_MAKEDEV(statx.stx_dev_major, statx.stx_dev_minor);
	status->st_ino = statx.stx_ino;
	status->st_rdev = PSYS_MAKEDEV(statx.stx_rdev_major, statx.stx_rdev_minor);
	status->st_size = (int64_t)statx.stx_size;
	status->st_blocks = statx.stx_blocks;
	status->st_atim.tv_sec = statx.stx_atime.tv_sec;
	status->st_atim.tv_nsec = statx.stx_atime.tv_nsec;
	status->st_mtim.tv_sec = statx.stx_mtime.tv_sec;
	status->st_mtim.tv_nsec = statx.stx_mtime.tv_nsec;
	status->st_ctim.tv_sec = statx.stx_ctime.tv_sec;
	status->st_ctim.tv_nsec = statx.stx_ctime.tv_nsec;
	status->st_mode = statx.stx_mode;
	status->st_nlink = statx.stx_nlink;
	status->st_uid = statx.stx_uid;
	status->st_gid = statx.stx_gid;
	status->st_blksize = statx.stx_blksize;
	status->__reserved = 0;
	return 0;
}

PSYS_INLINE int psys_stat(const char *path, struct psys_stat *status)
{
	return psys_fstatat(PSYS_AT_FDCWD, path, status, 0);
}

PSYS_INLINE int psys_lstat(const char *path, struct psys_stat *status)
{
	return psys_fstatat(PSYS_AT_FDCWD, path, status, PSYS_AT_SYMLINK_NOFOLLOW);
}

PSYS_INLINE int psys_fstat(int fd, struct psys_stat *status)
{
	if (fd < 0) /* PSYS_AT_FDCWD is a directory to statx */
		return -PSYS_EBADF;
	return psys_fstatat(fd, "", status, PSYS_AT_EMPTY_PATH);
}

/*
 * getrlimit(2), setrlimit(2), implemented by prlimit64(2), with 64 bits on every architecture.
 * PSYS_RLIM64_INFINITY is no limit. Return 0, or an error:
 *
 * -PSYS_EFAULT   limit is NULL or an invalid address
 * -PSYS_EINVAL   resource is invalid, or rlim_cur is above rlim_max
 * -PSYS_EPERM    setrlimit raises rlim_max without CAP_SYS_RESOURCE
 */
PSYS_INLINE int psys_getrlimit(int resource, struct psys_rlimit64 *limit)
{
	if (!limit) /* prlimit64 allows NULL */
		return -PSYS_EFAULT;
	return psys_prlimit64(0, resource, NULL, limit);
}

PSYS_INLINE int psys_setrlimit(int resource, const struct psys_rlimit64 *limit)
{
	if (!limit)
		return -PSYS_EFAULT;
	return psys_prlimit64(0, resource, limit, NULL);
}

/* statfs(2) */
PSYS_INLINE int psys_statfs(const char *path, struct psys_statfs *statfs)
{
#ifdef PSYS_NR_statfs64
	return (int)PSYS_SYSCALL(statfs64, path, sizeof *statfs, statfs);
#else
	return (int)PSYS_SYSCALL(statfs, path, statfs);
#endif
}

PSYS_INLINE int psys_fstatfs(int fd, struct psys_statfs *statfs)
{
#ifdef PSYS_NR_fstatfs64
	return (int)PSYS_SYSCALL(fstatfs64, fd, sizeof *statfs, statfs);
#else
	return (int)PSYS_SYSCALL(fstatfs, fd, statfs);
#endif
}

/* rt_sigaction(2) */
PSYS_INLINE int psys_rt_sigaction(int signal, const struct psys_sigaction *action,
				  struct psys_sigaction *old_action, size_t sigsetsize)
{
#ifdef PSYS_RESTORER_ARGUMENT
	return (int)PSYS_SYSCALL(rt_sigaction, signal, action, old_action,
				 action ? action->restorer : 0, sigsetsize);
#else
	return (int)PSYS_SYSCALL(rt_sigaction, signal, action, old_action, sigsetsize);
#endif
}

/* select(2): sets of count bits, in words of the kernel's long; stores the remaining time in
 * *timeout. */
#ifdef PSYS_HAVE_SELECT
PSYS_INLINE int psys_select(int count, psys_kernel_ulong *readable, psys_kernel_ulong *writable,
			    psys_kernel_ulong *exceptional, struct psys_timeval *timeout)
{
#ifdef PSYS_NR__newselect
	return (int)PSYS_SYSCALL(_newselect, count, readable, writable, exceptional, timeout);
#else
	return (int)PSYS_SYSCALL(select, count, readable, writable, exceptional, timeout);
#endif
}
#endif

/* accept(2) */
PSYS_INLINE int psys_accept(int fd, void *addr, int *addr_length)
{
	return psys_accept4(fd, addr, addr_length, 0);
}

/* semop(2) */
PSYS_INLINE int psys_semop(int set, struct psys_sembuf *operations, size_t count)
{
	return psys_semtimedop(set, operations, count, NULL);
}

/* semctl(2), shmctl(2), msgctl(2): the types of arg and buf depend on cmd. The structures are
 * struct *id64_ds of uapi/asm/{sem,shm,msg}buf.h, which some architectures select by a flag. */
#ifndef PSYS_IPC_64
#define PSYS_IPC_64 0
#endif
PSYS_INLINE int psys_semctl(int set, int index, int cmd, union psys_semun arg)
{
	return (int)PSYS_SYSCALL(semctl, set, index, cmd | PSYS_IPC_64, arg.all);
}

PSYS_INLINE int psys_shmctl(int segment, int cmd, void *buf)
{
	return (int)PSYS_SYSCALL(shmctl, segment, cmd | PSYS_IPC_64, buf);
}

PSYS_INLINE int psys_msgctl(int queue, int cmd, void *buf)
{
	return (int)PSYS_SYSCALL(msgctl, queue, cmd | PSYS_IPC_64, buf);
}

/* lseek(2): returns the new offset in bytes. */
PSYS_INLINE int64_t psys_lseek(int fd, int64_t offset, int whence)
{
#if defined(PSYS_NR__llseek) || defined(PSYS_NR_llseek)
#ifdef PSYS_NR__llseek
	const long nr = PSYS_NR__llseek;
#else
	const long nr = PSYS_NR_llseek;
#endif
	int64_t result;
	long error = PSYS_RAW(nr, fd, (unsigned long)((uint64_t)offset >> 32),
			      (unsigned long)offset, &result, whence);
	return error < 0 ? error : result;
#else
	return PSYS_SYSCALL(lseek, fd, offset, whence);
#endif
}

/*
 * mmap(2): offset in bytes, a multiple of the page size. An error is a pointer
 * for which PSYS_IS_ERROR is true.
 */
#ifndef PSYS_ARCH_MMAP
PSYS_INLINE void *psys_mmap(void *addr, size_t length, int protection, int flags, int fd,
			    int64_t offset)
{
#ifdef PSYS_NR_mmap2 /* takes the offset in units of 4096 bytes, whatever the page size */
	if ((offset & 4095) != 0 || (uint64_t)offset >> 12 > (unsigned long)-1)
		return (void *)-(long)PSYS_EINVAL;
	return (void *)(long)PSYS_SYSCALL(mmap2, addr, length, protection, flags, fd,
					  (unsigned long)((uint64_t)offset >> 12));
#else
	return (void *)(long)PSYS_SYSCALL(mmap, addr, length, protection, flags, fd, offset);
#endif
}
#endif

/* wait4(2), or waitid(2) with its result converted. */
PSYS_INLINE int psys_wait4(int pid, int *status, int options, struct psys_rusage *usage)
{
#ifdef PSYS_NR_wait4
	return (int)PSYS_SYSCALL(wait4, pid, status, options, usage);
#else
	int which = pid > 0 ? PSYS_P_PID : pid == -1 ? PSYS_P_ALL : PSYS_P_PGID;
	int id = pid > 0 ? pid : (int)(0U - (unsigned)pid);
	struct psys_siginfo info;

	if (options & (PSYS_WEXITED | PSYS_WNOWAIT))
		return -PSYS_EINVAL;
	info.u.child.pid = 0;
	int error = psys_waitid(which, id, &info, options | PSYS_WEXITED, usage);
	if (error < 0 || !info.u.child.pid)
		return error;
	if (status)
		switch (info.code) {
		case PSYS_CLD_EXITED:
			*status = (info.u.child.status & 0xff) << 8;
			break;
		case PSYS_CLD_KILLED:
			*status = info.u.child.status;
			break;
		case PSYS_CLD_DUMPED:
			*status = info.u.child.status | 0x80;
			break;
		case PSYS_CLD_CONTINUED:
			*status = 0xffff;
			break;
		default: /* trapped, stopped */
			*status = (info.u.child.status << 8) | 0x7f;
		}
	return info.u.child.pid;
#endif
}

/*
 * clone(2), for a child that has its own copy of the memory. A child that shares memory must not
 * return through a frame of the parent: start it by a thunk of clone.h.
 */
#ifndef PSYS_ARCH_CLONE
PSYS_INLINE int psys_clone(unsigned long flags, void *stack, int *parent_tid, int *child_tid,
			   void *tls)
{
#ifdef PSYS_CLONE_BACKWARDS
	return (int)PSYS_SYSCALL(clone, flags, stack, parent_tid, tls, child_tid);
#elif defined(PSYS_CLONE_BACKWARDS2)
	return (int)PSYS_SYSCALL(clone, stack, flags, parent_tid, child_tid, tls);
#else
	return (int)PSYS_SYSCALL(clone, flags, stack, parent_tid, child_tid, tls);
#endif
}
#endif

/* fork(2) */
PSYS_INLINE int psys_fork(void)
{
	return psys_clone(PSYS_SIGCHLD, NULL, NULL, NULL, NULL);
}

#endif
