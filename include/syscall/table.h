/* SPDX-License-Identifier: MIT */
/*
 * The system calls, a line each: the kernel version that brought the call, the type
 * of the result, the function, its number, then type and name of each argument in the
 * kernel's order. syscall.h expands the line to the function's definition. `make reference`
 * writes have.h and doc/syscalls.md from this file.
 *
 * Includers define PSYS_CALL0 to PSYS_CALL6, and PSYS_IRREGULAR for functions whose bodies are in
 * irregular.h. There is no include guard. Lines within #if are for the architectures that have
 * the call.
 *
 * Times and offsets have 64 bits on every architecture: a plain name means the wide form, whatever
 * its number. void * is for arguments of the caller's own type: a socket address, a structure that
 * grows (bpf, perf_event_open) or depends on a command (prctl, semctl).
 */
/* clang-format off */

/* descriptors: read(2), write(2), close(2), close_range(2), dup(2), pipe(2), fcntl(2) */
PSYS_CALL3(1.0, long, psys_read, PSYS_NR_read, int, fd, void *, buf, size_t, count)
PSYS_CALL3(1.0, long, psys_write, PSYS_NR_write, int, fd, const void *, buf, size_t, count)
PSYS_CALL3(2.0, long, psys_readv, PSYS_NR_readv, int, fd, const struct psys_iovec *, iov, size_t, count)
PSYS_CALL3(2.0, long, psys_writev, PSYS_NR_writev, int, fd, const struct psys_iovec *, iov, size_t, count)
PSYS_IRREGULAR(2.2, long, psys_pread64, int, fd, void *, buf, size_t, count, int64_t, offset)
PSYS_IRREGULAR(2.2, long, psys_pwrite64, int, fd, const void *, buf, size_t, count, int64_t, offset)
PSYS_IRREGULAR(2.6.30, long, psys_preadv, int, fd, const struct psys_iovec *, iov, size_t, count, int64_t, offset)
PSYS_IRREGULAR(2.6.30, long, psys_pwritev, int, fd, const struct psys_iovec *, iov, size_t, count, int64_t, offset)
PSYS_IRREGULAR(4.6, long, psys_preadv2, int, fd, const struct psys_iovec *, iov, size_t, count, int64_t, offset, int, flags)
PSYS_IRREGULAR(4.6, long, psys_pwritev2, int, fd, const struct psys_iovec *, iov, size_t, count, int64_t, offset, int, flags)
PSYS_IRREGULAR(1.0, int64_t, psys_lseek, int, fd, int64_t, offset, int, whence)
PSYS_CALL1(1.0, int, psys_close, PSYS_NR_close, int, fd)
PSYS_CALL3(5.9, int, psys_close_range, PSYS_NR_close_range, unsigned, first, unsigned, last, unsigned, flags)
PSYS_CALL1(1.0, int, psys_dup, PSYS_NR_dup, int, oldfd)
PSYS_IRREGULAR(1.0, int, psys_dup2, int, oldfd, int, newfd)
PSYS_CALL3(2.6.27, int, psys_dup3, PSYS_NR_dup3, int, oldfd, int, newfd, int, flags)
PSYS_IRREGULAR(1.0, int, psys_pipe, int *, fds)
PSYS_CALL2(2.6.27, int, psys_pipe2, PSYS_NR_pipe2, int *, fds, int, flags)
PSYS_CALL3(1.0, long, psys_fcntl, PSYS_NR_fcntl, int, fd, int, cmd, unsigned long, arg)
PSYS_CALL3(1.0, long, psys_ioctl, PSYS_NR_ioctl, int, fd, unsigned long, request, unsigned long, arg)
PSYS_CALL2(2.0, int, psys_flock, PSYS_NR_flock, int, fd, int, operation)
PSYS_CALL1(1.0, int, psys_fsync, PSYS_NR_fsync, int, fd)
PSYS_CALL1(2.0, int, psys_fdatasync, PSYS_NR_fdatasync, int, fd)
PSYS_CALL1(2.6.39, int, psys_syncfs, PSYS_NR_syncfs, int, fd)
PSYS_CALL0(1.0, int, psys_sync, PSYS_NR_sync)
PSYS_IRREGULAR(2.6.17, int, psys_sync_file_range, int, fd, int64_t, offset, int64_t, length, unsigned, flags)
PSYS_IRREGULAR(2.5.60, int, psys_fadvise64, int, fd, int64_t, offset, int64_t, length, int, advice)
PSYS_IRREGULAR(2.4.13, int, psys_readahead, int, fd, int64_t, offset, size_t, count)
PSYS_IRREGULAR(2.6.23, int, psys_fallocate, int, fd, int, mode, int64_t, offset, int64_t, length)
PSYS_IRREGULAR(2.2, long, psys_sendfile, int, out_fd, int, in_fd, int64_t *, offset, size_t, count)
PSYS_CALL6(4.5, long, psys_copy_file_range, PSYS_NR_copy_file_range, int, in_fd, int64_t *, in_offset, int, out_fd, int64_t *, out_offset, size_t, length, unsigned, flags)
PSYS_CALL6(2.6.17, long, psys_splice, PSYS_NR_splice, int, in_fd, int64_t *, in_offset, int, out_fd, int64_t *, out_offset, size_t, length, unsigned, flags)
PSYS_CALL4(2.6.17, long, psys_tee, PSYS_NR_tee, int, in_fd, int, out_fd, size_t, length, unsigned, flags)
PSYS_CALL4(2.6.17, long, psys_vmsplice, PSYS_NR_vmsplice, int, fd, const struct psys_iovec *, iov, size_t, count, unsigned, flags)
PSYS_CALL4(6.5, int, psys_cachestat, PSYS_NR_cachestat, int, fd, const struct psys_cachestat_range *, range, struct psys_cachestat *, result, unsigned, flags)
PSYS_CALL2(3.17, int, psys_memfd_create, PSYS_NR_memfd_create, const char *, name, unsigned, flags)
#ifdef PSYS_NR_memfd_secret
PSYS_CALL1(5.14, int, psys_memfd_secret, PSYS_NR_memfd_secret, unsigned, flags)
#endif

