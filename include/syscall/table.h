/*
 * The system calls, a line each: since which kernel version, the type of the
 * result, the kernel's name, then type and name of each argument in the
 * kernel's order. Each becomes a function psys_<name>; `make reference` writes
 * have.h and doc/syscalls.md from this file.
 *
 * Includers define PSYS_CALL0 to PSYS_CALL6, and PSYS_IRREGULAR for what one
 * call of one form cannot do: irregular.h has its body. There is no include
 * guard. A line within #if is for the architectures that have the call.
 *
 * Time is 64-bit and so are offsets, on every architecture: a plain name means
 * the wide form, whatever number it has. void * is what the caller brings a type
 * of its own for: the bytes of a socket address, a structure that grows (bpf,
 * perf_event_open), one that depends on a command (prctl, semctl).
 */

/* descriptors: read(2), write(2), close(2), close_range(2), dup(2), pipe(2), fcntl(2) */
PSYS_CALL3(1.0, long, read, int, fd, void *, buf, size_t, count)
PSYS_CALL3(1.0, long, write, int, fd, const void *, buf, size_t, count)
PSYS_CALL3(2.0, long, readv, int, fd, const struct psys_iovec *, iov, size_t, count)
PSYS_CALL3(2.0, long, writev, int, fd, const struct psys_iovec *, iov, size_t, count)
PSYS_IRREGULAR(2.2, long, pread64, int, fd, void *, buf, size_t, count, int64_t, offset)
PSYS_IRREGULAR(2.2, long, pwrite64, int, fd, const void *, buf, size_t, count, int64_t, offset)
PSYS_IRREGULAR(2.6.30, long, preadv, int, fd, const struct psys_iovec *, iov, size_t, count, int64_t, offset)
PSYS_IRREGULAR(2.6.30, long, pwritev, int, fd, const struct psys_iovec *, iov, size_t, count, int64_t, offset)
PSYS_IRREGULAR(4.6, long, preadv2, int, fd, const struct psys_iovec *, iov, size_t, count, int64_t, offset, int, flags)
PSYS_IRREGULAR(4.6, long, pwritev2, int, fd, const struct psys_iovec *, iov, size_t, count, int64_t, offset, int, flags)
PSYS_IRREGULAR(1.0, int64_t, lseek, int, fd, int64_t, offset, int, whence)
PSYS_CALL1(1.0, int, close, int, fd)
PSYS_CALL3(5.9, int, close_range, unsigned, first, unsigned, last, unsigned, flags)
PSYS_CALL1(1.0, int, dup, int, oldfd)
PSYS_IRREGULAR(1.0, int, dup2, int, oldfd, int, newfd)
PSYS_CALL3(2.6.27, int, dup3, int, oldfd, int, newfd, int, flags)
PSYS_IRREGULAR(1.0, int, pipe, int *, fds)
PSYS_CALL2(2.6.27, int, pipe2, int *, fds, int, flags)
PSYS_CALL3(1.0, long, fcntl, int, fd, int, cmd, unsigned long, arg)
PSYS_CALL3(1.0, long, ioctl, int, fd, unsigned long, request, unsigned long, arg)
PSYS_CALL2(2.0, int, flock, int, fd, int, operation)
PSYS_CALL1(1.0, int, fsync, int, fd)
PSYS_CALL1(2.0, int, fdatasync, int, fd)
PSYS_CALL1(2.6.39, int, syncfs, int, fd)
PSYS_CALL0(1.0, int, sync)
PSYS_IRREGULAR(2.6.17, int, sync_file_range, int, fd, int64_t, offset, int64_t, length, unsigned, flags)
PSYS_IRREGULAR(2.5.60, int, fadvise64, int, fd, int64_t, offset, int64_t, length, int, advice)
PSYS_IRREGULAR(2.4.13, int, readahead, int, fd, int64_t, offset, size_t, count)
PSYS_IRREGULAR(2.6.23, int, fallocate, int, fd, int, mode, int64_t, offset, int64_t, length)
PSYS_IRREGULAR(2.2, long, sendfile, int, out_fd, int, in_fd, int64_t *, offset, size_t, count)
PSYS_CALL6(4.5, long, copy_file_range, int, in_fd, int64_t *, in_offset, int, out_fd, int64_t *, out_offset, size_t, length, unsigned, flags)
PSYS_CALL6(2.6.17, long, splice, int, in_fd, int64_t *, in_offset, int, out_fd, int64_t *, out_offset, size_t, length, unsigned, flags)
PSYS_CALL4(2.6.17, long, tee, int, in_fd, int, out_fd, size_t, length, unsigned, flags)
PSYS_CALL4(2.6.17, long, vmsplice, int, fd, const struct psys_iovec *, iov, size_t, count, unsigned, flags)
PSYS_CALL4(6.5, int, cachestat, int, fd, const struct psys_cachestat_range *, range, struct psys_cachestat *, result, unsigned, flags)
PSYS_CALL2(3.17, int, memfd_create, const char *, name, unsigned, flags)
#ifdef PSYS_NR_memfd_secret
PSYS_CALL1(5.14, int, memfd_secret, unsigned, flags)
#endif

