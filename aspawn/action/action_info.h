/* SPDX-License-Identifier: MIT */
/* Describes kinds of actions, checks actions, and stores failures. */
#ifndef ACTION_ACTION_INFO_H
#define ACTION_ACTION_INFO_H

#include <stdbool.h>

#include <aspawn/command.h>
#include <syscall/syscall.h>

enum { MOST_STRINGS = 4 };

/* Properties of a kind of action. Integers are offsets in struct aspawn_action, or 0. */
struct action_info {
	bool copies : 1;   /* the action needs a copy of the memory */
	bool optional : 1; /* all strings but the first may be NULL */
	bool plain : 1;    /* needs no capability except those in image_check.c */
	/* Afterwards a path may lead to another file, or to a file that may not be executed. */
	bool hides : 1;
	/* A descriptor of the caller that the action uses. For an action with paths it may be
	 * AT_FDCWD. */
	unsigned char uses;
	unsigned char replaces; /* a descriptor that the action replaces or closes */
	unsigned char begins;   /* the first descriptor to close, at once or at the exec */
	unsigned char paths;    /* how many strings are paths, from the first on */
	unsigned char strings[MOST_STRINGS];
	unsigned char array;   /* a pointer to an array */
	unsigned char count;   /* the number of elements, a size_t, or 0 for an array of one */
	unsigned char each;    /* no offset, but the bytes of an element */
	unsigned char subject; /* the number that a failure names, if the kind has no string */
};

/* The index must be a kind that aspw_check_action() has found valid. */
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

/* Returns the offset of a pointer to data that is copied with the action, or 0 after the last
 * pointer. Stores the bytes of the array, or IS_STRING. */
#define IS_STRING SIZE_MAX
size_t aspw_pointer_of(const struct aspawn_action *action, int index, size_t *size);

/* Returns the offset of the int with the caller's descriptor that the action uses, or 0. */
size_t aspw_used_by(const struct aspawn_action *action);

/* True if the action may change users, groups or capabilities, which clears PR_SET_PDEATHSIG. */
bool aspw_changes_credentials(const struct aspawn_action *action);

/* Returns 0, -EINVAL or -E2BIG. */
int aspw_check_action(const struct aspawn_action *action);

void aspw_store_failure(struct aspawn_failure *failure, int step, int error, uint32_t kind,
			const char *subject);

/* Stores that the argument is invalid. Returns the error. */
PSYS_INLINE int aspw_refuse_argument(struct aspawn_failure *failure, int error, const char *argument)
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

#endif