/* files: open(2), openat2(2), stat(2), statx(2), access(2), readlink(2), rename(2), ... */
PSYS_IRREGULAR(1.0, int, psys_open, const char *, path, int, flags, unsigned, mode)
PSYS_CALL4(2.6.16, int, psys_openat, PSYS_NR_openat, int, dirfd, const char *, path, int, flags, unsigned, mode)
PSYS_CALL4(5.6, int, psys_openat2, PSYS_NR_openat2, int, dirfd, const char *, path, const struct psys_open_how *, how, size_t, size)
PSYS_CALL5(2.6.39, int, psys_name_to_handle_at, PSYS_NR_name_to_handle_at, int, dirfd, const char *, path, struct psys_file_handle *, handle, void *, mount_id, int, flags)
PSYS_CALL3(2.6.39, int, psys_open_by_handle_at, PSYS_NR_open_by_handle_at, int, mount_fd, struct psys_file_handle *, handle, int, flags)
PSYS_CALL5(4.11, int, psys_statx, PSYS_NR_statx, int, dirfd, const char *, path, int, flags, unsigned, mask, struct psys_statx *, statx)
PSYS_IRREGULAR(4.11, int, psys_stat, const char *, path, struct psys_stat *, status)
PSYS_IRREGULAR(4.11, int, psys_lstat, const char *, path, struct psys_stat *, status)
PSYS_IRREGULAR(4.11, int, psys_fstat, int, fd, struct psys_stat *, status)
PSYS_IRREGULAR(4.11, int, psys_fstatat, int, dirfd, const char *, path, struct psys_stat *, status, int, flags)
PSYS_IRREGULAR(1.0, int, psys_statfs, const char *, path, struct psys_statfs *, statfs)
PSYS_IRREGULAR(1.0, int, psys_fstatfs, int, fd, struct psys_statfs *, statfs)
PSYS_CALL3(2.6.16, int, psys_faccessat, PSYS_NR_faccessat, int, dirfd, const char *, path, int, mode)
PSYS_CALL4(5.8, int, psys_faccessat2, PSYS_NR_faccessat2, int, dirfd, const char *, path, int, mode, int, flags)
PSYS_CALL4(2.6.16, int, psys_readlinkat, PSYS_NR_readlinkat, int, dirfd, const char *, path, char *, buf, size_t, size)
PSYS_CALL3(2.6.16, int, psys_unlinkat, PSYS_NR_unlinkat, int, dirfd, const char *, path, int, flags)
PSYS_CALL5(2.6.16, int, psys_linkat, PSYS_NR_linkat, int, old_dirfd, const char *, old_path, int, new_dirfd, const char *, new_path, int, flags)
PSYS_CALL3(2.6.16, int, psys_symlinkat, PSYS_NR_symlinkat, const char *, target, int, dirfd, const char *, path)
#ifdef PSYS_NR_renameat
PSYS_CALL4(2.6.16, int, psys_renameat, PSYS_NR_renameat, int, old_dirfd, const char *, old_path, int, new_dirfd, const char *, new_path)
#endif
PSYS_CALL5(3.15, int, psys_renameat2, PSYS_NR_renameat2, int, old_dirfd, const char *, old_path, int, new_dirfd, const char *, new_path, unsigned, flags)
PSYS_CALL4(2.6.16, int, psys_mknodat, PSYS_NR_mknodat, int, dirfd, const char *, path, unsigned, mode, unsigned, device)
PSYS_CALL3(2.6.16, int, psys_mkdirat, PSYS_NR_mkdirat, int, dirfd, const char *, path, unsigned, mode)
PSYS_CALL3(2.4, long, psys_getdents64, PSYS_NR_getdents64, int, fd, void *, records, size_t, size)
PSYS_IRREGULAR(1.0, int, psys_truncate, const char *, path, int64_t, length)
PSYS_IRREGULAR(1.0, int, psys_ftruncate, int, fd, int64_t, length)
PSYS_CALL2(1.0, int, psys_fchmod, PSYS_NR_fchmod, int, fd, unsigned, mode)
PSYS_CALL3(2.6.16, int, psys_fchmodat, PSYS_NR_fchmodat, int, dirfd, const char *, path, unsigned, mode)
PSYS_CALL4(6.6, int, psys_fchmodat2, PSYS_NR_fchmodat2, int, dirfd, const char *, path, unsigned, mode, unsigned, flags)
PSYS_CALL3(1.0, int, psys_fchown, PSYS_NR_fchown, int, fd, unsigned, user, unsigned, group)
PSYS_CALL5(2.6.16, int, psys_fchownat, PSYS_NR_fchownat, int, dirfd, const char *, path, unsigned, user, unsigned, group, int, flags)
PSYS_CALL4(2.6.22, int, psys_utimensat, PSYS_NR_utimensat, int, dirfd, const char *, path, const struct psys_timespec *, times, int, flags)
PSYS_CALL5(6.17, int, psys_file_getattr, PSYS_NR_file_getattr, int, dirfd, const char *, path, struct psys_file_attr *, attr, size_t, size, unsigned, flags)
PSYS_CALL5(6.17, int, psys_file_setattr, PSYS_NR_file_setattr, int, dirfd, const char *, path, struct psys_file_attr *, attr, size_t, size, unsigned, flags)

/* files by path without a directory descriptor: newer architectures lack these calls */
#ifdef PSYS_NR_access
PSYS_CALL2(1.0, int, psys_access, PSYS_NR_access, const char *, path, int, mode)
PSYS_CALL2(1.0, int, psys_chmod, PSYS_NR_chmod, const char *, path, unsigned, mode)
PSYS_CALL3(1.0, int, psys_chown, PSYS_NR_chown, const char *, path, unsigned, user, unsigned, group)
PSYS_CALL3(1.0, int, psys_lchown, PSYS_NR_lchown, const char *, path, unsigned, user, unsigned, group)
PSYS_CALL2(1.0, int, psys_creat, PSYS_NR_creat, const char *, path, unsigned, mode)
PSYS_CALL2(1.0, int, psys_link, PSYS_NR_link, const char *, old_path, const char *, new_path)
PSYS_CALL2(1.0, int, psys_symlink, PSYS_NR_symlink, const char *, target, const char *, path)
PSYS_CALL3(1.0, long, psys_readlink, PSYS_NR_readlink, const char *, path, char *, buf, int, size)
PSYS_CALL1(1.0, int, psys_unlink, PSYS_NR_unlink, const char *, path)
PSYS_CALL2(1.0, int, psys_rename, PSYS_NR_rename, const char *, old_path, const char *, new_path)
PSYS_CALL2(1.0, int, psys_mkdir, PSYS_NR_mkdir, const char *, path, unsigned, mode)
PSYS_CALL1(1.0, int, psys_rmdir, PSYS_NR_rmdir, const char *, path)
PSYS_CALL3(1.0, int, psys_mknod, PSYS_NR_mknod, const char *, path, unsigned, mode, unsigned, device)
PSYS_CALL3(1.0, int, psys_getdents, PSYS_NR_getdents, int, fd, void *, records, unsigned, size)
#endif

/* extended attributes: xattr(7) */
PSYS_CALL5(2.4, int, psys_setxattr, PSYS_NR_setxattr, const char *, path, const char *, name, const void *, value, size_t, size, int, flags)
PSYS_CALL5(2.4, int, psys_lsetxattr, PSYS_NR_lsetxattr, const char *, path, const char *, name, const void *, value, size_t, size, int, flags)
PSYS_CALL5(2.4, int, psys_fsetxattr, PSYS_NR_fsetxattr, int, fd, const char *, name, const void *, value, size_t, size, int, flags)
PSYS_CALL6(6.13, int, psys_setxattrat, PSYS_NR_setxattrat, int, dirfd, const char *, path, unsigned, at_flags, const char *, name, const struct psys_xattr_args *, args, size_t, size)
PSYS_CALL4(2.4, long, psys_getxattr, PSYS_NR_getxattr, const char *, path, const char *, name, void *, value, size_t, size)
PSYS_CALL4(2.4, long, psys_lgetxattr, PSYS_NR_lgetxattr, const char *, path, const char *, name, void *, value, size_t, size)
PSYS_CALL4(2.4, long, psys_fgetxattr, PSYS_NR_fgetxattr, int, fd, const char *, name, void *, value, size_t, size)
PSYS_CALL6(6.13, long, psys_getxattrat, PSYS_NR_getxattrat, int, dirfd, const char *, path, unsigned, at_flags, const char *, name, struct psys_xattr_args *, args, size_t, size)
PSYS_CALL3(2.4, long, psys_listxattr, PSYS_NR_listxattr, const char *, path, char *, list, size_t, size)
PSYS_CALL3(2.4, long, psys_llistxattr, PSYS_NR_llistxattr, const char *, path, char *, list, size_t, size)
PSYS_CALL3(2.4, long, psys_flistxattr, PSYS_NR_flistxattr, int, fd, char *, list, size_t, size)
PSYS_CALL5(6.13, long, psys_listxattrat, PSYS_NR_listxattrat, int, dirfd, const char *, path, unsigned, at_flags, char *, list, size_t, size)
PSYS_CALL2(2.4, int, psys_removexattr, PSYS_NR_removexattr, const char *, path, const char *, name)
PSYS_CALL2(2.4, int, psys_lremovexattr, PSYS_NR_lremovexattr, const char *, path, const char *, name)
PSYS_CALL2(2.4, int, psys_fremovexattr, PSYS_NR_fremovexattr, int, fd, const char *, name)
PSYS_CALL4(6.13, int, psys_removexattrat, PSYS_NR_removexattrat, int, dirfd, const char *, path, unsigned, at_flags, const char *, name)

/* changes to files: inotify(7), fanotify(7) */
#ifdef PSYS_NR_inotify_init
PSYS_CALL0(2.6.13, int, psys_inotify_init, PSYS_NR_inotify_init)
#endif
PSYS_CALL1(2.6.27, int, psys_inotify_init1, PSYS_NR_inotify_init1, int, flags)
PSYS_CALL3(2.6.13, int, psys_inotify_add_watch, PSYS_NR_inotify_add_watch, int, fd, const char *, path, unsigned, mask)
PSYS_CALL2(2.6.13, int, psys_inotify_rm_watch, PSYS_NR_inotify_rm_watch, int, fd, int, watch)
PSYS_CALL2(2.6.37, int, psys_fanotify_init, PSYS_NR_fanotify_init, unsigned, flags, unsigned, event_flags)
PSYS_IRREGULAR(2.6.37, int, psys_fanotify_mark, int, fd, unsigned, flags, uint64_t, mask, int, dirfd, const char *, path)

