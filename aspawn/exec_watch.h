/* SPDX-License-Identifier: MIT */
/*
 * Detects the exec or end of a child that has a copy of the memory, where the kernel cannot clear
 * the parent's stack word. The child registers a word in a MAP_SHARED page as a robust futex that
 * it owns. At exec and exit the kernel marks the word and wakes the parent (kernel/futex/core.c,
 * exit_robust_list). The end of a pipe could come late: a sibling may have inherited the pipe.
 */
#ifndef ASPAWN_EXEC_WATCH_H
#define ASPAWN_EXEC_WATCH_H

#include <stdbool.h>

#include <syscall/base.h>
#include <syscall/time.h>

enum {
	WATCH_REPORT = 128, /* bytes of a report, aligned to 8 */
	WATCH_SIZE = 256,   /* bytes that a watch takes at most */
};
struct exec_watch;

/* Returns NULL if there is no memory. */
struct exec_watch *aspw_watch_make(void);
/* Keeps an address for aspw_watch_in_file(). */
struct exec_watch *aspw_watch_reserve(void);
/* The same in WATCH_SIZE zeros of a file, for a child that has executed another program since. Maps
 * it in place of what is at the address. */
struct exec_watch *aspw_watch_in_file(int fd, int64_t offset, void *address);
void aspw_watch_free(struct exec_watch *watch);

/* Called in the child. */
void aspw_watch_begin(struct exec_watch *watch);
/* Called in any process: true if aspw_watch_begin() could register the futex. */
bool aspw_watch_may_work(void);
/* Returns WATCH_REPORT bytes, zeros at first, which the child may write and the parent read. */
void *aspw_watch_report(struct exec_watch *watch);
/* The child sets true before its exec, and false if the exec has failed. */
void aspw_watch_set_executing(struct exec_watch *watch, bool executing);

/* Returns the value that the child has set last. */
bool aspw_watch_is_executing(const struct exec_watch *watch);

/* True if the child has called aspw_watch_begin(). */
bool aspw_watch_has_begun(const struct exec_watch *watch);

/* Returns 0, -ETIMEDOUT, or -ENOSYS if robust futexes are not supported or a filter forbids them. */
int aspw_watch_wait(struct exec_watch *watch, int pid, int64_t deadline);

#endif
