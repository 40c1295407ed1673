/* SPDX-License-Identifier: MIT */
#include "tracee.h"

#include <stdbool.h>

#include <syscall/syscall.h>

enum {
	DETACH = 17,
	GETSIGINFO = 0x4202,
	EVENT = 8
}; /* linux/ptrace.h; the bits above the signal */

/* After each exec of a tracee the kernel sends this SIGTRAP in the name of the process: it is for the
 * tracer. A breakpoint's has another code, and raise(3) too. */
static PSYS_UNINSTRUMENTED bool is_of_exec(int pid, int signal)
{
	struct psys_siginfo cause;

	return signal == PSYS_SIGTRAP &&
	       (psys_ptrace(GETSIGINFO, pid, NULL, &cause) < 0 || cause.code == 0 /* SI_USER */);
}

PSYS_UNINSTRUMENTED int aspw_detach(const struct psys_siginfo *stop)
{
	const int pid = stop->u.child.pid, status = stop->u.child.status;
	const bool is_for_tracer = status >> EVENT || is_of_exec(pid, status);

	return (int)psys_ptrace(DETACH, pid, NULL,
				(void *)(uintptr_t)(is_for_tracer ? 0 : (unsigned)status));
}
