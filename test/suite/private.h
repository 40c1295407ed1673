/* SPDX-License-Identifier: MIT */
/* What the tests of private children have in common */
#ifndef PRIVATE_TESTS_H
#define PRIVATE_TESTS_H

#include "observe.h"

/* Skips the test where no process can share memory. */
void need_shared_memory(void);

/* Starts a private command that runs this program in a role, or after a call of fn. With role NULL
 * the child may end in fn. Skips the test where no process can share memory. */
struct aspawn_child start_private(const char *role, int (*fn)(void *), void *arg);

/* These functions for start_private() end the child with a status, when the gate is open, or by a
 * signal. */
ASPAWN_CHILD int exits(void *status);
ASPAWN_CHILD int waits(void *gate);
ASPAWN_CHILD int raises(void *signal);

/* Waits for the child, whether or not the program was executed. Returns the status. */
int end_of(struct aspawn_child *child);

/* Checks that the process has no child, not even for __WALL alone. The kernel takes a moment to
 * reap a helper. */
void check_nothing_is_left(void);

/* a handler and its count */
extern volatile int sigchlds;
void on_sigchld(int signal);
void unblock_sigchld(void);

/* Checks that a wait finds no child, blocking or not, with any options. */
void check_unseen(int pid);

/* Checks that waits for private children return the status, and a program finds SIGCHLD ignored (1)
 * or not (0). */
void check_status_arrives(int expected_disposition);

/* The child has surely ended: a wait without patience stores the status, or gives the helper a
 * second to store the status. */
void check_wait_at_once(struct aspawn_child *child, int expected);

void sleep_until_gone(int pid);

/* Runs host in a forked process, and reaps the orphans of host at once. */
void run_under_reaper(void (*host)(const void *), const void *arg);

/* Takes from this root process the privilege to signal another user's processes. */
void may_not_kill(void);

/* Makes a private command to run this program in a role. */
struct aspawn_command private_command(struct self *self, const char *role, const char *argument);

/* Starts a private command in the role "lingers", after the action unless this is NULL. Returns the
 * pid of the helper. */
int start_helped(struct aspawn_child *child, uint64_t flags, const struct aspawn_action *more);

/* Returns true if the kernel keeps the status of a child after another process's wait (Linux
 * 6.15). */
bool keeps_status(void);

/* Returns true if a pidfd also names the group that its process leads (Linux 6.9). */
bool pidfd_knows_groups(void);

#endif
