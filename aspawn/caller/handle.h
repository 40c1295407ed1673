/* SPDX-License-Identifier: MIT */
/* The library's part of the handle of a child */
#ifndef CALLER_HANDLE_H
#define CALLER_HANDLE_H

#include <aspawn/command.h>

#include "../spawn/stack.h"

/* How far aspawn_wait_started() knows its answer. EXECUTING: the child has reported that its exec
 * is next. OVERWRITTEN: the answer is lost. */
enum start_answer { NOT_KNOWN, EXECUTING, KNOWN, OVERWRITTEN };

/* The handle is declared as bytes, which alias everything: gcc would otherwise store the zeros of
 * a handle after the members of its state. */
struct child_state {
	struct Stack_t stack;     /* the pool's, the job's or this child's, {0} if given back */
	struct aspawn_pool *pool; /* or NULL */
	struct exec_watch *watch; /* or NULL */
	int pid;         /* 0 without a child, and -(the helper's pid) until the child's is known */
	int report;      /* read end of the child's report pipe, or -1 */
	int child_pidfd; /* pidfd of a helper's child, or -1 before the open */
	unsigned char answer : 2;  /* enum start_answer */
	unsigned char mode : 3;    /* enum aspawn_clone_mode */
	unsigned char helped : 2;  /* enum helped, a helper uses the stack until the child's end */
	bool by_process_group : 1; /* the helper of a tree finds only the child's process group */
	unsigned char owner : 2;   /* enum child_owner */
	bool is_channel : 1; /* child_pidfd is the socket by which the helper sends the pidfd */
	bool copied : 1;     /* the child began in a copy of the memory, or in the image */
	bool is_jobs : 1;    /* the stack is the queue's, and stays mapped */
	unsigned char on_pty : 3;      /* streams_on_pty() of the command */
	unsigned char reason : 4;      /* enum aspawn_reason */
	unsigned char outcome : 4;     /* enum aspawn_outcome, after the wait */
	unsigned char stop_signal : 7; /* the first signal of an end */
	bool unforked : 1;             /* a process that the caller forks does not have the watch */
	/* aspw_tend_child() counts here how often it rang in vain, and keeps the helper's last
	 * beat. */
	unsigned char rings, beat;
	unsigned short kind; /* of the failure, as step, error and the end of its subject */
	int step, error;
	char subject[40];
	int survivors; /* of a tree, after the wait */
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

/* Stores how the child on the stack was cloned. The child's number must be known. */
void aspw_note_clone(struct child_state *state, const struct Stack_t *stack);

/* Learns from the helper what it has cloned. Returns -ETIMEDOUT, or 0: then the child's number or
 * failure is known, unless the stack is already used for another child. */
int aspw_learn_child(struct aspawn_child *child, int64_t deadline);

/* Returns the library's pidfd of the child, which the caller must not close; or a negative error
 * number if no pidfd is wanted or supported, or if the child of a helper is reaped. */
int aspw_child_pidfd(struct aspawn_child *child);

/* Gives state->stack back to the pool. Without a pool, waits until the child has left the stack and
 * unmaps it. */
void aspw_give_stack(struct child_state *state);

/* Keeps the failure for aspawn_wait_started(). Adds a NUL to the subject, because a process that
 * the caller has forked may have written the failure. */
void aspw_set_failure(struct child_state *state, struct aspawn_failure *failure);

/* Does what aspawn_wait_started() does for a valid handle, also after aspawn_wait(). */
int aspw_wait_started(struct aspawn_child *child, struct aspawn_failure *failure, int64_t deadline);

/* Does what aspawn_wait() does. Also stores the most memory of a tree's own cgroup (0 without a
 * cgroup), unless memory_peak is NULL. */
int aspw_wait_child(struct aspawn_child *child, int *status, struct psys_rusage *usage,
		    uint64_t *memory_peak, int64_t timeout_ms);

/* Frees the page and the pipe with the answer, except started_fd: the caller may still poll it. */
void aspw_release_reports(struct aspawn_child *child);

/* Kills the child of a tree if the child keeps the helper suspended, as in a frozen cgroup: no
 * order reaches the helper there. Does not wait. False if the child has no number yet: then call
 * again. */
bool aspw_kill_suspended(struct aspawn_child *child);

#endif
