/* A command as it lies on the child's stack, and what is known of each kind of action. */
#ifndef COMMAND_PREPARED_H
#define COMMAND_PREPARED_H

#include <aspawn/command.h>
#include <syscall/exec.h>
#include <syscall/syscall.h>

#include "../aspawn/spawn.h"
#include "../aspawn/stack.h"

/* The pipe of an ASPAWN_PIPE_...: three numbers of two ends. */
struct command_pipe {
	size_t action;   /* its index */
	int parents_end; /* -1: not made yet */
	int childs_end;  /* as the parent knows it, and closes it */
	int moved_end;   /* the same, where the child has it now */
};

struct prepared {
	uint64_t flags;
	const char *file;
	const char *path; /* NULL: of the environment */
	char *const *argv, *const *envp;
	struct aspawn_action *actions;
	size_t count;
	int own_count; /* of the first actions, which are the library's */
	struct command_pipe *pipes;
	size_t pipe_count;
	int parent; /* a pid, for ASPAWN_PDEATHSIG */
	const struct aspawn_action *joined; /* already, if the child began in its cgroup */

	/* The child's. The parent reads step and error when the stack is free. */
	int report_fd; /* -1: no pipe */
	int step, error;
};

enum {
	FD_A = 1,      /* a is a descriptor number */
	FD_B = 2,      /* and b */
	USES_A = 4,    /* a, or b, is a descriptor of the parent's */
	USES_B = 8,
	PATH = 16,     /* data is a string */
	BYTES = 32,    /* data is size bytes */
	SET = 64,      /* a set of signals */
	STRINGS = 128, /* more strings are in text */
	COPY = 256,    /* needs a copy of the memory */
};

struct action_info {
	char name[22];
	unsigned short has;
};

/* NULL: no such kind. */
const struct action_info *aspawn_action_info(int kind);

/* 0, -EINVAL or -E2BIG. */
int aspawn_check_action(const struct aspawn_action *action);

/* The descriptor that the action replaces, or -1. */
int aspawn_replaced(const struct aspawn_action *action);

/* How the child has to begin, for what its actions are. */
struct requirements {
	bool copy_memory, unshare_files;
	bool parent; /* an action asks for its pid */
	unsigned keep_below; /* above all descriptors that actions before the first closefrom use */
	const struct aspawn_action *cgroup; /* to begin in; NULL: none */
};
struct requirements aspawn_requirements(const struct prepared *prepared);

/* The path to try. The parent's directory, if it is wanted, stands before a relative one. */
struct candidate {
	char text[2 * PSYS_PATH_MAX];
	size_t directory; /* its length, with a slash; 0: none */
	int error;        /* of a relative path: why there is no directory for it */
};

/* Before the actions, which may go to another directory. */
void aspawn_begin_search(struct candidate *candidate, const struct prepared *prepared);
/* After them. */
_Noreturn void aspawn_execute(struct prepared *prepared, struct candidate *candidate);

/* Ends the child, whose command failed at this step. error is positive. */
_Noreturn void aspawn_fail(struct prepared *prepared, int step, int error);

/* The child's function: arg is the struct control, user_data the struct prepared. It
 * never returns. */
int aspawn_perform(void *arg, int write_end, void *mask, void *user_data, size_t length);

/* aspawn_command() with actions of the library's own before the caller's. */
int aspawn_command_with(struct aspawn_child *child, struct Stack_t *stack,
			const struct aspawn_command *command, const struct aspawn_action *own,
			size_t own_count);

/* True if it is a command, and has an action of the kind. */
bool aspawn_has_action(const struct aspawn_command *command, int kind);

/* To the process group that a child leads. */
int aspawn_kill_group(struct aspawn_child *child, int signal);

#endif
