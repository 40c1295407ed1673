/* SPDX-License-Identifier: MIT */
/*
 * For ASPAWN_SYSCALL each call in include/syscall/table.h has a class:
 *
 *   SHARED       The child makes the call while it shares the caller's memory. The call changes the
 *                child alone, or what a call of the caller would change as well. It does not store
 *                to memory, map it, or register it with the kernel. It makes no process and no
 *                thread, and changes no user, group or capability.
 *   BY_ARGUMENT  The call is SHARED with the arguments of the list at the end, otherwise IMAGE.
 *   IMAGE        The call is made by the image, or in a copy of the memory: [copy]. A call that is
 *                not listed has this class too.
 *   REFUSED      No child makes the call: it ends or replaces the child, makes another, takes a
 *                descriptor or the signal mask from the library, or the exec undoes it.
 *
 * Includers define these macros, and ARGUMENT; there is no include guard. IMAGE names may be
 * missing on an architecture, others are within #ifdef. A check compares this file with table.h.
 */
/* clang-format off */

/* descriptors */
SHARED(dup) SHARED(flock) SHARED(fsync) SHARED(fdatasync) SHARED(syncfs) SHARED(sync) SHARED(tee)
SHARED(memfd_create)
BY_ARGUMENT(fcntl) BY_ARGUMENT(ioctl)
/* a write may go to oom_score_adj, which belongs to the memory */
IMAGE(write) IMAGE(writev) IMAGE(pwrite64) IMAGE(pwritev) IMAGE(pwritev2)
IMAGE(read) IMAGE(readv) IMAGE(pread64) IMAGE(preadv) IMAGE(preadv2)
IMAGE(lseek) IMAGE(pipe) IMAGE(pipe2) IMAGE(sync_file_range) IMAGE(fadvise64) IMAGE(readahead)
IMAGE(fallocate) IMAGE(sendfile) IMAGE(copy_file_range) IMAGE(splice)
IMAGE(vmsplice) IMAGE(cachestat) IMAGE(memfd_secret)
REFUSED(close) REFUSED(close_range) REFUSED(dup3)
#ifdef PSYS_NR_dup2
REFUSED(dup2)
#endif

/* files */
SHARED(openat) SHARED(openat2) SHARED(faccessat) SHARED(faccessat2) SHARED(unlinkat)
SHARED(linkat) SHARED(symlinkat) SHARED(renameat2) SHARED(mknodat) SHARED(mkdirat) SHARED(fchmod)
SHARED(fchmodat) SHARED(fchmodat2) SHARED(fchown) SHARED(fchownat) SHARED(utimensat)
SHARED(file_setattr)
#ifdef PSYS_NR_open
SHARED(open)
#endif
#ifdef PSYS_NR_renameat
SHARED(renameat)
#endif
IMAGE(name_to_handle_at) IMAGE(open_by_handle_at) IMAGE(statx) IMAGE(stat) IMAGE(lstat)
IMAGE(fstat) IMAGE(fstatat) IMAGE(statfs) IMAGE(fstatfs) IMAGE(readlinkat) IMAGE(getdents64)
IMAGE(truncate) IMAGE(ftruncate) IMAGE(file_getattr)

/* files by path without a directory descriptor */
#ifdef PSYS_NR_access
SHARED(access) SHARED(chmod) SHARED(chown) SHARED(lchown) SHARED(creat) SHARED(link)
SHARED(symlink) SHARED(unlink) SHARED(rename) SHARED(mkdir) SHARED(rmdir) SHARED(mknod)
#endif
IMAGE(readlink) IMAGE(getdents)

/* extended attributes */
SHARED(setxattr) SHARED(lsetxattr) SHARED(fsetxattr) SHARED(removexattr) SHARED(lremovexattr)
SHARED(fremovexattr) SHARED(removexattrat)
IMAGE(setxattrat) IMAGE(getxattr) IMAGE(lgetxattr) IMAGE(fgetxattr) IMAGE(getxattrat)
IMAGE(listxattr) IMAGE(llistxattr) IMAGE(flistxattr) IMAGE(listxattrat)

/* changes to files */
SHARED(inotify_init1) SHARED(inotify_add_watch) SHARED(inotify_rm_watch)
IMAGE(inotify_init) IMAGE(fanotify_init) IMAGE(fanotify_mark)

/* a process's place */
SHARED(chdir) SHARED(fchdir) SHARED(chroot) SHARED(fchroot) SHARED(umask)
IMAGE(getcwd)

