/* SPDX-License-Identifier: MIT */
/*
 * Detects the exec or end of a child that has a copy of the memory, where the kernel cannot clear
 * the parent's stack word. The child registers a word in a MAP_SHARED page as a robust futex that
 * it owns. At exec and exit the kernel marks the word and wakes the parent (kernel/futex/core.c,
 * exit_robust_list). The end of a pipe could come late: a sibling may have inherited the pipe.
 */
#ifndef SPAWN_EXEC_WATCH_H
#define SPAWN_EXEC_WATCH_H

#include <stdbool.h>

#include <syscall/syscall.h>

enum {
	WATCH_REPORT = 128, /* bytes */
	WATCH_SIZE = 256,   /* bytes that a watch takes at most */
};

struct exec_watch {
	struct psys_robust_list_head head;
	struct psys_robust_list entry;
	_Alignas(4) unsigned word;             /* 0: the child has not called aspw_watch_begin() */
	_Alignas(8) char report[WATCH_REPORT]; /* for the child to write and the parent to read */
};
_Static_assert(sizeof(struct exec_watch) <= WATCH_SIZE, "must fit");

/*
 * Maps a watch with mmap(2)'s arguments, over what is at the address, unless that is NULL; returns
 * NULL if there is no memory. WATCH_SHARED of no file is for a child that shares a page with the
 * caller. WATCH_RESERVED keeps an address for WATCH_SIZE zeros of a file, which a child that
 * executes another program since maps there, WATCH_FILE.
 */
#define WATCH_SHARED (PSYS_MAP_SHARED | PSYS_MAP_ANONYMOUS)
#define WATCH_RESERVED (PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS)
#define WATCH_FILE PSYS_MAP_SHARED
struct exec_watch *aspw_watch_map(void *address, int flags, int fd, int64_t offset);
/* Clears the pointer, which may be NULL, before it unmaps: another thread may fork in between.
 * is_placed: the address stays the queue's. Then another thread may free the watch again, if this
 * one is killed. */
void aspw_watch_free(struct exec_watch **watch, bool is_placed);

/* Called in the child. */
void aspw_watch_begin(struct exec_watch *watch);
/* Called in any process: true if aspw_watch_begin() could register the futex. */
bool aspw_watch_may_work(void);

/* True if the child has called aspw_watch_begin(). */
PSYS_INLINE bool watch_has_begun(const struct exec_watch *watch)
{
	return __atomic_load_n(&watch->word, __ATOMIC_ACQUIRE) != 0;
}

/* Returns 0, -ETIMEDOUT, or -ENOSYS if robust futexes are not supported or a filter forbids them. */
int aspw_watch_wait(struct exec_watch *watch, int pid, int64_t deadline);

#endif