/* files: open(2), openat2(2), statx(2), access(2), readlink(2), rename(2), ... */
PSYS_IRREGULAR(1.0, int, open, const char *, path, int, flags, unsigned, mode)
PSYS_CALL4(2.6.16, int, openat, int, dirfd, const char *, path, int, flags, unsigned, mode)
PSYS_CALL4(5.6, int, openat2, int, dirfd, const char *, path, const struct psys_open_how *, how, size_t, size)
PSYS_CALL5(2.6.39, int, name_to_handle_at, int, dirfd, const char *, path, struct psys_file_handle *, handle, void *, mount_id, int, flags)
PSYS_CALL3(2.6.39, int, open_by_handle_at, int, mount_fd, struct psys_file_handle *, handle, int, flags)
PSYS_CALL5(4.11, int, statx, int, dirfd, const char *, path, int, flags, unsigned, mask, struct psys_statx *, statx)
PSYS_IRREGULAR(1.0, int, statfs, const char *, path, struct psys_statfs *, statfs)
PSYS_IRREGULAR(1.0, int, fstatfs, int, fd, struct psys_statfs *, statfs)
PSYS_CALL3(2.6.16, int, faccessat, int, dirfd, const char *, path, int, mode)
PSYS_CALL4(5.8, int, faccessat2, int, dirfd, const char *, path, int, mode, int, flags)
PSYS_CALL4(2.6.16, int, readlinkat, int, dirfd, const char *, path, char *, buf, size_t, size)
PSYS_CALL3(2.6.16, int, unlinkat, int, dirfd, const char *, path, int, flags)
PSYS_CALL5(2.6.16, int, linkat, int, old_dirfd, const char *, old_path, int, new_dirfd, const char *, new_path, int, flags)
PSYS_CALL3(2.6.16, int, symlinkat, const char *, target, int, dirfd, const char *, path)
#ifdef PSYS_NR_renameat
PSYS_CALL4(2.6.16, int, renameat, int, old_dirfd, const char *, old_path, int, new_dirfd, const char *, new_path)
#endif
PSYS_CALL5(3.15, int, renameat2, int, old_dirfd, const char *, old_path, int, new_dirfd, const char *, new_path, unsigned, flags)
PSYS_CALL4(2.6.16, int, mknodat, int, dirfd, const char *, path, unsigned, mode, unsigned, device)
PSYS_CALL3(2.6.16, int, mkdirat, int, dirfd, const char *, path, unsigned, mode)
PSYS_CALL3(2.4, long, getdents64, int, fd, void *, records, size_t, size)
PSYS_IRREGULAR(1.0, int, truncate, const char *, path, int64_t, length)
PSYS_IRREGULAR(1.0, int, ftruncate, int, fd, int64_t, length)
PSYS_CALL2(1.0, int, fchmod, int, fd, unsigned, mode)
PSYS_CALL3(2.6.16, int, fchmodat, int, dirfd, const char *, path, unsigned, mode)
PSYS_CALL4(6.6, int, fchmodat2, int, dirfd, const char *, path, unsigned, mode, unsigned, flags)
PSYS_CALL3(1.0, int, fchown, int, fd, unsigned, user, unsigned, group)
PSYS_CALL5(2.6.16, int, fchownat, int, dirfd, const char *, path, unsigned, user, unsigned, group, int, flags)
PSYS_CALL4(2.6.22, int, utimensat, int, dirfd, const char *, path, const struct psys_timespec *, times, int, flags)
PSYS_CALL5(6.17, int, file_getattr, int, dirfd, const char *, path, struct psys_file_attr *, attr, size_t, size, unsigned, flags)
PSYS_CALL5(6.17, int, file_setattr, int, dirfd, const char *, path, struct psys_file_attr *, attr, size_t, size, unsigned, flags)

/* files by a path alone, which newer architectures do not have */
#ifdef PSYS_NR_access
PSYS_CALL2(1.0, int, access, const char *, path, int, mode)
PSYS_CALL2(1.0, int, chmod, const char *, path, unsigned, mode)
PSYS_CALL3(1.0, int, chown, const char *, path, unsigned, user, unsigned, group)
PSYS_CALL3(1.0, int, lchown, const char *, path, unsigned, user, unsigned, group)
PSYS_CALL2(1.0, int, creat, const char *, path, unsigned, mode)
PSYS_CALL2(1.0, int, link, const char *, old_path, const char *, new_path)
PSYS_CALL2(1.0, int, symlink, const char *, target, const char *, path)
PSYS_CALL3(1.0, long, readlink, const char *, path, char *, buf, int, size)
PSYS_CALL1(1.0, int, unlink, const char *, path)
PSYS_CALL2(1.0, int, rename, const char *, old_path, const char *, new_path)
PSYS_CALL2(1.0, int, mkdir, const char *, path, unsigned, mode)
PSYS_CALL1(1.0, int, rmdir, const char *, path)
PSYS_CALL3(1.0, int, mknod, const char *, path, unsigned, mode, unsigned, device)
PSYS_CALL3(1.0, int, getdents, int, fd, void *, records, unsigned, size)
#endif

/* extended attributes: xattr(7) */
PSYS_CALL5(2.4, int, setxattr, const char *, path, const char *, name, const void *, value, size_t, size, int, flags)
PSYS_CALL5(2.4, int, lsetxattr, const char *, path, const char *, name, const void *, value, size_t, size, int, flags)
PSYS_CALL5(2.4, int, fsetxattr, int, fd, const char *, name, const void *, value, size_t, size, int, flags)
PSYS_CALL6(6.13, int, setxattrat, int, dirfd, const char *, path, unsigned, at_flags, const char *, name, const struct psys_xattr_args *, args, size_t, size)
PSYS_CALL4(2.4, long, getxattr, const char *, path, const char *, name, void *, value, size_t, size)
PSYS_CALL4(2.4, long, lgetxattr, const char *, path, const char *, name, void *, value, size_t, size)
PSYS_CALL4(2.4, long, fgetxattr, int, fd, const char *, name, void *, value, size_t, size)
PSYS_CALL6(6.13, long, getxattrat, int, dirfd, const char *, path, unsigned, at_flags, const char *, name, struct psys_xattr_args *, args, size_t, size)
PSYS_CALL3(2.4, long, listxattr, const char *, path, char *, list, size_t, size)
PSYS_CALL3(2.4, long, llistxattr, const char *, path, char *, list, size_t, size)
PSYS_CALL3(2.4, long, flistxattr, int, fd, char *, list, size_t, size)
PSYS_CALL5(6.13, long, listxattrat, int, dirfd, const char *, path, unsigned, at_flags, char *, list, size_t, size)
PSYS_CALL2(2.4, int, removexattr, const char *, path, const char *, name)
PSYS_CALL2(2.4, int, lremovexattr, const char *, path, const char *, name)
PSYS_CALL2(2.4, int, fremovexattr, int, fd, const char *, name)
PSYS_CALL4(6.13, int, removexattrat, int, dirfd, const char *, path, unsigned, at_flags, const char *, name)

