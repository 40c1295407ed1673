/* SPDX-License-Identifier: MIT */
#include "few_descriptors.h"

#include <syscall/syscall.h>

#include "pool.h"

/* To copy so many takes as long as to wait for the child where a processor is idle; where none is, the
 * wait takes milliseconds. */
enum { FEW = 1024, STARTS_BETWEEN_LOOKS = 64 };

/* The lowest free number says nothing: many may lie above a gap. */
static bool are_few(void)
{
	struct psys_rlimit64 limit;
	struct psys_stat status;

	if (psys_prlimit64(0, PSYS_RLIMIT_NOFILE, NULL, &limit) >= 0 && limit.rlim_cur <= FEW)
		return true;
	/* From Linux 6.2 on the size is the number of open descriptors (proc_fd_getattr()). It is 0
	 * before, and if the main thread has ended. */
	return psys_stat("/proc/self/fd", &status) >= 0 && status.st_size > 0 &&
	       status.st_size <= FEW;
}

bool aspawn_descriptors_are_few(struct aspawn_pool *pool)
{
	int none = 0, *few = pool ? aspawn_pool_few(pool) : &none;
	int starts = __atomic_load_n(few, __ATOMIC_RELAXED);

	if (!starts)
		starts = are_few() ? STARTS_BETWEEN_LOOKS : -STARTS_BETWEEN_LOOKS;
	__atomic_store_n(few, starts > 0 ? starts - 1 : starts + 1, __ATOMIC_RELAXED);
	return starts > 0;
}