/* mounts and namespaces */
SHARED(mount) SHARED(umount2) SHARED(pivot_root) SHARED(fsopen) SHARED(fsconfig) SHARED(fsmount)
SHARED(fspick) SHARED(open_tree) SHARED(open_tree_attr) SHARED(move_mount) SHARED(mount_setattr)
SHARED(sethostname) SHARED(setdomainname)
IMAGE(statmount) IMAGE(listmount) IMAGE(listns) IMAGE(unshare) IMAGE(setns) IMAGE(quotactl)
IMAGE(quotactl_fd) IMAGE(swapon) IMAGE(swapoff) IMAGE(sysfs) IMAGE(ustat)

/* memory */
IMAGE(mmap) IMAGE(munmap) IMAGE(mprotect) IMAGE(mremap) IMAGE(madvise) IMAGE(process_madvise)
IMAGE(process_mrelease) IMAGE(brk) IMAGE(msync) IMAGE(mincore) IMAGE(mlock) IMAGE(mlock2)
IMAGE(munlock) IMAGE(mlockall) IMAGE(munlockall) IMAGE(mseal) IMAGE(remap_file_pages)
IMAGE(map_shadow_stack) IMAGE(pkey_alloc) IMAGE(pkey_free) IMAGE(pkey_mprotect)
IMAGE(process_vm_readv) IMAGE(process_vm_writev) IMAGE(userfaultfd) IMAGE(membarrier)

/* where memory is */
SHARED(set_mempolicy)
IMAGE(mbind) IMAGE(get_mempolicy) IMAGE(set_mempolicy_home_node) IMAGE(migrate_pages)
IMAGE(move_pages)

/* identity */
SHARED(getpid) SHARED(getppid) SHARED(gettid) SHARED(getuid) SHARED(geteuid) SHARED(getgid)
SHARED(getegid) SHARED(setpgid) SHARED(getpgid) SHARED(setsid) SHARED(getsid) SHARED(personality)
#ifdef PSYS_NR_getpgrp
SHARED(getpgrp)
#endif
BY_ARGUMENT(prctl)
IMAGE(getresuid) IMAGE(getresgid) IMAGE(setuid) IMAGE(setgid) IMAGE(setreuid) IMAGE(setregid)
IMAGE(setresuid) IMAGE(setresgid) IMAGE(setfsuid) IMAGE(setfsgid) IMAGE(setgroups)
IMAGE(getgroups) IMAGE(capget) IMAGE(capset) IMAGE(uname) IMAGE(getrandom) IMAGE(kcmp)

/* limits and scheduling */
SHARED(getpriority) SHARED(setpriority) SHARED(ioprio_set) SHARED(ioprio_get)
SHARED(sched_setscheduler) SHARED(sched_getscheduler) SHARED(sched_setparam) SHARED(sched_setattr)
SHARED(sched_setaffinity) SHARED(sched_get_priority_max) SHARED(sched_get_priority_min)
SHARED(sched_yield)
#ifdef PSYS_NR_setrlimit
SHARED(setrlimit)
#endif
#ifdef PSYS_NR_nice
SHARED(nice)
#endif
IMAGE(getrlimit) IMAGE(prlimit64) IMAGE(getrusage) IMAGE(sched_getparam) IMAGE(sched_getattr)
IMAGE(sched_getaffinity) IMAGE(sched_rr_get_interval) IMAGE(getcpu)

/* signals */
SHARED(pidfd_open) SHARED(pidfd_getfd) SHARED(signalfd4)
IMAGE(rt_sigaction) IMAGE(rt_sigpending) IMAGE(rt_sigsuspend) IMAGE(rt_sigtimedwait)
IMAGE(rt_sigqueueinfo) IMAGE(rt_tgsigqueueinfo) IMAGE(sigaltstack) IMAGE(kill) IMAGE(tkill)
IMAGE(tgkill) IMAGE(pidfd_send_signal) IMAGE(signalfd) IMAGE(pause)
REFUSED(rt_sigprocmask)

/* time */
SHARED(timerfd_create)
#ifdef PSYS_NR_alarm
SHARED(alarm)
#endif
IMAGE(clock_gettime) IMAGE(clock_settime) IMAGE(clock_getres) IMAGE(clock_adjtime)
IMAGE(clock_nanosleep) IMAGE(nanosleep) IMAGE(adjtimex) IMAGE(timer_create) IMAGE(timer_settime)
IMAGE(timer_gettime) IMAGE(timer_getoverrun) IMAGE(timer_delete) IMAGE(timerfd_settime)
IMAGE(timerfd_gettime) IMAGE(getitimer) IMAGE(setitimer) IMAGE(times) IMAGE(gettimeofday)
IMAGE(settimeofday) IMAGE(time) IMAGE(stime) IMAGE(utime) IMAGE(utimes) IMAGE(futimesat)

