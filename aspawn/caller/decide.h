/* SPDX-License-Identifier: MIT */
/* How the child of a command begins: what its actions require, what is found out, and what follows. */
#ifndef CALLER_DECIDE_H
#define CALLER_DECIDE_H

#include <syscall/string.h>

#include "start.h"

/* Follows the actions in their order: which numbers still mean the caller's descriptors. */
struct callers {
	const struct prepared *prepared;
	int end; /* no action of the caller has closed the numbers below it */
};

PSYS_INLINE struct callers aspw_callers_begin(const struct prepared *prepared)
{
	psys_memset(prepared->replaced, 0, prepared->replaced_slots * sizeof *prepared->replaced);
	return (struct callers){ prepared, INT32_MAX };
}

/* Returns the descriptor that the action uses if it is the caller's, otherwise -1. Notes what the
 * action replaces or closes. */
int aspw_callers_next(struct callers *callers, const struct aspawn_action *action);

enum shares_table { SHARES_NOTHING, IF_MANY, SHARES_TABLE };

/* What the actions require of the clone. */
struct requirements {
	size_t copies;     /* actions that need a copy of the memory */
	bool image;        /* with copies: no action needs the caller's memory */
	bool same_numbers; /* a function runs while the child has a pipe, which it must not meet */
	bool awaits_clone; /* struct library_actions */
	/* An action closes the rest, so that the child may share the descriptors, and copy those below
	 * keep_below, which it uses: always, or to copy all takes longer. */
	enum shares_table shares_table;
	unsigned keep_below;
	const struct aspawn_action *joined; /* the control group that the clone may join; NULL: none */
	const struct cgroup_wish *new_cgroup; /* ... is made by the helper */
	struct child_fd *fds;
	size_t fd_count;
	void *watch_at; /* struct served */
};

/* What the caller finds out before it decides, and only as far as the decision needs it. */
struct findings {
	bool has_image;       /* this build of the library */
	bool lacks_clone3;    /* a filter has refused it before */
	bool few_descriptors; /* are open */
	bool children_stay;   /* they begin in the caller's pid namespace */
	int thread;           /* the calling one; 0: nothing is to be fetched from it */
};

/* Fills what the prepared command has for its actions: fds, parent, joined, group. */
struct requirements aspw_fill_prepared(struct prepared *prepared,
				       const struct aspawn_command *command,
				       const struct library_actions *library);

struct findings aspw_find_out(const struct aspawn_command *command,
			      const struct requirements *needs, const struct served *served);

/* Fills the plan, and of the request what says how the child begins. Looks at nothing else. Returns the
 * reason for the case that memory is copied, an enum aspawn_reason. */
unsigned char aspw_decide_ways(const struct aspawn_command *command,
			       const struct requirements *needs, const struct findings *found,
			       struct request *request, struct plan *plan);

/* Returns how many actions of the command need a copy of the memory. */
size_t aspw_count_copies(const struct aspawn_command *command);

#endif
