/* SPDX-License-Identifier: MIT */
/* A prepared command, as it lies on the child's stack, and the table of action kinds. */
#ifndef COMMAND_PREPARED_H
#define COMMAND_PREPARED_H

#include <aspawn/command.h>
#include <syscall/exec.h>
#include <syscall/syscall.h>

#include "../spawn/spawn.h"
#include "../spawn/stack.h"

enum {
	CALL_STACK = 16 * 1024, /* promised to functions of ASPAWN_CALL */
	CHILD_STACK = CALL_STACK + 2 * PSYS_PATH_MAX +
		      4 * 1024, /* struct candidate, and the library's frames */
};

struct arena;
struct prepared;

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
	bool lacks_clone3;                 /* struct request */
	const struct psys_rlimit64 *files; /* RLIMIT_NOFILE of the program; NULL: the server's */
	const struct given_fd *fds;
	size_t fd_count;
	bool is_local; /* the caller is the server: actions name its descriptors */
	void (*before_exec)(struct prepared *prepared);
	void *of;
};

/* Actions of the library, before the caller's: standard streams, the group of a run, and what a job has
 * of its queue. */
enum { MOST_OWN_ACTIONS = 8 };
struct own_actions {
	struct aspawn_action list[MOST_OWN_ACTIONS];
	size_t count;
	const struct served *served; /* NULL: no job */
	/* Of a private child: the caller waits until the helper has cloned it, and has a pidfd of it
	 * from the beginning, by which it reaches the group when the child is reaped. */
	bool await_clone;
};

/* What the image needs beside the command: image.h. */
struct image_data {
	uint32_t build;  /* ASPAWN_IMAGE_BUILD of the library, which that of the image must be */
	void *origin;    /* the address of the prepared command, for which its pointers are */
	size_t size;     /* bytes from there to the end of struct control */
	bool filtered;   /* seccomp(2) */
	int personality; /* of the child before the exec, if not filtered */
	struct psys_cap_user_data capabilities[2]; /* of the child before the exec */
	char name[16];                             /* comm: prctl(2), PR_SET_NAME */
	int *kept; /* descriptors that the exec shall not close, to be FD_CLOEXEC again */
	size_t kept_count;
};

struct prepared {
	uint64_t flags;
	int stop_signal; /* as the command has it */
	const char *file;
	const char *path; /* search path; NULL: the default */
	char *const *argv, *const *envp;
	struct aspawn_action *actions;
	size_t count;
	int own_count;        /* the first own_count actions are the library's */
	struct child_fd *fds; /* that the child needs for actions: at most one each */
	size_t fd_count;
	unsigned *replaced; /* for struct callers: a table of a power of two slots */
	size_t replaced_slots;
	int parent;                         /* the parent's pid, for ASPAWN_PDEATHSIG; 0: none */
	const struct aspawn_action *joined; /* the ASPAWN_JOIN_CGROUP that the clone may do, or NULL */

	struct group_wish group; /* of an ASPAWN_NEW_CGROUP */
	struct image_data image;

	/* Called in the child, when all actions are done; NULL: nothing, as in the image, which does not
	 * have the function. */
	void (*before_exec)(struct prepared *prepared);
	void *of; /* for before_exec */

	unsigned char reason; /* enum aspawn_reason, for the case that memory is copied */

	/* Written by the child: its last step, and its error. The parent reads it, in memory or in the page
	 * of an exec_watch, when the child has execed or ended. */
	struct aspawn_failure *report;
	struct aspawn_failure in_memory;
	int report_fd; /* -1: no pipe */
};

enum { MOST_STRINGS = 4 };

/* Properties of a kind of action. Integers are offsets in struct aspawn_action; 0: none. */
struct action_info {
	bool copies : 1;   /* the action needs a copy of the memory */
	bool optional : 1; /* all strings but the first may be NULL */
	bool plain : 1;    /* needs no capability but those that image_check.c lists */
	bool hides : 1; /* afterwards a path may lead to another file, or one that may not be executed */
	unsigned char uses; /* a descriptor of the caller that the action uses; of a path: or AT_FDCWD */
	unsigned char replaces; /* a descriptor that the action replaces or closes */
	unsigned char begins; /* the first descriptor that the action closes, at once or at the exec */
	unsigned char paths; /* how many of the strings, the first ones, are paths */
	unsigned char strings[MOST_STRINGS];
	unsigned char array;   /* a pointer to an array */
	unsigned char count;   /* its elements, a size_t; with an array, 0: one */
	unsigned char each;    /* not an offset: bytes of an element */
	unsigned char subject; /* the number that a failure names, if the kind has no string */
};

