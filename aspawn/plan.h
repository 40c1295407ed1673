/* A command as it lies on the child's stack, and what is known of each action. */
#ifndef ASPAWN_PLAN_H
#define ASPAWN_PLAN_H

#include <aspawn/command.h>
#include <syscall/exec.h>
#include <syscall/syscall.h>

#include "spawn.h"

struct plan {
	uint64_t flags;
	const char *file;
	const char *path; /* NULL: of the environment */
	char *const *argv, *const *envp;
	struct aspawn_action *actions;
	size_t count, pipe_end; /* beyond the last pipe among them */
	int own_count; /* of the first actions, which are not the caller's */
	int parent;    /* a pid, for ASPAWN_PDEATHSIG */
	/* The action that need not be done any more: the child began in its cgroup. */
	const struct aspawn_action *joined;
};

enum trait {
	FD_A = 1,    /* a is a descriptor number */
	FD_B = 2,    /* and b */
	USES_A = 4,  /* a, or b, is a descriptor of the parent's */
	USES_B = 8,
	TEXT = 16,   /* data is a text */
	BYTES = 32,  /* data is so many bytes */
	SET = 64,    /* a set of signals */
	TEXTS = 128, /* there is more of it in text */
	COPY = 256,  /* needs a copy of the memory */
};

struct action_traits {
	char name[22];
	unsigned short traits;
};

/* NULL: no such kind. */
const struct action_traits *aspawn_action_traits(int kind);

/* 0, -EINVAL or -E2BIG. */
int aspawn_check_action(const struct aspawn_action *action);

/* The descriptor that the action replaces, or -1. */
int aspawn_replaced(const struct aspawn_action *action);

/*
 * The path to try is in the upper half; the parent's directory, if it is wanted,
 * stands right before it, so that a relative path begins there instead.
 */
struct candidate {
	char text[2 * PSYS_PATH_MAX];
	size_t directory; /* its length, with a slash; 0: none */
	int error;        /* of a relative path: why there is no directory for it */
};

/* Before the actions, which may go to another directory. */
void aspawn_begin_search(struct candidate *candidate, const struct plan *plan);
/* After them. */
_Noreturn void aspawn_execute(struct control *control, const struct plan *plan,
			      struct candidate *candidate);

/* What the child does: never returns but by aspawn_fn's way. arg is the control
 * block, user_data the plan. */
int aspawn_perform(void *arg, int write_end, void *mask, void *user_data, size_t length);

/* aspawn_command() with actions of the library's own before the caller's. */
int aspawn_command_with(struct aspawn_child *child, struct Stack_t *stack,
			const struct aspawn_command *command, const struct aspawn_action *own,
			size_t own_count);

/* Whether it is a command, and has an action of the kind. */
bool aspawn_has_action(const struct aspawn_command *command, int kind);

/* To the process group that a child leads. */
int aspawn_kill_group(struct aspawn_child *child, int signal);

#endif
