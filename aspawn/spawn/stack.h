/* SPDX-License-Identifier: MIT */
/*
 * A child's stack lies between two blocks, which record if a child still uses the stack.
 *
 *   addr                                                                   addr + size
 *   | struct stack_state | guard, no access | stack, grows down ... | user data | struct control |
 *
 * State and guard take 64 KiB each, the largest page size of any architecture; size is a multiple
 * of 64 KiB. The state has pages of its own because a fork wipes them (MADV_WIPEONFORK): no child
 * runs on the forked copy of a stack, so the copy is free at once. A helper runs on the rest of the
 * state's unit, some 60 KiB, and the helper's frames begin below the guard.
 *
 * Whenever addr is not NULL, addr and size describe a mapping: another thread may fork between any
 * two instructions.
 */
#ifndef SPAWN_STACK_H
#define SPAWN_STACK_H

#include <stdbool.h>

#include <aspawn/aspawn.h>
#include <syscall/process.h>
#include <syscall/signal.h>
#include <syscall/syscall.h>

#include "../marks.h"
#include "plan.h"

#define STACK_UNIT ((size_t)65536)
#define STACK_LOWEST (2 * STACK_UNIT) /* offset of the child's part */
#define STACK_ALIGN ((size_t)16)
#define STACK_OWN ((size_t)1024) /* for the library's own frames */

/*
 *            clone                                   exec, exit (the kernel)
 *   FREE --+-------------------------> RUNNING ----------------> FREE
 *          |                             ^
 *          +-------> SHARES_FILES -------+   the child has its own descriptor table
 *
 * SHARES_FILES may end as RUNNING does.
 */
enum stack_use { FREE, RUNNING, SHARES_FILES };

/* How a child was cloned, as enum aspawn_clone_mode */
enum clone_mode { MODE_NONE, MODE_CLONE3, MODE_CLONE, MODE_VFORK, MODE_FORK, MODE_IMAGE };

/* The helper has not reaped the private child, reaps it next, or has reaped it. */
enum helper_progress { NOT_ENDED, REAPED_NEXT, ENDED };

/*
 *                clone          the child is there          exit (the kernel)
 *   NO_HELPER --------> CLONING -----------------> HELPING --------> NO_HELPER
 */
enum helper_use { NO_HELPER, CLONING, HELPING };

/*
 *               clone into a cgroup          exec, or the end
 *   ELSEWHERE ---------------------> SUSPENDS ----------------> ELSEWHERE: another child may follow
 *                                       |
 *                                       +---> IS_TAKEN: the caller has the number, no other child
 */
enum in_cgroup { ELSEWHERE, SUSPENDS, IS_TAKEN };

/* Tells if there is a helper, and if the caller or the kernel reaps it, as enum aspawn_helper. */
enum helped { NOT_HELPED, WAITED_FOR, AUTOREAPED };

/* How the last child began: the cloning process writes it, and the handle reads it. */
struct begun {
	_Alignas(4) int pid; /* stored by the kernel once the parent knows it, or 0 */
	int pidfd;           /* in the parent, as by clone3(2), or -1 */
	int mode;            /* enum clone_mode */
	int error;           /* why the helper could not clone, or 0 */
	enum helped helped;
};

/* The parent, the helper and the kernel write this. If all is zero, the stack has had no child. */
struct stack_state {
	/* enum stack_use. The kernel clears and wakes this futex (CLONE_CHILD_CLEARTID). Only the
	 * functions below and stack.c use it. */
	_Alignas(4) int child_word; /* futex(2) wants 4 bytes; m68k aligns int to 2 */
	struct begun begun;

	/* The rest is for a child with a helper, which at last stores status and usage. */
	_Alignas(4) int helper;    /* enum helper_use, a futex that the kernel clears and wakes */
	int helper_pid;            /* 0 without a helper, or after it is reaped */
	bool is_wiped_by_fork;     /* a fork wipes the whole state */
	_Alignas(4) int ended;     /* enum helper_progress, no byte as ARMv5 has no atomic bytes */
	int abandoned[2];          /* first children, which the caller reaps by __WCLONE, or 0 */
	_Alignas(4) int in_cgroup; /* enum in_cgroup, tells if the child suspends the helper */
	/* The low bits of the inode of the child's pidfd, or 0 if unknown. Another process with the
	 * same number has another inode (Linux 6.9). */
	_Alignas(4) unsigned inode;
	_Alignas(4) int order;     /* enum tree_order from the caller to a tree's helper, a futex */
	int callers_process_group; /* the process group that a private child's helper has left */
	_Alignas(4) int beat;      /* a tree's helper counts as a sign of life */
	int by_process_group;      /* the tree is only the group that the child may lead */
	int survivors;             /* of the ended tree */
	int is_cancelled;          /* the tree was ordered to end while the program ran */
	int oom_kills;             /* in the tree's own cgroup */
	uint64_t memory_peak;      /* of this cgroup, in bytes */
	const char *refused; /* why the cgroup could not be made: the file, "mkdir" or "open" */
	int status;          /* as of wait4(2) */
	struct psys_rusage usage;
};

