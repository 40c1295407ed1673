/* SPDX-License-Identifier: MIT */
/*
 * A tree is a private child whose helper is also the subreaper of the child's descendants. Orphans
 * become the helper's children, whatever they did with setsid(2) or double forks.
 *
 * helper  reaps ended children, until the program has ended, or the tree is to be ended.
 * helper  sends the stop signal and SIGCONT to all descendants, if there is a grace. After the
 *         grace it sends SIGKILL to its children alone, reaps them, and kills the new children,
 *         until no child is left (ECHILD). Each round ends a generation at least.
 * helper  gives up if nothing ends any more: the remaining processes may not be signalled, or hang
 *         in the kernel.
 *
 * The helper finds its children in /proc/thread-self/children, which has only numbers. The kernel
 * skips some children if others are reaped during the read. So each round reads all, signals all,
 * and then reaps; only waitid(2) tells that no child is left.
 *
 * The caller's order is a word of the state. SIGCONT to the helper is the doorbell: this signal is
 * never lost, wakes a helper that somebody has stopped, and is allowed within a session, whoever
 * the caller has become. In another session the helper looks every 50 ms.
 */
#ifndef HELPER_TREE_H
#define HELPER_TREE_H

#include "../spawn/stack.h"

/* The caller's order. A positive number ends the tree, with a grace of number - 1 milliseconds. */
enum tree_order { LET_GO = -1, NO_ORDER, KILL_AT_ONCE };

/* Sends SIGKILL to all processes below a tree's helper. The caller does this for a helper that was
 * ordered to and gives no sign of life: a process of the tree may stop the helper again and again.
 * Returns how many processes were found. */
int aspw_tree_kill_below(int helper);

/* A tree's helper begins here. */
int aspw_tree_main(void *control);

#endif
