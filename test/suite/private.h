/* SPDX-License-Identifier: MIT */
/* Private children: what their tests have in common. */
#ifndef PRIVATE_TESTS_H
#define PRIVATE_TESTS_H

#include "observe.h"

extern const struct psys_timespec at_once, long_enough;

/* Skips the test where no process can share memory. */
void need_shared_memory(void);

/* aspawn_with(ASPAWN_PRIVATE), without a pipe; with a pidfd unless that is NULL. */
int try_private(struct Stack_t *stack, aspawn_fn fn, void *arg, int *pid, int *pidfd);

/* The same, or the test fails, or is skipped where no process can share memory. The pid. */
int spawn_private(struct Stack_t *stack, aspawn_fn fn, void *arg);

/* Waits for the private child of the stack. Returns its status. */
int end_of(struct Stack_t *stack);

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

/* An aspawn_fn: stores its parent in numbers[1], opens numbers[2], waits for numbers[0], returns 5. */
ASPAWN_CHILD int child_tells_parent(void *numbers, int fd, void *mask, void *data, size_t length);

/* Spawns a child that waits until numbers[0] is opened. Returns the pid of its helper. */
int spawn_helped(struct Stack_t *stack, int *numbers, int *pid, int *pidfd);

void sleep_until_gone(int pid);

/* Runs host in a forked process whose orphans become this process's, which reaps them at once. */
void run_under_reaper(void (*host)(const void *), const void *arg);

/* A private command that runs this program in a role. */
struct aspawn_command private_command(struct self *self, const char *role, const char *argument);

/* Starts a private command that lingers, after the action unless that is NULL. Returns the pid of
 * its helper. */
int start_helped(struct aspawn_child *child, uint64_t flags, const struct aspawn_action *more);

/* True if the kernel keeps the status of a child that somebody else has reaped (Linux 6.15). */
bool keeps_status(void);

#endif
