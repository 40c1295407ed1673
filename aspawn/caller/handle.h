/* SPDX-License-Identifier: MIT */
/* The library's part of the handle of a child. */
#ifndef CALLER_HANDLE_H
#define CALLER_HANDLE_H

#include <aspawn/command.h>

#include "../spawn/stack.h"

/* State of the answer of aspawn_wait_started(). EXECUTING: the child has reported that its exec is
 * next. OVERWRITTEN: the answer is lost. */
enum start_answer { NOT_KNOWN, EXECUTING, KNOWN, OVERWRITTEN };

/* The handle is declared as bytes, which alias everything: gcc would otherwise store the zeros of
 * a handle after the members of its state. */
struct child_state {
	struct Stack_t stack; /* from the pool, a job's, or for this child alone; {0}: given back */
	struct aspawn_pool *pool; /* NULL: none */
	struct exec_watch *watch; /* NULL: none */
	int pid;                  /* negative: its helper's, until it is known. 0: no child */
	int report;               /* read end of the child's report pipe; -1: none */
	int child_pidfd;          /* pidfd of a helper's child; -1: none, or not opened yet */
	unsigned char answer : 2; /* enum start_answer */
	unsigned char mode : 3;   /* enum aspawn_clone_mode */
	unsigned char helped : 2; /* enum helped: if so, a helper uses the stack until the child's end */
	bool by_process_group : 1; /* the helper finds of a tree the child's group alone */
	unsigned char owner : 2; /* enum child_owner. The helper of a tree ends what descends from it */
	bool is_channel : 1;     /* child_pidfd is the socket by which the helper sends the pidfd */
	bool copied : 1;         /* the child began in a copy of the memory, or in the image */
	bool is_jobs : 1;        /* the stack is the queue's: not to be unmapped */
	unsigned char on_pty : 3;      /* streams_on_pty() of the command */
	unsigned char reason : 4;      /* enum aspawn_reason */
	unsigned char outcome : 4;     /* enum aspawn_outcome, when it has been waited for */
	unsigned char stop_signal : 7; /* the first of an end */
	bool unforked : 1;             /* a process that the caller forks does not have the watch */
	/* aspw_tend_child(): how often the helper was rung in vain, and the last sign of its life. */
	unsigned char rings, beat;
	unsigned short kind; /* with these, the failure, with the end of its subject */
	int step, error;
	char subject[40];
	int survivors; /* of a tree, when it has been waited for */
} __attribute__((may_alias));

_Static_assert(sizeof(struct child_state) <= sizeof((struct aspawn_child *)0)->own, "must fit");
_Static_assert(_Alignof(struct child_state) <= 8, "must be aligned");

PSYS_INLINE struct child_state *child_state(struct aspawn_child *child)
{
	return (struct child_state *)(void *)child->own;
}

PSYS_INLINE bool is_child(const struct aspawn_child *child)
{
	return child && child_state((struct aspawn_child *)(uintptr_t)child)->pid;
}

/* True until the stack is given back. False in a forked process, whose copy of the stack's state is
 * zero. */
bool aspw_has_stack(struct aspawn_child *child);

/* Stores how the child on the stack was cloned, which has its number. */
void aspw_note_clone(struct child_state *state, const struct Stack_t *stack);

/* Learns from the child's helper what it has cloned. Returns 0, then the child's number
 * or its failure is known, if it has not used the stack for another; or -ETIMEDOUT. */
int aspw_learn_child(struct aspawn_child *child, int64_t deadline);

/* Returns the library's descriptor of the child, which is not the caller's to close; or a negative
 * error number: none is wanted or supported, or the child of a helper is reaped. */
int aspw_child_pidfd(struct aspawn_child *child);

/* Gives state->stack back to the pool. Without a pool, waits until the child has left the stack and
 * unmaps it. */
void aspw_give_stack(struct child_state *state);

/* Keeps the failure for aspawn_wait_started(). Ends its subject: a process that the caller has forked may
 * have written it. */
void aspw_set_failure(struct child_state *state, struct aspawn_failure *failure);

/* aspawn_wait_started() of a valid handle; also after aspawn_wait(). */
int aspw_wait_started(struct aspawn_child *child, struct aspawn_failure *failure, int64_t deadline);

/* aspawn_wait(), which also stores the most memory of the child's own cgroup, or 0, unless memory_peak is
 * NULL. */
int aspw_wait_child(struct aspawn_child *child, int *status, struct psys_rusage *usage,
		    uint64_t *memory_peak, int64_t timeout_ms);

/* Frees what the answer was read from. Keeps started_fd open: the caller may still poll it. */
void aspw_release_reports(struct aspawn_child *child);

/* Kills the child of a tree if it keeps its helper suspended, which obeys no order then: in a frozen
 * cgroup. Does not wait. False if the child has no number yet: to be repeated. */
bool aspw_kill_suspended(struct aspawn_child *child);

#endif