/* a process's place: chdir(2), chroot(2), umask(2), getcwd(2) */
PSYS_CALL1(1.0, int, psys_chdir, PSYS_NR_chdir, const char *, path)
PSYS_CALL1(1.0, int, psys_fchdir, PSYS_NR_fchdir, int, fd)
PSYS_CALL1(1.0, int, psys_chroot, PSYS_NR_chroot, const char *, path)
PSYS_CALL2(7.3, int, psys_fchroot, PSYS_NR_fchroot, int, fd, unsigned, flags)
PSYS_CALL1(1.0, int, psys_umask, PSYS_NR_umask, unsigned, mask)
PSYS_CALL2(2.2, long, psys_getcwd, PSYS_NR_getcwd, char *, buf, size_t, size)

/* mounts and namespaces: mount(2), fsopen(2), statmount(2), namespaces(7) */
PSYS_CALL5(1.0, int, psys_mount, PSYS_NR_mount, const char *, source, const char *, target, const char *, type, unsigned long, flags, const void *, data)
PSYS_CALL2(2.1.116, int, psys_umount2, PSYS_NR_umount2, const char *, target, int, flags)
PSYS_CALL2(2.3.41, int, psys_pivot_root, PSYS_NR_pivot_root, const char *, new_root, const char *, put_old)
PSYS_CALL2(5.2, int, psys_fsopen, PSYS_NR_fsopen, const char *, type, unsigned, flags)
PSYS_CALL5(5.2, int, psys_fsconfig, PSYS_NR_fsconfig, int, fd, unsigned, cmd, const char *, key, const void *, value, int, aux)
PSYS_CALL3(5.2, int, psys_fsmount, PSYS_NR_fsmount, int, fd, unsigned, flags, unsigned, attr_flags)
PSYS_CALL3(5.2, int, psys_fspick, PSYS_NR_fspick, int, dirfd, const char *, path, unsigned, flags)
PSYS_CALL3(5.2, int, psys_open_tree, PSYS_NR_open_tree, int, dirfd, const char *, path, unsigned, flags)
PSYS_CALL5(6.15, int, psys_open_tree_attr, PSYS_NR_open_tree_attr, int, dirfd, const char *, path, unsigned, flags, struct psys_mount_attr *, attr, size_t, size)
PSYS_CALL5(5.2, int, psys_move_mount, PSYS_NR_move_mount, int, from_dirfd, const char *, from_path, int, to_dirfd, const char *, to_path, unsigned, flags)
PSYS_CALL5(5.12, int, psys_mount_setattr, PSYS_NR_mount_setattr, int, dirfd, const char *, path, unsigned, flags, struct psys_mount_attr *, attr, size_t, size)
PSYS_CALL4(6.8, int, psys_statmount, PSYS_NR_statmount, const struct psys_mnt_id_req *, request, void *, buf, size_t, size, unsigned, flags)
PSYS_CALL4(6.8, long, psys_listmount, PSYS_NR_listmount, const struct psys_mnt_id_req *, request, uint64_t *, ids, size_t, count, unsigned, flags)
PSYS_CALL4(6.19, long, psys_listns, PSYS_NR_listns, const struct psys_ns_id_req *, request, uint64_t *, ids, size_t, count, unsigned, flags)
PSYS_CALL1(2.6.16, int, psys_unshare, PSYS_NR_unshare, unsigned long, flags)
PSYS_CALL2(3.0, int, psys_setns, PSYS_NR_setns, int, fd, int, type)
PSYS_CALL2(1.0, int, psys_sethostname, PSYS_NR_sethostname, const char *, name, size_t, length)
PSYS_CALL2(1.0, int, psys_setdomainname, PSYS_NR_setdomainname, const char *, name, size_t, length)
PSYS_CALL4(1.0, int, psys_quotactl, PSYS_NR_quotactl, unsigned, cmd, const char *, special, int, id, void *, addr)
PSYS_CALL4(5.14, int, psys_quotactl_fd, PSYS_NR_quotactl_fd, int, fd, unsigned, cmd, int, id, void *, addr)
PSYS_CALL2(1.0, int, psys_swapon, PSYS_NR_swapon, const char *, path, int, flags)
PSYS_CALL1(1.0, int, psys_swapoff, PSYS_NR_swapoff, const char *, path)
#ifdef PSYS_NR_sysfs
PSYS_CALL3(1.2, int, psys_sysfs, PSYS_NR_sysfs, int, option, unsigned long, a1, unsigned long, a2)
PSYS_CALL2(1.0, int, psys_ustat, PSYS_NR_ustat, unsigned, device, void *, buf)
#endif

/* memory: mmap(2), mprotect(2), madvise(2), mlock(2), mseal(2), pkeys(7) */
PSYS_IRREGULAR(1.0, void *, psys_mmap, void *, addr, size_t, length, int, protection, int, flags, int, fd, int64_t, offset)
PSYS_CALL2(1.0, int, psys_munmap, PSYS_NR_munmap, void *, addr, size_t, length)
PSYS_CALL3(1.0, int, psys_mprotect, PSYS_NR_mprotect, void *, addr, size_t, length, int, protection)
PSYS_CALL5(2.0, void *, psys_mremap, PSYS_NR_mremap, void *, old_addr, size_t, old_length, size_t, new_length, int, flags, void *, new_addr)
PSYS_CALL3(2.4, int, psys_madvise, PSYS_NR_madvise, void *, addr, size_t, length, int, advice)
PSYS_CALL5(5.10, long, psys_process_madvise, PSYS_NR_process_madvise, int, pidfd, const struct psys_iovec *, iov, size_t, count, int, advice, unsigned, flags)
PSYS_CALL2(5.15, int, psys_process_mrelease, PSYS_NR_process_mrelease, int, pidfd, unsigned, flags)
PSYS_CALL1(1.0, void *, psys_brk, PSYS_NR_brk, void *, addr)
PSYS_CALL3(2.0, int, psys_msync, PSYS_NR_msync, void *, addr, size_t, length, int, flags)
PSYS_CALL3(2.4, int, psys_mincore, PSYS_NR_mincore, void *, addr, size_t, length, unsigned char *, pages)
PSYS_CALL2(2.0, int, psys_mlock, PSYS_NR_mlock, const void *, addr, size_t, length)
PSYS_CALL3(4.4, int, psys_mlock2, PSYS_NR_mlock2, const void *, addr, size_t, length, int, flags)
PSYS_CALL2(2.0, int, psys_munlock, PSYS_NR_munlock, const void *, addr, size_t, length)
PSYS_CALL1(2.0, int, psys_mlockall, PSYS_NR_mlockall, int, flags)
PSYS_CALL0(2.0, int, psys_munlockall, PSYS_NR_munlockall)
PSYS_CALL3(6.10, int, psys_mseal, PSYS_NR_mseal, void *, addr, size_t, length, unsigned long, flags)
PSYS_CALL5(2.5.46, int, psys_remap_file_pages, PSYS_NR_remap_file_pages, void *, addr, size_t, size, int, protection, size_t, page_offset, int, flags)
PSYS_CALL3(6.6, void *, psys_map_shadow_stack, PSYS_NR_map_shadow_stack, void *, addr, size_t, size, unsigned, flags)
PSYS_CALL2(4.8, int, psys_pkey_alloc, PSYS_NR_pkey_alloc, unsigned long, flags, unsigned long, rights)
PSYS_CALL1(4.8, int, psys_pkey_free, PSYS_NR_pkey_free, int, pkey)
PSYS_CALL4(4.8, int, psys_pkey_mprotect, PSYS_NR_pkey_mprotect, void *, addr, size_t, length, int, protection, int, pkey)
PSYS_CALL6(3.2, long, psys_process_vm_readv, PSYS_NR_process_vm_readv, int, pid, const struct psys_iovec *, local, size_t, local_count, const struct psys_iovec *, remote, size_t, remote_count, unsigned long, flags)
PSYS_CALL6(3.2, long, psys_process_vm_writev, PSYS_NR_process_vm_writev, int, pid, const struct psys_iovec *, local, size_t, local_count, const struct psys_iovec *, remote, size_t, remote_count, unsigned long, flags)
PSYS_CALL1(4.3, int, psys_userfaultfd, PSYS_NR_userfaultfd, int, flags)
PSYS_CALL3(4.3, int, psys_membarrier, PSYS_NR_membarrier, int, cmd, unsigned, flags, int, cpu)

