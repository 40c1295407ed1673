/* SPDX-License-Identifier: MIT */
/*
 * The stack of a child, and the two blocks that record if a child still uses it.
 *
 *   addr                                                                   addr + size
 *   | struct stack_state | guard, no access | stack, grows down ... | user data | struct control |
 *
 * State and guard take 64 KiB each, the largest page size of any architecture; size is a multiple
 * of 64 KiB. The state has pages of its own because a fork wipes them (MADV_WIPEONFORK): no child
 * runs on the forked copy of a stack, so the copy is free at once. The helper of a private child
 * runs on the rest of the state's unit, some 60 KiB; its frames begin below the guard.
 *
 * Whenever addr is not NULL, addr and size describe a mapping: another thread may fork between
 * any two instructions.
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

/* How a child was cloned, as enum aspawn_clone_mode. */
enum clone_mode { MODE_NONE, MODE_CLONE3, MODE_CLONE, MODE_VFORK, MODE_FORK, MODE_IMAGE };

/* How far a private child is: it ends, is about to be reaped by its helper, and is reaped. */
enum helper_progress { NOT_ENDED, REAPED_NEXT, ENDED };

/*
 *                clone          the child is there          exit (the kernel)
 *   NO_HELPER --------> CLONING -----------------> HELPING --------> NO_HELPER
 */
enum helper_use { NO_HELPER, CLONING, HELPING };

/*
 *               clone into a cgroup          exec, or the end
 *   ELSEWHERE ---------------------> SUSPENDS ----------------> ELSEWHERE: there may be another child
 *                                       |
 *                                       +---> IS_TAKEN   the caller has the number: there may not
 */
enum in_cgroup { ELSEWHERE, SUSPENDS, IS_TAKEN };

/* If there is a helper, and who reaps it: the caller or the kernel. As enum aspawn_helper. */
enum helped { NOT_HELPED, WAITED_FOR, AUTOREAPED };

/* How the last child began, which whoever has cloned it writes, and the handle reads. */
struct begun {
	_Alignas(4) int pid; /* once the parent knows it; 0: there is none. The kernel stores it */
	int pidfd;           /* the parent's, as of clone3(2); -1: none */
	int mode;            /* enum clone_mode */
	int error;           /* why the helper has cloned none; 0: it has, or not yet */
	enum helped helped;
};

/* Written by the parent, the helper and the kernel. All zero: the stack has had no child. */
struct stack_state {
	/* enum stack_use, a futex, which the kernel clears and wakes (CLONE_CHILD_CLEARTID). Only the
	 * functions below and stack.c use it. */
	_Alignas(4) int child_word; /* futex(2) wants 4 bytes; m68k aligns int to 2 */
	struct begun begun;

	/* Of a child with a helper, which stores status and usage before it ends. */
	_Alignas(4) int helper;    /* enum helper_use; a futex, which the kernel clears and wakes */
	int helper_pid;            /* 0: none, or reaped */
	bool is_wiped_by_fork;     /* all of it is */
	_Alignas(4) int ended;     /* enum helper_progress; no byte: ARMv5 has no atomic ones */
	int abandoned[2];          /* first children, for the caller to reap by __WCLONE; 0: none */
	_Alignas(4) int in_cgroup; /* enum in_cgroup: if the child keeps its helper suspended */
	/* Of the child's pidfd, the low bits; 0: not known. Another process with the same number has
	 * another (Linux 6.9). */
	_Alignas(4) unsigned inode;
	_Alignas(4) int order;     /* enum tree_order, of the caller to a tree's helper; a futex */
	int callers_process_group; /* process group, which the helper of a private child has left */
	_Alignas(4) int beat;      /* counted by a tree's helper: a sign of life */
	int by_process_group;      /* of a tree only the group is found that the child may lead */
	int survivors;             /* of a tree that has ended */
	int is_cancelled;          /* ... and was to, while its program ran */
	int oom_kills;             /* ... in a control group of its own */
	uint64_t memory_peak;      /* ... which had so many bytes at most */
	const char *refused;       /* why that could not be made: the file, "mkdir" or "open" */
	int status;                /* as of wait4(2) */
	struct psys_rusage usage;
};

enum child_fd_kind { CALLERS_FD, CHILD_READS, CHILD_WRITES };

/* A descriptor that the child needs: its end of a pipe, or one of the caller's. */
struct child_fd {
	int kind;        /* enum child_fd_kind */
	bool nonblock;   /* the parent's end */
	int parents_end; /* of a pipe; -1: not made yet */
	int fd;          /* in the parent's table; -1: not made yet */
	/* In the child's table. Negative: none, or one of the caller's that has the same number. */
	int here;
	int callers;           /* of a command: the caller's number, for actions that use it */
	uint32_t action, last; /* ... the first and the last action that use it */
};

enum { CGROUP_NAME = 32 }; /* bytes */

/* EXECUTES: the child is about to execute the first program, or has; RUNS again if it could not. */
enum child_progress { NOT_SEEN, RUNS, EXECUTES };

/* What the processes that make a child know of it. The child has it also in a copy of the memory. While
 * no child uses the stack, a pool uses the first two members. */
