/* SPDX-License-Identifier: MIT */
/*
 * Processes: clone, wait, limits, scheduling, identity.
 * Source: include/uapi/linux/{sched,wait,resource,prctl,ioprio,pidfd,times}.h,
 * include/uapi/asm-generic/resource.h
 */
#ifndef PSYS_PROCESS_H
#define PSYS_PROCESS_H

#include <syscall/arch.h>
#include <syscall/time.h>

/* clone, clone3, unshare, setns; the low byte of clone's flags is the signal
 * that the child sends when it ends */
#define PSYS_CSIGNAL 0x000000ffUL
#define PSYS_CLONE_NEWTIME 0x00000080UL /* unshare, setns and clone3 only */
#define PSYS_CLONE_VM 0x00000100UL
#define PSYS_CLONE_FS 0x00000200UL
#define PSYS_CLONE_FILES 0x00000400UL
#define PSYS_CLONE_SIGHAND 0x00000800UL
#define PSYS_CLONE_PIDFD 0x00001000UL
#define PSYS_CLONE_PTRACE 0x00002000UL
#define PSYS_CLONE_VFORK 0x00004000UL
#define PSYS_CLONE_PARENT 0x00008000UL
#define PSYS_CLONE_THREAD 0x00010000UL
#define PSYS_CLONE_NEWNS 0x00020000UL
#define PSYS_CLONE_SYSVSEM 0x00040000UL
#define PSYS_CLONE_SETTLS 0x00080000UL
#ifndef PSYS_CLONE_TLS_IS_POINTER
#define PSYS_CLONE_TLS_IS_POINTER 1 /* clone's tls is the thread pointer */
#endif
#define PSYS_CLONE_PARENT_SETTID 0x00100000UL
#define PSYS_CLONE_CHILD_CLEARTID 0x00200000UL
#define PSYS_CLONE_UNTRACED 0x00800000UL
#define PSYS_CLONE_CHILD_SETTID 0x01000000UL
#define PSYS_CLONE_NEWCGROUP 0x02000000UL
#define PSYS_CLONE_NEWUTS 0x04000000UL
#define PSYS_CLONE_NEWIPC 0x08000000UL
#define PSYS_CLONE_NEWUSER 0x10000000UL
#define PSYS_CLONE_NEWPID 0x20000000UL
#define PSYS_CLONE_NEWNET 0x40000000UL
#define PSYS_CLONE_IO 0x80000000UL
/* clone3 only */
#define PSYS_CLONE_CLEAR_SIGHAND 0x100000000ULL
#define PSYS_CLONE_INTO_CGROUP 0x200000000ULL
#define PSYS_CLONE_AUTOREAP 0x400000000ULL        /* 7.1: no zombie, no exit signal */
#define PSYS_CLONE_NNP 0x800000000ULL             /* 7.1: sets no_new_privs */
#define PSYS_CLONE_PIDFD_AUTOKILL 0x1000000000ULL /* 7.1: closing the pidfd kills */
#define PSYS_CLONE_EMPTY_MNTNS 0x2000000000ULL    /* 7.1: begins with no mounts */
/* unshare only */
#define PSYS_UNSHARE_EMPTY_MNTNS 0x00100000UL /* 7.1 */

struct psys_clone_args {
	uint64_t flags;
	uint64_t pidfd;      /* int *: out, with CLONE_PIDFD */
	uint64_t child_tid;  /* int *: with CLONE_CHILD_SETTID, CLONE_CHILD_CLEARTID */
	uint64_t parent_tid; /* int *: out, with CLONE_PARENT_SETTID */
	uint64_t exit_signal;
	uint64_t stack; /* address of its lowest byte */
	uint64_t stack_size;
	uint64_t tls;
	uint64_t set_tid; /* 5.5 */
	uint64_t set_tid_size;
	uint64_t cgroup; /* 5.7 */
};
#define PSYS_CLONE_ARGS_SIZE_VER0 64 /* Linux 5.3 */
#define PSYS_CLONE_ARGS_SIZE_VER1 80 /* 5.5: set_tid */
#define PSYS_CLONE_ARGS_SIZE_VER2 88 /* 5.7: cgroup */

/* wait4, waitid */
#define PSYS_WNOHANG 1
#define PSYS_WUNTRACED 2
#define PSYS_WSTOPPED 2
#define PSYS_WEXITED 4
#define PSYS_WCONTINUED 8
#define PSYS_WNOWAIT 0x01000000
#define PSYS___WNOTHREAD 0x20000000 /* only children of the calling thread */
#define PSYS___WALL 0x40000000
#define PSYS___WCLONE 0x80000000U /* only children whose exit signal is not SIGCHLD */
#define PSYS_P_ALL 0
#define PSYS_P_PID 1
#define PSYS_P_PGID 2
#define PSYS_P_PIDFD 3
#define PSYS_WIFEXITED(status) (((status)&0x7f) == 0)
#define PSYS_WEXITSTATUS(status) ((status) >> 8 & 0xff)
#define PSYS_WIFSIGNALED(status) (((status)&0x7f) != 0 && ((status)&0x7f) != 0x7f)
#define PSYS_WTERMSIG(status) ((status)&0x7f)