/* where memory is: numa(7) */
PSYS_CALL6(2.6.6, int, psys_mbind, PSYS_NR_mbind, void *, addr, size_t, length, int, mode, const psys_kernel_ulong *, nodes, unsigned long, max_node, unsigned, flags)
PSYS_CALL3(2.6.6, int, psys_set_mempolicy, PSYS_NR_set_mempolicy, int, mode, const psys_kernel_ulong *, nodes, unsigned long, max_node)
PSYS_CALL5(2.6.6, int, psys_get_mempolicy, PSYS_NR_get_mempolicy, int *, mode, psys_kernel_ulong *, nodes, unsigned long, max_node, void *, addr, unsigned long, flags)
PSYS_CALL4(5.17, int, psys_set_mempolicy_home_node, PSYS_NR_set_mempolicy_home_node, void *, addr, size_t, length, unsigned long, node, unsigned long, flags)
PSYS_CALL4(2.6.16, int, psys_migrate_pages, PSYS_NR_migrate_pages, int, pid, unsigned long, max_node, const psys_kernel_ulong *, from, const psys_kernel_ulong *, to)
PSYS_CALL6(2.6.18, int, psys_move_pages, PSYS_NR_move_pages, int, pid, size_t, count, void *const *, pages, const int *, nodes, int *, status, int, flags)

/* identity: getpid(2), setresuid(2), setpgid(2), setsid(2), prctl(2), capset(2) */
PSYS_CALL0(1.0, int, psys_getpid, PSYS_NR_getpid)
PSYS_CALL0(1.0, int, psys_getppid, PSYS_NR_getppid)
PSYS_CALL0(2.4.11, int, psys_gettid, PSYS_NR_gettid)
PSYS_CALL0(1.0, unsigned, psys_getuid, PSYS_NR_getuid)
PSYS_CALL0(1.0, unsigned, psys_geteuid, PSYS_NR_geteuid)
PSYS_CALL0(1.0, unsigned, psys_getgid, PSYS_NR_getgid)
PSYS_CALL0(1.0, unsigned, psys_getegid, PSYS_NR_getegid)
PSYS_CALL3(2.1.44, int, psys_getresuid, PSYS_NR_getresuid, unsigned *, ruid, unsigned *, euid, unsigned *, suid)
PSYS_CALL3(2.1.44, int, psys_getresgid, PSYS_NR_getresgid, unsigned *, rgid, unsigned *, egid, unsigned *, sgid)
PSYS_CALL1(1.0, int, psys_setuid, PSYS_NR_setuid, unsigned, uid)
PSYS_CALL1(1.0, int, psys_setgid, PSYS_NR_setgid, unsigned, gid)
PSYS_CALL2(1.0, int, psys_setreuid, PSYS_NR_setreuid, unsigned, ruid, unsigned, euid)
PSYS_CALL2(1.0, int, psys_setregid, PSYS_NR_setregid, unsigned, rgid, unsigned, egid)
PSYS_CALL3(2.1.44, int, psys_setresuid, PSYS_NR_setresuid, unsigned, ruid, unsigned, euid, unsigned, suid)
PSYS_CALL3(2.1.44, int, psys_setresgid, PSYS_NR_setresgid, unsigned, rgid, unsigned, egid, unsigned, sgid)
PSYS_CALL1(1.2, unsigned, psys_setfsuid, PSYS_NR_setfsuid, unsigned, uid)
PSYS_CALL1(1.2, unsigned, psys_setfsgid, PSYS_NR_setfsgid, unsigned, gid)
PSYS_CALL2(1.0, int, psys_setgroups, PSYS_NR_setgroups, size_t, count, const unsigned *, groups)
PSYS_CALL2(1.0, int, psys_getgroups, PSYS_NR_getgroups, int, count, unsigned *, groups)
PSYS_CALL2(1.0, int, psys_setpgid, PSYS_NR_setpgid, int, pid, int, pgid)
PSYS_CALL1(1.0, int, psys_getpgid, PSYS_NR_getpgid, int, pid)
#ifdef PSYS_NR_getpgrp
PSYS_CALL0(1.0, int, psys_getpgrp, PSYS_NR_getpgrp)
#endif
PSYS_CALL0(1.0, int, psys_setsid, PSYS_NR_setsid)
PSYS_CALL1(1.3.44, int, psys_getsid, PSYS_NR_getsid, int, pid)
PSYS_CALL5(2.1.57, int, psys_prctl, PSYS_NR_prctl, int, option, unsigned long, a2, unsigned long, a3, unsigned long, a4, unsigned long, a5)
PSYS_CALL2(2.1.100, int, psys_capget, PSYS_NR_capget, struct psys_cap_user_header *, header, struct psys_cap_user_data *, data)
PSYS_CALL2(2.1.100, int, psys_capset, PSYS_NR_capset, struct psys_cap_user_header *, header, const struct psys_cap_user_data *, data)
PSYS_CALL1(1.2, int, psys_personality, PSYS_NR_personality, unsigned long, persona)
PSYS_CALL1(1.0, int, psys_uname, PSYS_NR_uname, struct psys_utsname *, name)
PSYS_CALL3(3.17, long, psys_getrandom, PSYS_NR_getrandom, void *, buf, size_t, count, unsigned, flags)
PSYS_CALL5(3.5, int, psys_kcmp, PSYS_NR_kcmp, int, pid1, int, pid2, int, type, unsigned long, index1, unsigned long, index2)

/* limits and scheduling: getrlimit(2), getpriority(2), sched(7), ioprio_set(2).
 * getpriority returns 40 to 1 for the nice values -20 to 19. */
PSYS_IRREGULAR(2.6.36, int, psys_getrlimit, int, resource, struct psys_rlimit64 *, limit)
PSYS_IRREGULAR(2.6.36, int, psys_setrlimit, int, resource, const struct psys_rlimit64 *, limit)
PSYS_CALL4(2.6.36, int, psys_prlimit64, PSYS_NR_prlimit64, int, pid, int, resource, const struct psys_rlimit64 *, new_limit, struct psys_rlimit64 *, old_limit)
PSYS_CALL2(1.0, int, psys_getrusage, PSYS_NR_getrusage, int, who, struct psys_rusage *, usage)
PSYS_CALL2(1.0, int, psys_getpriority, PSYS_NR_getpriority, int, which, int, who)
PSYS_CALL3(1.0, int, psys_setpriority, PSYS_NR_setpriority, int, which, int, who, int, nice)
#ifdef PSYS_NR_nice
PSYS_CALL1(1.0, int, psys_nice, PSYS_NR_nice, int, increment)
#endif
PSYS_CALL3(2.6.13, int, psys_ioprio_set, PSYS_NR_ioprio_set, int, which, int, who, int, ioprio)
PSYS_CALL2(2.6.13, int, psys_ioprio_get, PSYS_NR_ioprio_get, int, which, int, who)
PSYS_CALL3(2.0, int, psys_sched_setscheduler, PSYS_NR_sched_setscheduler, int, pid, int, policy, const struct psys_sched_param *, param)
PSYS_CALL1(2.0, int, psys_sched_getscheduler, PSYS_NR_sched_getscheduler, int, pid)
PSYS_CALL2(2.0, int, psys_sched_setparam, PSYS_NR_sched_setparam, int, pid, const struct psys_sched_param *, param)
PSYS_CALL2(2.0, int, psys_sched_getparam, PSYS_NR_sched_getparam, int, pid, struct psys_sched_param *, param)
PSYS_CALL3(3.14, int, psys_sched_setattr, PSYS_NR_sched_setattr, int, pid, struct psys_sched_attr *, attr, unsigned, flags)
PSYS_CALL4(3.14, int, psys_sched_getattr, PSYS_NR_sched_getattr, int, pid, struct psys_sched_attr *, attr, unsigned, size, unsigned, flags)
PSYS_CALL3(2.5.8, int, psys_sched_setaffinity, PSYS_NR_sched_setaffinity, int, pid, size_t, size, const unsigned long *, mask)
PSYS_CALL3(2.5.8, int, psys_sched_getaffinity, PSYS_NR_sched_getaffinity, int, pid, size_t, size, unsigned long *, mask)
PSYS_CALL1(2.0, int, psys_sched_get_priority_max, PSYS_NR_sched_get_priority_max, int, policy)
PSYS_CALL1(2.0, int, psys_sched_get_priority_min, PSYS_NR_sched_get_priority_min, int, policy)
PSYS_CALL2(2.0, int, psys_sched_rr_get_interval, PSYS_NR_sched_rr_get_interval, int, pid, struct psys_timespec *, interval)
PSYS_CALL0(1.0, int, psys_sched_yield, PSYS_NR_sched_yield)
PSYS_CALL3(2.6.19, int, psys_getcpu, PSYS_NR_getcpu, unsigned *, cpu, unsigned *, node, void *, unused)

