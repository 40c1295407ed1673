/* SPDX-License-Identifier: MIT */
/* Makes the child, by the best clone method that the kernel or a seccomp filter allows. */
#ifndef SPAWN_CLONE_H
#define SPAWN_CLONE_H

#include "spawn.h"
#include "stack.h"

/* Call these before and after the clone of a child on a reserved stack, with all signals blocked.
 * pid is the result of the clone. With a negative pid no descriptor is left, otherwise the control
 * block has them. */
struct control *aspw_spawn_begin(const struct request *request, const struct plan *plan,
				 const struct Stack_t *stack);
long aspw_spawn_end(struct control *control, long pid);

/* Clones the child as the way says, by one method after another, with a pipe and a pidfd, in the
 * caller or in the helper. Returns the pid, or why there is no child. */
long aspw_clone_child(struct control *control, const struct way *way);

/* True if the kernel, an emulator or a seccomp filter rejects the clone method: try the next. */
bool aspw_clone_is_refused(long error);

/* The arguments of clone(2) and clone3(2) */
struct clone_call {
	uint64_t flags;
	unsigned exit_signal;
	/* NULL if unwanted. If clone(2) lacks CLONE_PIDFD, it is opened afterwards, or -1. */
	int *pidfd;
	int *tid, *cleared_tid; /* each is read only with its flag */
	char *lowest, *top;     /* of the stack */
	int (*fn)(void *);
	void *arg;
	void *tls; /* with CLONE_SETTLS */
	int cgroup_fd;
};
/* Returns the pid or a negative error number. clone(2) has one argument for pidfd and tid: do not
 * set both flags. */
long aspw_clone_call(const struct clone_call *call, bool clone3);

/* Does the same, by clone3(2) or clone(2), for a process that shares the memory for long. Fails
 * with -EOPNOTSUPP if both are refused. Sets *lacks_clone3 if clone3(2) is refused, and does not
 * try clone3(2) if it is set. */
long aspw_clone_sharing(const struct clone_call *call, bool *lacks_clone3);

#endif
