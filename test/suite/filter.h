/* SPDX-License-Identifier: MIT */
/*
 * Seccomp filters simulate older kernels and sandboxes: a call fails with an error, or the
 * arguments are checked. A filter applies to the calling thread and its children, for good.
 */
#ifndef FILTER_H
#define FILTER_H

#include "harness.h"

/* the index of clone's flags argument */
#ifdef PSYS_CLONE_BACKWARDS2
enum { clone_flags = 1 };
#else
enum { clone_flags = 0 };
#endif

/* The first call of nr, by this thread or its child, opens the gate *reached and waits until *go is
 * opened; later calls do not wait. Skips the test if the kernel refuses the filter. */
void filter_hold(long nr, int *reached, int *go);

/* While *armed, calls of this thread fail with EDEADLK if the call may wait for another process:
 * *waits gets the number of the last. Skips the test if the kernel refuses the filter. */
void filter_refuse_waits(const int *armed, long *waits);

/* While *armed, another thread calls see() before each call of this thread, and tells if the call
 * may wait for another process. Skips the test if the kernel refuses the filter. */
void filter_show_calls(const int *armed,
		       void (*see)(const struct psys_seccomp_data *call, bool may_wait));

/* Calls of nr raise SIGSYS in the thread, and are not made. */
void filter_trap(long nr);

/* Calls of nr raise SIGSYS, and a handler of this process makes them fail with ENOSYS. Returns how
 * often the handler has run in another thread or process. Skips the test on an unknown
 * architecture. */
const int *filter_trap_to_enosys(long nr);

/* All calls of nr fail with error; with mask, only calls with (argument & mask) == mask. Skip the
 * test without seccomp. */
void filter_refuse(long nr, int error);
void filter_refuse_flags(long nr, int argument, uint32_t mask, int error);

/* A call of nr fails with error if (flags & set) == set and (flags & clear) == 0. */
void filter_refuse_flags_without(long nr, int argument, uint32_t set, uint32_t clear, int error);

/* Calls of nr fail with EDOM if the first count arguments are 1001, 1002, ..., otherwise with
 * ERANGE. */
void filter_check_arguments(long nr, int count);

/* clone3 with any of the flags fails with error: a supervisor reads the structure. Skips the test
 * if the kernel refuses the filter. */
void filter_refuse_clone3_flags(uint64_t flags, int error);

/* When a child with shared memory first calls clone3, the number is stored as the pidfd, and the
 * child is killed in place of the call. Stores whether the kill has happened. Skips the test if the
 * kernel refuses the filter. */
void filter_kill_in_clone3(int number, bool *is_killed);

/* After each munmap of this thread, another thread calls after(tid), and munmap returns when
 * after() has. Skips the test if the kernel refuses the filter. */
void filter_follow_munmap(void (*after)(int tid));

/* Each clone of this thread waits until before(tid) has returned, likewise. */
void filter_precede_clone(void (*before)(int tid));

/* A clone or execveat, of this process or of a process that shares its memory */
struct seen_call {
	long nr;
	bool by_caller; /* the thread that has called filter_show_clones() */
	uint64_t flags; /* of a clone, with its exit signal */
	unsigned exit_signal;
};

/* Another thread calls see() before each of the calls. see() returns 0 to let the call be made, or
 * the error with which the call fails. Skips the test if the kernel refuses the filter. */
void filter_show_clones(int (*see)(const struct seen_call *call));

#endif
