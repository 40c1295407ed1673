/* SPDX-License-Identifier: MIT */
/* A way in which a child may begin, and what a command plans: helper/ways.h has the ways. */
#ifndef SPAWN_PLAN_H
#define SPAWN_PLAN_H

#include "spawn.h"

/* The memory of a child: enum aspawn_memory, and what the library adds. */
enum child_memory {
	MEMORY_SHARED, /* the caller's, where the kernel allows that */
	MEMORY_SUSPENDED, /* the same; who clones the child is suspended until the exec (CLONE_VFORK) */
	MEMORY_COPIED,    /* as of fork(2) */
	MEMORY_EXECUTED,  /* of the image, which the child executes at once, or else ends */
	MEMORY_OF_HELPER, /* no child: a helper, which shares the memory and tries its own ways */
};

/* Who clones. */
enum process { BY_CALLER, BY_HELPER };

/* When the next way of the same process is tried. Otherwise the error is the result. */
enum leads_on {
	NEVER,
	ALWAYS,
	IF_UNSUPPORTED, /* EOPNOTSUPP */
	UNLESS_FULL,    /* EAGAIN and ENOMEM: the limit of the cgroup */
};

struct way {
	enum process by;
	enum child_memory memory;
	bool in_cgroup;
	unsigned wishes, excludes;
	enum leads_on leads_on;
};

/* Who has the child: enum aspawn_owner. A tree is the helper's too. */
enum child_owner { OWNER_CALLER, OWNER_PRIVATE, OWNER_TREE };

/* A control group to be made below the parent, by the helper of a tree; limits as of ASPAWN_NEW_CGROUP. */
struct cgroup_wish {
	int parent; /* its directory */
	uint64_t memory_max, pids_max, cpu_max;
};

/* What only commands want of a child. */
struct plan {
	unsigned wishes; /* enum wish */
	unsigned ways;   /* those that may be tried */
	enum child_owner owner;
	bool tree_or_group; /* without lists of children the child's process group is enough for a tree */
	bool dies_with_caller; /* with the caller's process; not of the caller's child */
	/* The caller does not wait until the helper has cloned the child. Then the state's pid is the
	 * child's, or 0 if there is none. Not with unshare_files and wants_pidfd. A helper of the caller's child
	 * is detached: it waits in the caller's place for the exec, and stays until the child's end. */
	bool detached;
	bool polls_helper; /* the caller wants a pidfd of the helper */
	bool lacks_clone3; /* do not try it: a filter's trap would end a helper or server */
	int stop_signal;   /* of a tree: the first signal of its end */
	/* The child begins on its parent's descriptor table (CLONE_FILES) and first copies the
	 * descriptors below keep_below; the parent waits for that. Ignored where memory may be a copy. */
	bool unshare_files;
	unsigned keep_below;
	/* The calling thread, from which the child may fetch what is in fds, which then gets other
	 * numbers; 0: copies of all. */
	int caller;
	struct child_fd *fds; /* the child gets these too; where parent and child find them */
	size_t fd_count;
	const struct cgroup_wish *new_cgroup; /* of a tree: cgroup.h; NULL: none. Where user_data is */
	int cgroup_fd; /* that the clone joins, of version 2, unless a group is made for it; -1: none */
	bool watch_copy;  /* where memory may be a copy, make an exec_watch */
	void *watch_at;   /* the queue's place for it; NULL: it may be anywhere */
	const char *name; /* comm of the child; NULL: the one that it inherits is the caller's */
};

#endif