/* changes to files: inotify(7), fanotify(7) */
#ifdef PSYS_NR_inotify_init
PSYS_CALL0(2.6.13, int, inotify_init)
#endif
PSYS_CALL1(2.6.27, int, inotify_init1, int, flags)
PSYS_CALL3(2.6.13, int, inotify_add_watch, int, fd, const char *, path, unsigned, mask)
PSYS_CALL2(2.6.13, int, inotify_rm_watch, int, fd, int, watch)
PSYS_CALL2(2.6.37, int, fanotify_init, unsigned, flags, unsigned, event_flags)
PSYS_IRREGULAR(2.6.37, int, fanotify_mark, int, fd, unsigned, flags, uint64_t, mask, int, dirfd, const char *, path)

/* a process's place: chdir(2), chroot(2), umask(2), getcwd(2) */
PSYS_CALL1(1.0, int, chdir, const char *, path)
PSYS_CALL1(1.0, int, fchdir, int, fd)
PSYS_CALL1(1.0, int, chroot, const char *, path)
PSYS_CALL1(1.0, int, umask, unsigned, mask)
PSYS_CALL2(2.2, long, getcwd, char *, buf, size_t, size)

/* mounts and namespaces: mount(2), fsopen(2), statmount(2), namespaces(7) */
PSYS_CALL5(1.0, int, mount, const char *, source, const char *, target, const char *, type, unsigned long, flags, const void *, data)
PSYS_CALL2(2.1.116, int, umount2, const char *, target, int, flags)
PSYS_CALL2(2.3.41, int, pivot_root, const char *, new_root, const char *, put_old)
PSYS_CALL2(5.2, int, fsopen, const char *, type, unsigned, flags)
PSYS_CALL5(5.2, int, fsconfig, int, fd, unsigned, cmd, const char *, key, const void *, value, int, aux)
PSYS_CALL3(5.2, int, fsmount, int, fd, unsigned, flags, unsigned, attr_flags)
PSYS_CALL3(5.2, int, fspick, int, dirfd, const char *, path, unsigned, flags)
PSYS_CALL3(5.2, int, open_tree, int, dirfd, const char *, path, unsigned, flags)
PSYS_CALL5(6.15, int, open_tree_attr, int, dirfd, const char *, path, unsigned, flags, struct psys_mount_attr *, attr, size_t, size)
PSYS_CALL5(5.2, int, move_mount, int, from_dirfd, const char *, from_path, int, to_dirfd, const char *, to_path, unsigned, flags)
PSYS_CALL5(5.12, int, mount_setattr, int, dirfd, const char *, path, unsigned, flags, struct psys_mount_attr *, attr, size_t, size)
PSYS_CALL4(6.8, int, statmount, const struct psys_mnt_id_req *, request, void *, buf, size_t, size, unsigned, flags)
PSYS_CALL4(6.8, long, listmount, const struct psys_mnt_id_req *, request, uint64_t *, ids, size_t, count, unsigned, flags)
PSYS_CALL4(6.19, long, listns, const struct psys_ns_id_req *, request, uint64_t *, ids, size_t, count, unsigned, flags)
PSYS_CALL1(2.6.16, int, unshare, unsigned long, flags)
PSYS_CALL2(3.0, int, setns, int, fd, int, type)
PSYS_CALL2(1.0, int, sethostname, const char *, name, size_t, length)
PSYS_CALL2(1.0, int, setdomainname, const char *, name, size_t, length)
PSYS_CALL4(1.0, int, quotactl, unsigned, cmd, const char *, special, int, id, void *, addr)
PSYS_CALL4(5.14, int, quotactl_fd, int, fd, unsigned, cmd, int, id, void *, addr)
PSYS_CALL2(1.0, int, swapon, const char *, path, int, flags)
PSYS_CALL1(1.0, int, swapoff, const char *, path)
#ifdef PSYS_NR_sysfs
PSYS_CALL3(1.2, int, sysfs, int, option, unsigned long, a1, unsigned long, a2)
PSYS_CALL2(1.0, int, ustat, unsigned, device, void *, buf)
#endif

/* memory: mmap(2), mprotect(2), madvise(2), mlock(2), mseal(2), pkeys(7) */
PSYS_IRREGULAR(1.0, void *, mmap, void *, addr, size_t, length, int, protection, int, flags, int, fd, int64_t, offset)
PSYS_CALL2(1.0, int, munmap, void *, addr, size_t, length)
PSYS_CALL3(1.0, int, mprotect, void *, addr, size_t, length, int, protection)
PSYS_CALL5(2.0, void *, mremap, void *, old_addr, size_t, old_length, size_t, new_length, int, flags, void *, new_addr)
PSYS_CALL3(2.4, int, madvise, void *, addr, size_t, length, int, advice)
PSYS_CALL5(5.10, long, process_madvise, int, pidfd, const struct psys_iovec *, iov, size_t, count, int, advice, unsigned, flags)
PSYS_CALL2(5.15, int, process_mrelease, int, pidfd, unsigned, flags)
PSYS_CALL1(1.0, void *, brk, void *, addr)
PSYS_CALL3(2.0, int, msync, void *, addr, size_t, length, int, flags)
PSYS_CALL3(2.4, int, mincore, void *, addr, size_t, length, unsigned char *, pages)
PSYS_CALL2(2.0, int, mlock, const void *, addr, size_t, length)
PSYS_CALL3(4.4, int, mlock2, const void *, addr, size_t, length, int, flags)
PSYS_CALL2(2.0, int, munlock, const void *, addr, size_t, length)
PSYS_CALL1(2.0, int, mlockall, int, flags)
PSYS_CALL0(2.0, int, munlockall)
PSYS_CALL3(6.10, int, mseal, void *, addr, size_t, length, unsigned long, flags)
PSYS_CALL5(2.5.46, int, remap_file_pages, void *, addr, size_t, size, int, protection, size_t, page_offset, int, flags)
PSYS_CALL3(6.6, void *, map_shadow_stack, void *, addr, size_t, size, unsigned, flags)
PSYS_CALL2(4.8, int, pkey_alloc, unsigned long, flags, unsigned long, rights)
PSYS_CALL1(4.8, int, pkey_free, int, pkey)
PSYS_CALL4(4.8, int, pkey_mprotect, void *, addr, size_t, length, int, protection, int, pkey)
PSYS_CALL6(3.2, long, process_vm_readv, int, pid, const struct psys_iovec *, local, size_t, local_count, const struct psys_iovec *, remote, size_t, remote_count, unsigned long, flags)
PSYS_CALL6(3.2, long, process_vm_writev, int, pid, const struct psys_iovec *, local, size_t, local_count, const struct psys_iovec *, remote, size_t, remote_count, unsigned long, flags)
PSYS_CALL1(4.3, int, userfaultfd, int, flags)
PSYS_CALL3(4.3, int, membarrier, int, cmd, unsigned, flags, int, cpu)

