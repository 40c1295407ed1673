/* SPDX-License-Identifier: MIT */
#ifndef CALLER_KILL_H
#define CALLER_KILL_H

#include <aspawn/command.h>

/* Orders the helper to end the tree. Only aspawn_kill_tree() also reaches a suspended helper. */
int aspw_order_tree_end(struct aspawn_child *child, int64_t grace_ms);

/* Returns the time between the stop signal and SIGKILL, by grace_ms of struct aspawn_io. */
PSYS_INLINE int64_t grace_in_ms(int64_t grace_ms)
{
	if (grace_ms < 0)
		return 0;
	return grace_ms ? grace_ms : 1000;
}

#endif