/* signals: rt_sigprocmask(2), sigaction(2), kill(2), pidfd_send_signal(2) */
PSYS_CALL4(2.2, int, psys_rt_sigprocmask, PSYS_NR_rt_sigprocmask, int, how, const struct psys_sigset *, set, struct psys_sigset *, oldset, size_t, sigsetsize)
PSYS_IRREGULAR(2.2, int, psys_rt_sigaction, int, signal, const struct psys_sigaction *, action, struct psys_sigaction *, old_action, size_t, sigsetsize)
PSYS_CALL2(2.2, int, psys_rt_sigpending, PSYS_NR_rt_sigpending, struct psys_sigset *, set, size_t, sigsetsize)
PSYS_CALL2(2.2, int, psys_rt_sigsuspend, PSYS_NR_rt_sigsuspend, const struct psys_sigset *, mask, size_t, sigsetsize)
PSYS_CALL4(2.2, int, psys_rt_sigtimedwait, PSYS_NR_rt_sigtimedwait, const struct psys_sigset *, set, struct psys_siginfo *, info, const struct psys_timespec *, timeout, size_t, sigsetsize)
PSYS_CALL3(2.2, int, psys_rt_sigqueueinfo, PSYS_NR_rt_sigqueueinfo, int, pid, int, signal, struct psys_siginfo *, info)
PSYS_CALL4(2.6.31, int, psys_rt_tgsigqueueinfo, PSYS_NR_rt_tgsigqueueinfo, int, tgid, int, tid, int, signal, struct psys_siginfo *, info)
PSYS_CALL2(2.2, int, psys_sigaltstack, PSYS_NR_sigaltstack, const struct psys_sigaltstack *, stack, struct psys_sigaltstack *, old_stack)
PSYS_CALL2(1.0, int, psys_kill, PSYS_NR_kill, int, pid, int, signal)
PSYS_CALL2(2.5, int, psys_tkill, PSYS_NR_tkill, int, tid, int, signal)
PSYS_CALL3(2.5.75, int, psys_tgkill, PSYS_NR_tgkill, int, tgid, int, tid, int, signal)
PSYS_CALL2(5.3, int, psys_pidfd_open, PSYS_NR_pidfd_open, int, pid, unsigned, flags)
PSYS_CALL4(5.1, int, psys_pidfd_send_signal, PSYS_NR_pidfd_send_signal, int, pidfd, int, signal, struct psys_siginfo *, info, unsigned, flags)
PSYS_CALL3(5.6, int, psys_pidfd_getfd, PSYS_NR_pidfd_getfd, int, pidfd, int, target_fd, unsigned, flags)
PSYS_CALL4(2.6.27, int, psys_signalfd4, PSYS_NR_signalfd4, int, fd, const struct psys_sigset *, mask, size_t, sigsetsize, int, flags)
#ifdef PSYS_NR_signalfd
PSYS_CALL3(2.6.22, int, psys_signalfd, PSYS_NR_signalfd, int, fd, const struct psys_sigset *, mask, size_t, sigsetsize)
#endif
#ifdef PSYS_NR_pause
PSYS_CALL0(1.0, int, psys_pause, PSYS_NR_pause)
#endif

/* time: clock_gettime(2), timer_create(2), timerfd_create(2), adjtimex(2).
 * Calls with seconds in a long are only for architectures with a 64-bit long. */
PSYS_CALL2(2.5.63, int, psys_clock_gettime, PSYS_NR_clock_gettime, int, clock, struct psys_timespec *, time)
PSYS_CALL2(2.5.63, int, psys_clock_settime, PSYS_NR_clock_settime, int, clock, const struct psys_timespec *, time)
PSYS_CALL2(2.5.63, int, psys_clock_getres, PSYS_NR_clock_getres, int, clock, struct psys_timespec *, resolution)
PSYS_CALL2(2.6.39, int, psys_clock_adjtime, PSYS_NR_clock_adjtime, int, clock, struct psys_timex *, timex)
PSYS_CALL4(2.5.63, int, psys_clock_nanosleep, PSYS_NR_clock_nanosleep, int, clock, int, flags, const struct psys_timespec *, request, struct psys_timespec *, remain)
PSYS_IRREGULAR(2.0, int, psys_nanosleep, const struct psys_timespec *, request, struct psys_timespec *, remain)
#ifdef PSYS_NR_adjtimex
PSYS_CALL1(1.0, int, psys_adjtimex, PSYS_NR_adjtimex, struct psys_timex *, timex)
#endif
PSYS_CALL3(2.5.63, int, psys_timer_create, PSYS_NR_timer_create, int, clock, const struct psys_sigevent *, event, int *, timer)
PSYS_CALL4(2.5.63, int, psys_timer_settime, PSYS_NR_timer_settime, int, timer, int, flags, const struct psys_itimerspec *, new_value, struct psys_itimerspec *, old_value)
PSYS_CALL2(2.5.63, int, psys_timer_gettime, PSYS_NR_timer_gettime, int, timer, struct psys_itimerspec *, value)
PSYS_CALL1(2.5.63, int, psys_timer_getoverrun, PSYS_NR_timer_getoverrun, int, timer)
PSYS_CALL1(2.5.63, int, psys_timer_delete, PSYS_NR_timer_delete, int, timer)
PSYS_CALL2(2.6.25, int, psys_timerfd_create, PSYS_NR_timerfd_create, int, clock, int, flags)
PSYS_CALL4(2.6.25, int, psys_timerfd_settime, PSYS_NR_timerfd_settime, int, fd, int, flags, const struct psys_itimerspec *, new_value, struct psys_itimerspec *, old_value)
PSYS_CALL2(2.6.25, int, psys_timerfd_gettime, PSYS_NR_timerfd_gettime, int, fd, struct psys_itimerspec *, value)
PSYS_CALL2(1.0, int, psys_getitimer, PSYS_NR_getitimer, int, which, struct psys_itimerval *, value)
PSYS_CALL3(1.0, int, psys_setitimer, PSYS_NR_setitimer, int, which, const struct psys_itimerval *, new_value, struct psys_itimerval *, old_value)
PSYS_CALL1(1.0, long, psys_times, PSYS_NR_times, struct psys_tms *, times)
#ifdef PSYS_NR_alarm
PSYS_CALL1(1.0, unsigned, psys_alarm, PSYS_NR_alarm, unsigned, seconds)
#endif
#if PSYS_KERNEL_LONG_BITS == 64
PSYS_CALL2(1.0, int, psys_gettimeofday, PSYS_NR_gettimeofday, struct psys_timeval *, time, void *, tz)
PSYS_CALL2(1.0, int, psys_settimeofday, PSYS_NR_settimeofday, const struct psys_timeval *, time, const void *, tz)
#ifdef PSYS_NR_time
PSYS_IRREGULAR(1.0, psys_kernel_long, psys_time, psys_kernel_long *, seconds)
#endif
#ifdef PSYS_NR_stime
PSYS_CALL1(1.0, int, psys_stime, PSYS_NR_stime, const psys_kernel_long *, seconds)
#endif
#ifdef PSYS_NR_utime
PSYS_CALL2(1.0, int, psys_utime, PSYS_NR_utime, const char *, path, const psys_kernel_long *, times)
#endif
#ifdef PSYS_NR_utimes
PSYS_CALL2(2.2, int, psys_utimes, PSYS_NR_utimes, const char *, path, const struct psys_timeval *, times)
PSYS_CALL3(2.6.16, int, psys_futimesat, PSYS_NR_futimesat, int, dirfd, const char *, path, const struct psys_timeval *, times)
#endif
#endif

