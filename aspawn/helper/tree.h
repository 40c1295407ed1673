/* SPDX-License-Identifier: MIT */
/*
 * Trees: a private child whose helper is also the subreaper of all that descends from it. What a
 * descendant leaves becomes the helper's child, whatever it did with setsid(2) or double forks.
 *
 * helper  reaps what ends, until the program has ended, or the tree is to be ended.
 * helper  sends the stop signal, and SIGCONT, to all descendants, if there is a grace, and after that
 *         SIGKILL to its children alone. It reaps them, and kills those that became its children meanwhile, until
 *         it has none (ECHILD). Each round ends a generation at least.
 * helper  gives up if nothing ends any more: then what is left may not be signalled, or hangs in the
 *         kernel.
 *
 * It finds its children in /proc/thread-self/children, by which numbers alone are learned: the
 * kernel skips some if others are reaped during the read. So each round reads all, signals all, and
 * then reaps; only waitid(2) tells that there is none.
 *
 * Orders of the caller are a word of the state. SIGCONT to the helper is the doorbell: it is never
 * lost, wakes a helper that somebody has stopped, and is allowed within a session, whoever the
 * caller is by now. In another session the helper looks every 50 ms.
 */
#ifndef HELPER_TREE_H
#define HELPER_TREE_H

#include "../spawn/stack.h"

/* What the caller orders. A positive number: to end the tree, with a grace of so many milliseconds
 * less one. */
enum tree_order { LET_GO = -1, NO_ORDER, KILL_AT_ONCE };

/* Sends SIGKILL to all below the helper of a tree. The caller does it in the helper's place, if the
 * helper was ordered to and gives no sign of life: a process of the tree may stop it again and
 * again. Returns how many processes it has found. */
int aspw_tree_kill_below(int helper);

/* The entry point of a tree's helper. */
int aspw_tree_main(void *control);

#endif
