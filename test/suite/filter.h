/*
 * Seccomp filters that stand in for kernels and sandboxes that cannot be had:
 * a call fails with an error, or its arguments are looked at. They hold for the
 * calling thread, for good.
 */
#ifndef FILTER_H
#define FILTER_H

#include "harness.h"

/* Which argument of clone its flags are. */
#ifdef PSYS_CLONE_BACKWARDS2
enum { clone_flags = 1 };
#else
enum { clone_flags = 0 };
/* The first call of nr, by this thread or a child of it, opens the gate *reached and goes
 * on when *go is opened; others go on at once. Skips the test where that cannot be. */
void filter_hold(long nr, int *reached, int *go);

/* Calls of nr are not made, and raise SIGSYS in the thread instead. */
void filter_trap(long nr);

#endif

/* Every call of nr fails with error; with mask, those in which (argument & mask)
 * == mask. Skips the test where there is no seccomp. */
void filter_refuse(long nr, int error);
void filter_refuse_flags(long nr, int argument, uint32_t mask, int error);

/* Calls of nr whose flags & set == set and flags & clear == 0 fail with error. */
void filter_refuse_flags_without(long nr, int argument, uint32_t set, uint32_t clear, int error);

/* Calls of nr succeed with error EDOM if the first count arguments are 1001,
 * 1002, ... and fail with ERANGE otherwise: neither is made. */
void filter_check_arguments(long nr, int count);

/* clone3 with any of these flags is answered with error by a supervisor that
 * reads its structure; others go on. Skips the test where that cannot be. */
void filter_refuse_clone3_flags(uint64_t flags, int error);

/* The first call of nr, by this thread or a child of it, opens the gate *reached and goes
 * on when *go is opened; others go on at once. Skips the test where that cannot be. */
void filter_hold(long nr, int *reached, int *go);

/* Calls of nr are not made, and raise SIGSYS in the thread instead. */
void filter_trap(long nr);

/* Each munmap of this thread is made, then stays on its way out until after(tid) has
 * returned, which another thread calls. The same skip. */
void filter_follow_munmap(void (*after)(int tid));

#endif
