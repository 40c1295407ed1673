/* SPDX-License-Identifier: MIT */
/* Waiting for a child, and watching its helper meanwhile. */
#ifndef CALLER_WAIT_H
#define CALLER_WAIT_H

#include <stdbool.h>

#include <aspawn/command.h>

/* Sends the signal to the helper, if it has not ended. */
void aspw_signal_helper(struct aspawn_child *child, int signal);

/*
 * Whoever waits for a child tends it after each aspw_until_tending() milliseconds. aspw_tend_child()
 * continues the helper, as any process may have stopped it. It also kills the tree, if the
 * helper was ordered to and does not. If the helper has work to do, but gives no sign of life for ten seconds, a
 * tracer or a freezer blocks it: aspw_tend_child() kills the helper. It continues a child that has
 * stopped for this thread, its tracer.
 */
int aspw_until_tending(struct aspawn_child *child);
/* Returns true if nobody will report the status of a private child: its helper was killed, the
 * child has ended, and nobody has reaped it for ten seconds. With hurries, does not wait for these
 * ten seconds. */
bool aspw_tend_child(struct aspawn_child *child, bool hurries);

/* Gives up a child that cannot be ended. Without a pool, nothing is left of its helper. */
void aspw_give_up_child(struct aspawn_child *child);

/* Returns 0 if nobody has reaped the child, so that no other process has its number; otherwise
 * -ESRCH, or an error of waitid(2). */
int aspw_is_unreaped(struct aspawn_child *child);

#endif