/* The last argument of wait4 and waitid. Times are the kernel's long; 32-bit architectures have no
 * form with 64-bit times. */
struct psys_rusage {
	struct psys_timeval ru_utime, ru_stime;
	psys_kernel_long ru_maxrss; /* KiB; an exec keeps the peak of the memory that it leaves */
	psys_kernel_long ru_ixrss;
	psys_kernel_long ru_idrss;
	psys_kernel_long ru_isrss;
	psys_kernel_long ru_minflt;
	psys_kernel_long ru_majflt;
	psys_kernel_long ru_nswap;
	psys_kernel_long ru_inblock;
	psys_kernel_long ru_oublock;
	psys_kernel_long ru_msgsnd;
	psys_kernel_long ru_msgrcv;
	psys_kernel_long ru_nsignals;
	psys_kernel_long ru_nvcsw;
	psys_kernel_long ru_nivcsw;
};

/* getrlimit, setrlimit, prlimit64 */
#define PSYS_RLIMIT_CPU 0
#define PSYS_RLIMIT_FSIZE 1
#define PSYS_RLIMIT_DATA 2
#define PSYS_RLIMIT_STACK 3
#define PSYS_RLIMIT_CORE 4
#ifndef PSYS_RLIMIT_NOFILE
#define PSYS_RLIMIT_RSS 5
#define PSYS_RLIMIT_NPROC 6
#define PSYS_RLIMIT_NOFILE 7
#define PSYS_RLIMIT_MEMLOCK 8
#define PSYS_RLIMIT_AS 9
#endif
#define PSYS_RLIMIT_LOCKS 10
#define PSYS_RLIMIT_SIGPENDING 11
#define PSYS_RLIMIT_MSGQUEUE 12
#define PSYS_RLIMIT_NICE 13
#define PSYS_RLIMIT_RTPRIO 14
#define PSYS_RLIMIT_RTTIME 15
#define PSYS_RLIM64_INFINITY 0xffffffffffffffffULL
struct psys_rlimit64 {
	uint64_t rlim_cur;
	uint64_t rlim_max;
};

/* getpriority, setpriority; ioprio_set */
#define PSYS_PRIO_PROCESS 0
#define PSYS_PRIO_PGRP 1
#define PSYS_PRIO_USER 2
#define PSYS_IOPRIO_WHO_PROCESS 1
#define PSYS_IOPRIO_WHO_PGRP 2
#define PSYS_IOPRIO_WHO_USER 3
#define PSYS_IOPRIO_CLASS_NONE 0 /* from the nice value */
#define PSYS_IOPRIO_CLASS_RT 1
#define PSYS_IOPRIO_CLASS_BE 2
#define PSYS_IOPRIO_CLASS_IDLE 3
#define PSYS_IOPRIO_CLASS_SHIFT 13

/* sched_setscheduler */
#define PSYS_SCHED_NORMAL 0
#define PSYS_SCHED_FIFO 1
#define PSYS_SCHED_RR 2
#define PSYS_SCHED_BATCH 3
#define PSYS_SCHED_IDLE 5
#define PSYS_SCHED_DEADLINE 6
#define PSYS_SCHED_EXT 7 /* 6.12 */
#define PSYS_SCHED_RESET_ON_FORK 0x40000000
struct psys_sched_param {
	int sched_priority;
};

