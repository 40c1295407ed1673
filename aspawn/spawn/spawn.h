/* SPDX-License-Identifier: MIT */
/* The spawn primitive, as aspawn() and the commands call it. */
#ifndef ASPAWN_SPAWN_H
#define ASPAWN_SPAWN_H

#include <stdbool.h>

#include <aspawn/aspawn.h>
#include <syscall/errno.h>
#include <syscall/signal.h>
#include <syscall/syscall.h>

/* To copy so many descriptors costs less than to fetch one of them. */
enum { FEW_DESCRIPTORS = 128 };

/* The memory of a child: enum aspawn_memory, and one more. */
enum child_memory {
	MEMORY_SHARED,    /* the caller's, where the kernel allows that */
	MEMORY_SUSPENDED, /* the same; the caller is suspended until the exec (CLONE_VFORK) */
	MEMORY_COPIED,    /* as of fork(2) */
	/* fn executes a program at once, or returns. Until then the child shares the memory, and who
	 * clones it waits. If fn returns, or the child ends before the exec, a second child begins in
	 * a copy of the memory. */
	MEMORY_EXECUTED,
};

enum report_pipe { NO_PIPE, PIPE_IF_COPIED, PIPE };

/* If a helper clones the child: for the caller, or to be its parent. Such a helper is reaped by the
 * caller, or by the kernel. */
enum helped { NOT_HELPED, FOR_CALLER, PRIVATE, PRIVATE_AUTOREAPED };

/* If the child is a tree: tree.h. Without lists of children that fails, or the child's group is enough. */
enum tree_wish { NO_TREE, TREE, TREE_OR_GROUP };

/* A control group to be made below the parent, by the helper of a tree; limits as of ASPAWN_NEW_CGROUP. */
struct group_wish {
	int parent; /* its directory */
	uint64_t memory_max, pids_max, cpu_max;
};

struct child_fd;
struct control;

/* What is wanted of a child. The copy in the control block changes while the child is made. */
struct request {
	enum child_memory memory;
	/* The child begins on its parent's descriptor table (CLONE_FILES) and first copies the
	 * descriptors below keep_below; the parent waits for that. Ignored where memory may be a copy. */
	bool unshare_files;
	/* The calling thread, from which the child may fetch what is in fds, which then gets other
	 * numbers; 0: copies of all. */
	int caller;
	unsigned keep_below;
	enum report_pipe pipe;
	struct child_fd *fds; /* the child gets these too; where parent and child find them */
	size_t fd_count;
	bool watch_copy; /* where memory may be a copy, make an exec_watch */
	void *watch_at;  /* the queue's place for it; NULL: it may be anywhere */
	bool wants_pidfd;
	bool dies_with_caller; /* with the caller's process; of a private child */
	/* The caller does not wait until the helper has cloned the child. Then the state's pid is the
	 * child's, or 0 if there is none. Not with unshare_files and wants_pidfd. */
	bool detached;
	/* Not PRIVATE_AUTOREAPED. FOR_CALLER: detached; the helper waits in the caller's place until the
	 * child has executed a program, and stays until the child has ended. */
	enum helped helped;
	enum tree_wish tree;            /* of a private child */
	int stop_signal;                /* of a tree: the first signal of its end */
	const struct group_wish *group; /* of a tree: cgroup.h; NULL: none. Where user_data is */
	bool polls_helper;              /* the caller wants a pidfd of the helper */
	/* To start in, of version 2, with in_cgroup for memory: MEMORY_SUSPENDED or _EXECUTED. The parent
	 * is suspended until the exec, by a frozen cgroup for long. If the kernel rejects that, or kills
	 * the child in its clone, another child begins elsewhere. -1: none. With a group to be made, that
	 * one in its place. */
	int cgroup_fd;
	enum child_memory in_cgroup;

	bool lacks_clone3; /* do not try it: a filter's trap would end a helper or server */

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
struct control *aspw_spawn_begin(const struct request *request, const struct Stack_t *stack);
long aspw_spawn_end(struct control *control, long pid);

#endif