/* where memory is: numa(7) */
PSYS_CALL6(2.6.6, int, mbind, void *, addr, size_t, length, int, mode, const unsigned long *, nodes, unsigned long, max_node, unsigned, flags)
PSYS_CALL3(2.6.6, int, set_mempolicy, int, mode, const unsigned long *, nodes, unsigned long, max_node)
PSYS_CALL5(2.6.6, int, get_mempolicy, int *, mode, unsigned long *, nodes, unsigned long, max_node, void *, addr, unsigned long, flags)
PSYS_CALL4(5.17, int, set_mempolicy_home_node, void *, addr, size_t, length, unsigned long, node, unsigned long, flags)
PSYS_CALL4(2.6.16, int, migrate_pages, int, pid, unsigned long, max_node, const unsigned long *, from, const unsigned long *, to)
PSYS_CALL6(2.6.18, int, move_pages, int, pid, size_t, count, void *const *, pages, const int *, nodes, int *, status, int, flags)

/* identity: getpid(2), setresuid(2), setpgid(2), setsid(2), prctl(2), capset(2) */
PSYS_CALL0(1.0, int, getpid)
PSYS_CALL0(1.0, int, getppid)
PSYS_CALL0(2.4.11, int, gettid)
PSYS_CALL0(1.0, unsigned, getuid)
PSYS_CALL0(1.0, unsigned, geteuid)
PSYS_CALL0(1.0, unsigned, getgid)
PSYS_CALL0(1.0, unsigned, getegid)
PSYS_CALL3(2.1.44, int, getresuid, unsigned *, ruid, unsigned *, euid, unsigned *, suid)
PSYS_CALL3(2.1.44, int, getresgid, unsigned *, rgid, unsigned *, egid, unsigned *, sgid)
PSYS_CALL1(1.0, int, setuid, unsigned, uid)
PSYS_CALL1(1.0, int, setgid, unsigned, gid)
PSYS_CALL2(1.0, int, setreuid, unsigned, ruid, unsigned, euid)
PSYS_CALL2(1.0, int, setregid, unsigned, rgid, unsigned, egid)
PSYS_CALL3(2.1.44, int, setresuid, unsigned, ruid, unsigned, euid, unsigned, suid)
PSYS_CALL3(2.1.44, int, setresgid, unsigned, rgid, unsigned, egid, unsigned, sgid)
PSYS_CALL1(1.2, unsigned, setfsuid, unsigned, uid)
PSYS_CALL1(1.2, unsigned, setfsgid, unsigned, gid)
PSYS_CALL2(1.0, int, setgroups, size_t, count, const unsigned *, groups)
PSYS_CALL2(1.0, int, getgroups, int, count, unsigned *, groups)
PSYS_CALL2(1.0, int, setpgid, int, pid, int, pgid)
PSYS_CALL1(1.0, int, getpgid, int, pid)
#ifdef PSYS_NR_getpgrp
PSYS_CALL0(1.0, int, getpgrp)
#endif
PSYS_CALL0(1.0, int, setsid)
PSYS_CALL1(1.3.44, int, getsid, int, pid)
PSYS_CALL5(2.1.57, int, prctl, int, option, unsigned long, a2, unsigned long, a3, unsigned long, a4, unsigned long, a5)
PSYS_CALL2(2.1.100, int, capget, struct psys_cap_user_header *, header, struct psys_cap_user_data *, data)
PSYS_CALL2(2.1.100, int, capset, struct psys_cap_user_header *, header, const struct psys_cap_user_data *, data)
PSYS_CALL1(1.2, int, personality, unsigned long, persona)
PSYS_CALL1(1.0, int, uname, struct psys_utsname *, name)
PSYS_CALL3(3.17, long, getrandom, void *, buf, size_t, count, unsigned, flags)
PSYS_CALL5(3.5, int, kcmp, int, pid1, int, pid2, int, type, unsigned long, index1, unsigned long, index2)

/* limits and scheduling: getrlimit(2), getpriority(2), sched(7), ioprio_set(2).
 * getpriority answers 40 to 1 for the nice values -20 to 19. */
PSYS_CALL4(2.6.36, int, prlimit64, int, pid, int, resource, const struct psys_rlimit64 *, new_limit, struct psys_rlimit64 *, old_limit)
PSYS_CALL2(1.0, int, getrusage, int, who, struct psys_rusage *, usage)
PSYS_CALL2(1.0, int, getpriority, int, which, int, who)
PSYS_CALL3(1.0, int, setpriority, int, which, int, who, int, nice)
#ifdef PSYS_NR_nice
PSYS_CALL1(1.0, int, nice, int, increment)
#endif
PSYS_CALL3(2.6.13, int, ioprio_set, int, which, int, who, int, ioprio)
PSYS_CALL2(2.6.13, int, ioprio_get, int, which, int, who)
PSYS_CALL3(2.0, int, sched_setscheduler, int, pid, int, policy, const struct psys_sched_param *, param)
PSYS_CALL1(2.0, int, sched_getscheduler, int, pid)
PSYS_CALL2(2.0, int, sched_setparam, int, pid, const struct psys_sched_param *, param)
PSYS_CALL2(2.0, int, sched_getparam, int, pid, struct psys_sched_param *, param)
PSYS_CALL3(3.14, int, sched_setattr, int, pid, struct psys_sched_attr *, attr, unsigned, flags)
PSYS_CALL4(3.14, int, sched_getattr, int, pid, struct psys_sched_attr *, attr, unsigned, size, unsigned, flags)
PSYS_CALL3(2.5.8, int, sched_setaffinity, int, pid, size_t, size, const unsigned long *, mask)
PSYS_CALL3(2.5.8, int, sched_getaffinity, int, pid, size_t, size, unsigned long *, mask)
PSYS_CALL1(2.0, int, sched_get_priority_max, int, policy)
PSYS_CALL1(2.0, int, sched_get_priority_min, int, policy)
PSYS_CALL2(2.0, int, sched_rr_get_interval, int, pid, struct psys_timespec *, interval)
PSYS_CALL0(1.0, int, sched_yield)
PSYS_CALL3(2.6.19, int, getcpu, unsigned *, cpu, unsigned *, node, void *, unused)