/* prctl */
#define PSYS_PR_SET_PDEATHSIG 1
#define PSYS_PR_GET_PDEATHSIG 2
#define PSYS_PR_GET_DUMPABLE 3
#define PSYS_PR_SET_DUMPABLE 4
#define PSYS_PR_GET_KEEPCAPS 7
#define PSYS_PR_SET_KEEPCAPS 8 /* a change of user keeps the permitted capabilities */
#define PSYS_PR_SET_NAME 15
#define PSYS_PR_GET_NAME 16
#define PSYS_PR_GET_SECCOMP 21
#define PSYS_PR_SET_SECCOMP 22
#define PSYS_PR_CAPBSET_READ 23
#define PSYS_PR_CAPBSET_DROP 24
#define PSYS_PR_GET_SECUREBITS 27
#define PSYS_PR_SET_SECUREBITS 28
/* A _LOCKED bit makes the bit before it immutable. */
#define PSYS_SECBIT_NOROOT 1
#define PSYS_SECBIT_NOROOT_LOCKED 2
#define PSYS_SECBIT_NO_SETUID_FIXUP 4
#define PSYS_SECBIT_NO_SETUID_FIXUP_LOCKED 8
#define PSYS_SECBIT_KEEP_CAPS 16 /* as PR_SET_KEEPCAPS; an exec clears the bit */
#define PSYS_SECBIT_KEEP_CAPS_LOCKED 32
#define PSYS_SECBIT_NO_CAP_AMBIENT_RAISE 64
#define PSYS_SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED 128
#define PSYS_SECBIT_EXEC_RESTRICT_FILE 256 /* 6.14: interpreters check their scripts */
#define PSYS_SECBIT_EXEC_RESTRICT_FILE_LOCKED 512
#define PSYS_SECBIT_EXEC_DENY_INTERACTIVE 1024 /* 6.14: interpreters read no commands */
#define PSYS_SECBIT_EXEC_DENY_INTERACTIVE_LOCKED 2048
#define PSYS_PR_GET_TSC 25
#define PSYS_PR_SET_TSC 26 /* x86 */
#define PSYS_PR_TSC_ENABLE 1
#define PSYS_PR_TSC_SIGSEGV 2
#define PSYS_PR_SET_TIMERSLACK 29
#define PSYS_PR_GET_TIMERSLACK 30
#define PSYS_PR_MCE_KILL 33
#define PSYS_PR_MCE_KILL_CLEAR 0
#define PSYS_PR_MCE_KILL_SET 1
#define PSYS_PR_MCE_KILL_LATE 0
#define PSYS_PR_MCE_KILL_EARLY 1
#define PSYS_PR_MCE_KILL_DEFAULT 2
#define PSYS_PR_MCE_KILL_GET 34
#define PSYS_PR_SET_CHILD_SUBREAPER 36
#define PSYS_PR_GET_CHILD_SUBREAPER 37
#define PSYS_PR_SET_NO_NEW_PRIVS 38
#define PSYS_PR_GET_NO_NEW_PRIVS 39
#define PSYS_PR_SET_THP_DISABLE 41
#define PSYS_PR_THP_DISABLE_EXCEPT_ADVISED 2 /* 6.18 */
#define PSYS_PR_GET_THP_DISABLE 42
#define PSYS_PR_CAP_AMBIENT 47
#define PSYS_PR_CAP_AMBIENT_IS_SET 1
#define PSYS_PR_CAP_AMBIENT_RAISE 2
#define PSYS_PR_CAP_AMBIENT_LOWER 3
#define PSYS_PR_CAP_AMBIENT_CLEAR_ALL 4
#define PSYS_PR_GET_SPECULATION_CTRL 52
#define PSYS_PR_SET_SPECULATION_CTRL 53 /* 4.17 */
#define PSYS_PR_SPEC_STORE_BYPASS 0
#define PSYS_PR_SPEC_INDIRECT_BRANCH 1
#define PSYS_PR_SPEC_L1D_FLUSH 2
#define PSYS_PR_SPEC_NOT_AFFECTED 0
#define PSYS_PR_SPEC_PRCTL 1UL
#define PSYS_PR_SPEC_ENABLE 2UL
#define PSYS_PR_SPEC_DISABLE 4UL
#define PSYS_PR_SPEC_FORCE_DISABLE 8UL
#define PSYS_PR_SPEC_DISABLE_NOEXEC 16UL
#define PSYS_PR_SET_IO_FLUSHER 57 /* 5.6 */
#define PSYS_PR_GET_IO_FLUSHER 58
#define PSYS_PR_SCHED_CORE 62 /* 5.14 */
#define PSYS_PR_SCHED_CORE_GET 0
#define PSYS_PR_SCHED_CORE_CREATE 1
#define PSYS_PR_SCHED_CORE_SHARE_TO 2
#define PSYS_PR_SCHED_CORE_SHARE_FROM 3
#define PSYS_PR_SCHED_CORE_SCOPE_THREAD 0
#define PSYS_PR_SCHED_CORE_SCOPE_THREAD_GROUP 1
#define PSYS_PR_SCHED_CORE_SCOPE_PROCESS_GROUP 2
#define PSYS_PR_SET_MDWE 65 /* 6.3: no memory becomes executable that was writable */
#define PSYS_PR_MDWE_REFUSE_EXEC_GAIN 1UL
#define PSYS_PR_MDWE_NO_INHERIT 2UL /* 6.6 */
#define PSYS_PR_GET_MDWE 66
#define PSYS_PR_SET_MEMORY_MERGE 67 /* 6.4: KSM */
#define PSYS_PR_GET_MEMORY_MERGE 68
#define PSYS_PR_SET_PTRACER 0x59616d61 /* Yama */
#define PSYS_PR_SET_PTRACER_ANY (~0UL)
#define PSYS_PR_GET_AUXV 0x41555856 /* 6.4 */

