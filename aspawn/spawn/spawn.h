/* SPDX-License-Identifier: MIT */
/* The spawn primitive, as aspawn() and the commands call it. */
#ifndef SPAWN_SPAWN_H
#define SPAWN_SPAWN_H

#include <stdbool.h>

#include <aspawn/aspawn.h>
#include <syscall/errno.h>
#include <syscall/signal.h>
#include <syscall/syscall.h>

/* To copy so many descriptors costs less than to fetch one of them. */
enum { FEW_DESCRIPTORS = 128 };

enum report_pipe { NO_PIPE, PIPE_IF_COPIED, PIPE };

struct child_fd;
struct control;
struct plan;

/* What is wanted of a child. */
struct request {
	enum report_pipe pipe;
	bool wants_pidfd;
	struct psys_sigset mask; /* the caller's */
	aspawn_fn fn;
	void *arg, *user_data; /* user_data lies on the stack; the child's frames begin below it */
	size_t user_data_len;
};

/*
 * Blocks all signals; SIGSYS only with also_sigsys. The caller does not block SIGSYS: a filter
 * (SECCOMP_RET_TRAP) raises it for a handler to answer a call, and the kernel kills the process if
 * it is blocked. A process with the caller's memory blocks SIGSYS too, first of all: no handler of
 * the caller may run there. Stores the previous mask. Returns 0 or a negative error number.
 */
PSYS_INLINE int block_signals(struct psys_sigset *before, bool also_sigsys)
{
	struct psys_sigset set;

	psys_sigfillset(&set);
	if (!also_sigsys)
		psys_sigdelset(&set, PSYS_SIGSYS);
	return psys_rt_sigprocmask(PSYS_SIG_BLOCK, &set, before, PSYS_SIGSET_SIZE);
}

/* Before and after the clone of a child on a reserved stack, with all signals blocked. pid is what the
 * clone has returned: negative, and no descriptor is left. The control block has the descriptors. */
struct control *aspw_spawn_begin(const struct request *request, const struct plan *plan,
				 const struct Stack_t *stack);
long aspw_spawn_end(struct control *control, long pid);

#endif
