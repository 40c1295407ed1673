/* SPDX-License-Identifier: MIT */
/* Describes a way in which a child may begin, and a command's plan. helper/ways.h has the ways. */
#ifndef SPAWN_PLAN_H
#define SPAWN_PLAN_H

#include "spawn.h"

/* The memory of a child: enum aspawn_memory, with the library's additions */
enum child_memory {
	MEMORY_SHARED,    /* the caller's, where the kernel allows that */
	MEMORY_SUSPENDED, /* the same, but the clone suspends until the exec (CLONE_VFORK) */
	MEMORY_COPIED,    /* as of fork(2) */
	MEMORY_EXECUTED,  /* of the image, which the child executes at once, or else ends */
	MEMORY_OF_HELPER, /* a helper on shared memory, which tries its own ways */
};

/* The process that clones */
enum process { BY_CALLER, BY_HELPER };

/* Says when the next way of the same process is tried. Otherwise the error is the result. */
enum leads_on {
	NEVER,
	ALWAYS,
	IF_UNSUPPORTED, /* EOPNOTSUPP */
	UNLESS_FULL,    /* EAGAIN and ENOMEM mean the limit of the cgroup */
};

struct way {
	enum process by;
	enum child_memory memory;
	bool in_cgroup;
	unsigned wishes, excludes;
	enum leads_on leads_on;
};

/* Whose child it is, as enum aspawn_owner. The helper also owns a tree. */
enum child_owner { OWNER_CALLER, OWNER_PRIVATE, OWNER_TREE };

/* A cgroup that a tree's helper makes below the parent, with limits as of ASPAWN_NEW_CGROUP */
struct cgroup_wish {
	int parent; /* a descriptor of its directory */
	uint64_t memory_max, pids_max, cpu_max;
};

/* Only commands have these wishes. A plain aspawn() has none. */
struct plan {
	unsigned wishes; /* enum wish */
	unsigned ways;   /* the rows of ways.h that may be tried */
	enum child_owner owner;
	/* Without lists of children, a tree may be the child's process group. */
	bool tree_or_group;
	bool dies_with_caller; /* with the caller's process, not for the caller's child */
	/* The caller does not wait for the helper's clone. Then the state's pid is the child's, or
	 * 0 without a child. Excludes unshare_files and wants_pidfd. A helper of the caller's child
	 * is detached: it waits for the exec in the caller's place, and stays until the child's
	 * end. */
	bool detached;
	bool polls_helper; /* the caller wants a pidfd of the helper */
	bool lacks_clone3; /* do not try it, as a filter's trap would end a helper or server */
	int stop_signal;   /* the first signal of a tree's end */
	/* The child begins on the parent's descriptor table (CLONE_FILES), and first copies the
	 * descriptors below keep_below, while the parent waits. Ignored where memory may be a
	 * copy. */
	bool unshare_files;
	unsigned keep_below;
	/* The child may fetch descriptors of fds from the calling thread, under other numbers. 0:
	 * the child has copies of all. */
	int caller;
	struct child_fd *fds; /* the child gets these too, and here is where both find them */
	size_t fd_count;
	const struct cgroup_wish *new_cgroup; /* beside user_data, for cgroup.h, or NULL */
	/* The clone joins this cgroup of version 2, unless a new cgroup is made. -1 means none. */
	int cgroup_fd;
	bool watch_copy;  /* make an exec_watch where memory may be a copy */
	void *watch_at;   /* the queue's place for the watch, or NULL for any */
	const char *name; /* comm of the child, or NULL if it inherits the caller's */
};

#endif