/* waiting: futex(2), poll(2), select(2), epoll(7), eventfd(2) */
PSYS_CALL6(2.5.7, int, psys_futex, PSYS_NR_futex, int *, word, int, operation, int, value, const struct psys_timespec *, timeout, int *, word2, int, value3)
PSYS_CALL5(5.16, int, psys_futex_waitv, PSYS_NR_futex_waitv, struct psys_futex_waitv *, waiters, unsigned, count, unsigned, flags, const struct psys_timespec *, deadline, int, clock)
PSYS_CALL4(6.7, int, psys_futex_wake, PSYS_NR_futex_wake, void *, word, uint64_t, mask, int, count, unsigned, flags)
PSYS_CALL6(6.7, int, psys_futex_wait, PSYS_NR_futex_wait, void *, word, uint64_t, value, uint64_t, mask, unsigned, flags, const struct psys_timespec *, deadline, int, clock)
PSYS_CALL4(6.7, int, psys_futex_requeue, PSYS_NR_futex_requeue, struct psys_futex_waitv *, waiters, unsigned, flags, int, wake_count, int, requeue_count)
PSYS_CALL2(2.6.17, int, psys_set_robust_list, PSYS_NR_set_robust_list, struct psys_robust_list_head *, head, size_t, size)
PSYS_CALL3(2.6.17, int, psys_get_robust_list, PSYS_NR_get_robust_list, int, pid, struct psys_robust_list_head **, head, size_t *, size)
PSYS_CALL5(2.6.16, int, psys_ppoll, PSYS_NR_ppoll, struct psys_pollfd *, fds, unsigned, count, struct psys_timespec *, timeout, const struct psys_sigset *, mask, size_t, sigsetsize)
#ifdef PSYS_NR_poll
PSYS_CALL3(2.0.36, int, psys_poll, PSYS_NR_poll, struct psys_pollfd *, fds, unsigned, count, int, timeout_ms)
#endif
PSYS_CALL6(2.6.16, int, psys_pselect6, PSYS_NR_pselect6, int, count, psys_kernel_ulong *, readable, psys_kernel_ulong *, writable, psys_kernel_ulong *, exceptional, struct psys_timespec *, timeout, const struct psys_sigset_argpack *, mask)
#if defined(PSYS_NR__newselect) || defined(PSYS_NR_select)
PSYS_IRREGULAR(1.0, int, psys_select, int, count, psys_kernel_ulong *, readable, psys_kernel_ulong *, writable, psys_kernel_ulong *, exceptional, struct psys_timeval *, timeout)
#endif
#ifdef PSYS_NR_epoll_create
PSYS_CALL1(2.5.44, int, psys_epoll_create, PSYS_NR_epoll_create, int, size)
PSYS_CALL4(2.5.44, int, psys_epoll_wait, PSYS_NR_epoll_wait, int, epfd, struct psys_epoll_event *, events, int, count, int, timeout_ms)
PSYS_CALL1(2.6.22, int, psys_eventfd, PSYS_NR_eventfd, unsigned, value)
#endif
PSYS_CALL1(2.6.27, int, psys_epoll_create1, PSYS_NR_epoll_create1, int, flags)
PSYS_CALL4(2.5.44, int, psys_epoll_ctl, PSYS_NR_epoll_ctl, int, epfd, int, operation, int, fd, struct psys_epoll_event *, event)
PSYS_CALL6(2.6.19, int, psys_epoll_pwait, PSYS_NR_epoll_pwait, int, epfd, struct psys_epoll_event *, events, int, count, int, timeout_ms, const struct psys_sigset *, mask, size_t, sigsetsize)
PSYS_CALL6(5.11, int, psys_epoll_pwait2, PSYS_NR_epoll_pwait2, int, epfd, struct psys_epoll_event *, events, int, count, const struct psys_timespec *, timeout, const struct psys_sigset *, mask, size_t, sigsetsize)
PSYS_CALL2(2.6.27, int, psys_eventfd2, PSYS_NR_eventfd2, unsigned, value, int, flags)

/* asynchronous input and output: io_uring(7), io_setup(2) */
PSYS_CALL2(5.1, int, psys_io_uring_setup, PSYS_NR_io_uring_setup, unsigned, entries, struct psys_io_uring_params *, params)
PSYS_CALL6(5.1, int, psys_io_uring_enter, PSYS_NR_io_uring_enter, int, fd, unsigned, to_submit, unsigned, min_complete, unsigned, flags, const void *, arg, size_t, size)
PSYS_CALL4(5.1, int, psys_io_uring_register, PSYS_NR_io_uring_register, int, fd, unsigned, operation, void *, arg, unsigned, count)
PSYS_CALL2(2.5, int, psys_io_setup, PSYS_NR_io_setup, unsigned, count, psys_aio_context *, context)
PSYS_CALL1(2.5, int, psys_io_destroy, PSYS_NR_io_destroy, psys_aio_context, context)
PSYS_CALL3(2.5, int, psys_io_submit, PSYS_NR_io_submit, psys_aio_context, context, long, count, struct psys_iocb **, iocbs)
PSYS_CALL3(2.5, int, psys_io_cancel, PSYS_NR_io_cancel, psys_aio_context, context, struct psys_iocb *, iocb, struct psys_io_event *, result)
#ifdef PSYS_NR_io_getevents
PSYS_CALL5(2.5, int, psys_io_getevents, PSYS_NR_io_getevents, psys_aio_context, context, long, min_count, long, count, struct psys_io_event *, events, struct psys_timespec *, timeout)
#endif
PSYS_CALL6(4.18, int, psys_io_pgetevents, PSYS_NR_io_pgetevents, psys_aio_context, context, long, min_count, long, count, struct psys_io_event *, events, struct psys_timespec *, timeout, const struct psys_aio_sigset *, mask)

/* sockets: socket(7), send(2), recv(2); addresses are bytes */
PSYS_CALL3(2.0, int, psys_socket, PSYS_NR_socket, int, domain, int, type, int, protocol)
PSYS_CALL4(1.0, int, psys_socketpair, PSYS_NR_socketpair, int, domain, int, type, int, protocol, int *, fds)
PSYS_CALL3(2.0, int, psys_bind, PSYS_NR_bind, int, fd, const void *, addr, int, addr_length)
PSYS_CALL3(2.0, int, psys_connect, PSYS_NR_connect, int, fd, const void *, addr, int, addr_length)
PSYS_CALL2(2.0, int, psys_listen, PSYS_NR_listen, int, fd, int, backlog)
PSYS_IRREGULAR(2.0, int, psys_accept, int, fd, void *, addr, int *, addr_length)
PSYS_CALL4(2.6.28, int, psys_accept4, PSYS_NR_accept4, int, fd, void *, addr, int *, addr_length, int, flags)
PSYS_CALL3(2.0, int, psys_getsockname, PSYS_NR_getsockname, int, fd, void *, addr, int *, addr_length)
PSYS_CALL3(2.0, int, psys_getpeername, PSYS_NR_getpeername, int, fd, void *, addr, int *, addr_length)
PSYS_CALL5(2.0, int, psys_getsockopt, PSYS_NR_getsockopt, int, fd, int, level, int, option, void *, value, int *, length)
PSYS_CALL5(2.0, int, psys_setsockopt, PSYS_NR_setsockopt, int, fd, int, level, int, option, const void *, value, int, length)
PSYS_CALL2(2.0, int, psys_shutdown, PSYS_NR_shutdown, int, fd, int, how)
PSYS_CALL6(2.0, long, psys_sendto, PSYS_NR_sendto, int, fd, const void *, buf, size_t, length, int, flags, const void *, addr, int, addr_length)
PSYS_CALL6(2.0, long, psys_recvfrom, PSYS_NR_recvfrom, int, fd, void *, buf, size_t, length, int, flags, void *, addr, int *, addr_length)
#ifdef PSYS_NR_send
PSYS_CALL4(2.0, long, psys_send, PSYS_NR_send, int, fd, const void *, buf, size_t, length, int, flags)
PSYS_CALL4(2.0, long, psys_recv, PSYS_NR_recv, int, fd, void *, buf, size_t, length, int, flags)
#endif
PSYS_CALL3(1.0, long, psys_sendmsg, PSYS_NR_sendmsg, int, fd, const struct psys_msghdr *, message, int, flags)
PSYS_CALL3(1.0, long, psys_recvmsg, PSYS_NR_recvmsg, int, fd, struct psys_msghdr *, message, int, flags)
PSYS_CALL4(3.0, int, psys_sendmmsg, PSYS_NR_sendmmsg, int, fd, struct psys_mmsghdr *, messages, unsigned, count, int, flags)
PSYS_CALL5(2.6.33, int, psys_recvmmsg, PSYS_NR_recvmmsg, int, fd, struct psys_mmsghdr *, messages, unsigned, count, int, flags, struct psys_timespec *, timeout)