/* waiting */
SHARED(epoll_create1) SHARED(eventfd2)
IMAGE(futex) IMAGE(futex_waitv) IMAGE(futex_wake) IMAGE(futex_wait) IMAGE(futex_requeue)
IMAGE(get_robust_list) IMAGE(ppoll) IMAGE(poll) IMAGE(pselect6) IMAGE(select) IMAGE(epoll_create)
IMAGE(epoll_wait) IMAGE(eventfd) IMAGE(epoll_ctl) IMAGE(epoll_pwait) IMAGE(epoll_pwait2)
REFUSED(set_robust_list)

/* asynchronous input and output */
IMAGE(io_uring_setup) IMAGE(io_uring_enter) IMAGE(io_uring_register) IMAGE(io_setup)
IMAGE(io_destroy) IMAGE(io_submit) IMAGE(io_cancel) IMAGE(io_getevents) IMAGE(io_pgetevents)

/* sockets */
SHARED(socket) SHARED(bind) SHARED(connect) SHARED(listen) SHARED(shutdown)
IMAGE(socketpair) IMAGE(accept) IMAGE(accept4) IMAGE(getsockname) IMAGE(getpeername)
IMAGE(getsockopt) IMAGE(setsockopt) IMAGE(sendto) IMAGE(recvfrom) IMAGE(send) IMAGE(recv) IMAGE(sendmsg) IMAGE(recvmsg)
IMAGE(sendmmsg) IMAGE(recvmmsg)

/* message queues, semaphores, shared memory */
IMAGE(mq_open) IMAGE(mq_unlink) IMAGE(mq_timedsend) IMAGE(mq_timedreceive) IMAGE(mq_notify)
IMAGE(mq_getsetattr) IMAGE(msgget) IMAGE(msgsnd) IMAGE(msgrcv) IMAGE(msgctl) IMAGE(semget)
IMAGE(semop) IMAGE(semtimedop) IMAGE(semctl) IMAGE(shmget) IMAGE(shmat) IMAGE(shmdt) IMAGE(shmctl)

/* programs and children */
BY_ARGUMENT(ptrace)
IMAGE(wait4) IMAGE(waitid) IMAGE(waitpid) IMAGE(rseq_slice_yield)
REFUSED(clone) REFUSED(clone3) REFUSED(execve) REFUSED(execveat) REFUSED(exit) REFUSED(exit_group)
REFUSED(set_tid_address) REFUSED(rseq)
#ifdef PSYS_NR_fork
REFUSED(fork)
#endif

/* restrictions */
SHARED(landlock_create_ruleset) SHARED(landlock_add_rule)
IMAGE(seccomp) IMAGE(landlock_restrict_self) IMAGE(lsm_get_self_attr) IMAGE(lsm_set_self_attr)
IMAGE(lsm_list_modules)

/* keys */
SHARED(add_key) SHARED(request_key)
BY_ARGUMENT(keyctl)

/* watching and extending the kernel */
IMAGE(bpf) IMAGE(perf_event_open) IMAGE(syslog) IMAGE(sysinfo) IMAGE(acct) IMAGE(uselib)
IMAGE(init_module) IMAGE(finit_module) IMAGE(delete_module)

/* the machine */
IMAGE(reboot) IMAGE(kexec_load) IMAGE(kexec_file_load) IMAGE(vhangup)

/* x86 */
IMAGE(arch_prctl) IMAGE(ioperm) IMAGE(iopl) IMAGE(modify_ldt) IMAGE(vm86) IMAGE(vm86old)
IMAGE(set_thread_area) IMAGE(get_thread_area)

/* arm */
IMAGE(arm_cacheflush) IMAGE(arm_set_tls) IMAGE(arm_get_tls)

/* riscv */
IMAGE(riscv_flush_icache) IMAGE(riscv_hwprobe)

/* mips and sh */
IMAGE(cacheflush)

/* mips */
IMAGE(cachectl) IMAGE(sysmips)

/* m68k */
IMAGE(atomic_barrier) IMAGE(getpagesize)

/* s390x */
IMAGE(s390_guarded_storage) IMAGE(s390_pci_mmio_read) IMAGE(s390_pci_mmio_write)
IMAGE(s390_runtime_instr) IMAGE(s390_sthyi)

