/* SPDX-License-Identifier: MIT */
/*
 * Seccomp filters that simulate older kernels and sandboxes: a call fails with an error, or its
 * arguments are checked. A filter applies to the calling thread and its children, for good.
 */
#ifndef FILTER_H
#define FILTER_H

#include "harness.h"

/* The index of clone's flags argument. */
#ifdef PSYS_CLONE_BACKWARDS2
enum { clone_flags = 1 };
#else
enum { clone_flags = 0 };
#endif

/* The first call of nr, by this thread or its child, opens the gate *reached and waits until *go is
 * opened; later calls do not wait. Skips the test if that is not possible. */
void filter_hold(long nr, int *reached, int *go);

/* While *armed, calls of this thread that may wait for another process fail with EDEADLK: *waits gets the
 * number of the last one. Skips the test if that is not possible. */
void filter_refuse_waits(const int *armed, long *waits);

/* While *armed, each call of this thread is shown to see(), in another thread, before it is made; and whether it
 * may wait for another process. Likewise. */
void filter_show_calls(const int *armed,
		       void (*see)(const struct psys_seccomp_data *call, bool may_wait));

/* Calls of nr raise SIGSYS in the thread, and are not made. */
void filter_trap(long nr);

/* The same, and a handler of this process makes such calls fail with ENOSYS. Returns how often it has run in
 * another thread or process. Skips the test where it does not know the architecture. */
const int *filter_trap_to_enosys(long nr);

/* All calls of nr fail with error; with mask, only calls with (argument & mask) == mask. Skip the
 * test without seccomp. */
void filter_refuse(long nr, int error);
void filter_refuse_flags(long nr, int argument, uint32_t mask, int error);

/* Calls of nr with (flags & set) == set and (flags & clear) == 0 fail with error. */
void filter_refuse_flags_without(long nr, int argument, uint32_t set, uint32_t clear, int error);

/* Calls of nr fail with EDOM if the first count arguments are 1001, 1002, ..., otherwise with
 * ERANGE. */
void filter_check_arguments(long nr, int count);

/* clone3 with any of these flags fails with error: a supervisor reads the structure. Skips the test
 * if that is not possible. */
void filter_refuse_clone3_flags(uint64_t flags, int error);

/* The first clone3 of another process, a child of this one that shares its memory, stores the number for its
 * pidfd, and kills the process in place of the call. Stores if it has. Skips likewise. */
void filter_kill_in_clone3(int number, bool *is_killed);

/* After each munmap of this thread, another thread calls after(tid); munmap returns when that has
 * returned. Skips likewise. */
void filter_follow_munmap(void (*after)(int tid));

/* Each clone of this thread waits until before(tid) has returned, likewise. */
void filter_precede_clone(void (*before)(int tid));

/* A clone of this process or of one that shares its memory, or an execveat. */
struct seen_call {
	long nr;
	bool by_caller; /* the thread that has called filter_show_clones() */
	uint64_t flags; /* of a clone, with its exit signal */
	unsigned exit_signal;
};

/* Each such call is shown to see(), in another thread: 0 if it is made, or the error that it fails
 * with. Likewise. */
void filter_show_clones(int (*see)(const struct seen_call *call));

#endif
