/* What the library keeps in the handle of a child. */
#ifndef COMMAND_CHILD_H
#define COMMAND_CHILD_H

#include <aspawn/command.h>

#include "../aspawn/stack.h"

/* EXECUTING: it has reported that its exec is next. */
enum known { NOT_KNOWN, EXECUTING, KNOWN, OVERWRITTEN };

struct child_state {
	struct Stack_t stack;     /* a pool's, or for this child alone; {0}: given back */
	struct Stack_t *callers;  /* NULL: the stack above */
	struct aspawn_pool *pool; /* NULL: none */
	struct exec_watch *watch; /* NULL: none */
	int report;               /* the pipe; -1: none */
	unsigned char known;      /* enum known */
	bool copied;              /* it began in a copy of the memory */
	bool private;             /* its helper has the stack until it has ended */
	/* The failure; as much of its subject as there is room for. */
	int step, error;
	uint32_t kind;
	char subject[40];
};

/* The caller has room for it, on every architecture and for ever. */
_Static_assert(sizeof(struct child_state) <= sizeof((struct aspawn_child *)0)->own, "it has to fit");
_Static_assert(_Alignof(struct child_state) <= 8, "and be aligned");

static inline struct child_state *child_state(struct aspawn_child *child)
{
	return (struct child_state *)(void *)child->own;
}

/* Gives a stack that is not the caller's to the pool, or unmaps it when the child has left it. */
void aspawn_give_stack(struct child_state *state);

#endif
