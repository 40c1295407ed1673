/* SPDX-License-Identifier: MIT */
/*
 * "I publish, then I look if you sleep", on machines that reorder: the pairs that
 * aspawn/queue/queue.h lists, each with the memory orders that the sources have (orders.txt). Of two
 * threads that store one word and load the other's, one at least must see the other's store:
 * otherwise nobody wakes the sleeper. And messages: who sees the word sees what was stored before it.
 *
 * The machine is that of C11 without a read of a later store: each word has all values that were stored,
 * in their order, and each thread has a view, the oldest of these that it may still load. A release
 * gives the view with the value, an acquire takes it. Sequentially consistent accesses of one word
 * have an order that all see, and a fence takes and gives the view of all fences and such accesses.
 * Stores go to the end of a word's order: no pair stores one word in both threads. An exchange that
 * looks is a load here, which may see less.
 */
#define RELAXED 0
#define ACQUIRE 1
#define RELEASE 2
#define ACQ_REL 3
#define SEQ_CST 4

#define WORDS 3 /* one that each thread stores, and data */
#define DATA 2

byte last[WORDS];              /* the newest store of each word; 0 is its first value */
byte total[WORDS];             /* the oldest that a sequentially consistent load may see */
byte view[2 * WORDS];          /* views: of thread t of word w at t * WORDS + w */
byte given[WORDS * 2 * WORDS]; /* with store s of word w, of word v: at (w * 2 + s) * WORDS + v */
byte saw[2];                   /* what the loads returned */
byte data = 1;                 /* what was read of it, if it was */

#define VIEW(t, w) view[(t) * WORDS + (w)]
#define GIVEN(w, s, v) given[((w) * 2 + (s)) * WORDS + (v)]
#define JOIN(to, from) to = (to > from -> to : from)

/* Nothing older than what the thread has seen, or all have; nothing of the future. */
#define MAY_LOAD(t, w, order, s) \
	((s) >= VIEW(t, w) && ((order) != SEQ_CST || (s) >= total[w]) && (s) <= last[w])

inline fence(t)
{
	d_step {
		v = 0;
		do
		:: v < WORDS ->
			JOIN(VIEW(t, v), total[v]);
			total[v] = VIEW(t, v);
			v++
		:: else -> break
		od;
		v = 0
	}
}

/* A store, or the store of an exchange, which also loads the newest value. */
inline store(t, w, order, is_exchange)
{
	d_step {
		v = 0;
		do
		:: is_exchange && (order == ACQUIRE || order >= ACQ_REL) && v < WORDS ->
			JOIN(VIEW(t, v), GIVEN(w, last[w], v));
			v++
		:: else -> break
		od;
		v = 0;
		last[w] = 1;
		VIEW(t, w) = 1;
		do
		:: order >= RELEASE && v < WORDS -> GIVEN(w, 1, v) = VIEW(t, v); v++
		:: else -> break
		od;
		v = 0;
		if
		:: order == SEQ_CST -> total[w] = 1
		:: else
		fi
	}
}

inline load(t, w, order, to)
{
	atomic {
		if
		:: MAY_LOAD(t, w, order, 0) -> s = 0
		:: MAY_LOAD(t, w, order, 1) -> s = 1
		fi;
		d_step {
			to = s;
			VIEW(t, w) = s;
			do
			:: (order == ACQUIRE || order >= ACQ_REL) && v < WORDS ->
				JOIN(VIEW(t, v), GIVEN(w, s, v));
				v++
			:: else -> break
			od;
			v = 0;
			if
			:: order == SEQ_CST -> JOIN(total[w], s)
			:: else
			fi;
			s = 0
		}
	}
}

/* Thread t stores its word, and loads the other's. */
#define LOOK(t, is_exchange, stores, looks) \
	store(t, t, stores, is_exchange); \
	load(t, 1 - t, looks, saw[t])

#define SEND(is_exchange, stores) \
	store(0, DATA, RELAXED, false); \
	store(0, 0, stores, is_exchange); \
	saw[0] = 1

#define RECEIVE(looks) \
	load(1, 0, looks, saw[1]); \
	if \
	:: saw[1] -> load(1, DATA, RELAXED, data) \
	:: else \
	fi

byte pair;
#define PAIRS 10

proctype publisher()
{
	byte v, s;

	if
	:: pair == 0 -> LOOK(0, true, SUBMITTED_BY_PUSH, ASLEEP_BY_WAKE)
	:: pair == 1 -> LOOK(0, false, CANCELS_BY_REQUEST, ASLEEP_BY_WAKE)
	:: pair == 2 -> LOOK(0, false, TAIL_BY_COMPLETE, ARMED_BY_ANNOUNCE)
	:: pair == 3 -> LOOK(0, true, EVENTS_BY_ANNOUNCE, WAITERS_BY_ANNOUNCE)
	:: pair == 4 -> LOOK(0, true, HEAD_BY_TAKE, WAITERS_BY_TAKE)
	:: pair == 5 -> LOOK(0, true, SUBMITTED_BY_PUSH, RECOVERING_BY_SUBMITTER)
	:: pair == 6 -> SEND(true, SUBMITTED_BY_PUSH)
	:: pair == 7 -> SEND(false, TAIL_BY_COMPLETE)
	:: pair == 8 -> SEND(true, PLACE_BY_FREE)
	:: pair == 9 -> SEND(true, HEAD_BY_TAKE) /* data: tail */
	fi
}

proctype sleeper()
{
	byte v, s;

	if
	:: pair == 0 -> LOOK(1, true, ASLEEP_BY_SLEEP, SUBMITTED_BY_SLEEP)
	:: pair == 1 -> LOOK(1, true, ASLEEP_BY_SLEEP, CANCELS_BY_SLEEP)
	:: pair == 2 ->
		store(1, 1, ARMED_BY_REARM, false);
		if
		:: FENCE_BY_REARM == SEQ_CST -> fence(1)
		:: else
		fi;
		load(1, 0, TAIL_BY_TAKE, saw[1])
	:: pair == 3 -> LOOK(1, true, WAITERS_BY_AWAIT, EVENTS_BY_AWAIT)
	:: pair == 4 -> LOOK(1, true, WAITERS_BY_AWAIT, HEAD_BY_AWAIT)
	:: pair == 5 -> LOOK(1, false, RECOVERING_BY_RECOVER, SUBMITTED_BY_RECOVER)
	:: pair == 6 -> RECEIVE(SUBMITTED_BY_SERVER)
	:: pair == 7 -> RECEIVE(TAIL_BY_TAKE)
	:: pair == 8 -> RECEIVE(PLACE_BY_TAKE)
	:: pair == 9 -> RECEIVE(SEEN_HEAD_BY_TAKE)
	fi
}

init
{
	atomic {
		select(pair : 0 .. PAIRS - 1);
		run publisher();
		run sleeper()
	}
	atomic { _nr_pr == 1 -> assert((saw[0] == 1 || saw[1] == 1) && data == 1) }
}
