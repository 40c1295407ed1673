/*
 * The system calls, a line each: since which kernel version, the type of the
 * result, the kernel's name, then type and name of each argument in the
 * kernel's order. Each becomes a function psys_<name>.
 *
 * Includers define PSYS_CALL0 to PSYS_CALL6; there is no include guard. Calls
 * that differ by architecture in more than their number stand in irregular.h.
 */

/* descriptors: read(2), write(2), close(2), close_range(2), dup(2), pipe(2), fcntl(2) */
PSYS_CALL3(1.0, long, read, int, fd, void *, buf, size_t, count)
PSYS_CALL3(1.0, long, write, int, fd, const void *, buf, size_t, count)
PSYS_CALL1(1.0, int, close, int, fd)
PSYS_CALL3(5.9, int, close_range, unsigned, first, unsigned, last, unsigned, flags)
PSYS_CALL1(1.0, int, dup, int, oldfd)
PSYS_CALL3(2.6.27, int, dup3, int, oldfd, int, newfd, int, flags)
PSYS_CALL2(2.6.27, int, pipe2, int *, fds, int, flags)
PSYS_CALL3(1.0, long, fcntl, int, fd, int, cmd, unsigned long, arg)
PSYS_CALL3(1.0, long, ioctl, int, fd, unsigned long, request, unsigned long, arg)
PSYS_CALL2(3.17, int, memfd_create, const char *, name, unsigned, flags)

/* files: openat(2), openat2(2), statx(2), faccessat2(2), readlinkat(2), ... */
PSYS_CALL4(2.6.16, int, openat, int, dirfd, const char *, path, int, flags, unsigned, mode)
PSYS_CALL4(5.6, int, openat2, int, dirfd, const char *, path, const struct psys_open_how *, how, size_t, size)
PSYS_CALL5(4.11, int, statx, int, dirfd, const char *, path, int, flags, unsigned, mask, struct psys_statx *, statx)
PSYS_CALL4(5.8, int, faccessat2, int, dirfd, const char *, path, int, mode, int, flags)
PSYS_CALL4(2.6.16, int, readlinkat, int, dirfd, const char *, path, char *, buf, size_t, size)
PSYS_CALL3(2.6.16, int, unlinkat, int, dirfd, const char *, path, int, flags)
PSYS_CALL3(2.6.16, int, symlinkat, const char *, target, int, dirfd, const char *, path)
PSYS_CALL4(2.6.16, int, mknodat, int, dirfd, const char *, path, unsigned, mode, unsigned, device)
PSYS_CALL3(2.6.16, int, mkdirat, int, dirfd, const char *, path, unsigned, mode)
PSYS_CALL3(2.4, long, getdents64, int, fd, void *, records, size_t, size)

/* a process's place: chdir(2), chroot(2), umask(2), mount(2), pivot_root(2) */
PSYS_CALL1(1.0, int, chdir, const char *, path)
PSYS_CALL1(1.0, int, fchdir, int, fd)
PSYS_CALL1(1.0, int, chroot, const char *, path)
PSYS_CALL1(1.0, int, umask, unsigned, mask)
PSYS_CALL5(1.0, int, mount, const char *, source, const char *, target, const char *, type, unsigned long, flags, const void *, data)
PSYS_CALL2(2.1.116, int, umount2, const char *, target, int, flags)
PSYS_CALL2(2.3.41, int, pivot_root, const char *, new_root, const char *, put_old)
PSYS_CALL2(1.0, int, sethostname, const char *, name, size_t, length)
PSYS_CALL1(2.6.16, int, unshare, unsigned long, flags)
PSYS_CALL2(3.0, int, setns, int, fd, int, type)

/* memory: mmap(2) is irregular; munmap(2), mprotect(2), mremap(2), madvise(2) */
PSYS_CALL2(1.0, int, munmap, void *, addr, size_t, length)
PSYS_CALL3(1.0, int, mprotect, void *, addr, size_t, length, int, protection)
PSYS_CALL5(2.0, void *, mremap, void *, old_addr, size_t, old_length, size_t, new_length, int, flags, void *, new_addr)
PSYS_CALL3(2.4, int, madvise, void *, addr, size_t, length, int, advice)