/* message queues, semaphores, shared memory: mq_overview(7), sysvipc(7) */
PSYS_CALL4(2.6.6, int, psys_mq_open, PSYS_NR_mq_open, const char *, name, int, flags, unsigned, mode, struct psys_mq_attr *, attr)
PSYS_CALL1(2.6.6, int, psys_mq_unlink, PSYS_NR_mq_unlink, const char *, name)
PSYS_CALL5(2.6.6, int, psys_mq_timedsend, PSYS_NR_mq_timedsend, int, queue, const char *, message, size_t, length, unsigned, priority, const struct psys_timespec *, deadline)
PSYS_CALL5(2.6.6, long, psys_mq_timedreceive, PSYS_NR_mq_timedreceive, int, queue, char *, message, size_t, length, unsigned *, priority, const struct psys_timespec *, deadline)
PSYS_CALL2(2.6.6, int, psys_mq_notify, PSYS_NR_mq_notify, int, queue, const struct psys_sigevent *, event)
PSYS_CALL3(2.6.6, int, psys_mq_getsetattr, PSYS_NR_mq_getsetattr, int, queue, const struct psys_mq_attr *, new_attr, struct psys_mq_attr *, old_attr)
PSYS_CALL2(2.0, int, psys_msgget, PSYS_NR_msgget, int, key, int, flags)
PSYS_CALL4(2.0, int, psys_msgsnd, PSYS_NR_msgsnd, int, queue, const void *, message, size_t, size, int, flags)
PSYS_CALL5(2.0, long, psys_msgrcv, PSYS_NR_msgrcv, int, queue, void *, message, size_t, size, psys_kernel_long, type, int, flags)
PSYS_IRREGULAR(2.0, int, psys_msgctl, int, queue, int, cmd, void *, buf)
PSYS_CALL3(2.0, int, psys_semget, PSYS_NR_semget, int, key, int, count, int, flags)
PSYS_IRREGULAR(2.0, int, psys_semop, int, set, struct psys_sembuf *, operations, size_t, count)
PSYS_CALL4(2.5.52, int, psys_semtimedop, PSYS_NR_semtimedop, int, set, struct psys_sembuf *, operations, size_t, count, const struct psys_timespec *, timeout)
PSYS_IRREGULAR(2.0, int, psys_semctl, int, set, int, index, int, cmd, union psys_semun, arg)
PSYS_CALL3(2.0, int, psys_shmget, PSYS_NR_shmget, int, key, size_t, size, int, flags)
PSYS_CALL3(2.0, void *, psys_shmat, PSYS_NR_shmat, int, segment, const void *, addr, int, flags)
PSYS_CALL1(2.0, int, psys_shmdt, PSYS_NR_shmdt, const void *, addr)
PSYS_IRREGULAR(2.0, int, psys_shmctl, int, segment, int, cmd, void *, buf)

/* programs and children: fork(2), clone(2), execve(2), execveat(2), wait(2), ptrace(2).
 * clone and clone3 with shared memory: clone.h */
PSYS_IRREGULAR(1.0, int, psys_fork, void)
PSYS_IRREGULAR(1.0, int, psys_clone, unsigned long, flags, void *, stack, int *, parent_tid, int *, child_tid, void *, tls)
PSYS_CALL2(5.3, int, psys_clone3, PSYS_NR_clone3, struct psys_clone_args *, args, size_t, size)
PSYS_CALL3(1.0, int, psys_execve, PSYS_NR_execve, const char *, path, char *const *, argv, char *const *, envp)
PSYS_CALL5(3.19, int, psys_execveat, PSYS_NR_execveat, int, dirfd, const char *, path, char *const *, argv, char *const *, envp, int, flags)
PSYS_IRREGULAR(1.0, void, psys_exit, int, status)
PSYS_IRREGULAR(2.5.35, void, psys_exit_group, int, status)
PSYS_IRREGULAR(1.0, int, psys_wait4, int, pid, int *, status, int, options, struct psys_rusage *, usage)
PSYS_CALL5(2.6.9, int, psys_waitid, PSYS_NR_waitid, int, which, int, id, struct psys_siginfo *, info, int, options, struct psys_rusage *, usage)
#ifdef PSYS_NR_waitpid
PSYS_CALL3(1.0, int, psys_waitpid, PSYS_NR_waitpid, int, pid, int *, status, int, options)
#endif
PSYS_CALL1(2.5.48, int, psys_set_tid_address, PSYS_NR_set_tid_address, int *, tid)
PSYS_CALL4(4.18, int, psys_rseq, PSYS_NR_rseq, void *, rseq, unsigned, length, int, flags, unsigned, signature)
PSYS_CALL0(7.0, int, psys_rseq_slice_yield, PSYS_NR_rseq_slice_yield)
PSYS_CALL4(1.0, long, psys_ptrace, PSYS_NR_ptrace, long, request, int, pid, void *, addr, void *, data)

/* restrictions: seccomp(2), landlock(7), and the modules behind lsm_list_modules(2) */
PSYS_CALL3(3.17, int, psys_seccomp, PSYS_NR_seccomp, unsigned, operation, unsigned long, flags, void *, args)
PSYS_CALL3(5.13, int, psys_landlock_create_ruleset, PSYS_NR_landlock_create_ruleset, const struct psys_landlock_ruleset_attr *, attr, size_t, size, unsigned, flags)
PSYS_CALL4(5.13, int, psys_landlock_add_rule, PSYS_NR_landlock_add_rule, int, ruleset, int, type, const void *, attr, unsigned, flags)
PSYS_CALL2(5.13, int, psys_landlock_restrict_self, PSYS_NR_landlock_restrict_self, int, ruleset, unsigned, flags)
PSYS_CALL4(6.8, int, psys_lsm_get_self_attr, PSYS_NR_lsm_get_self_attr, unsigned, attr, struct psys_lsm_ctx *, context, unsigned *, size, unsigned, flags)
PSYS_CALL4(6.8, int, psys_lsm_set_self_attr, PSYS_NR_lsm_set_self_attr, unsigned, attr, struct psys_lsm_ctx *, context, unsigned, size, unsigned, flags)
PSYS_CALL3(6.8, int, psys_lsm_list_modules, PSYS_NR_lsm_list_modules, uint64_t *, ids, unsigned *, size, unsigned, flags)

/* keys: keyrings(7) */
PSYS_CALL5(2.6.10, int, psys_add_key, PSYS_NR_add_key, const char *, type, const char *, description, const void *, payload, size_t, length, int, keyring)
PSYS_CALL4(2.6.10, int, psys_request_key, PSYS_NR_request_key, const char *, type, const char *, description, const char *, callout_info, int, keyring)
PSYS_CALL5(2.6.10, long, psys_keyctl, PSYS_NR_keyctl, int, cmd, unsigned long, a2, unsigned long, a3, unsigned long, a4, unsigned long, a5)