/* signals: rt_sigprocmask(2), sigaction(2), kill(2), pidfd_send_signal(2) */
PSYS_CALL4(2.2, int, rt_sigprocmask, int, how, const struct psys_sigset *, set, struct psys_sigset *, oldset, size_t, sigsetsize)
PSYS_IRREGULAR(2.2, int, rt_sigaction, int, signal, const struct psys_sigaction *, action, struct psys_sigaction *, old_action, size_t, sigsetsize)
PSYS_CALL2(2.2, int, rt_sigpending, struct psys_sigset *, set, size_t, sigsetsize)
PSYS_CALL2(2.2, int, rt_sigsuspend, const struct psys_sigset *, mask, size_t, sigsetsize)
PSYS_CALL4(2.2, int, rt_sigtimedwait, const struct psys_sigset *, set, struct psys_siginfo *, info, const struct psys_timespec *, timeout, size_t, sigsetsize)
PSYS_CALL3(2.2, int, rt_sigqueueinfo, int, pid, int, signal, struct psys_siginfo *, info)
PSYS_CALL4(2.6.31, int, rt_tgsigqueueinfo, int, tgid, int, tid, int, signal, struct psys_siginfo *, info)
PSYS_CALL2(2.2, int, sigaltstack, const struct psys_sigaltstack *, stack, struct psys_sigaltstack *, old_stack)
PSYS_CALL2(1.0, int, kill, int, pid, int, signal)
PSYS_CALL2(2.5, int, tkill, int, tid, int, signal)
PSYS_CALL3(2.5.75, int, tgkill, int, tgid, int, tid, int, signal)
PSYS_CALL2(5.3, int, pidfd_open, int, pid, unsigned, flags)
PSYS_CALL4(5.1, int, pidfd_send_signal, int, pidfd, int, signal, struct psys_siginfo *, info, unsigned, flags)
PSYS_CALL3(5.6, int, pidfd_getfd, int, pidfd, int, target_fd, unsigned, flags)
PSYS_CALL4(2.6.27, int, signalfd4, int, fd, const struct psys_sigset *, mask, size_t, sigsetsize, int, flags)
#ifdef PSYS_NR_signalfd
PSYS_CALL3(2.6.22, int, signalfd, int, fd, const struct psys_sigset *, mask, size_t, sigsetsize)
#endif
#ifdef PSYS_NR_pause
PSYS_CALL0(1.0, int, pause)
#endif

/* time: clock_gettime(2), timer_create(2), timerfd_create(2), adjtimex(2).
 * What has seconds in a long is left to architectures where that is 64 bits. */
PSYS_CALL2(2.5.63, int, clock_gettime, int, clock, struct psys_timespec *, time)
PSYS_CALL2(2.5.63, int, clock_settime, int, clock, const struct psys_timespec *, time)
PSYS_CALL2(2.5.63, int, clock_getres, int, clock, struct psys_timespec *, resolution)
PSYS_CALL2(2.6.39, int, clock_adjtime, int, clock, struct psys_timex *, timex)
PSYS_CALL4(2.5.63, int, clock_nanosleep, int, clock, int, flags, const struct psys_timespec *, request, struct psys_timespec *, remain)
PSYS_IRREGULAR(2.0, int, nanosleep, const struct psys_timespec *, request, struct psys_timespec *, remain)
#ifdef PSYS_NR_adjtimex
PSYS_CALL1(1.0, int, adjtimex, struct psys_timex *, timex)
#endif
PSYS_CALL3(2.5.63, int, timer_create, int, clock, const struct psys_sigevent *, event, int *, timer)
PSYS_CALL4(2.5.63, int, timer_settime, int, timer, int, flags, const struct psys_itimerspec *, new_value, struct psys_itimerspec *, old_value)
PSYS_CALL2(2.5.63, int, timer_gettime, int, timer, struct psys_itimerspec *, value)
PSYS_CALL1(2.5.63, int, timer_getoverrun, int, timer)
PSYS_CALL1(2.5.63, int, timer_delete, int, timer)
PSYS_CALL2(2.6.25, int, timerfd_create, int, clock, int, flags)
PSYS_CALL4(2.6.25, int, timerfd_settime, int, fd, int, flags, const struct psys_itimerspec *, new_value, struct psys_itimerspec *, old_value)
PSYS_CALL2(2.6.25, int, timerfd_gettime, int, fd, struct psys_itimerspec *, value)
PSYS_CALL2(1.0, int, getitimer, int, which, struct psys_itimerval *, value)
PSYS_CALL3(1.0, int, setitimer, int, which, const struct psys_itimerval *, new_value, struct psys_itimerval *, old_value)
PSYS_CALL1(1.0, long, times, struct psys_tms *, times)
#ifdef PSYS_NR_alarm
PSYS_CALL1(1.0, unsigned, alarm, unsigned, seconds)
#endif
#if PSYS_KERNEL_LONG_BITS == 64
PSYS_CALL2(1.0, int, gettimeofday, struct psys_timeval *, time, void *, tz)
PSYS_CALL2(1.0, int, settimeofday, const struct psys_timeval *, time, const void *, tz)
#ifdef PSYS_NR_time
PSYS_CALL1(1.0, psys_kernel_long, time, psys_kernel_long *, seconds)
#endif
#ifdef PSYS_NR_stime
PSYS_CALL1(1.0, int, stime, const psys_kernel_long *, seconds)
#endif
#ifdef PSYS_NR_utime
PSYS_CALL2(1.0, int, utime, const char *, path, const psys_kernel_long *, times)
#endif
#ifdef PSYS_NR_utimes
PSYS_CALL2(2.2, int, utimes, const char *, path, const struct psys_timeval *, times)
PSYS_CALL3(2.6.16, int, futimesat, int, dirfd, const char *, path, const struct psys_timeval *, times)
#endif
#endif

