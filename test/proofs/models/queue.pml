/* SPDX-License-Identifier: MIT */
/*
 * A queue: the list of submissions, the ring of results, and the recovery of a server that was killed
 * anywhere (submit.c, results.c, server.c and queue.c of aspawn/queue). One thread submits a job and
 * takes results until there is none left; a second one does either. One server is killed, and making
 * a new one may fail. Without WHOLE it does if the second thread submits: a half of the states.
 *
 * Shown: each job that was accepted ends once and its result is taken once, and nobody sleeps for ever.
 * Memory is sequentially consistent here; weak.pml is about what it is not.
 */
#include "kernel.pml"

#define THREADS 2
#define CAPACITY 2
#define NONE 255

byte submitted = NONE, submissions;
byte next[CAPACITY], state[CAPACITY], position[CAPACITY];
byte head, tail, values[CAPACITY];
bool events = true;        /* is not 0 */
bool changed[THREADS]; /* events, since the thread has seen it */
byte waiters;
bool sleeps[THREADS]; /* on events */
bool asleep, woken;   /* the server; its eventfd */
bool is_recovering;
byte server_pid;  /* 0: none */
byte servers; /* that were made */
byte most_servers = 2;
byte alive;   /* the one that runs; 0: none */
hidden byte left_tail; /* as a dead server has left it */

#define CHANGED changed[0] = true; changed[1] = true
#define WAKE_ALL d_step { sleeps[0] = false; sleeps[1] = false }

/* --- results ------------------------------------------------------------------------ */

/* aspw_queue_announce(): wakes one waiter, or all */
inline announce(wakes_all)
{
	d_step {
		if
		:: events -> CHANGED
		:: else
		fi
	};
	if
	:: waiters && wakes_all -> WAKE_ALL
	:: waiters && !wakes_all ->
		if
		:: sleeps[0] -> sleeps[0] = false
		:: sleeps[1] -> sleeps[1] = false
		:: !sleeps[0] && !sleeps[1]
		fi
	:: else
	fi
}

/* aspw_queue_complete(), at any instruction of which the server may be killed */
inline complete(job)
{
	position[job] = tail;
#ifdef MUTANT_PUBLISHED_BEFORE_IT_HAS_ENDED
	d_step { values[tail % CAPACITY] = job; tail++ };
	state[job] = JOB_ENDED
#else
#ifdef MUTANT_PUBLISHED_BEFORE_ITS_NUMBER
	state[job] = JOB_ENDED;
	tail++;
	values[(tail - 1) % CAPACITY] = job
#else
	state[job] = JOB_ENDED;
	values[tail % CAPACITY] = job;
	tail++
#endif
#endif
}

/* The same by a thread. */
inline publish(job)
{
	position[job] = tail;
	state[job] = JOB_ENDED;
	values[tail % CAPACITY] = job;
	tail++
}

/* --- the server ---------------------------------------------------------------------- */

/* aspw_queue_take(), to list */
inline take_submitted()
{
	list = submitted;
	do
	:: job = list;
#ifndef MUTANT_TAKEN_AFTER_THE_LIST
		do
		:: d_step { job != NONE -> state[job] = JOB_TAKEN; job = next[job] }
		:: else -> break
		od;
#endif
		if
		:: atomic { submitted == list -> submitted = NONE }; break
		:: atomic { submitted != list -> list = submitted }
		fi
	od
#ifdef MUTANT_TAKEN_AFTER_THE_LIST
	job = list;
	do
	:: d_step { job != NONE -> state[job] = JOB_TAKEN; job = next[job] }
	:: else -> break
	od
#endif
}

proctype server(byte me)
{
	byte list, job;
	bool has_work;

	{
		do
		::
			/* server_take(), and each job is started and ends; server_notify() */
			take_submitted();
			if
			:: list != NONE ->
				do
				:: list != NONE ->
					d_step { job = list; list = next[job] };
					complete(job)
				:: else -> break
				od;
				announce(false)
			:: else
			fi;
			/* server_sleep() */
#ifdef MUTANT_LOOKS_BEFORE_IT_SAYS_ASLEEP
			has_work = submitted != NONE;
			asleep = true;
#else
			asleep = true;
			has_work = submitted != NONE;
#endif
end:
			atomic { (has_work || woken) -> woken = false };
			asleep = false
		od
	} unless { d_step { alive != me -> list = 0; job = 0; has_work = false } }
}

/* When nothing happens any more no job is left, but in the ring, unless those who poll learn that the
 * server has ended, by its pidfd. */
active proctype rest()
{
end:
	timeout -> assert(state[1] == JOB_FREE || state[1] == JOB_HELD ||
			  (state[1] == JOB_ENDED && submissions == tail) ||
			  (server_pid != 0 && alive != server_pid))
}

active proctype killer()
{
end:
	atomic {
		alive != 0;
		alive = 0;
		asleep = false; /* nobody cares */
		woken = false;
		events = false; /* CLONE_CHILD_CLEARTID */
		CHANGED;
		sleeps[0] = false;
		sleeps[1] = false
	}
}

/* --- recovery ------------------------------------------------------------------------ */

#define IS_ORPHANED (!events)