/* watching and extending the kernel: bpf(2), perf_event_open(2), syslog(2), init_module(2) */
PSYS_CALL5(3.18, int, psys_bpf, PSYS_NR_bpf, int, cmd, void *, attr, unsigned, size, void *, common_attr, unsigned, common_size)
PSYS_CALL5(2.6.31, int, psys_perf_event_open, PSYS_NR_perf_event_open, void *, attr, int, pid, int, cpu, int, group_fd, unsigned long, flags)
PSYS_CALL3(1.0, int, psys_syslog, PSYS_NR_syslog, int, type, char *, buf, int, length)
PSYS_CALL1(1.0, int, psys_sysinfo, PSYS_NR_sysinfo, struct psys_sysinfo *, info)
PSYS_CALL1(1.0, int, psys_acct, PSYS_NR_acct, const char *, path)
#ifdef PSYS_NR_uselib
PSYS_CALL1(1.0, int, psys_uselib, PSYS_NR_uselib, const char *, path)
#endif
PSYS_CALL3(1.0, int, psys_init_module, PSYS_NR_init_module, const void *, image, size_t, length, const char *, params)
PSYS_CALL3(3.8, int, psys_finit_module, PSYS_NR_finit_module, int, fd, const char *, params, int, flags)
PSYS_CALL2(1.0, int, psys_delete_module, PSYS_NR_delete_module, const char *, name, unsigned, flags)

/* the machine: reboot(2), kexec_load(2), vhangup(2) */
PSYS_CALL4(1.0, int, psys_reboot, PSYS_NR_reboot, int, magic, int, magic2, unsigned, command, void *, arg)
PSYS_CALL4(2.6.13, int, psys_kexec_load, PSYS_NR_kexec_load, unsigned long, entry, size_t, count, struct psys_kexec_segment *, segments, unsigned long, flags)
#ifdef PSYS_NR_kexec_file_load
PSYS_CALL5(3.17, int, psys_kexec_file_load, PSYS_NR_kexec_file_load, int, kernel_fd, int, initrd_fd, size_t, length, const char *, command_line, unsigned long, flags)
#endif
PSYS_CALL0(1.0, int, psys_vhangup, PSYS_NR_vhangup)

/* x86 */
#ifdef PSYS_NR_arch_prctl
PSYS_CALL2(2.6, int, psys_arch_prctl, PSYS_NR_arch_prctl, int, option, unsigned long, arg)
PSYS_CALL3(1.0, int, psys_ioperm, PSYS_NR_ioperm, unsigned long, first, unsigned long, count, int, on)
PSYS_CALL1(1.0, int, psys_iopl, PSYS_NR_iopl, int, level)
PSYS_CALL3(1.0, int, psys_modify_ldt, PSYS_NR_modify_ldt, int, function, void *, buf, unsigned long, size)
#endif
#ifdef PSYS_NR_vm86old
PSYS_CALL2(2.0.28, int, psys_vm86, PSYS_NR_vm86, unsigned long, function, void *, buf)
PSYS_CALL1(1.0, int, psys_vm86old, PSYS_NR_vm86old, void *, buf)
#endif
#ifdef PSYS_NR_set_thread_area /* a structure on x86, the pointer itself on mips and m68k */
PSYS_CALL1(2.5.29, int, psys_set_thread_area, PSYS_NR_set_thread_area, void *, area)
#endif
#ifdef PSYS_NR_get_thread_area
PSYS_CALL1(2.5.29, long, psys_get_thread_area, PSYS_NR_get_thread_area, void *, area)
#endif

/* arm: the group of its own numbers */
#ifdef PSYS_NR_arm_cacheflush
PSYS_CALL3(2.6, int, psys_arm_cacheflush, PSYS_NR_arm_cacheflush, void *, start, void *, end, int, flags)
PSYS_CALL1(2.6, int, psys_arm_set_tls, PSYS_NR_arm_set_tls, void *, tls)
PSYS_CALL0(4.15, void *, psys_arm_get_tls, PSYS_NR_arm_get_tls)
#endif

/* riscv */
#ifdef PSYS_NR_riscv_hwprobe
PSYS_CALL3(4.15, int, psys_riscv_flush_icache, PSYS_NR_riscv_flush_icache, void *, start, void *, end, unsigned long, flags)
PSYS_CALL5(6.4, int, psys_riscv_hwprobe, PSYS_NR_riscv_hwprobe, struct psys_riscv_hwprobe *, pairs, size_t, pair_count, size_t, cpu_set_size, unsigned long *, cpus, unsigned, flags)
#endif

/* mips and sh */
#if defined(PSYS_NR_cacheflush) && !defined(PSYS_NR_atomic_barrier)
PSYS_CALL3(1.2, int, psys_cacheflush, PSYS_NR_cacheflush, void *, addr, size_t, length, int, cache)
#endif

/* mips */
#ifdef PSYS_NR_sysmips
PSYS_CALL3(1.2, int, psys_cachectl, PSYS_NR_cachectl, void *, addr, size_t, length, int, operation)
PSYS_CALL3(2.6, int, psys_sysmips, PSYS_NR_sysmips, long, cmd, long, arg1, long, arg2)
#endif

/* m68k */
#ifdef PSYS_NR_atomic_barrier
PSYS_CALL4(1.2, int, psys_cacheflush, PSYS_NR_cacheflush, void *, addr, int, scope, int, cache, size_t, length)
PSYS_CALL0(2.6.34, int, psys_atomic_barrier, PSYS_NR_atomic_barrier)
#endif
#ifdef PSYS_NR_getpagesize /* and sparc */
PSYS_CALL0(2.0, int, psys_getpagesize, PSYS_NR_getpagesize)
#endif

/* s390x */
#ifdef PSYS_NR_s390_sthyi
PSYS_CALL2(4.12, int, psys_s390_guarded_storage, PSYS_NR_s390_guarded_storage, int, command, void *, control_block)
PSYS_CALL3(3.19, int, psys_s390_pci_mmio_read, PSYS_NR_s390_pci_mmio_read, unsigned long, address, void *, buf, size_t, length)
PSYS_CALL3(3.19, int, psys_s390_pci_mmio_write, PSYS_NR_s390_pci_mmio_write, unsigned long, address, const void *, buf, size_t, length)
PSYS_CALL2(3.7, int, psys_s390_runtime_instr, PSYS_NR_s390_runtime_instr, int, command, int, signal)
PSYS_CALL4(4.15, int, psys_s390_sthyi, PSYS_NR_s390_sthyi, unsigned long, function, void *, buf, uint64_t *, return_code, unsigned long, flags)
#endif

/* powerpc */
#ifdef PSYS_NR_rtas
PSYS_CALL1(2.6.2, int, psys_rtas, PSYS_NR_rtas, void *, args)
PSYS_CALL3(2.6.25, int, psys_subpage_prot, PSYS_NR_subpage_prot, unsigned long, addr, size_t, length, unsigned *, map)
PSYS_CALL0(4.1, int, psys_switch_endian, PSYS_NR_switch_endian)
PSYS_CALL3(2.6.3, long, psys_swapcontext, PSYS_NR_swapcontext, void *, old_context, void *, new_context, long, size)
PSYS_CALL4(2.6.16, int, psys_spu_create, PSYS_NR_spu_create, const char *, path, unsigned, flags, unsigned, mode, int, neighbour_fd)
PSYS_CALL3(2.6.16, int, psys_spu_run, PSYS_NR_spu_run, int, fd, unsigned *, npc, unsigned *, event)
#endif

/* sparc */
#ifdef PSYS_NR_kern_features
PSYS_CALL0(3.7, long, psys_kern_features, PSYS_NR_kern_features)
PSYS_CALL1(2.2, int, psys_memory_ordering, PSYS_NR_memory_ordering, unsigned long, model)
PSYS_CALL5(2.2, int, psys_utrap_install, PSYS_NR_utrap_install, unsigned long, type, void *, new_precise, void *, new_deferred, void **, old_precise, void **, old_deferred)
PSYS_CALL2(2.2, int, psys_getdomainname, PSYS_NR_getdomainname, char *, name, int, length)
#endif

/* the PCI bus, as seen by some machines' display servers: arm, powerpc, sparc */
#ifdef PSYS_NR_pciconfig_read
PSYS_CALL5(2.0.26, int, psys_pciconfig_read, PSYS_NR_pciconfig_read, unsigned long, bus, unsigned long, device, unsigned long, offset, unsigned long, length, void *, buf)
PSYS_CALL5(2.0.26, int, psys_pciconfig_write, PSYS_NR_pciconfig_write, unsigned long, bus, unsigned long, device, unsigned long, offset, unsigned long, length, const void *, buf)
#endif
#ifdef PSYS_NR_pciconfig_iobase
PSYS_CALL3(2.2.15, long, psys_pciconfig_iobase, PSYS_NR_pciconfig_iobase, long, which, unsigned long, bus, unsigned long, device)
#endif