/* waiting: futex(2), poll(2), select(2), epoll(7), eventfd(2) */
PSYS_CALL6(2.5.7, int, futex, int *, word, int, operation, int, value, const struct psys_timespec *, timeout, int *, word2, int, value3)
PSYS_CALL5(5.16, int, futex_waitv, struct psys_futex_waitv *, waiters, unsigned, count, unsigned, flags, const struct psys_timespec *, deadline, int, clock)
PSYS_CALL4(6.7, int, futex_wake, void *, word, unsigned long, mask, int, count, unsigned, flags)
PSYS_CALL6(6.7, int, futex_wait, void *, word, unsigned long, value, unsigned long, mask, unsigned, flags, const struct psys_timespec *, deadline, int, clock)
PSYS_CALL4(6.7, int, futex_requeue, struct psys_futex_waitv *, waiters, unsigned, flags, int, wake_count, int, requeue_count)
PSYS_CALL2(2.6.17, int, set_robust_list, struct psys_robust_list_head *, head, size_t, size)
PSYS_CALL3(2.6.17, int, get_robust_list, int, pid, struct psys_robust_list_head **, head, size_t *, size)
PSYS_CALL5(2.6.16, int, ppoll, struct psys_pollfd *, fds, unsigned, count, struct psys_timespec *, timeout, const struct psys_sigset *, mask, size_t, sigsetsize)
#ifdef PSYS_NR_poll
PSYS_CALL3(2.0.36, int, poll, struct psys_pollfd *, fds, unsigned, count, int, timeout_ms)
#endif
PSYS_CALL6(2.6.16, int, pselect6, int, count, unsigned long *, readable, unsigned long *, writable, unsigned long *, exceptional, struct psys_timespec *, timeout, const struct psys_sigset_argpack *, mask)
#if defined(PSYS_NR__newselect) || defined(PSYS_NR_select)
PSYS_IRREGULAR(1.0, int, select, int, count, unsigned long *, readable, unsigned long *, writable, unsigned long *, exceptional, struct psys_timeval *, timeout)
#endif
#ifdef PSYS_NR_epoll_create
PSYS_CALL1(2.5.44, int, epoll_create, int, size)
PSYS_CALL4(2.5.44, int, epoll_wait, int, epfd, struct psys_epoll_event *, events, int, count, int, timeout_ms)
PSYS_CALL1(2.6.22, int, eventfd, unsigned, value)
#endif
PSYS_CALL1(2.6.27, int, epoll_create1, int, flags)
PSYS_CALL4(2.5.44, int, epoll_ctl, int, epfd, int, operation, int, fd, struct psys_epoll_event *, event)
PSYS_CALL6(2.6.19, int, epoll_pwait, int, epfd, struct psys_epoll_event *, events, int, count, int, timeout_ms, const struct psys_sigset *, mask, size_t, sigsetsize)
PSYS_CALL6(5.11, int, epoll_pwait2, int, epfd, struct psys_epoll_event *, events, int, count, const struct psys_timespec *, timeout, const struct psys_sigset *, mask, size_t, sigsetsize)
PSYS_CALL2(2.6.27, int, eventfd2, unsigned, value, int, flags)

/* input and output in the background: io_uring(7), io_setup(2) */
PSYS_CALL2(5.1, int, io_uring_setup, unsigned, entries, struct psys_io_uring_params *, params)
PSYS_CALL6(5.1, int, io_uring_enter, int, fd, unsigned, to_submit, unsigned, min_complete, unsigned, flags, const void *, arg, size_t, size)
PSYS_CALL4(5.1, int, io_uring_register, int, fd, unsigned, operation, void *, arg, unsigned, count)
PSYS_CALL2(2.5, int, io_setup, unsigned, count, psys_aio_context *, context)
PSYS_CALL1(2.5, int, io_destroy, psys_aio_context, context)
PSYS_CALL3(2.5, int, io_submit, psys_aio_context, context, long, count, struct psys_iocb **, iocbs)
PSYS_CALL3(2.5, int, io_cancel, psys_aio_context, context, struct psys_iocb *, iocb, struct psys_io_event *, result)
#ifdef PSYS_NR_io_getevents
PSYS_CALL5(2.5, int, io_getevents, psys_aio_context, context, long, min_count, long, count, struct psys_io_event *, events, struct psys_timespec *, timeout)
#endif
PSYS_CALL6(4.18, int, io_pgetevents, psys_aio_context, context, long, min_count, long, count, struct psys_io_event *, events, struct psys_timespec *, timeout, const struct psys_aio_sigset *, mask)

/* sockets: socket(7), send(2), recv(2); addresses are bytes */
PSYS_CALL3(2.0, int, socket, int, domain, int, type, int, protocol)
PSYS_CALL4(1.0, int, socketpair, int, domain, int, type, int, protocol, int *, fds)
PSYS_CALL3(2.0, int, bind, int, fd, const void *, addr, int, addr_length)
PSYS_CALL3(2.0, int, connect, int, fd, const void *, addr, int, addr_length)
PSYS_CALL2(2.0, int, listen, int, fd, int, backlog)
PSYS_IRREGULAR(2.0, int, accept, int, fd, void *, addr, int *, addr_length)
PSYS_CALL4(2.6.28, int, accept4, int, fd, void *, addr, int *, addr_length, int, flags)
PSYS_CALL3(2.0, int, getsockname, int, fd, void *, addr, int *, addr_length)
PSYS_CALL3(2.0, int, getpeername, int, fd, void *, addr, int *, addr_length)
PSYS_CALL5(2.0, int, getsockopt, int, fd, int, level, int, option, void *, value, int *, length)
PSYS_CALL5(2.0, int, setsockopt, int, fd, int, level, int, option, const void *, value, int, length)
PSYS_CALL2(2.0, int, shutdown, int, fd, int, how)
PSYS_CALL6(2.0, long, sendto, int, fd, const void *, buf, size_t, length, int, flags, const void *, addr, int, addr_length)
PSYS_CALL6(2.0, long, recvfrom, int, fd, void *, buf, size_t, length, int, flags, void *, addr, int *, addr_length)
#ifdef PSYS_NR_send
PSYS_CALL4(2.0, long, send, int, fd, const void *, buf, size_t, length, int, flags)
PSYS_CALL4(2.0, long, recv, int, fd, void *, buf, size_t, length, int, flags)
#endif
PSYS_CALL3(1.0, long, sendmsg, int, fd, const struct psys_msghdr *, message, int, flags)
PSYS_CALL3(1.0, long, recvmsg, int, fd, struct psys_msghdr *, message, int, flags)
PSYS_CALL4(3.0, int, sendmmsg, int, fd, struct psys_mmsghdr *, messages, unsigned, count, int, flags)
PSYS_CALL5(2.6.33, int, recvmmsg, int, fd, struct psys_mmsghdr *, messages, unsigned, count, int, flags, struct psys_timespec *, timeout)

