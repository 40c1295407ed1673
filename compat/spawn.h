/* What the drop-ins share: a spawn that waits for the exec, and the memory for it. */
#ifndef COMPAT_SPAWN_H
#define COMPAT_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include <aspawn/command.h>

/* --- a section in which a thread spawns -------------------------------------- */

/* The stacks of all children of the drop-ins. */
extern struct aspawn_pool aspawn_compat_stacks;

/* Memory that is kept from one spawn to the next. */
struct scratch {
	void *memory;
	size_t size;
	bool taken;
};

/*
 * Between these two all signals are blocked, and the scratch memory is this thread's: one of
 * those that are kept, or its own if they are all in use. A handler that ran meanwhile and
 * called fork() would have its child take back what its own thread goes on to use.
 */
struct section {
	struct scratch *scratch, own;
	struct psys_sigset mask; /* as it was before */
};

/* 0, or a positive error number: then there is nothing to leave. */
int aspawn_compat_enter(struct section *section);
void aspawn_compat_leave(struct section *section);

/* So many bytes until the end of the section, aligned to a page; NULL: there are none. The
 * next call may unmap what the one before has returned. */
void *aspawn_compat_scratch(struct section *section, size_t size);

/* --- spawning ------------------------------------------------------------------ */

struct action_list {
	const struct aspawn_action *first;
	size_t count;
};

/* With so many actions in all a spawn needs no scratch memory. */
enum { FEW_ACTIONS = 15 };

struct spawn {
	pid_t *pid;              /* out; these two may be NULL */
	int *pidfd;              /* out: CLOEXEC */
	const char *file, *path; /* as of struct aspawn_command */
	char *const *argv, *const *envp;
	struct action_list before, actions; /* done in this order */
	const struct psys_sigset *mask;     /* NULL: the caller's */
};

/*
 * 0 when the program runs; otherwise a positive error number, what is out is
 * untouched, and there is no child left. No signal handler of the caller's runs meanwhile,
 * and its thread is not cancelled.
 */
int aspawn_compat_spawn(const struct spawn *spawn);
/* The same in a section that the caller has entered. */
int aspawn_compat_spawn_in(struct section *section, const struct spawn *spawn);

/* waitpid() for this child, whatever interrupts it: the pid, or -1 with errno. */
pid_t aspawn_compat_wait(pid_t pid, int *status);

#endif
