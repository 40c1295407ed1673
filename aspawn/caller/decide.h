/* SPDX-License-Identifier: MIT */
/* Decides how the child of a command begins, from what its actions require and what is found
 * out. */
#ifndef CALLER_DECIDE_H
#define CALLER_DECIDE_H

#include <syscall/string.h>

#include "start.h"

/* Follows the actions in order, and tells which numbers are still the caller's descriptors. */
struct callers {
	const struct prepared *prepared;
	int end; /* the caller's actions have closed no number below it */
};

PSYS_INLINE struct callers aspw_callers_begin(const struct prepared *prepared)
{
	psys_memset(prepared->replaced, 0, prepared->replaced_slots * sizeof *prepared->replaced);
	return (struct callers){ prepared, INT32_MAX };
}

/* Returns the caller's descriptor that the action uses, or -1. Notes which numbers it replaces or
 * closes. */
int aspw_callers_next(struct callers *callers, const struct aspawn_action *action);

enum shares_table { SHARES_NOTHING, IF_MANY, SHARES_TABLE };

/* What the actions require of the clone */
struct requirements {
	size_t copies;     /* actions that need a copy of the memory */
	bool image;        /* the image can perform the actions that need a copy */
	bool same_numbers; /* a function runs, which must not meet the child's pipe */
	bool awaits_clone; /* as in struct library_actions */
	/* An action closes the high numbers, so the child may share the caller's table, and copy
	 * only the used descriptors, below keep_below. IF_MANY: only if copying all takes
	 * longer. */
	enum shares_table shares_table;
	unsigned keep_below;
	const struct aspawn_action *joined;   /* whose cgroup the clone may join, or NULL */
	const struct cgroup_wish *new_cgroup; /* that the helper makes, or NULL */
	struct child_fd *fds;
	size_t fd_count;
	void *watch_at; /* as in struct served */
};

/* Facts for the decision, found out only as far as needed */
struct findings {
	bool has_image;       /* this build of the library has one */
	bool lacks_clone3;    /* a filter has refused it before */
	bool few_descriptors; /* the caller has few open ones */
	bool children_stay;   /* they begin in the caller's pid namespace */
	int thread;           /* the calling thread, or 0 if the child fetches nothing from it */
};

/* Fills in fds, parent, joined and new_cgroup of the prepared command, and marks its writes. */
struct requirements aspw_fill_prepared(struct prepared *prepared,
				       const struct aspawn_command *command,
				       const struct library_actions *library);

struct findings aspw_find_out(const struct aspawn_command *command,
			      const struct requirements *needs, const struct served *served);

/* Fills the plan and the part of the request about the child's beginning, from the arguments alone.
 * Returns the enum aspawn_reason for the case that memory is copied. */
unsigned char aspw_decide_ways(const struct aspawn_command *command,
			       const struct requirements *needs, const struct findings *found,
			       struct request *request, struct plan *plan);

/* Returns how many actions of the command need a copy of the memory. */
size_t aspw_count_copies(const struct aspawn_command *command);

#endif
