/* SPDX-License-Identifier: MIT */
/* Makes the child, by the best clone method that the kernel, or a seccomp filter, allows. */
#ifndef ASPAWN_CLONE_H
#define ASPAWN_CLONE_H

#include "spawn.h"
#include "stack.h"

struct clone_method {
	enum aspawn_clone_mode mode;
	bool clone3;
	uint64_t flags;
};

/* Ordered from the best to the last fallback; ASPAWN_MODE_NONE ends the list. */
extern const struct clone_method aspawn_clone_methods[];

/* True if the method can do what is requested. */
bool aspawn_clone_fits(const struct clone_method *method, const struct request *request,
		       bool into_cgroup);

/* True if the child's memory may turn out to be a copy. */
bool aspawn_clone_may_copy(const struct clone_method *method, const struct request *request);

/* True if the kernel, an emulator or a seccomp filter rejects the clone method; the caller then
 * tries the next. */
bool aspawn_clone_is_refused(long error);

/*
 * Clones a child that runs child(control) on the stack below user_data, and stores the child's
 * pid and clone mode in the stack's state. cgroup_fd -1: no cgroup. Returns the pid or a negative
 * error number.
 */
long aspawn_clone(const struct clone_method *method, struct control *control, int cgroup_fd,
		  int (*child)(void *));

/* The arguments of clone(2) and clone3(2). */
struct clone_call {
	uint64_t flags;
	unsigned exit_signal;
	int *pidfd; /* NULL: not wanted. Without CLONE_PIDFD it is opened afterwards; -1: it cannot be */
	int *tid, *cleared_tid; /* each read with its flag only */
	char *lowest, *top;     /* of its stack */
	int (*fn)(void *);
	void *arg;
	void *tls; /* with CLONE_SETTLS */
	int cgroup_fd;
};
/* Returns the pid or a negative error number. clone(2) has one argument for pidfd and tid: not both
 * flags. */
long aspawn_clone_call(const struct clone_call *call, bool clone3);

#endif
