/* SPDX-License-Identifier: MIT */
/*
 * The word of a stack (aspawn/spawn/stack.[ch], clone_by() and note_child() of aspawn/spawn/clone.c): two children
 * after each other on one stack. A child may begin on the caller's descriptor table, in a copy of the
 * memory, or with the caller suspended; its clone may be refused, and it may be killed anywhere. Another
 * thread's wait may reap it.
 *
 * Shown: no two children are on the stack, it is not unmapped below one, the caller does not return
 * while the child changes the caller's descriptors, and nobody sleeps for ever.
 */
#include "kernel.pml"

#define CHILDREN 2
#define METHODS 2 /* of cloning, of each child */

byte use = FREE; /* stack_state.child_word */
byte number; /* stack_state.pid */
bool sleeps; /* the caller, on use */

bool on_stack[CHILDREN + 1]; /* by number; 0 is none */
bool on_table[CHILDREN + 1]; /* runs on the caller's descriptor table */
bool released[CHILDREN + 1]; /* the memory */
bool ended[CHILDREN + 1];    /* a zombie, or reaped */
byte returned;               /* the last child whose start has returned */

#ifdef MUTANT_ONLY_THE_WORD_TELLS
#define IS_THERE (use != FREE)
#else
#define IS_THERE (use != FREE && !(number != 0 && ended[number]))
#endif

/* do_exit(), or the exec, and then the end. */
inline leave(me, copied)
{
	on_stack[me] = false;
	on_table[me] = false;
	if
	:: !copied && clears -> use = FREE; WAKE(sleeps)
	:: else
	fi
	released[me] = true; /* the clear comes first, then the end of CLONE_VFORK: mm_release() */
	ended[me] = true
}

proctype child(byte me; bool files, copied, suspended)
{
	if
	:: goto killed
	:: skip
	fi
	if
	:: files ->
#ifdef MUTANT_RUNNING_BEFORE_THE_TABLE_IS_OWN
		use = RUNNING;
		WAKE(sleeps);
		on_table[me] = false;
#else
		if
		:: goto killed
		:: on_table[me] = false
		fi
		use = RUNNING;
		if
		:: goto killed
		:: skip
		fi
#ifndef MUTANT_NO_WAKE_WHEN_THE_TABLE_IS_OWN
		WAKE(sleeps)
#endif
#endif
	:: else
	fi
	/* The program may wait for something of the caller's. */
	if
	:: !suspended -> returned >= me
	:: skip
	fi
killed:
	leave(me, copied)
}

/* aspw_stack_await(), until use has another value, or is FREE if value is 0. */
inline await(value)
{
	do
	:: IS_THERE ->
		seen = use;
		if
		:: value && seen != value -> break
		:: seen == FREE
		:: else -> WAIT(use, sleeps, seen, IS_THERE && (value == 0 || use == value))
		fi
	:: else -> break
	od
}

/* After the clone: note_child(), aspw_spawn_end(). */
inline succeed(me)
{
#ifdef MUTANT_WORD_SET_AFTER_THE_CLONE
	use = (kind == 1 -> SHARES_FILES : RUNNING);
#endif
	(kind != 2 || released[me]); /* CLONE_VFORK */
	if
	:: kind == 2 || kind == 3 ->
#ifndef MUTANT_WORD_KEPT_OF_A_COPY
		use = FREE
#endif
	:: else
	fi
	number = me;
#ifndef MUTANT_RETURN_ON_A_SHARED_TABLE
	if
	:: kind == 1 -> await(SHARES_FILES)
	:: else
	fi
#endif
	assert(!on_table[me]);
	returned = me
}

inline start(me)
{
	refusals = 0;
	do
	:: atomic {
		select(kind : 0 .. 3) /* shares memory; and files; suspended; copied */
	}
	number = 0;
#ifndef MUTANT_WORD_SET_AFTER_THE_CLONE
	use = (kind == 1 -> SHARES_FILES : RUNNING);
#endif
	if
	:: refusals < METHODS ->
		refusals++;
#ifndef MUTANT_WORD_KEPT_AFTER_A_REFUSED_CLONE
		use = FREE;
#endif
		if
		:: refusals == METHODS -> break /* the start fails */
		:: else
		fi
	:: atomic {
		assert(!on_stack[1] && !on_stack[2]);
		on_stack[me] = kind != 3;
		on_table[me] = kind == 1;
		if
		:: kind != 3 -> number = me /* CLONE_PARENT_SETTID */
		:: true
		fi;
		run child(me, kind == 1, kind == 3, kind == 2)
	}
		break
	fi
	od;
	if
	:: refusals < METHODS -> succeed(me)
	:: else
	fi
}

active proctype caller()
{
	byte kind, seen, me, refusals;

	if
	:: clears = false
	:: skip
	fi
	for (me : 1 .. CHILDREN) {
#ifndef MUTANT_BUSY_STACK_TAKEN
		/* aspw_stack_reserve() refuses a busy stack: the caller waits */
		await(0);
#endif
		start(me)
	}
#ifndef MUTANT_UNMAPPED_WHILE_IN_USE
	await(0);
#endif
	assert(!on_stack[1] && !on_stack[2]); /* aspawn_stack_release() unmaps it */
}
