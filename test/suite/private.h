/* SPDX-License-Identifier: MIT */
/* Private children: what their tests have in common. */
#ifndef PRIVATE_TESTS_H
#define PRIVATE_TESTS_H

#include "observe.h"

/* Skips the test where no process can share memory. */
void need_shared_memory(void);

/* Starts a private command that runs this program in a role, or after a call of fn, which may end it
 * before (role NULL). Skips the test where no process can share memory. */
struct aspawn_child start_private(const char *role, int (*fn)(void *), void *arg);

/* Functions for that, which end the child: with a status; when the gate is open; by a signal. */
ASPAWN_CHILD int exits(void *status);
ASPAWN_CHILD int waits(void *gate);
ASPAWN_CHILD int raises(void *signal);

/* Waits for the child, whether its program was executed or not. Returns its status. */
int end_of(struct aspawn_child *child);

/* Checks that this process has no child, also none that only __WALL shows. The kernel takes a
 * moment to reap a helper. */
void check_nothing_is_left(void);

/* A handler that counts, and the count. */
extern volatile int sigchlds;
void on_sigchld(int signal);
void unblock_sigchld(void);

/* Checks that no wait finds the child, blocking or not, with any options. */
void check_unseen(int pid);

/* Checks that private children are waited for with their status, and that a program finds SIGCHLD
 * ignored (1) or not (0). */
void check_status_arrives(int expected_disposition);

/* The child is known to have ended: a wait without patience gives its status, or gives the helper a
 * second to store it. */
void check_wait_at_once(struct aspawn_child *child, int expected);

void sleep_until_gone(int pid);

/* Runs host in a forked process whose orphans become this process's, which reaps them at once. */
void run_under_reaper(void (*host)(const void *), const void *arg);

/* Takes from this process, which is root, what lets it signal another user's processes. */
void may_not_kill(void);

/* A private command that runs this program in a role. */
struct aspawn_command private_command(struct self *self, const char *role, const char *argument);

/* Starts a private command that lingers, after the action unless that is NULL. Returns the pid of
 * its helper. */
int start_helped(struct aspawn_child *child, uint64_t flags, const struct aspawn_action *more);

/* True if the kernel keeps the status of a child that somebody else has reaped (Linux 6.15). */
bool keeps_status(void);

/* True if a pidfd stands for the group that its process leads (Linux 6.9). */
bool pidfd_knows_groups(void);

#endif
