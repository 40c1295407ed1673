/* SPDX-License-Identifier: MIT */
#ifndef CALLER_DECIDE_H
#define CALLER_DECIDE_H

#include "start.h"

/* Follows the actions in their order: which numbers still mean the caller's descriptors. */
struct callers {
	const struct prepared *prepared;
	int end; /* no action of the caller has closed the numbers below it */
};

struct callers aspw_callers(const struct prepared *prepared);

/* Returns the descriptor that the action uses if it is the caller's, otherwise -1. Notes what the
 * action replaces or closes. */
int aspw_callers_next(struct callers *callers, const struct aspawn_action *action);

/* Decides how the child begins: fills the members of the request that say how, and those of the prepared
 * command that depend on it. */
void aspw_decide(struct request *request, struct prepared *prepared,
		 const struct aspawn_command *command, const struct own_actions *own);

/* Returns how many actions of the command need a copy of the memory. */
size_t aspw_count_copies(const struct aspawn_command *command);

#endif