struct control {
	struct Stack_t stack; /* whose block this is */
	struct control *next;
	const struct request request;
	const struct plan plan;
	/* What changes while a child is made: if its report needs a pipe; that clone3(2) is refused; the
	 * first descriptor that the child does not copy. */
	enum report_pipe pipe;
	bool lacks_clone3;
	unsigned keep_below;
	/* The flags and the memory of the clone that is being tried. The child reads them. */
	uint64_t flags;
	enum child_memory memory;
	int progress;    /* enum child_progress, out: the parent sees it if memory is shared */
	int files_error; /* out: why it has not all of fds, negative; fn reports it */
	struct child_fd report; /* from the child to the parent, with PIPE */
	int caller_pidfd;       /* of plan.caller; negative: none, as there is nothing to fetch */
	int helper_pidfd;       /* the caller's, of the helper; -1: none */
	bool has_clones_pidfd; /* the child's pidfd is what clone3(2) has returned, and surely its own */
	int channel[2];        /* pidfd_channel.h: the caller's end, and the helper's; -1: none */
	struct exec_watch *watch; /* NULL: none */
	int caller_pid;           /* the caller's process, if there is a helper; 0: there is none */
	int parent;               /* the helper of a private child; 0: the caller */
	bool ignores_sigchld;     /* the caller does; its helper must not */
	char new_cgroup[CGROUP_NAME]; /* that the helper has made below plan.new_cgroup->parent; "": none */
	int new_cgroup_fd;            /* ... the helper's, until the child is cloned; -1: none */
	int list_fd;                  /* of the children of a tree's helper; -1: not opened yet */
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

/* Marks the stack as used. Called before the clone, because the child may end before the clone returns. Returns
 * the word that the kernel clears at the child's exec or end. */
PSYS_INLINE int *stack_lend(struct stack_state *state, bool shares_files)
{
	__atomic_store_n(&state->child_word, shares_files ? SHARES_FILES : RUNNING,
			 __ATOMIC_RELEASE);
	return &state->child_word;
}

/* The child has a descriptor table of its own: its parent may go on. */
PSYS_INLINE void stack_shares_no_files(struct stack_state *state)
{
	__atomic_store_n(&state->child_word, RUNNING, __ATOMIC_RELEASE);
	psys_futex(&state->child_word, PSYS_FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* There is no child: its clone has failed, or who cloned it was killed before. */
PSYS_INLINE void stack_has_no_child(struct stack_state *state)
{
	__atomic_store_n(&state->child_word, FREE, __ATOMIC_RELEASE);
}

/* The child does not use the stack, and the kernel may not clear the word: the parent was suspended, the memory
 * is a copy, or the child has ended. */
PSYS_INLINE void stack_is_left(struct stack_state *state)
{
	__atomic_store_n(&state->child_word, FREE, __ATOMIC_RELEASE);
}

PSYS_INLINE bool stack_is_lent(const struct stack_state *state)
{
	return __atomic_load_n(&state->child_word, __ATOMIC_ACQUIRE) != FREE;
}

/* Sleeps until the child leaves the stack, or a moment. False if it has left. */
PSYS_INLINE bool stack_sleeps(struct stack_state *state, const struct psys_timespec *moment)
{
	const int use = __atomic_load_n(&state->child_word, __ATOMIC_ACQUIRE);

	if (use != FREE)
		psys_futex(&state->child_word, PSYS_FUTEX_WAIT, use, moment, NULL, 0);
	return use != FREE;
}

/* --- who uses the stack -------------------------------------------------------------- */

/* True in a helper whose child is the caller's: its sibling. */
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
 * Maps the stack, or replaces it by a larger one, so that reserved bytes of frames and data_len
 * bytes of data fit. Returns 0, -EINVAL, -EBUSY, -EOVERFLOW or -ENOMEM.
 */
int aspw_stack_reserve(struct Stack_t *stack, size_t reserved, size_t data_len);

/* Who may use a stack: a helper often longer than its child. */
enum stack_user { STACK_CHILD = 1, STACK_HELPER = 2 };

/* Returns the word of the state that the kernel clears when one of the users has left the stack; NULL if
 * none is there. */
int *aspw_stack_has(const struct Stack_t *stack, int users);

/* Sends a signal to the helper, if it has not been reaped; by its pidfd unless that is negative. */
void aspw_stack_signal_helper(const struct Stack_t *stack, int pidfd, int signal);

/* Sleeps until none of the users is there, or its word has another value, unless that is 0: 0 or
 * -ETIMEDOUT. Twice a second it continues the helper, which somebody may have stopped. */
int aspw_stack_await(const struct Stack_t *stack, int users, int value, int64_t deadline);

PSYS_INLINE int aspw_stack_await_free(const struct Stack_t *stack, int users, int64_t deadline)
{
	return aspw_stack_await(stack, users, 0, deadline);
}

/* The same for one user with all signals blocked. A child or helper that is stopped or frozen may
 * take for ever: after 5 ms the wait goes on with the caller's signal mask. */
void aspw_stack_await_blocked(const struct control *control, enum stack_user user, int value);

/* Reaps the helper of a stack that nobody uses. With WNOHANG does not wait: -EBUSY also while the
 * helper is ending, as the kernel clears the helper's word before anybody can reap the helper.
 * Otherwise 0, or -EINVAL. */
int aspw_stack_take_back(const struct Stack_t *stack, int options);

/* Returns the status, as of wait(2), of a helper that was killed before it had a child. */
int aspw_stack_helper_status(const struct Stack_t *stack, int pidfd);

/* Reaps the helper, which has ended, unless the kernel has; and the first child that it abandoned. */
void aspw_stack_reap_helper(const struct Stack_t *stack);
void aspw_stack_reap_abandoned(const struct Stack_t *stack);

/* getppid(2), which is 0 if the parent is in another pid namespace; and once if it is just being reaped,
 * before it is seen that there is another. */
PSYS_INLINE int current_parent(void)
{
	const int parent = psys_getppid();

	return parent ? parent : psys_getppid();
}

/* True if the child or helper is a zombie or was reaped. */
bool aspw_child_is_gone(int pid);

#endif
