/* SPDX-License-Identifier: MIT */
/* Preparing a command, and starting it. */
#ifndef CALLER_START_H
#define CALLER_START_H

#include "../action/prepared.h"
#include "arena.h"

/* A descriptor of the caller's that an action of a job uses. */
struct given_fd {
	int callers; /* its number in the caller's table, which the action names */
	int servers; /* ... in the server's, and so in the child's; -1: it could not be received */
};

/* What the server of a queue gives a job. It has all signals blocked, it may be killed at any
 * instruction, and the job's memory stays as it is until the program is executed. */
struct served {
	const struct Stack_t *stack;       /* for the job alone, and large enough */
	void *watch_at;                    /* where its exec_watch is mapped */
	const struct psys_sigset *mask;    /* of the program */
	bool lacks_clone3;                 /* struct plan */
	const struct psys_rlimit64 *files; /* RLIMIT_NOFILE of the program; NULL: the server's */
	const struct given_fd *fds;
	size_t fd_count;
	const char *name; /* comm of the program until its exec; NULL: the thread's that starts it */
	bool is_local;    /* the caller is the server: actions name its descriptors */
	void (*before_exec)(struct prepared *prepared);
	void *of;
};

/* Actions of the library, which the child performs before the caller's: standard streams, the process group
 * of a run, and the limits that a queue sets for its jobs. */
enum { MOST_LIBRARY_ACTIONS = 8 };
struct library_actions {
	struct aspawn_action list[MOST_LIBRARY_ACTIONS];
	size_t count;
	const struct served *served; /* NULL: no job */
	/* Of a private child: the caller waits until the helper has cloned it, and has a pidfd of it
	 * from the beginning, by which it reaches the group when the child is reaped. */
	bool await_clone;
};

/*
 * Copies an extensible structure, which may be older or newer than this library's, as openat2(2)
 * describes in "Extensibility". Returns 0, -EINVAL if it is smaller than the first version, or
 * -E2BIG if a member that the library does not know is not 0, or no version is so large. to NULL: only
 * looks.
 */
int aspw_read_structure(void *to, size_t library_size, const void *from, uint64_t size,
			size_t least_size);

/* Copies the caller's structure, which may be of another version, and checks it and its actions.
 * Returns 0, -EINVAL or -E2BIG: then *failure says why. */
int aspw_read_command(struct aspawn_command *to, const struct aspawn_command *from,
		      struct aspawn_failure *failure);

/*
 * Copies a command from aspw_read_command(), with own actions before the caller's, in two passes:
 * the first only measures. With memory that is surely enough, or an error if it is not, the second
 * alone does.
 */
struct prepared *aspw_prepare_command(struct arena *arena, const struct aspawn_command *command,
				      const struct library_actions *library);

/* aspawn_start() of a command from aspw_read_command(), with own actions before the caller's. Stores
 * in *failure which argument is invalid, that there can be no terminal, or that a helper could not
 * clone the child; and nothing otherwise. */
int aspw_start_with(struct aspawn_child *child, const struct aspawn_command *command,
		    struct library_actions *library, struct aspawn_failure *failure);

PSYS_INLINE int stop_signal_of(const struct aspawn_command *command)
{
	return command->stop_signal ? command->stop_signal : PSYS_SIGTERM;
}

/* Makes a process group, unless the command's actions or its terminal do. */
void aspw_add_process_group(struct library_actions *library, const struct aspawn_command *command);

#endif
