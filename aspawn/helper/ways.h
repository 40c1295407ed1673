/* SPDX-License-Identifier: MIT */
/* This table has the ways in which a child may begin. */
#ifndef HELPER_WAYS_H
#define HELPER_WAYS_H

#include "../spawn/stack.h"

enum wish {
	WISH_HELPER = 1,
	WISH_PRIVATE = 2, /* the child is not the caller's, only a helper may clone it */
	WISH_CGROUP = 4,  /* the clone joins the cgroup */
	WISH_OWN = 8,     /* besides the cgroup, an action needs memory of its own */
	WISH_COPY = 16,   /* memory of its own */
	WISH_IMAGE = 32,  /* memory of its own, which may be the image's */
	WISH_SUSPENSION = 64,
};

/*
 * WAY(who clones, the child's memory, it begins in the cgroup, required wishes, excluded wishes,
 * leads on), from the best to the last. In a frozen cgroup the suspended parent waits for long: the
 * caller is suspended only on request.
 */
#define ASPW_WAYS(WAY)                                                                              \
	WAY(BY_CALLER, MEMORY_OF_HELPER, false, WISH_HELPER, 0, IF_UNSUPPORTED)                     \
	WAY(BY_HELPER, MEMORY_SUSPENDED, true, WISH_HELPER | WISH_CGROUP, WISH_OWN, UNLESS_FULL)    \
	WAY(BY_HELPER, MEMORY_EXECUTED, true, WISH_HELPER | WISH_CGROUP | WISH_OWN, 0, UNLESS_FULL) \
	WAY(BY_HELPER, MEMORY_EXECUTED, false, WISH_HELPER | WISH_IMAGE, 0, ALWAYS)                 \
	WAY(BY_HELPER, MEMORY_COPIED, false, WISH_HELPER | WISH_COPY, 0, NEVER)                     \
	WAY(BY_HELPER, MEMORY_SHARED, false, WISH_HELPER, WISH_COPY, NEVER)                         \
	WAY(BY_CALLER, MEMORY_SUSPENDED, true, WISH_CGROUP, WISH_HELPER | WISH_OWN, UNLESS_FULL)    \
	WAY(BY_CALLER, MEMORY_EXECUTED, false, WISH_IMAGE, WISH_PRIVATE, ALWAYS)                    \
	WAY(BY_CALLER, MEMORY_COPIED, false, WISH_COPY, WISH_PRIVATE, NEVER)                        \
	WAY(BY_CALLER, MEMORY_SUSPENDED, false, WISH_SUSPENSION, WISH_PRIVATE | WISH_COPY, NEVER)   \
	WAY(BY_CALLER, MEMORY_SHARED, false, 0, WISH_PRIVATE | WISH_COPY | WISH_SUSPENSION, NEVER)

#define ASPW_COUNT(...) +1
enum { WAYS = 0 ASPW_WAYS(ASPW_COUNT) };
extern const struct way aspw_ways[WAYS];

/* Returns the ways for these wishes, a bit for each row of the table. */
unsigned aspw_ways_for(unsigned wishes);

/* Tries the ways of the calling process in order. As clone_by_helper the caller passes
 * aspw_clone_by_helper(), and a helper passes NULL. Returns the child's pid, or 0 if a helper has
 * yet to clone the child (plan->detached): then stack_state.begun tells the result. Fails with
 * -EOPNOTSUPP if there can be no helper, with -EAGAIN if somebody has killed the helper before its
 * clone, or with another error of the clone. */
long aspw_try_ways(struct control *control, long (*clone_by_helper)(struct control *));

#endif