enum child_fd_kind { CALLERS_FD, CHILD_READS, CHILD_WRITES };

/* The child needs this descriptor: an end of a pipe, or a descriptor of the caller. */
struct child_fd {
	int kind;        /* enum child_fd_kind */
	bool nonblock;   /* the parent's end */
	int parents_end; /* of a pipe, or -1 before it is made */
	int fd;          /* in the parent's table, or -1 before it is made */
	/* The number in the child's table, or negative, also if the caller's number is the same */
	int here;
	int callers;           /* the caller's number, for a command's actions */
	uint32_t action, last; /* the first and the last action with it */
};

enum { CGROUP_NAME = 32 }; /* bytes */

/* EXECUTES: the child executes the first program now, or has. After a failure it RUNS again. */
enum child_progress { NOT_SEEN, RUNS, EXECUTES };

/* The processes that make a child share this block. A child in a copy of the memory has a copy.
 * While no child uses the stack, a pool uses the first two members. */
struct control {
	struct Stack_t stack; /* whose block this is */
	struct control *next;
	const struct request request;
	const struct plan plan;
	/* These change while a child is made: if the report needs a pipe, if clone3(2) is refused,
	 * and the first descriptor that the child does not copy. */
	enum report_pipe pipe;
	bool lacks_clone3;
	unsigned keep_below;
	/* The child reads here the flags and the memory of its clone. */
	uint64_t flags;
	enum child_memory memory;
	int progress;             /* enum child_progress, for the parent if memory is shared */
	int files_error;          /* why the child lacks some of fds, negative, for fn to report */
	struct child_fd report;   /* from the child to the parent, with PIPE */
	int caller_pidfd;         /* of plan.caller, or negative if nothing is to be fetched */
	int helper_pidfd;         /* the caller's pidfd of the helper, or -1 */
	bool has_clones_pidfd;    /* the child's pidfd is from clone3(2), and surely right */
	int channel[2];           /* of pidfd_channel.h: the caller's end and the helper's, or -1 */
	struct exec_watch *watch; /* or NULL */
	int caller_pid;           /* of the caller, or 0 without a helper */
	int parent;               /* the helper of a private child, or 0 for the caller */
	bool ignores_sigchld;     /* the caller does, but its helper must not */
	char new_cgroup[CGROUP_NAME]; /* its name below plan.new_cgroup->parent, or "" */
	int new_cgroup_fd;            /* the helper's, until the clone, or -1 */
	int list_fd; /* of the children of a tree's helper, or -1 before the open */
	union {
		struct psys_sigset set;
		unsigned char libc_sigset[128];
	} old_mask;
};

/* The stack must be mapped. */
PSYS_INLINE struct stack_state *stack_state(const struct Stack_t *stack)
{
	return stack->addr;
}

PSYS_INLINE struct control *stack_control(const struct Stack_t *stack)
{
	return (struct control *)((char *)stack->addr + stack->size) - 1;
}

/* --- what becomes of the child's word ------------------------------------------------ */

/* Marks the stack as used. Call this before the clone, as the child may end before the clone
 * returns. Returns the word that the kernel clears at the child's exec or end. */
PSYS_INLINE int *stack_lend(struct stack_state *state, bool shares_files)
{
	__atomic_store_n(&state->child_word, shares_files ? SHARES_FILES : RUNNING,
			 __ATOMIC_RELEASE);
	return &state->child_word;
}