/* By kind, which aspw_check_action() has found valid. */
extern const struct action_info aspw_action_infos[];
/* Returns NULL if the kind is invalid. */
const struct action_info *aspw_action_info(uint32_t kind);

PSYS_INLINE int member_int(const struct aspawn_action *action, size_t offset)
{
	int value;

	__builtin_memcpy(&value, (const char *)action + offset, sizeof value);
	return value;
}

PSYS_INLINE void set_member_int(struct aspawn_action *action, size_t offset, int value)
{
	__builtin_memcpy((char *)action + offset, &value, sizeof value);
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

/* Returns the offset of a pointer of the action, to what is copied with it, or 0 behind the last one.
 * Stores the bytes of the array, or IS_STRING. */
#define IS_STRING SIZE_MAX
size_t aspw_pointer_of(const struct aspawn_action *action, int index, size_t *size);

/* Returns the offset of the descriptor of the caller that the action uses, an int; 0: none. */
size_t aspw_used_by(const struct aspawn_action *action);

/* Where the child makes the call of an ASPAWN_SYSCALL: syscall_classes.h. */
enum call_class { CALL_IMAGE, CALL_SHARED, CALL_REFUSED };
enum call_class aspw_call_class(const struct aspawn_action *action);

/* True if the action may change users, groups or capabilities, which clears PR_SET_PDEATHSIG. */
bool aspw_changes_credentials(const struct aspawn_action *action);

/* Returns 0, -EINVAL or -E2BIG. */
int aspw_check_action(const struct aspawn_action *action);

void aspw_store_failure(struct aspawn_failure *failure, int step, int error, uint32_t kind,
			const char *subject);

/* Stores that the argument is invalid. Returns the error. */
PSYS_INLINE int aspw_refuse(struct aspawn_failure *failure, int error, const char *argument)
{
	aspw_store_failure(failure, ASPAWN_STEP_ARGUMENT, error, 0, argument);
	return error;
}

/* Returns the descriptor that the action replaces, or -1. */
PSYS_INLINE int replaced_by(const struct aspawn_action *action)
{
	const size_t offset = aspw_action_infos[action->kind].replaces;

	return offset ? member_int(action, offset) : -1;
}

/* True if the action makes the child's parent its tracer (PTRACE_TRACEME). */
PSYS_INLINE bool makes_tracer(const struct aspawn_action *action)
{
	return action->kind == ASPAWN_ACTION_SYSCALL &&
	       action->u.syscall.number == PSYS_NR_ptrace && !action->u.syscall.words[0];
}

PSYS_INLINE bool is_pipe(const struct aspawn_action *action)
{
	return action->kind == ASPAWN_ACTION_OUTPUT_PIPE || action->kind == ASPAWN_ACTION_INPUT_PIPE;
}

/* Bytes to be read, which may be more than the pipe's capacity. Negative: there is no pipe. */
PSYS_INLINE long held_by_pipe(int fd)
{
	int held = 0;
	long r = psys_ioctl(fd, PSYS_FIONREAD, (uintptr_t)&held);

	return r < 0 ? psys_fcntl(fd, PSYS_F_GETPIPE_SZ, 0) : held;
}

/* Follows the actions in their order: which numbers still mean the caller's descriptors. */
struct callers {
	const struct prepared *prepared;
	int end; /* no action of the caller has closed the numbers below it */
};

struct callers aspw_callers(const struct prepared *prepared);

/* Returns the descriptor that the action uses if it is the caller's, otherwise -1. Notes what the
 * action replaces or closes. */
int aspw_callers_next(struct callers *callers, const struct aspawn_action *action);

/* A path to execute. With ASPAWN_COMMAND_RELATIVE_TO_CALLER it begins with the caller's directory. */
struct candidate {
	char text[2 * PSYS_PATH_MAX];
	size_t directory; /* length of the directory with its slash; 0: none */
	int error;        /* why the directory is not known: fails relative paths */
};

/* Called before the actions, which may change the directory. */
void aspw_begin_search(struct candidate *candidate, const struct prepared *prepared);
enum { SCRIPT_HEAD = 256, MOST_INTERPRETERS = 5 }; /* as the kernel has them */
/* Returns the interpreter that the first line of a script names, or NULL. The script may be in head. */
char *aspw_interpreter_of(const char *script, char head[SCRIPT_HEAD]);
/* Called after the actions. */
_Noreturn void aspw_execute(struct prepared *prepared, struct candidate *candidate);

/* Stores that prepared->report->step failed, where the parent looks when the child has ended, in
 * case that a filter kills it at its next call. error 0: it goes on. subject may be NULL. */
void aspw_report(struct prepared *prepared, int error, const char *subject);

/* Writes the report to the pipe, if there is one. */
void aspw_write_report(const struct prepared *prepared);

/* Reports that prepared->report->step failed, and exits. */
_Noreturn void aspw_fail(struct prepared *prepared, int error, const char *subject);

/* The aspawn_fn of commands: arg is the struct control, user_data the struct prepared. Does not
 * return. */
int aspw_perform(void *arg, int write_end, void *mask, void *user_data, size_t length);

/*
 * Copies an extensible structure, which may be older or newer than this library's, as openat2(2)
 * describes in "Extensibility". Returns 0, -EINVAL if it is smaller than the first version, or
 * -E2BIG if a member that the library does not know is not 0, or no version is so large. to NULL: only
 * looks.
 */
int aspw_read_structure(void *to, size_t known, const void *from, uint64_t size,
			size_t first_version);

/* Copies the caller's structure, which may be of another version, and checks it and its actions.
 * Returns 0, -EINVAL or -E2BIG: then *failure says why. */
int aspw_read_command(struct aspawn_command *to, const struct aspawn_command *from,
		      struct aspawn_failure *failure);

/*
 * Copies a command from aspw_read_command(), with own actions before the caller's, in two passes:
 * the first only measures. With memory that is surely enough, or an error if it is not, the second
 * alone does.
 */
struct prepared *aspw_prepare(struct arena *arena, const struct aspawn_command *command,
			      const struct own_actions *own);

/* Returns the command's search path, or PATH of the program's environment; NULL: the default. */
const char *aspw_search_path(const struct aspawn_command *command);

/* Returns the program's environment, that of the command, changed by its actions; or NULL while the arena
 * measures. lends: do not copy the strings of the command's environment. */
char *const *aspw_make_environment(struct arena *arena, const struct aspawn_command *command,
				   bool lends);

/* Decides how the child begins: fills the members of the request that say how, and those of the prepared
 * command that depend on it. */
void aspw_decide(struct request *request, struct prepared *prepared,
		 const struct aspawn_command *command, const struct own_actions *own);

/* aspawn_start() of a command from aspw_read_command(), with own actions before the caller's. Stores
 * in *failure which argument is invalid, that there can be no terminal, or that a helper could not
 * clone the child; and nothing otherwise. */
int aspw_start_with(struct aspawn_child *child, const struct aspawn_command *command,
		    struct own_actions *own, struct aspawn_failure *failure);

PSYS_INLINE int stop_signal_of(const struct aspawn_command *command)
{
	return command->stop_signal ? command->stop_signal : PSYS_SIGTERM;
}

/* Returns how many actions of the command need a copy of the memory. */
size_t aspw_count_copies(const struct aspawn_command *command);

/* Returns the streams that the caller has by the terminal, a bit each; 0: there is no terminal. What
 * the program writes to it is standard error only if standard output goes elsewhere. */
PSYS_INLINE unsigned streams_on_pty(const struct aspawn_command *command)
{
	const bool out = command->std_out == ASPAWN_STREAM_PTY;

	return (command->std_in == ASPAWN_STREAM_PTY) | (unsigned)out << 1 |
	       (unsigned)(command->std_err == ASPAWN_STREAM_PTY && !out) << 2;
}

/* Makes the terminal that the command asks for: the caller's end and the program's, both CLOEXEC and
 * above 2. Returns 0, or a negative error number with none left. */
int aspw_make_terminal(int ends[2], const struct aspawn_command *command);

/* Makes a process group, unless the command's actions or its terminal do. */
void aspw_add_group(struct own_actions *own, const struct aspawn_command *command);

#endif
