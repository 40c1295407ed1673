/* SPDX-License-Identifier: MIT */
/* How the child of a command begins. */
#ifndef COMMAND_DECIDE_H
#define COMMAND_DECIDE_H

#include "child.h"
#include "prepared.h"

/* Fills the members of the request that say how, and those of the prepared command that depend on
 * it. */
void aspw_decide(struct request *request, struct prepared *prepared,
		 const struct aspawn_command *command, const struct own_actions *own);

#endif
