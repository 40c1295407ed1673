/* SPDX-License-Identifier: MIT */
/* Waits for the exec of a child that has a copy of the memory. */
#include "exec_watch.h"

#include <syscall/syscall.h>

#include "../marks.h"
#include "deadline.h"
#include "stack.h"

enum { UNSUPPORTED = 1 }; /* any other value of the word has the kernel's format */

IN_ANY struct exec_watch *aspw_watch_map(void *address, int flags, int fd, int64_t offset)
{
	void *page = psys_mmap(address, WATCH_SIZE, PSYS_PROT_READ | PSYS_PROT_WRITE,
			       flags | (address ? PSYS_MAP_FIXED : 0), fd, offset);

	return PSYS_IS_ERROR(page) ? NULL : page;
}

IN_ANY void aspw_watch_free(struct exec_watch **watch, bool is_placed)
{
	struct exec_watch *old = *watch;

	*watch = NULL;
	if (old && is_placed) {
		aspw_watch_map(old, WATCH_RESERVED | PSYS_MAP_NORESERVE, -1, 0);
		psys_madvise(old, WATCH_SIZE, PSYS_MADV_DONTFORK);
	} else if (old) {
		psys_munmap(old, WATCH_SIZE);
	}
}

/* EINVAL concerns the size, which the kernel checks first. A filter may forbid gettid(). */
IN_ANY bool aspw_watch_may_work(void)
{
	return psys_set_robust_list(NULL, 0) == -PSYS_EINVAL && psys_gettid() > 0;
}

IN_CHILD void aspw_watch_begin(struct exec_watch *watch)
{
	const int tid = psys_gettid();

	watch->head.list.next = &watch->entry;
	watch->entry.next = &watch->head.list;
	watch->head.futex_offset = (long)((char *)&watch->word - (char *)&watch->entry);
	watch->head.list_op_pending = NULL;
	/* The kernel wakes a waiter only if FUTEX_WAITERS is set. */
	if (tid > 0) {
		__atomic_store_n(&watch->word, PSYS_FUTEX_WAITERS | (unsigned)tid, __ATOMIC_RELEASE);
		if (psys_set_robust_list(&watch->head, sizeof watch->head) >= 0)
			return;
	}
	__atomic_store_n(&watch->word, UNSUPPORTED, __ATOMIC_RELEASE);
	psys_futex((int *)&watch->word, PSYS_FUTEX_WAKE, 1, NULL, NULL, 0);
}

IN_SERVER int aspw_watch_wait(struct exec_watch *watch, int pid, int64_t deadline)
{
	for (;;) {
		unsigned seen = __atomic_load_n(&watch->word, __ATOMIC_ACQUIRE);
		if (seen == UNSUPPORTED)
			return -PSYS_ENOSYS;
		/* The child may have been killed before it registered the futex. */
		if (seen & PSYS_FUTEX_OWNER_DIED || aspw_child_is_gone(pid))
			return 0;
		if (aspw_deadline_is_past(deadline))
			return -PSYS_ETIMEDOUT;
		aspw_deadline_sleep_on((int *)&watch->word, (int)seen, deadline);
	}
}
