/* SPDX-License-Identifier: MIT */
/*
 * Signals: the kernel's set, action and information.
 * Source: include/uapi/asm-generic/{signal,signal-defs,siginfo}.h
 *
 * The set is the kernel's, of PSYS_NSIG bits; a libc's sigset_t is larger. A pointer to a libc's
 * set may be passed where a psys_sigset is read, never a psys_sigset to a libc.
 */
#ifndef PSYS_SIGNAL_H
#define PSYS_SIGNAL_H

#include <syscall/arch.h>

#ifndef PSYS_NSIG
#define PSYS_NSIG 64
#endif

#define PSYS_SIGHUP 1
#define PSYS_SIGINT 2
#define PSYS_SIGQUIT 3
#define PSYS_SIGILL 4
#define PSYS_SIGTRAP 5
#define PSYS_SIGABRT 6
#define PSYS_SIGFPE 8
#define PSYS_SIGKILL 9
#define PSYS_SIGSEGV 11
#define PSYS_SIGPIPE 13
#define PSYS_SIGALRM 14
#define PSYS_SIGTERM 15
#ifndef PSYS_SIGCHLD
#define PSYS_SIGBUS 7
#define PSYS_SIGUSR1 10
#define PSYS_SIGUSR2 12
#define PSYS_SIGSTKFLT 16
#define PSYS_SIGCHLD 17
#define PSYS_SIGCONT 18
#define PSYS_SIGSTOP 19
#define PSYS_SIGTSTP 20
#define PSYS_SIGTTIN 21
#define PSYS_SIGTTOU 22
#define PSYS_SIGURG 23
#define PSYS_SIGXCPU 24
#define PSYS_SIGXFSZ 25
#define PSYS_SIGVTALRM 26
#define PSYS_SIGPROF 27
#define PSYS_SIGWINCH 28
#define PSYS_SIGIO 29
#define PSYS_SIGPWR 30
#define PSYS_SIGSYS 31
#endif
#define PSYS_SIGRTMIN 32 /* the kernel's; a libc keeps the first few for itself */

#define PSYS_WORD_BITS (8UL * __SIZEOF_LONG__)

struct psys_sigset {
	unsigned long sig[PSYS_NSIG / PSYS_WORD_BITS];
};
#define PSYS_SIGSET_SIZE (PSYS_NSIG / 8)

#ifndef PSYS_DECLARATIONS_ONLY
PSYS_INLINE void psys_sigfillset(struct psys_sigset *set)
{
	for (size_t i = 0; i < sizeof set->sig / sizeof set->sig[0]; i++)
		set->sig[i] = ~0UL;
}

PSYS_INLINE void psys_sigemptyset(struct psys_sigset *set)
{
	for (size_t i = 0; i < sizeof set->sig / sizeof set->sig[0]; i++)
		set->sig[i] = 0;
}

/* signal in [1, PSYS_NSIG] */
PSYS_INLINE void psys_sigaddset(struct psys_sigset *set, int signal)
{
	size_t bit = (size_t)signal - 1;
	set->sig[bit / PSYS_WORD_BITS] |= 1UL << bit % PSYS_WORD_BITS;
}

PSYS_INLINE void psys_sigdelset(struct psys_sigset *set, int signal)
{
	size_t bit = (size_t)signal - 1;
	set->sig[bit / PSYS_WORD_BITS] &= ~(1UL << bit % PSYS_WORD_BITS);
}

PSYS_INLINE int psys_sigismember(const struct psys_sigset *set, int signal)
{
	size_t bit = (size_t)signal - 1;
	return (int)(set->sig[bit / PSYS_WORD_BITS] >> bit % PSYS_WORD_BITS & 1);
}
#endif

/* rt_sigprocmask: how */
#ifndef PSYS_SIG_BLOCK
#define PSYS_SIG_BLOCK 0
#define PSYS_SIG_UNBLOCK 1
#define PSYS_SIG_SETMASK 2
#endif

/*
 * rt_sigaction. If PSYS_NEEDS_RESTORER is defined, a handler needs psys_restorer in restorer and,
 * where the architecture has the flag, PSYS_SA_RESTORER in flags. Elsewhere the kernel has its own
 * restorer.
 */