/* message queues, semaphores, shared memory: mq_overview(7), sysvipc(7) */
PSYS_CALL4(2.6.6, int, mq_open, const char *, name, int, flags, unsigned, mode, struct psys_mq_attr *, attr)
PSYS_CALL1(2.6.6, int, mq_unlink, const char *, name)
PSYS_CALL5(2.6.6, int, mq_timedsend, int, queue, const char *, message, size_t, length, unsigned, priority, const struct psys_timespec *, deadline)
PSYS_CALL5(2.6.6, long, mq_timedreceive, int, queue, char *, message, size_t, length, unsigned *, priority, const struct psys_timespec *, deadline)
PSYS_CALL2(2.6.6, int, mq_notify, int, queue, const struct psys_sigevent *, event)
PSYS_CALL3(2.6.6, int, mq_getsetattr, int, queue, const struct psys_mq_attr *, new_attr, struct psys_mq_attr *, old_attr)
PSYS_CALL2(2.0, int, msgget, int, key, int, flags)
PSYS_CALL4(2.0, int, msgsnd, int, queue, const void *, message, size_t, size, int, flags)
PSYS_CALL5(2.0, long, msgrcv, int, queue, void *, message, size_t, size, long, type, int, flags)
PSYS_IRREGULAR(2.0, int, msgctl, int, queue, int, cmd, void *, buf)
PSYS_CALL3(2.0, int, semget, int, key, int, count, int, flags)
PSYS_IRREGULAR(2.0, int, semop, int, set, struct psys_sembuf *, operations, size_t, count)
PSYS_CALL4(2.5.52, int, semtimedop, int, set, struct psys_sembuf *, operations, size_t, count, const struct psys_timespec *, timeout)
PSYS_IRREGULAR(2.0, int, semctl, int, set, int, index, int, cmd, union psys_semun, arg)
PSYS_CALL3(2.0, int, shmget, int, key, size_t, size, int, flags)
PSYS_CALL3(2.0, void *, shmat, int, segment, const void *, addr, int, flags)
PSYS_CALL1(2.0, int, shmdt, const void *, addr)
PSYS_IRREGULAR(2.0, int, shmctl, int, segment, int, cmd, void *, buf)

/* programs and children: fork(2), clone(2), execve(2), execveat(2), wait(2), ptrace(2).
 * clone and clone3 beside a shared memory: clone.h */
PSYS_IRREGULAR(1.0, int, fork, void)
PSYS_IRREGULAR(1.0, int, clone, unsigned long, flags, void *, stack, int *, parent_tid, int *, child_tid, void *, tls)
PSYS_CALL2(5.3, int, clone3, struct psys_clone_args *, args, size_t, size)
PSYS_CALL3(1.0, int, execve, const char *, path, char *const *, argv, char *const *, envp)
PSYS_CALL5(3.19, int, execveat, int, dirfd, const char *, path, char *const *, argv, char *const *, envp, int, flags)
PSYS_IRREGULAR(1.0, void, exit, int, status)
PSYS_IRREGULAR(2.5.35, void, exit_group, int, status)
PSYS_IRREGULAR(1.0, int, wait4, int, pid, int *, status, int, options, struct psys_rusage *, usage)
PSYS_CALL5(2.6.9, int, waitid, int, which, int, id, struct psys_siginfo *, info, int, options, struct psys_rusage *, usage)
#ifdef PSYS_NR_waitpid
PSYS_CALL3(1.0, int, waitpid, int, pid, int *, status, int, options)
#endif
PSYS_CALL1(2.5.48, int, set_tid_address, int *, tid)
PSYS_CALL4(4.18, int, rseq, void *, rseq, unsigned, length, int, flags, unsigned, signature)
PSYS_CALL0(7.0, int, rseq_slice_yield)
PSYS_CALL4(1.0, long, ptrace, long, request, int, pid, void *, addr, void *, data)

/* restrictions: seccomp(2), landlock(7), and the modules behind lsm_list_modules(2) */
PSYS_CALL3(3.17, int, seccomp, unsigned, operation, unsigned long, flags, void *, args)
PSYS_CALL3(5.13, int, landlock_create_ruleset, const struct psys_landlock_ruleset_attr *, attr, size_t, size, unsigned, flags)
PSYS_CALL4(5.13, int, landlock_add_rule, int, ruleset, int, type, const void *, attr, unsigned, flags)
PSYS_CALL2(5.13, int, landlock_restrict_self, int, ruleset, unsigned, flags)
PSYS_CALL4(6.8, int, lsm_get_self_attr, unsigned, attr, struct psys_lsm_ctx *, context, unsigned *, size, unsigned, flags)
PSYS_CALL4(6.8, int, lsm_set_self_attr, unsigned, attr, struct psys_lsm_ctx *, context, unsigned, size, unsigned, flags)
PSYS_CALL3(6.8, int, lsm_list_modules, uint64_t *, ids, unsigned *, size, unsigned, flags)

/* keys: keyrings(7) */
PSYS_CALL5(2.6.10, int, add_key, const char *, type, const char *, description, const void *, payload, size_t, length, int, keyring)
PSYS_CALL4(2.6.10, int, request_key, const char *, type, const char *, description, const char *, callout_info, int, keyring)
PSYS_CALL5(2.6.10, long, keyctl, int, cmd, unsigned long, a2, unsigned long, a3, unsigned long, a4, unsigned long, a5)

