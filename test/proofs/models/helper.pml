/* SPDX-License-Identifier: MIT */
/*
 * The helper of a private child, detached (aspawn/helper/helper.[ch], helper_main.c;
 * aspw_learn_child() of aspawn/caller/handle.c; wait_for_private() and aspawn_wait() of
 * aspawn/caller/wait.c). The state of the stack has what a former child and helper left. Somebody
 * may kill the helper and the child anywhere. The number of a child that is reaped may become
 * another process's at once.
 *
 * Shown: the caller learns the status of its own child; it takes no other process for its child, which
 * it kills by its number; it says that there was no child only if there was none; the stack is free
 * only if nobody is on it; nobody sleeps for ever.
 */
#include "kernel.pml"

#define OLD 5     /* what a former child left: its status, and its number, which may be another's */
#define HELPERS 7 /* number of the helper */
#define CHILDS 8  /* number of the child */
#define STATUS 9  /* of the child */

#ifdef MUTANT_ENDED_NOT_RESET
#define RESET(word)
#else
#define RESET(word) word = 0
#endif

/* struct stack_state */
byte use = FREE, number = OLD, helper = NO_HELPER, helper_number = OLD;
byte ended = ENDED, cloned = OLD, status = OLD, inode = OLD;
bool use_sleeps, helper_sleeps; /* the caller */

bool helper_on_stack, child_on_stack;
bool helper_ended, child_ended; /* zombies, or reaped */
bool child_was;                 /* it was cloned */
bool child_reaped;
byte holder; /* of the child's number: 0, nobody; CHILDS; or OLD: another process */
bool helper_killed;
bool answered; /* the caller has given the child what it waits for */

#define CHILD_THERE (use != FREE && !(number == OLD || (number == CHILDS && child_ended)))
#define HELPER_THERE (helper != NO_HELPER && !helper_ended)

proctype child()
{
	bool waits; /* for the caller */

	if
	:: waits = true
	:: skip
	fi;
	(!waits || answered);
	/* its exec or end */
	child_on_stack = false;
	if
	:: clears -> use = FREE; WAKE(use_sleeps)
	:: else
	fi
	child_ended = true
}

/* Whoever gets the child if its helper is killed; and other processes, which get free numbers. */
active proctype others()
{
end:
	do
	:: atomic { helper_ended && child_ended && !child_reaped -> child_reaped = true; holder = 0 }
	:: atomic { child_reaped && holder == 0 -> holder = OLD }
	od
}

proctype helper_main()
{
	{
#ifdef MUTANT_HELPING_BEFORE_THE_CLONE
		helper = HELPING;
#endif
		number = 0;
		use = RUNNING;
		if
		:: use = FREE; /* refused: fail() */
			status = 127;
			cloned = 1;
			ended = ENDED;
			goto leave
		:: atomic {
			child_was = true;
			child_on_stack = true;
			holder = CHILDS;
#ifndef MUTANT_NUMBER_STORED_AFTER_THE_CLONE
			number = CHILDS; /* CLONE_PARENT_SETTID */
#endif
			run child()
		}
		fi;
		number = CHILDS;
		cloned = CHILDS;
		helper = HELPING;
#ifndef MUTANT_NO_WAKE_BY_THE_HELPER
		WAKE(helper_sleeps);
#endif
		if
		:: inode = CHILDS /* Linux 6.9 */
		:: skip
		fi;
		child_ended;
#ifdef MUTANT_REAPED_BEFORE_IT_SAYS_SO
		atomic { child_reaped = true; holder = 0 }
		ended = REAPED_NEXT;
#else
		ended = REAPED_NEXT;
		atomic { child_reaped = true; holder = 0 }
#endif
#ifdef MUTANT_ENDED_BEFORE_THE_STATUS
		ended = ENDED;
		status = STATUS
#else
		status = STATUS;
		ended = ENDED
#endif
leave:
		skip
	} unless { helper_killed }
	helper_on_stack = false;
	if
	:: clears -> helper = NO_HELPER; WAKE(helper_sleeps)
	:: else
	fi
	helper_ended = true
}

active proctype killer()
{
	if
	:: helper_killed = true
	:: skip
	fi
}

/* aspw_stack_await(): of the helper, or of the child. value 0: until it has ended. */
inline await(word, sleeps, is_there, value)
{
	do
	:: is_there ->
		seen = word;
		if
		:: value && seen != value -> break
		:: seen == 0
		:: else -> WAIT(word, sleeps, seen, is_there && (value == 0 || word == value))
		fi
	:: else -> break
	od
}

/* aspw_learn_child() */
inline learn()
{
#ifndef MUTANT_NUMBER_TAKEN_WHILE_IT_CLONES
	await(helper, helper_sleeps, HELPER_THERE, CLONING);
#endif
	known = number;
	if
	:: known == 0 ->
		assert(!child_was); /* the failure says so */
#ifndef MUTANT_WORD_LEFT_BY_A_KILLED_HELPER
		use = FREE
#endif
	:: else -> assert(known == CHILDS)
	fi
}

/* aspw_helper_open_child(), and a signal by that descriptor. */
inline kill_child()
{
#ifdef MUTANT_OPENED_AFTER_THE_LOOK
	reaped = ended != NOT_ENDED;
	opened = holder;
	found = inode
#else
	opened = holder;
	found = inode;
	reaped = ended != NOT_ENDED
#endif
	if
	:: opened == 0 || reaped || (found != 0 && found != opened)
	:: else ->
		/* Without the inode nobody can tell once the helper is killed. */
		assert(opened == CHILDS || (helper_killed && found == 0))
	fi
}

active proctype caller()
{
	byte seen, known, opened, found;
	bool reaped, has_result;

	if
	:: clears = false
	:: skip
	fi
	/* clone_by_helper() */
	RESET(ended);
	cloned = 0;
#ifndef MUTANT_INODE_NOT_RESET
	inode = 0;
#endif
#ifndef MUTANT_NUMBER_NOT_RESET
	number = 0;
#endif
#ifdef MUTANT_WORD_SET_AFTER_THE_HELPERS_CLONE
	atomic { helper_number = HELPERS; helper_on_stack = true; run helper_main() }
	helper = CLONING;
#else
	helper = CLONING;
	atomic { helper_number = HELPERS; helper_on_stack = true; run helper_main() }
#endif
	if
	:: learn();
		if
		:: known -> kill_child()
		:: else
		fi
	:: skip
	fi
	answered = true;
	if
	:: learn(); /* aspawn_release() */
		goto released
	:: skip
	fi;
	/* aspawn_wait() */
#ifndef MUTANT_RESULT_BEFORE_THE_END
	await(helper, helper_sleeps, HELPER_THERE, 0);
#endif
	has_result = ended == ENDED;
	if
	:: has_result ->
		assert(status == (child_was -> STATUS : 127));
		assert(!child_on_stack);
		use = FREE
	:: else -> /* wait_for_orphan(): nobody has stored the status */
		assert(helper_killed);
		learn();
		if
		:: known -> child_ended; use = FREE
		:: else
		fi
	fi
released:
	/* aspw_stack_reserve() */
	await(use, use_sleeps, CHILD_THERE, 0);
#ifndef MUTANT_STACK_TAKEN_FROM_THE_HELPER
	await(helper, helper_sleeps, HELPER_THERE, 0);
#endif
	assert(!child_on_stack && !helper_on_stack)
}
