/* SPDX-License-Identifier: MIT */
/* Waits for a child, and watches its helper meanwhile. */
#ifndef CALLER_WAIT_H
#define CALLER_WAIT_H

#include <stdbool.h>

#include <aspawn/command.h>

/* Sends the signal to the helper, if it has not ended. */
void aspw_signal_helper(struct aspawn_child *child, int signal);

/*
 * A thread that waits for a child calls aspw_tend_child() every aspw_until_tending() milliseconds.
 * The call continues the helper, which any process may have stopped. If the helper was ordered to
 * kill the tree and does not, the call kills the tree. If the helper has work to do, but gives no
 * sign of life for ten seconds, a tracer or a freezer blocks the helper: then the call kills it.
 * The call also continues a child that has stopped for this thread, the child's tracer.
 */
int aspw_until_tending(struct aspawn_child *child);
/* Returns true if nobody will report the status of a private child: its helper was killed, the
 * child has ended, and nobody has reaped it for ten seconds. With hurries, these ten seconds are
 * not required. */
bool aspw_tend_child(struct aspawn_child *child, bool hurries);

/* Gives up a child that cannot be ended. Without a pool, nothing is left of its helper. */
void aspw_give_up_child(struct aspawn_child *child);

/* Returns 0 if nobody has reaped the child, and so no other process has the number; otherwise
 * -ESRCH, or an error of waitid(2). */
int aspw_is_unreaped(struct aspawn_child *child);

#endif