/* watching and extending the kernel: bpf(2), perf_event_open(2), syslog(2), init_module(2) */
PSYS_CALL5(3.18, int, bpf, int, cmd, void *, attr, unsigned, size, void *, common_attr, unsigned, common_size)
PSYS_CALL5(2.6.31, int, perf_event_open, void *, attr, int, pid, int, cpu, int, group_fd, unsigned long, flags)
PSYS_CALL3(1.0, int, syslog, int, type, char *, buf, int, length)
PSYS_CALL1(1.0, int, sysinfo, struct psys_sysinfo *, info)
PSYS_CALL1(1.0, int, acct, const char *, path)
#ifdef PSYS_NR_uselib
PSYS_CALL1(1.0, int, uselib, const char *, path)
#endif
PSYS_CALL3(1.0, int, init_module, const void *, image, size_t, length, const char *, params)
PSYS_CALL3(3.8, int, finit_module, int, fd, const char *, params, int, flags)
PSYS_CALL2(1.0, int, delete_module, const char *, name, unsigned, flags)

/* the machine: reboot(2), kexec_load(2), vhangup(2) */
PSYS_CALL4(1.0, int, reboot, int, magic, int, magic2, unsigned, command, void *, arg)
PSYS_CALL4(2.6.13, int, kexec_load, unsigned long, entry, size_t, count, struct psys_kexec_segment *, segments, unsigned long, flags)
#ifdef PSYS_NR_kexec_file_load
PSYS_CALL5(3.17, int, kexec_file_load, int, kernel_fd, int, initrd_fd, size_t, length, const char *, command_line, unsigned long, flags)
#endif
PSYS_CALL0(1.0, int, vhangup)

/* x86 */
#ifdef PSYS_NR_arch_prctl
PSYS_CALL2(2.6, int, arch_prctl, int, option, unsigned long, arg)
PSYS_CALL3(1.0, int, ioperm, unsigned long, first, unsigned long, count, int, on)
PSYS_CALL1(1.0, int, iopl, int, level)
PSYS_CALL3(1.0, int, modify_ldt, int, function, void *, buf, unsigned long, size)
#endif
#ifdef PSYS_NR_vm86old
PSYS_CALL2(2.0.28, int, vm86, unsigned long, function, void *, buf)
PSYS_CALL1(1.0, int, vm86old, void *, buf)
#endif
#ifdef PSYS_NR_set_thread_area /* a structure on x86, the pointer itself on mips and m68k */
PSYS_CALL1(2.5.29, int, set_thread_area, void *, area)
#endif
#ifdef PSYS_NR_get_thread_area
PSYS_CALL1(2.5.29, long, get_thread_area, void *, area)
#endif

/* arm: the group of its own numbers */
#ifdef PSYS_NR_arm_cacheflush
PSYS_CALL3(2.6, int, arm_cacheflush, void *, start, void *, end, int, flags)
PSYS_CALL1(2.6, int, arm_set_tls, void *, tls)
PSYS_CALL0(4.15, void *, arm_get_tls)
#endif

/* riscv */
#ifdef PSYS_NR_riscv_hwprobe
PSYS_CALL3(4.15, int, riscv_flush_icache, void *, start, void *, end, unsigned long, flags)
PSYS_CALL5(6.4, int, riscv_hwprobe, struct psys_riscv_hwprobe *, pairs, size_t, pair_count, size_t, cpu_set_size, unsigned long *, cpus, unsigned, flags)
#endif

/* mips */
#ifdef PSYS_NR_sysmips
PSYS_CALL3(1.2, int, cacheflush, void *, addr, size_t, length, int, cache)
PSYS_CALL3(1.2, int, cachectl, void *, addr, size_t, length, int, operation)
PSYS_CALL3(2.6, int, sysmips, long, cmd, long, arg1, long, arg2)
#endif

/* m68k */
#ifdef PSYS_NR_atomic_barrier
PSYS_CALL4(1.2, int, cacheflush, void *, addr, int, scope, int, cache, size_t, length)
PSYS_CALL0(2.6.34, int, atomic_barrier)
#endif
#ifdef PSYS_NR_getpagesize /* and sparc */
PSYS_CALL0(2.0, int, getpagesize)
#endif

/* s390x */
#ifdef PSYS_NR_s390_sthyi
PSYS_CALL2(4.12, int, s390_guarded_storage, int, command, void *, control_block)
PSYS_CALL3(3.19, int, s390_pci_mmio_read, unsigned long, address, void *, buf, size_t, length)
PSYS_CALL3(3.19, int, s390_pci_mmio_write, unsigned long, address, const void *, buf, size_t, length)
PSYS_CALL2(3.7, int, s390_runtime_instr, int, command, int, signal)
PSYS_CALL4(4.15, int, s390_sthyi, unsigned long, function, void *, buf, uint64_t *, return_code, unsigned long, flags)
#endif

/* powerpc */
#ifdef PSYS_NR_rtas
PSYS_CALL1(2.6.2, int, rtas, void *, args)
PSYS_CALL3(2.6.25, int, subpage_prot, unsigned long, addr, size_t, length, unsigned *, map)
PSYS_CALL0(4.1, int, switch_endian)
PSYS_CALL3(2.6.3, long, swapcontext, void *, old_context, void *, new_context, long, size)
PSYS_CALL4(2.6.16, int, spu_create, const char *, path, unsigned, flags, unsigned, mode, int, neighbour_fd)
PSYS_CALL3(2.6.16, int, spu_run, int, fd, unsigned *, npc, unsigned *, event)
#endif

/* sparc */
#ifdef PSYS_NR_kern_features
PSYS_CALL0(3.7, long, kern_features)
PSYS_CALL1(2.2, int, memory_ordering, unsigned long, model)
PSYS_CALL5(2.2, int, utrap_install, unsigned long, type, void *, new_precise, void *, new_deferred, void **, old_precise, void **, old_deferred)
PSYS_CALL2(2.2, int, getdomainname, char *, name, int, length)
#endif

/* the PCI bus, as seen by some machines' display servers: arm, powerpc, sparc */
#ifdef PSYS_NR_pciconfig_read
PSYS_CALL5(2.0.26, int, pciconfig_read, unsigned long, bus, unsigned long, device, unsigned long, offset, unsigned long, length, void *, buf)
PSYS_CALL5(2.0.26, int, pciconfig_write, unsigned long, bus, unsigned long, device, unsigned long, offset, unsigned long, length, const void *, buf)
#endif
#ifdef PSYS_NR_pciconfig_iobase
PSYS_CALL3(2.2.15, long, pciconfig_iobase, long, which, unsigned long, bus, unsigned long, device)
#endif
