/* SPDX-License-Identifier: MIT */
/* The drop-ins share a spawn that waits for the exec, and the memory for the spawn. */
#ifndef COMPAT_SPAWN_H
#define COMPAT_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include <aspawn/command.h>
#include <syscall/syscall.h>

/* --- a section in which a thread spawns -------------------------------------- */

/* the stacks of all children of the drop-ins */
extern struct aspawn_pool aspawn_compat_stacks;

/* memory that later spawns reuse */
struct scratch {
	void *memory;
	size_t size;
	bool taken;
};

/* Blocks all signals but SIGSYS, whose handler a filter may need. Stores the previous mask. */
static inline int block_signals(struct psys_sigset *before)
{
	struct psys_sigset set;

	psys_sigfillset(&set);
	psys_sigdelset(&set, PSYS_SIGSYS);
	return psys_rt_sigprocmask(PSYS_SIG_BLOCK, &set, before, PSYS_SIGSET_SIZE);
}

/*
 * From enter to leave the thread has all signals but SIGSYS blocked and owns the scratch memory: a
 * kept scratch, or section->own if all kept scratches are in use. Signals are blocked because a
 * handler could call fork(): the child would mark the scratch as free and then go on to use it.
 */
struct section {
	struct scratch *scratch, own;
	struct psys_sigset mask; /* as it was before */
};

/* Returns 0 or a positive error number; after an error do not call leave. */
int aspawn_compat_enter(struct section *section);
void aspawn_compat_leave(struct section *section);

/* Returns size bytes, aligned to a page and valid until the section ends, or NULL without memory.
 * The next call may unmap the memory of the previous call. */
void *aspawn_compat_scratch(struct section *section, size_t size);

/* --- spawning ------------------------------------------------------------------ */

struct action_list {
	const struct aspawn_action *first;
	size_t count;
};

/* A spawn with at most this many actions, before and actions together, needs no scratch memory. */
enum { FEW_ACTIONS = 15 };

struct spawn {
	pid_t *pid;              /* out; these two may be NULL */
	int *pidfd;              /* out: CLOEXEC */
	const char *file, *path; /* as of struct aspawn_command */
	char *const *argv, *const *envp;
	struct action_list before, actions; /* in this order */
	const struct psys_sigset *mask;     /* NULL: the caller's */
};

/*
 * Returns 0 when the program runs. On failure it returns a positive error number, *pid and
 * *pidfd are untouched, and the child is reaped. No signal handler of the calling thread runs
 * meanwhile, and the thread is not cancelled.
 */
int aspawn_compat_spawn(const struct spawn *spawn);
/* Does the same within a section that the caller has entered. */
int aspawn_compat_spawn_in(struct section *section, const struct spawn *spawn);

/* Repeats waitpid() after EINTR. Returns the pid, or -1 with errno. */
pid_t aspawn_compat_wait(pid_t pid, int *status);

#endif
