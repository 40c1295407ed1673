/* A command as it lies on the child's stack, and what is known of each kind of action. */
#ifndef COMMAND_PREPARED_H
#define COMMAND_PREPARED_H

#include <aspawn/command.h>
#include <syscall/exec.h>
#include <syscall/syscall.h>

#include "../aspawn/spawn.h"
#include "../aspawn/stack.h"

/* The pipe of an action: three numbers of two ends. */
struct command_pipe {
	size_t action;   /* its index */
	int parents_end; /* -1: not made yet */
	int childs_end;  /* as the parent knows it, and closes it */
	int moved_end;   /* the same, where the child has it now */
};

/* What the library puts before the caller's actions: of the streams, and of a run. */
enum { MOST_OWN_ACTIONS = 4 };
struct own_actions {
	struct aspawn_action list[MOST_OWN_ACTIONS];
	size_t count;
};

struct prepared {
	uint64_t flags;
	const char *file;
	const char *path; /* NULL: of the environment */
	char *const *argv, *const *envp;
	struct aspawn_action *actions;
	size_t count;
	int own_count;              /* of the first actions, which are the library's */
	struct command_pipe *pipes; /* NULL: none */
	size_t pipe_count;
	int parent;                         /* a pid, for ASPAWN_PDEATHSIG */
	const struct aspawn_action *joined; /* already, if the child began in its cgroup */

	/* The child's. The parent reads the report when the stack is free: how far the child
	 * has come, and what failed there, if anything did. */
	int report_fd;            /* -1: no pipe */
	struct exec_watch *watch; /* NULL: none */
	struct aspawn_failure report;
};

/* Of each kind of action, in 32 bytes. Members are offsets in struct aspawn_action; 0: none. */
struct action_info {
	char name[21];
	bool copies : 1;        /* it needs a copy of the memory */
	bool optional : 1;      /* all strings but the first path may be NULL */
	unsigned char fds[2];   /* descriptor numbers: not negative */
	unsigned char uses;     /* which of the caller's descriptors it uses; may be AT_FDCWD */
	unsigned char replaces; /* which descriptor is another one, or closed, afterwards */
	unsigned char paths[2], strings[2];
	unsigned char array;   /* aspawn_array_size() */
	unsigned char subject; /* the number that a failure names, if there is no string */
};

/* By kind; for one that is not checked yet aspawn_action_info(), NULL: no such kind. */
extern const struct action_info aspawn_action_infos[];
const struct action_info *aspawn_action_info(uint32_t kind);

PSYS_INLINE bool has_strings(const struct action_info *info)
{
	return info->paths[0] || info->strings[0];
}

PSYS_INLINE int member_int(const struct aspawn_action *action, size_t offset)
{
	int value;

	__builtin_memcpy(&value, (const char *)action + offset, sizeof value);
	return value;
}

PSYS_INLINE const void *member_pointer(const struct aspawn_action *action, size_t offset)
{
	const void *pointer;

	__builtin_memcpy(&pointer, (const char *)action + offset, sizeof pointer);
	return pointer;
}

PSYS_INLINE void set_member_pointer(struct aspawn_action *action, size_t offset, const void *pointer)
{
	__builtin_memcpy((char *)action + offset, &pointer, sizeof pointer);
}

/* Bytes of its array. */
size_t aspawn_array_size(const struct aspawn_action *action);

/* 0, -EINVAL or -E2BIG. */
int aspawn_check_action(const struct aspawn_action *action);

/* The descriptor that the action replaces, or -1. */
PSYS_INLINE int replaced_by(const struct aspawn_action *action)
{
	const size_t offset = aspawn_action_infos[action->kind].replaces;

	return offset ? member_int(action, offset) : -1;
}

PSYS_INLINE bool is_pipe(const struct aspawn_action *action)
{
	return action->kind == ASPAWN_ACTION_OUTPUT_PIPE || action->kind == ASPAWN_ACTION_INPUT_PIPE;
}

/* How the child has to begin, for what its actions are. */
struct requirements {
	bool copy_memory, unshare_files;
	bool parent;         /* an action asks for its pid */
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

/* Ends the child, whose command failed at prepared->report.step. error is negative. The
 * subject may be NULL. */
_Noreturn void aspawn_fail(struct prepared *prepared, int error, const char *subject);

/* The child's function: arg is the struct control, user_data the struct prepared. It
 * never returns. */
int aspawn_perform(void *arg, int write_end, void *mask, void *user_data, size_t length);

/* Copies the caller's structure, of whatever version, into one of this version. */
int aspawn_read_command(struct aspawn_command *to, const struct aspawn_command *from);

/* aspawn_start() of a command that has been read, with own actions before the caller's. */
int aspawn_start_with(struct aspawn_child *child, const struct aspawn_command *command,
		      struct own_actions *own);

/* True if the command has an action of the kind. */
bool aspawn_has_action(const struct aspawn_command *command, uint32_t kind);

#endif
