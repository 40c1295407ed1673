/*
 * When a child in a copy of the memory has execed or ended. Where memory is shared the
 * kernel clears the stack's word then. Here the child registers a word in a page that
 * both have (MAP_SHARED) as a robust futex that it holds: exec and exit let go of it, and
 * the kernel says so and wakes the parent (kernel/futex/core.c, exit_robust_list). The
 * end of a pipe would not do: any sibling may have inherited that.
 */
#ifndef ASPAWN_WATCH_H
#define ASPAWN_WATCH_H

#include <stdbool.h>

#include <syscall/base.h>
#include <syscall/time.h>

struct exec_watch;

/* NULL if there is no memory for it. */
struct exec_watch *aspawn_watch_make(void);
void aspawn_watch_free(struct exec_watch *watch);

/* In the child. */
void aspawn_watch_begin(struct exec_watch *watch);
/* True: its exec is next. False: that has failed. */
void aspawn_watch_set_executing(struct exec_watch *watch, bool executing);

/* What the child has set last. */
bool aspawn_watch_is_executing(const struct exec_watch *watch);

/* 0; -ETIMEDOUT; -ENOSYS if this kernel, an emulator or a filter cannot tell. */
int aspawn_watch_wait(struct exec_watch *watch, int pid, const struct psys_timespec *timeout);

#endif
