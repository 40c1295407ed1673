/* What the drop-ins share: a spawn that waits for the exec, on a stack of a pool. */
#ifndef COMPAT_SPAWN_H
#define COMPAT_SPAWN_H

#include <sys/types.h>

#include <aspawn/command.h>

struct action_list {
	const struct aspawn_action *first;
	size_t count;
};

struct spawn {
	pid_t *pid; /* out; these two may be NULL */
	int *pidfd; /* out: CLOEXEC */
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

/* A stack for a child: one of the pool's, or *own if they are all in use. All signals are
 * blocked from before it is taken until after it is given back: the child of a handler
 * that forks takes back all that are taken. */
struct Stack_t *aspawn_compat_take_stack(struct Stack_t *own);
void aspawn_compat_give_stack(struct Stack_t *stack);

/* waitpid() for this child, whatever interrupts it: the pid, or -1 with errno. */
pid_t aspawn_compat_wait(pid_t pid, int *status);

#endif