/* identity: getpid(2), setresuid(2), setpgid(2), setsid(2), prctl(2), capset(2) */
PSYS_CALL0(1.0, int, getpid)
PSYS_CALL0(1.0, int, getppid)
PSYS_CALL0(2.4.11, int, gettid)
PSYS_CALL0(1.0, unsigned, getuid)
PSYS_CALL0(1.0, unsigned, geteuid)
PSYS_CALL0(1.0, unsigned, getgid)
PSYS_CALL0(1.0, unsigned, getegid)
PSYS_CALL3(2.1.44, int, setresuid, unsigned, ruid, unsigned, euid, unsigned, suid)
PSYS_CALL3(2.1.44, int, setresgid, unsigned, rgid, unsigned, egid, unsigned, sgid)
PSYS_CALL2(1.0, int, setgroups, size_t, count, const unsigned *, groups)
PSYS_CALL2(1.0, int, getgroups, int, count, unsigned *, groups)
PSYS_CALL2(1.0, int, setpgid, int, pid, int, pgid)
PSYS_CALL1(1.0, int, getpgid, int, pid)
PSYS_CALL0(1.0, int, setsid)
PSYS_CALL1(1.3.44, int, getsid, int, pid)
PSYS_CALL5(2.1.57, int, prctl, int, option, unsigned long, a2, unsigned long, a3, unsigned long, a4, unsigned long, a5)
PSYS_CALL2(2.1.100, int, capget, struct psys_cap_user_header *, header, struct psys_cap_user_data *, data)
PSYS_CALL2(2.1.100, int, capset, struct psys_cap_user_header *, header, const struct psys_cap_user_data *, data)
PSYS_CALL1(1.2, int, personality, unsigned long, persona)
PSYS_CALL1(1.0, int, uname, struct psys_utsname *, name)
PSYS_CALL3(3.17, long, getrandom, void *, buf, size_t, count, unsigned, flags)

/* limits and scheduling: getrlimit(2), getpriority(2), sched(7), ioprio_set(2).
 * getpriority answers 40 to 1 for the nice values -20 to 19. */
PSYS_CALL4(2.6.36, int, prlimit64, int, pid, int, resource, const struct psys_rlimit64 *, new_limit, struct psys_rlimit64 *, old_limit)
PSYS_CALL2(1.0, int, getpriority, int, which, int, who)
PSYS_CALL3(1.0, int, setpriority, int, which, int, who, int, nice)
PSYS_CALL3(2.6.13, int, ioprio_set, int, which, int, who, int, ioprio)
PSYS_CALL2(2.6.13, int, ioprio_get, int, which, int, who)
PSYS_CALL3(2.0, int, sched_setscheduler, int, pid, int, policy, const struct psys_sched_param *, param)
PSYS_CALL1(2.0, int, sched_getscheduler, int, pid)
PSYS_CALL2(2.0, int, sched_setparam, int, pid, const struct psys_sched_param *, param)
PSYS_CALL2(2.0, int, sched_getparam, int, pid, struct psys_sched_param *, param)
PSYS_CALL3(2.5.8, int, sched_setaffinity, int, pid, size_t, size, const unsigned long *, mask)
PSYS_CALL3(2.5.8, int, sched_getaffinity, int, pid, size_t, size, unsigned long *, mask)
PSYS_CALL0(1.0, int, sched_yield)

/* signals: rt_sigprocmask(2), sigaction(2), kill(2), pidfd_send_signal(2) */
PSYS_CALL4(2.2, int, rt_sigprocmask, int, how, const struct psys_sigset *, set, struct psys_sigset *, oldset, size_t, sigsetsize)
PSYS_CALL4(2.2, int, rt_sigaction, int, signal, const struct psys_sigaction *, action, struct psys_sigaction *, old_action, size_t, sigsetsize)
PSYS_CALL4(2.2, int, rt_sigtimedwait, const struct psys_sigset *, set, struct psys_siginfo *, info, const struct psys_timespec *, timeout, size_t, sigsetsize)
PSYS_CALL2(1.0, int, kill, int, pid, int, signal)
PSYS_CALL3(2.5.75, int, tgkill, int, tgid, int, tid, int, signal)
PSYS_CALL2(5.3, int, pidfd_open, int, pid, unsigned, flags)
PSYS_CALL4(5.1, int, pidfd_send_signal, int, pidfd, int, signal, struct psys_siginfo *, info, unsigned, flags)
PSYS_CALL3(5.6, int, pidfd_getfd, int, pidfd, int, target_fd, unsigned, flags)