/* complete_lost(), of which no other thread sees an instant in between. Stacks are left out: stack.pml. */
inline complete_lost()
{
	lost = false;
	if
	:: submissions == tail
	:: else ->
		d_step {
			do
			:: submitted != NONE ->
				state[submitted] = JOB_TAKEN;
				submitted = next[submitted]
			:: else -> break
			od
		};
		d_step {
			left_tail = tail;
			number = 0;
			do
			:: number < CAPACITY ->
				if
				:: state[number] == JOB_TAKEN ->
					publish(number);
					lost = true
#ifdef MUTANT_COMPLETES_ALL_THAT_ENDED
				:: state[number] == JOB_ENDED ->
#else
#ifdef MUTANT_FORGETS_WHAT_WAS_NOT_PUBLISHED
				:: false ->
#else
#ifdef MUTANT_COMPARES_WITH_A_TAIL_THAT_IT_HAS_MOVED
				:: state[number] == JOB_ENDED && position[number] == tail ->
#else
				:: state[number] == JOB_ENDED && position[number] == left_tail ->
#endif
#endif
#endif
					publish(number);
					lost = true
				:: else
				fi;
				number++
			:: else -> break
			od;
			number = 0;
			/* All that have ended are in the ring, once. */
			assert((state[0] == JOB_ENDED) + (state[1] == JOB_ENDED) == tail - head)
		}
	fi
}

inline start_server()
{
	d_step { asleep = false; events = true; CHANGED }; /* another value than that of any server before */
	if
	:: atomic { servers < most_servers ->
		servers++;
		server_pid = servers;
		alive = servers;
		run server(servers)
	}
	:: d_step { events = false; CHANGED; failed = true }
	fi
}

/* recover_server() */
inline recover_once(restart)
{
	failed = false;
	d_step { was_busy = is_recovering; is_recovering = true };
#ifdef MUTANT_TWO_RECOVER
	was_busy = false;
#endif
	if
	:: was_busy -> failed = true
	:: !was_busy && server_pid != 0 && !IS_ORPHANED -> is_recovering = false
	:: else ->
		had_server = server_pid != 0;
		if
		:: had_server ->
			d_step {
				alive != server_pid; /* reap_server() */
				server_pid = 0;
				events = false
			}
		:: else
		fi;
		complete_lost();
		if
		:: restart -> start_server()
		:: else
		fi;
		is_recovering = false;
#ifndef MUTANT_NOBODY_IS_TOLD
		if
		:: lost || had_server -> announce(true)
		:: else
		fi
#endif
	fi
}

/* aspw_queue_recover() */
inline recover(restart)
{
	if
	:: !restart && server_pid == 0 && submissions == tail -> failed = false
	:: else ->
		recover_once(restart);
#ifndef MUTANT_NO_SECOND_LOOK_AFTER_RECOVERY
		has_failed = failed;
		do
		:: IS_ORPHANED && submitted != NONE ->
			recover_once(false);
			if
			:: failed -> break
			:: else
			fi
		:: else -> break
		od;
		failed = has_failed
#endif
	fi
}

/* --- threads of the caller --------------------------------------------------------------- */

/* submit_job(), of the place that has the thread's number */
inline submit()
{
	do
	:: failed = false;
		if
		:: IS_ORPHANED -> recover(true)
		:: else
		fi;
		if
		:: !failed -> break
		:: failed && server_pid == 0 && !is_recovering -> goto none /* the caller gives up */
		:: else /* or submits again */
		fi
	od;
	atomic {
		state[me] = JOB_QUEUED;
#ifndef MUTANT_COUNTED_AFTER_THE_PUSH
		submissions++
#endif
	};
	d_step { next[me] = submitted; submitted = me };
#ifdef MUTANT_COUNTED_AFTER_THE_PUSH
	submissions++;
#endif
	/* aspw_queue_wake() */
	d_step { was_asleep = asleep; asleep = false };
	if
	:: was_asleep -> woken = true
	:: else
	fi;
#ifndef MUTANT_NO_LOOK_AFTER_THE_PUSH
	if
	:: IS_ORPHANED -> recover(false)
	:: else
	fi
#endif
}

/* take_results(), one */
inline take_result()
{
	d_step {
		has_taken = head != tail;
		if
		:: has_taken ->
			number = values[head % CAPACITY];
			values[head % CAPACITY] = 0;
			head++;
			assert(state[number] == JOB_ENDED);
			state[number] = JOB_HELD;
			position[number] = 0;
			next[number] = 0;
			number = 0
		:: else
		fi
	}
#ifndef MUTANT_OTHER_WAITERS_ARE_NOT_TOLD
	if
	:: has_taken && waiters && submissions == head -> announce(true)
	:: else
	fi
#endif
}

#define SEE_EVENTS d_step { seen = events; changed[me] = false }

/* await_results() */
inline wait_for_result()
{
	waiters++;
	SEE_EVENTS;
	do
	:: if
		:: IS_ORPHANED -> recover(false)
		:: else
		fi;
		take_result();
#ifdef MUTANT_SEES_EVENTS_AFTER_IT_HAS_LOOKED
		SEE_EVENTS;
#endif
		d_step {
			none_left = !has_taken && submissions == head;
			if
			:: has_taken || none_left -> waiters--
			:: else
			fi
		}
		if
		:: has_taken || none_left -> break
		:: else
		fi;
		if
		:: !seen -> !is_recovering /* sched_yield() */
		:: else -> WAIT(changed[me], sleeps[me], false, true)
		fi;
		SEE_EVENTS
	od
}

proctype thread(byte me; bool submits, waits)
{
	byte number;
	bool seen, failed, has_failed, lost, had_server, was_busy, was_asleep, has_taken, none_left;

	if
	:: submits -> submit()
	:: else
	fi;
none:
	do
	:: !waits || none_left -> break
	:: else -> wait_for_result()
	od;
	assert(!waits || state[me] == JOB_FREE || state[me] == JOB_HELD)
}

init
{
	atomic {
		servers = 1;
		server_pid = 1;
		alive = 1;
		run thread(0, true, true);
		if
		:: run thread(1, true, false);
#ifndef WHOLE
			most_servers = 1
#endif
		:: run thread(1, false, true)
		fi;
		run server(1)
	}
}
