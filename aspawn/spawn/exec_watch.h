/* SPDX-License-Identifier: MIT */
/*
 * A watch detects the exec or end of a child that has a copy of the memory, where the kernel cannot
 * clear the parent's stack word. The child owns a word in a MAP_SHARED page, registered as a robust
 * futex. At exec and exit the kernel marks the word and wakes the parent (kernel/futex/core.c,
 * exit_robust_list). The end of a pipe could come late: a sibling may have inherited the pipe.
 */
#ifndef SPAWN_EXEC_WATCH_H
#define SPAWN_EXEC_WATCH_H

#include <stdbool.h>

#include <syscall/syscall.h>

enum {
	WATCH_REPORT = 128, /* bytes */
	WATCH_SIZE = 256,   /* a watch takes at most so many bytes */
};

struct exec_watch {
	struct psys_robust_list_head head;
	struct psys_robust_list entry;
	_Alignas(4) unsigned word;             /* 0 until the child calls aspw_watch_begin() */
	_Alignas(8) char report[WATCH_REPORT]; /* the child writes it, and the parent reads it */
};
_Static_assert(sizeof(struct exec_watch) <= WATCH_SIZE, "must fit");

/*
 * Maps a watch with mmap(2)'s arguments, over any mapping at the address, unless NULL. Returns NULL
 * without memory. WATCH_SHARED, without a file, is for a child that shares a page with the caller.
 * WATCH_RESERVED keeps an address for WATCH_SIZE zeros of a file. There a child that has executed
 * another program maps the file with WATCH_FILE.
 */
#define WATCH_SHARED (PSYS_MAP_SHARED | PSYS_MAP_ANONYMOUS)
#define WATCH_RESERVED (PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS)
#define WATCH_FILE PSYS_MAP_SHARED
struct exec_watch *aspw_watch_map(void *address, int flags, int fd, int64_t offset);
/* Clears the pointer, which may be NULL, before the unmap, because another thread may fork in
 * between. With is_placed the address stays the queue's: if this thread is killed, another thread
 * may free the watch again. */
void aspw_watch_free(struct exec_watch **watch, bool is_placed);

/* Only the child calls this. */
void aspw_watch_begin(struct exec_watch *watch);
/* Any process may call this. True if aspw_watch_begin() could register the futex. */
bool aspw_watch_may_work(void);

/* True if the child has called aspw_watch_begin(). */
PSYS_INLINE bool watch_has_begun(const struct exec_watch *watch)
{
	return __atomic_load_n(&watch->word, __ATOMIC_ACQUIRE) != 0;
}

/* Returns 0, -ETIMEDOUT, or -ENOSYS if robust futexes are unsupported or filtered. */
int aspw_watch_wait(struct exec_watch *watch, int pid, int64_t deadline);

#endif