/* pidfd_open */
#ifndef PSYS_PIDFD_NONBLOCK
#define PSYS_PIDFD_NONBLOCK PSYS_O_NONBLOCK /* 5.10 */
#endif
#define PSYS_PIDFD_THREAD PSYS_O_EXCL /* 6.9: refers to one thread */

/* Instead of a pidfd, since 6.14: the calling thread, its process */
#define PSYS_PIDFD_SELF_THREAD (-10000)
#define PSYS_PIDFD_SELF_THREAD_GROUP (-10001)
#define PSYS_PIDFD_SELF PSYS_PIDFD_SELF_THREAD
#define PSYS_PIDFD_SELF_PROCESS PSYS_PIDFD_SELF_THREAD_GROUP

/* pidfd_send_signal, since 6.9: the scope of the signal */
#define PSYS_PIDFD_SIGNAL_THREAD 1UL
#define PSYS_PIDFD_SIGNAL_THREAD_GROUP 2UL
#define PSYS_PIDFD_SIGNAL_PROCESS_GROUP 4UL

/* ioctl of a pidfd, since 6.13: mask has the requested, on return the filled members. The request
 * number contains the structure's size; older kernels fill in fewer members. */
struct psys_pidfd_info {
	uint64_t mask;
	uint64_t cgroupid;
	uint32_t pid;
	uint32_t tgid;
	uint32_t ppid;
	uint32_t ruid;
	uint32_t rgid;
	uint32_t euid;
	uint32_t egid;
	uint32_t suid;
	uint32_t sgid;
	uint32_t fsuid;
	uint32_t fsgid;
	int32_t exit_code; /* as wait4's status; 6.15 */
	uint32_t coredump_mask;
	uint32_t coredump_signal;
	uint32_t coredump_code;
	uint32_t coredump_pad;
	uint64_t supported_mask;
};
#define PSYS_PIDFD_INFO_PID 1UL
#define PSYS_PIDFD_INFO_CREDS 2UL
#define PSYS_PIDFD_INFO_CGROUPID 4UL
#define PSYS_PIDFD_INFO_EXIT 8UL
#define PSYS_PIDFD_INFO_COREDUMP 16UL
#define PSYS_PIDFD_INFO_SUPPORTED_MASK 32UL
#define PSYS_PIDFD_INFO_COREDUMP_SIGNAL 64UL
#define PSYS_PIDFD_INFO_COREDUMP_CODE 128UL
#define PSYS_PIDFD_COREDUMPED 1U /* of coredump_mask */
#define PSYS_PIDFD_COREDUMP_SKIP 2U
#define PSYS_PIDFD_COREDUMP_USER 4U
#define PSYS_PIDFD_COREDUMP_ROOT 8U
#define PSYS_PIDFD_GET_INFO \
	PSYS_IOC(PSYS_IOC_READ | PSYS_IOC_WRITE, 0xff, 11, sizeof(struct psys_pidfd_info))

/* uname */
struct psys_utsname {
	char sysname[65];
	char nodename[65];
	char release[65];
	char version[65];
	char machine[65];
	char domainname[65];
};

/* sched_setattr, sched_getattr */
struct psys_sched_attr {
	uint32_t size; /* of this structure */
	uint32_t sched_policy;
	uint64_t sched_flags;
	int32_t sched_nice;
	uint32_t sched_priority;
	uint64_t sched_runtime; /* nanoseconds */
	uint64_t sched_deadline;
	uint64_t sched_period;
	uint32_t sched_util_min;
	uint32_t sched_util_max;
};

#define PSYS_SCHED_FLAG_RESET_ON_FORK 0x01
#define PSYS_SCHED_FLAG_RECLAIM 0x02
#define PSYS_SCHED_FLAG_DL_OVERRUN 0x04
#define PSYS_SCHED_FLAG_KEEP_POLICY 0x08
#define PSYS_SCHED_FLAG_KEEP_PARAMS 0x10
#define PSYS_SCHED_FLAG_UTIL_CLAMP_MIN 0x20
#define PSYS_SCHED_FLAG_UTIL_CLAMP_MAX 0x40

/* getrusage */
#define PSYS_RUSAGE_SELF 0
#define PSYS_RUSAGE_CHILDREN (-1)
#define PSYS_RUSAGE_THREAD 1

/* kcmp */
#define PSYS_KCMP_FILE 0
#define PSYS_KCMP_VM 1
#define PSYS_KCMP_FILES 2

#endif