/* powerpc */
IMAGE(rtas) IMAGE(subpage_prot) IMAGE(switch_endian) IMAGE(swapcontext) IMAGE(spu_create)
IMAGE(spu_run)

/* sparc */
IMAGE(kern_features) IMAGE(memory_ordering) IMAGE(utrap_install) IMAGE(getdomainname)

/* the PCI bus, as seen by some machines' display servers */
IMAGE(pciconfig_read) IMAGE(pciconfig_write) IMAGE(pciconfig_iobase)

/* numbers without a function in table.h */
REFUSED(rt_sigreturn) REFUSED(restart_syscall)
#ifdef PSYS_NR_vfork
REFUSED(vfork)
#endif
#ifdef PSYS_NR_sigreturn
REFUSED(sigreturn)
#endif
#ifdef PSYS_NR_sigprocmask
REFUSED(sigprocmask)
#endif
#ifdef PSYS_NR_ssetmask
REFUSED(ssetmask)
#endif
#ifdef PSYS_NR_execv
REFUSED(execv)
#endif
#ifdef PSYS_NR_syscall /* makes the call of its first argument */
REFUSED(syscall)
#endif

/* for calls that are BY_ARGUMENT: ARGUMENT(class, name, place, value) */
ARGUMENT(SHARED, prctl, 0, PSYS_PR_SET_PDEATHSIG)
ARGUMENT(SHARED, prctl, 0, PSYS_PR_SET_NAME)
ARGUMENT(SHARED, prctl, 0, PSYS_PR_CAPBSET_READ)
ARGUMENT(SHARED, prctl, 0, PSYS_PR_GET_SECUREBITS)
ARGUMENT(SHARED, prctl, 0, PSYS_PR_SET_TIMERSLACK)
ARGUMENT(SHARED, prctl, 0, PSYS_PR_MCE_KILL)
ARGUMENT(SHARED, prctl, 0, PSYS_PR_SET_CHILD_SUBREAPER)
ARGUMENT(SHARED, prctl, 0, PSYS_PR_SET_NO_NEW_PRIVS)
ARGUMENT(SHARED, prctl, 0, PSYS_PR_GET_NO_NEW_PRIVS)
ARGUMENT(SHARED, prctl, 0, PSYS_PR_SET_SPECULATION_CTRL)
ARGUMENT(SHARED, prctl, 0, PSYS_PR_SET_IO_FLUSHER)
ARGUMENT(SHARED, prctl, 0, PSYS_PR_SET_PTRACER)
ARGUMENT(SHARED, ioctl, 1, PSYS_TIOCSCTTY)
ARGUMENT(SHARED, ioctl, 1, PSYS_TIOCNOTTY)
ARGUMENT(SHARED, ioctl, 1, PSYS_TIOCSPGRP)
ARGUMENT(SHARED, fcntl, 1, PSYS_F_DUPFD)
ARGUMENT(SHARED, fcntl, 1, PSYS_F_DUPFD_CLOEXEC)
ARGUMENT(SHARED, fcntl, 1, PSYS_F_GETFD)
ARGUMENT(SHARED, fcntl, 1, PSYS_F_SETFD)
ARGUMENT(SHARED, fcntl, 1, PSYS_F_GETFL)
ARGUMENT(SHARED, fcntl, 1, PSYS_F_SETFL)
ARGUMENT(SHARED, fcntl, 1, PSYS_F_SETPIPE_SZ)
ARGUMENT(SHARED, fcntl, 1, PSYS_F_GETPIPE_SZ)
ARGUMENT(SHARED, fcntl, 1, PSYS_F_ADD_SEALS)
ARGUMENT(SHARED, fcntl, 1, PSYS_F_GET_SEALS)
ARGUMENT(SHARED, keyctl, 0, PSYS_KEYCTL_JOIN_SESSION_KEYRING)
ARGUMENT(SHARED, keyctl, 0, PSYS_KEYCTL_REVOKE)
ARGUMENT(SHARED, keyctl, 0, PSYS_KEYCTL_CLEAR)
ARGUMENT(SHARED, keyctl, 0, PSYS_KEYCTL_LINK)
ARGUMENT(SHARED, keyctl, 0, PSYS_KEYCTL_UNLINK)
ARGUMENT(SHARED, keyctl, 0, PSYS_KEYCTL_SET_TIMEOUT)
ARGUMENT(REFUSED, keyctl, 0, PSYS_KEYCTL_SESSION_TO_PARENT) /* changes the caller's credentials */
ARGUMENT(SHARED, ptrace, 0, 0 /* PTRACE_TRACEME */)
