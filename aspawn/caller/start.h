/* SPDX-License-Identifier: MIT */
/* Prepares a command, and starts it. */
#ifndef CALLER_START_H
#define CALLER_START_H

#include "../action/prepared.h"
#include "arena.h"

/* A descriptor of the caller that an action of a job uses */
struct given_fd {
	int callers; /* its number in the caller's table, which the action names */
	int servers; /* its number for the server and the child, or -1 if not received */
};

/* The server of a queue gives these to a job. The server has all signals blocked, and may be killed
 * at any instruction. The job's memory does not change until the program is executed. */
struct served {
	const struct Stack_t *stack;       /* for the job alone, and large enough */
	void *watch_at;                    /* where the job's exec_watch is mapped */
	const struct psys_sigset *mask;    /* of the program */
	bool lacks_clone3;                 /* as in struct plan */
	const struct psys_rlimit64 *files; /* RLIMIT_NOFILE, or NULL for the server's */
	const struct given_fd *fds;
	size_t fd_count;
	const char *name; /* comm of the child until its exec, or NULL for the starting thread's */
	bool is_local;    /* the caller is the server, and actions name its descriptors */
	void (*before_exec)(struct prepared *prepared);
	void *of;
};

/* The child performs these library actions before the caller's: standard streams, the process group
 * of a run, and the limits of a queue's jobs. */
enum { MOST_LIBRARY_ACTIONS = 8 };
struct library_actions {
	struct aspawn_action list[MOST_LIBRARY_ACTIONS];
	size_t count;
	const struct served *served; /* or NULL */
	/* The caller waits until the helper has cloned a private child. Then the caller has a pidfd
	 * of the child from the beginning, for signals to the group of a reaped child. */
	bool await_clone;
};

/*
 * Copies an extensible structure, which may be older or newer than the library's, as openat2(2)
 * describes in "Extensibility". Returns 0, -EINVAL if size is below the first version's, or -E2BIG
 * if a member unknown to the library is not 0, or no version is so large. If to is NULL, only
 * checks.
 */
int aspw_read_structure(void *to, size_t library_size, const void *from, uint64_t size,
			size_t least_size);

/* Copies the caller's structure, which may be of another version. Checks the structure and its
 * actions. Returns 0, -EINVAL, -E2BIG or -EOPNOTSUPP: then *failure says why. */
int aspw_read_command(struct aspawn_command *to, const struct aspawn_command *from,
		      struct aspawn_failure *failure);

/*
 * Copies a command from aspw_read_command(), with the library's actions before the caller's. The
 * first pass only measures, and the second copies. The second pass alone suffices if the memory is
 * surely large enough, or an error is acceptable.
 */
struct prepared *aspw_prepare_command(struct arena *arena, const struct aspawn_command *command,
				      const struct library_actions *library);

/* Does what aspawn_start() does for a command from aspw_read_command(), with the library's actions
 * before the caller's. Stores in *failure which argument is invalid, or that the terminal or a
 * helper's clone failed; otherwise nothing. */
int aspw_start_with(struct aspawn_child *child, const struct aspawn_command *command,
		    struct library_actions *library, struct aspawn_failure *failure);

PSYS_INLINE int stop_signal_of(const struct aspawn_command *command)
{
	return command->stop_signal ? command->stop_signal : PSYS_SIGTERM;
}

/* Adds an action for a process group, unless the command's actions or terminal make one. */
void aspw_add_process_group(struct library_actions *library, const struct aspawn_command *command);

#endif