/* The child now has a descriptor table of its own, and the parent may go on. */
PSYS_INLINE void stack_shares_no_files(struct stack_state *state)
{
	__atomic_store_n(&state->child_word, RUNNING, __ATOMIC_RELEASE);
	psys_futex(&state->child_word, PSYS_FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* There is no child: the clone has failed, or the cloning process was killed before. */
PSYS_INLINE void stack_has_no_child(struct stack_state *state)
{
	__atomic_store_n(&state->child_word, FREE, __ATOMIC_RELEASE);
}

/* The child does not use the stack, but the kernel may not clear the word: the parent was
 * suspended, the memory is a copy, or the child has ended. */
PSYS_INLINE void stack_is_left(struct stack_state *state)
{
	__atomic_store_n(&state->child_word, FREE, __ATOMIC_RELEASE);
}

PSYS_INLINE bool stack_is_lent(const struct stack_state *state)
{
	return __atomic_load_n(&state->child_word, __ATOMIC_ACQUIRE) != FREE;
}

/* Sleeps for a moment, or until the child leaves the stack. Returns false if the child has left. */
PSYS_INLINE bool stack_sleeps(struct stack_state *state, const struct psys_timespec *moment)
{
	const int use = __atomic_load_n(&state->child_word, __ATOMIC_ACQUIRE);

	if (use != FREE)
		psys_futex(&state->child_word, PSYS_FUTEX_WAIT, use, moment, NULL, 0);
	return use != FREE;
}

/* --- who uses the stack -------------------------------------------------------------- */

/* True in a helper whose child is the caller's, and so the helper's sibling. */
PSYS_INLINE bool clones_for_caller(const struct control *control)
{
	return control->caller_pid && control->plan.owner == OWNER_CALLER;
}

/* Returns the address for length bytes of user data; the child's frames begin below it. */
PSYS_INLINE void *aspw_stack_place(const struct Stack_t *stack, size_t length)
{
	char *place = (char *)stack_control(stack) - length;

	return place - (uintptr_t)place % STACK_ALIGN;
}

/*
 * Maps the stack, or replaces it by a larger stack, for reserved bytes of frames and data_len bytes
 * of data. Returns 0, -EINVAL, -EBUSY, -EOVERFLOW or -ENOMEM.
 */
int aspw_stack_reserve(struct Stack_t *stack, size_t reserved, size_t data_len);

/* A helper often uses the stack longer than the child. */
enum stack_user { STACK_CHILD = 1, STACK_HELPER = 2 };

/* Returns the state's word of a user on the stack, or NULL without a user. The kernel clears the
 * word when the user leaves. */
int *aspw_stack_has(const struct Stack_t *stack, int users);

/* Sends a signal to the helper unless it is reaped, by the pidfd unless the pidfd is negative. */
void aspw_stack_signal_helper(const struct Stack_t *stack, int pidfd, int signal);

/* Sleeps until no user is there, or until a user's word differs from value, unless value is 0.
 * Returns 0 or -ETIMEDOUT. Twice a second it continues the helper, which somebody may have
 * stopped. */
int aspw_stack_await(const struct Stack_t *stack, int users, int value, int64_t deadline);

PSYS_INLINE int aspw_stack_await_free(const struct Stack_t *stack, int users, int64_t deadline)
{
	return aspw_stack_await(stack, users, 0, deadline);
}

/* Does the same for one user with all signals blocked. A stopped or frozen child or helper may take
 * for ever: after 5 ms the wait goes on with the caller's signal mask. */
void aspw_stack_await_blocked(const struct control *control, enum stack_user user, int value);

/* Reaps the helper of a stack that nobody uses. Returns 0, -EBUSY or -EINVAL. With WNOHANG it does
 * not wait, and also returns -EBUSY while the helper is ending, as the kernel clears the helper's
 * word before anybody can reap the helper. */
int aspw_stack_take_back(const struct Stack_t *stack, int options);

/* Returns the status, as of wait(2), of a helper that was killed before it had a child. */
int aspw_stack_helper_status(const struct Stack_t *stack, int pidfd);

/* The first reaps an ended helper, unless the kernel has. Both reap the first children that the
 * helper abandoned. */
void aspw_stack_reap_helper(const struct Stack_t *stack);
void aspw_stack_reap_abandoned(const struct Stack_t *stack);

/* Calls getppid(2), which returns 0 if the parent is in another pid namespace. While the parent is
 * being reaped, a single 0 is possible, so ask twice. */
PSYS_INLINE int current_parent(void)
{
	const int parent = psys_getppid();

	return parent ? parent : psys_getppid();
}

/* True if the child or helper is a zombie or was reaped. */
bool aspw_child_is_gone(int pid);

#endif
