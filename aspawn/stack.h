/*
 * The stack that children run on, and the two blocks by which parent, child and
 * kernel agree on who uses it.
 *
 *   addr                                                                   addr + size
 *   | struct stack_state | guard, no access | stack, grows down ... | user data | struct control |
 *
 * State and guard take 64 KiB each, the largest page of any architecture, and size is
 * a multiple of that. The state lies apart because a fork wipes it (MADV_WIPEONFORK):
 * no child runs on the copy of a stack, so the copy is free from the first instant. The
 * helper of a private child has its stack above the state, up to STACK_HELPER.
 *
 * addr is not NULL only while addr and size are those of a mapping, at each instruction:
 * another thread may fork at any of them.
 */
#ifndef ASPAWN_STACK_H
#define ASPAWN_STACK_H

#include <stdbool.h>

#include <aspawn/aspawn.h>
#include <syscall/process.h>
#include <syscall/signal.h>

/* A compiler that does not optimize calls these for structures: they are the library's. */
#ifndef __OPTIMIZE__
__asm__(".set memcpy, psys_memcpy\n\t.set memset, psys_memset");
#endif

#define STACK_UNIT ((size_t)65536)
#define STACK_LOWEST (2 * STACK_UNIT) /* where the child's part begins */
#define STACK_HELPER ((size_t)8192)   /* where the helper's begins, and grows down */
#define STACK_ALIGN ((size_t)16)
#define STACK_OWN ((size_t)1024) /* for the library's own frames */

/*
 *            clone                                exec, exit (the kernel)
 *   FREE --+-------> RUNNING -----------------------------------> FREE
 *          |            ^
 *          |            | the child has its own descriptor table
 *          |            +------------------+
 *          |            |                  |
 *          +-------> SHARES_FILES ----> FILES_AWAITED    both end as RUNNING does
 *                              the parent sleeps
 */
enum stack_use { FREE, RUNNING, SHARES_FILES, FILES_AWAITED };

/*
 *                clone               the child is there              exit (the kernel)
 *   NO_HELPER --------> CLONING --------------------------> HELPING --------> NO_HELPER
 *                          |                                   |
 *                          +-------------> CLONE_AWAITED ------+
 *                         the parent sleeps
 */
enum helper_use { NO_HELPER, CLONING, CLONE_AWAITED, HELPING };

/* The parent's, and the kernel's; also the helper's. All zero: no child has been here. */
struct stack_state {
	/* A futex. The kernel clears and wakes it (CLONE_CHILD_CLEARTID); where the parent
	 * was suspended or memory is a copy, the parent clears it. */
	_Alignas(4) int use; /* enum stack_use; aligned as a futex has to be, and m68k's int is not */
	int pid;             /* the last child, once the parent knows it */
	int mode;            /* enum aspawn_clone_mode, of the last child */

	/* Of a private child. The helper stores the end before it ends itself. */
	_Alignas(4) int helper; /* enum helper_use; a futex, which the kernel clears and wakes */
	int helper_pid;         /* 0: none, or reaped */
	int privacy;            /* enum aspawn_privacy */
	bool no_autoreap;       /* this kernel has refused CLONE_AUTOREAP */
	bool ended;             /* the next two are stored */
	int status;             /* as of wait4(2) */
	struct psys_rusage usage;
};

/* The child's. It is in the copy too, where memory is one. While no child uses it, the
 * first two are a pool's. */
struct control {
	struct Stack_t stack;
	struct control *next;
	struct stack_state *state;
	int shared; /* the child stores 1 here: seen by the parent if memory is shared */
	bool reset_handlers;
	bool shares_files; /* take a copy of the descriptors below keep_below first */
	bool began_in_cgroup;
	unsigned keep_below;
	int files_error;          /* out: why that failed, a negative error; fn is to report it */
	int read_end, write_end;  /* -1: no pipe */
	int pidfd;                /* the parent's, of this child; -1: none */
	struct exec_watch *watch; /* NULL: none */
	int parent;               /* the helper of a private child; 0: the caller */
	bool ignores_sigchld;     /* the caller does; its helper must not */
	aspawn_fn fn;
	void *arg, *user_data;
	size_t user_data_len;
	union {
		struct psys_sigset set;
		unsigned char libc_sigset[128];
	} old_mask;
};

/* These are of a stack that has been mapped. */
PSYS_INLINE struct stack_state *stack_state(const struct Stack_t *stack)
{
	return stack->addr;
}

PSYS_INLINE struct control *stack_control(const struct Stack_t *stack)
{
	return (struct control *)((char *)stack->addr + stack->size) - 1;
}

/* Where so many bytes lie that a child is given: the stack begins below. */
static inline void *aspawn_stack_place(const struct Stack_t *stack, size_t length)
{
	char *place = (char *)stack_control(stack) - length;

	return place - (uintptr_t)place % STACK_ALIGN;
}

/*
 * Makes room for so many bytes of stack and data: 0, -EINVAL, -EBUSY,
 * -EOVERFLOW, -ENOMEM. A stack that was large enough is left as it is.
 */
int aspawn_stack_reserve(struct Stack_t *stack, size_t reserved, size_t data_len);

/*
 * With all signals blocked: returns when the child has a descriptor table of its own, or
 * is no more. A child that is frozen or stopped may take for ever: after a while the
 * caller's signal mask is set meanwhile.
 */
void aspawn_stack_await_files(const struct Stack_t *stack, const struct psys_sigset *mask);

/* The same for any word of the state: sets it from one value to another and returns when it
 * has a third, or nobody uses the stack. At once if it has not the first. */
void aspawn_stack_await(const struct Stack_t *stack, int *word, int from, int to,
			const struct psys_sigset *mask);

/* As aspawn_stack_wait(), until the child has left the stack: its helper may be there still. */
int aspawn_stack_wait_child(const struct Stack_t *stack, const struct psys_timespec *timeout);

/* Reaps the helper, which has ended, unless the kernel has. */
void aspawn_stack_reap_helper(const struct Stack_t *stack);

/* False of NULL, of one not used yet, and of what is no stack. */
bool aspawn_stack_is_mapped(const struct Stack_t *stack);

/* True if the child, or helper, was reaped, is a zombie, or is no more: it runs nowhere. */
bool aspawn_child_is_gone(int pid);

#endif