/* time and waiting: futex(2), nanosleep(2), poll(2), epoll(7), eventfd(2), ... */
PSYS_CALL6(2.5.7, int, futex, int *, word, int, operation, int, value, const struct psys_timespec *, timeout, int *, word2, int, value3)
PSYS_CALL2(2.5.63, int, clock_gettime, int, clock, struct psys_timespec *, time)
PSYS_CALL4(2.5.63, int, clock_nanosleep, int, clock, int, flags, const struct psys_timespec *, request, struct psys_timespec *, remain)
PSYS_CALL5(2.6.16, int, ppoll, struct psys_pollfd *, fds, unsigned, count, struct psys_timespec *, timeout, const struct psys_sigset *, mask, size_t, sigsetsize)
PSYS_CALL1(2.6.27, int, epoll_create1, int, flags)
PSYS_CALL4(2.5.44, int, epoll_ctl, int, epfd, int, operation, int, fd, struct psys_epoll_event *, event)
PSYS_CALL6(2.6.19, int, epoll_pwait, int, epfd, struct psys_epoll_event *, events, int, count, int, timeout_ms, const struct psys_sigset *, mask, size_t, sigsetsize)
PSYS_CALL2(2.6.27, int, eventfd2, unsigned, value, int, flags)
PSYS_CALL4(2.6.27, int, signalfd4, int, fd, const struct psys_sigset *, mask, size_t, sigsetsize, int, flags)
PSYS_CALL2(2.6.25, int, timerfd_create, int, clock, int, flags)
PSYS_CALL4(2.6.25, int, timerfd_settime, int, fd, int, flags, const struct psys_itimerspec *, new_value, struct psys_itimerspec *, old_value)

/* sockets: socketpair(2), send(2), recv(2) */
PSYS_CALL4(1.0, int, socketpair, int, domain, int, type, int, protocol, int *, fds)
PSYS_CALL3(1.0, long, sendmsg, int, fd, const struct psys_msghdr *, message, int, flags)
PSYS_CALL3(1.0, long, recvmsg, int, fd, struct psys_msghdr *, message, int, flags)

/* programs and children: execve(2), execveat(2), wait(2); clone(2) is irregular */
PSYS_CALL3(1.0, int, execve, const char *, path, char *const *, argv, char *const *, envp)
PSYS_CALL5(3.19, int, execveat, int, dirfd, const char *, path, char *const *, argv, char *const *, envp, int, flags)
#ifdef PSYS_NR_wait4
PSYS_CALL4(1.0, int, wait4, int, pid, int *, status, int, options, struct psys_rusage *, usage)
#endif
PSYS_CALL5(2.6.9, int, waitid, int, which, int, id, struct psys_siginfo *, info, int, options, struct psys_rusage *, usage)
PSYS_CALL2(5.3, int, clone3, struct psys_clone_args *, args, size_t, size)

/* restrictions: seccomp(2), landlock(7) */
PSYS_CALL3(3.17, int, seccomp, unsigned, operation, unsigned long, flags, void *, args)
PSYS_CALL3(5.13, int, landlock_create_ruleset, const struct psys_landlock_ruleset_attr *, attr, size_t, size, unsigned, flags)
PSYS_CALL4(5.13, int, landlock_add_rule, int, ruleset, int, type, const void *, attr, unsigned, flags)
PSYS_CALL2(5.13, int, landlock_restrict_self, int, ruleset, unsigned, flags)

/* the machine: reboot(2) */
PSYS_CALL4(1.0, int, reboot, int, magic, int, magic2, unsigned, command, void *, arg)