#define PSYS_SIG_DFL 0UL
#define PSYS_SIG_IGN 1UL
#ifndef PSYS_SA_SIGINFO
#define PSYS_SA_NOCLDSTOP 0x00000001UL
#define PSYS_SA_NOCLDWAIT 0x00000002UL
#define PSYS_SA_SIGINFO 0x00000004UL
#endif
#ifndef PSYS_SA_ONSTACK
#define PSYS_SA_ONSTACK 0x08000000UL
#define PSYS_SA_RESTART 0x10000000UL
#define PSYS_SA_NODEFER 0x40000000UL
#define PSYS_SA_RESETHAND 0x80000000UL
#endif

struct psys_sigaction {
#ifdef PSYS_SIGACTION_FLAGS_FIRST
	unsigned flags;
#endif
	uintptr_t handler; /* PSYS_SIG_DFL, PSYS_SIG_IGN or a function's address */
#ifndef PSYS_SIGACTION_FLAGS_FIRST
	unsigned long flags;
#endif
#if defined(PSYS_SA_RESTORER) || defined(PSYS_SIGACTION_RESTORER)
	uintptr_t restorer;
#endif
	struct psys_sigset mask;
};

#ifdef PSYS_NEEDS_RESTORER
#ifdef __cplusplus
extern "C"
#endif
	PSYS_API void
	psys_restorer(void);
#endif

#ifndef PSYS_ARCH_SIGINFO_CLOCK
typedef long psys_siginfo_clock;
#endif

/*
 * The kernel's struct siginfo, for waitid, rt_sigtimedwait and handlers with PSYS_SA_SIGINFO. The
 * members do not have their usual names (si_pid), as libc headers define these as macros.
 */
struct psys_siginfo {
	int signo;
#ifdef PSYS_SIGINFO_CODE_FIRST
	int code;
	int error;
#else
	int error;
	int code;
#endif
	union {
		int pad[(128 - 8 - __SIZEOF_POINTER__) / 4];
		void *align;
		struct { /* SIGCHLD, waitid */
			int pid;
			unsigned uid;
			int status; /* the exit status, or the signal that ended it */
			psys_siginfo_clock utime, stime; /* clock ticks */
		} child;
		struct { /* kill, sigqueue */
			int pid;
			unsigned uid;
			union {
				int number;
				void *pointer;
			} value;
		} queued;
		struct { /* SIGSEGV, SIGBUS, SIGILL, SIGFPE */
			void *addr;
		} fault;
	} u;
};

/* code, for SIGCHLD and waitid */
#define PSYS_CLD_EXITED 1
#define PSYS_CLD_KILLED 2
#define PSYS_CLD_DUMPED 3
#define PSYS_CLD_TRAPPED 4
#define PSYS_CLD_STOPPED 5
#define PSYS_CLD_CONTINUED 6

/* signalfd4: records of its reads */
#define PSYS_SFD_CLOEXEC PSYS_O_CLOEXEC
#define PSYS_SFD_NONBLOCK PSYS_O_NONBLOCK
struct psys_signalfd_siginfo {
	uint32_t ssi_signo;
	int32_t ssi_errno;
	int32_t ssi_code;
	uint32_t ssi_pid;
	uint32_t ssi_uid;
	int32_t ssi_fd;
	uint32_t ssi_tid;
	uint32_t ssi_band;
	uint32_t ssi_overrun;
	uint32_t ssi_trapno;
	int32_t ssi_status;
	int32_t ssi_int;
	uint64_t ssi_ptr;
	uint64_t ssi_utime;
	uint64_t ssi_stime;
	uint64_t ssi_addr;
	uint16_t ssi_addr_lsb;
	uint16_t __pad2;
	int32_t ssi_syscall;
	uint64_t ssi_call_addr;
	uint32_t ssi_arch;
	uint8_t __pad[28];
};

/* sigaltstack: on return, ss_flags shows if the stack is in use */
#define PSYS_SS_ONSTACK 1
#define PSYS_SS_DISABLE 2
struct psys_sigaltstack {
	void *ss_sp;
#ifndef PSYS_SIGALTSTACK_SIZE_SECOND
	int ss_flags;
#endif
	size_t ss_size;
#ifdef PSYS_SIGALTSTACK_SIZE_SECOND
	int ss_flags;
#endif
};

/* timer_create, mq_notify: how to notify */
#define PSYS_SIGEV_SIGNAL 0
#define PSYS_SIGEV_NONE 1
#define PSYS_SIGEV_THREAD_ID 4
struct psys_sigevent {
	union {
		int number;
		void *pointer;
	} value;
	int signo;
	int notify;
	union {
		int pad[(64 - 8 - __SIZEOF_POINTER__) / 4];
		int tid; /* with PSYS_SIGEV_THREAD_ID */
	} u;
};

#endif
