/* SPDX-License-Identifier: MIT */
/*
 * What is blocked while the library starts a child.
 *
 * In the caller: all signals but SIGSYS, of which the caller's own mask decides. By that signal a seccomp
 * filter (SECCOMP_RET_TRAP) has a handler of the caller answer a call. If it is blocked, the kernel
 * kills the caller instead.
 *
 * In a process of the library that has the caller's memory: SIGSYS too, by the first call. There the
 * caller's handler must not run, so that a trapped call ends this process alone.
 */
#ifndef ASPAWN_BLOCK_SIGNALS_H
#define ASPAWN_BLOCK_SIGNALS_H

#include <syscall/syscall.h>

/* Stores the mask before. Returns 0, or a negative error number: then the mask is not known. */
PSYS_INLINE int block_signals(struct psys_sigset *before)
{
	struct psys_sigset most;

	psys_sigfillset(&most);
	psys_sigdelset(&most, PSYS_SIGSYS);
	return psys_rt_sigprocmask(PSYS_SIG_BLOCK, &most, before, PSYS_SIGSET_SIZE);
}

PSYS_INLINE void block_sigsys(void)
{
	struct psys_sigset sigsys;

	psys_sigemptyset(&sigsys);
	psys_sigaddset(&sigsys, PSYS_SIGSYS);
	psys_rt_sigprocmask(PSYS_SIG_BLOCK, &sigsys, NULL, PSYS_SIGSET_SIZE);
}

#endif
