/*
 * The stack that children run on, and the block at its top by which parent,
 * child and kernel agree on who uses it.
 *
 *   addr                                                          addr + size
 *   | guard, no access | stack, grows down  ... | user data | struct control |
 *
 * Guard and size are multiples of 64 KiB, the largest page of any architecture.
 */
#ifndef ASPAWN_STACK_H
#define ASPAWN_STACK_H

#include <stdbool.h>

#include <aspawn/aspawn.h>
#include <syscall/signal.h>

/* A compiler that does not optimize calls these for structures: they are the library's. */
#ifndef __OPTIMIZE__
__asm__(".set memcpy, psys_memcpy\n\t.set memset, psys_memset");
#endif

#define STACK_UNIT ((size_t)65536)
#define STACK_GUARD STACK_UNIT
#define STACK_ALIGN ((size_t)16)
#define STACK_OWN ((size_t)1024) /* for the library's own frames */

enum busy {
	FREE,
	RUNS,
	SHARES_TABLE,       /* of descriptors, with its parent */
	PARENT_WAITS,       /* for the end of that, at this futex */
};

struct control {
	/* A futex: not 0 while a child runs on this stack. The kernel clears and
	 * wakes it (CLONE_CHILD_CLEARTID); where the parent was suspended or memory is
	 * a copy, the parent clears it. */
	_Alignas(4) int busy; /* enum busy; aligned as a futex has to be, and m68k's int is not */
	int pid; /* the child, once the parent knows it */
	int mode; /* enum aspawn_mode, of the last child */

	/* For the child. */
	int shared; /* it stores 1 here: seen by the parent if memory is shared */
	bool reset_handlers;
	bool shares_table; /* of descriptors: it takes a copy of those below kept first */
	unsigned kept;
	/* How far a command has come, and what went wrong there, if anything did:
	 * struct aspawn_failure. The parent reads it when the stack is free. */
	int step, error;
	int read_end, write_end; /* -1: no pipe */
	int pidfd;               /* the parent's, of this child; -1: none */
	aspawn_fn fn;
	void *arg, *user_data;
	size_t user_data_len;
	union {
		struct psys_sigset set;
		unsigned char libc_sigset[128];
	} old_mask;
};

/* Of a stack that has been mapped. */
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

/* Waits until the child has a descriptor table of its own, or is no more. */
void aspawn_stack_wait_for_table(const struct Stack_t *stack);

/*
 * Makes room for so many bytes of stack and data: 0, -EINVAL, -EBUSY,
 * -EOVERFLOW, -ENOMEM. A stack that was large enough is left as it is.
 */
int aspawn_stack_reserve(struct Stack_t *stack, size_t reserved, size_t data_len);

#endif
