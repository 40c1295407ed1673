/* SPDX-License-Identifier: MIT */
/*
 * Bounded rings of job numbers, without a lock: a thread that is suspended in the middle of a push
 * or pop, also for good by a signal handler above it, keeps no other from going on.
 *
 * A struct ring has any number of producers and consumers. Each cell has a turn: position + 1 when
 * it holds the value of that position, position + capacity when it is free for the next round. A
 * producer claims a position by the tail, stores the value, and then publishes it by the turn.
 * Until then consumers find the ring empty there. Positions have 32 bits and wrap.
 *
 * After the death of its only consumer, ring_peek_alone() by another goes on wherever that one was.
 */
#ifndef QUEUE_RING_H
#define QUEUE_RING_H

#include <stdbool.h>

#include <syscall/base.h>

/* The server's functions run on the memory and thread pointer of the caller's process, without
 * its threads. A build with ASPAWN_QUEUE_VISIBLE lets ThreadSanitizer see them; its queues must be
 * local. */
#ifdef ASPAWN_QUEUE_VISIBLE
#define QUEUE_SERVER
#define QUEUE_INLINE static inline
#else
#define QUEUE_SERVER PSYS_UNINSTRUMENTED
#define QUEUE_INLINE PSYS_INLINE
#endif

struct ring_cell {
	uint32_t turn, value;
};

struct ring {
	_Alignas(64) uint32_t head;
	_Alignas(64) uint32_t tail;
	uint32_t capacity; /* a power of two, at least 2 */
	struct ring_cell *cells;
};

QUEUE_INLINE struct ring_cell *ring_cell(const struct ring *ring, uint32_t position)
{
	return &ring->cells[position & (ring->capacity - 1)];
}

/* Not atomic: before others use the ring. */
QUEUE_INLINE void ring_clear(struct ring *ring, struct ring_cell *cells, uint32_t capacity)
{
	ring->head = ring->tail = 0;
	ring->capacity = capacity;
	ring->cells = cells;
	for (uint32_t i = 0; i < capacity; i++)
		cells[i].turn = i;
}

/* False if the ring is full. Sequentially consistent with a later load by the producer. */
QUEUE_INLINE bool ring_push(struct ring *ring, uint32_t value)
{
	uint32_t position = __atomic_load_n(&ring->tail, __ATOMIC_RELAXED);

	for (;;) {
		struct ring_cell *cell = ring_cell(ring, position);
		const int32_t ahead =
			(int32_t)(__atomic_load_n(&cell->turn, __ATOMIC_ACQUIRE) - position);
		if (ahead < 0)
			return false;
		if (ahead > 0) {
			position = __atomic_load_n(&ring->tail, __ATOMIC_RELAXED);
			continue;
		}
		if (!__atomic_compare_exchange_n(&ring->tail, &position, position + 1, true,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&cell->value, value, __ATOMIC_RELAXED);
		__atomic_exchange_n(&cell->turn, position + 1, __ATOMIC_SEQ_CST);
		return true;
	}
}

/* False if the ring is empty, or the next value is not published yet. */
QUEUE_INLINE bool ring_pop(struct ring *ring, uint32_t *value)
{
	uint32_t position = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);

	for (;;) {
		struct ring_cell *cell = ring_cell(ring, position);
		const int32_t ahead =
			(int32_t)(__atomic_load_n(&cell->turn, __ATOMIC_ACQUIRE) - position - 1);
		if (ahead < 0)
			return false;
		if (ahead > 0) {
			position = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
			continue;
		}
		if (!__atomic_compare_exchange_n(&ring->head, &position, position + 1, true,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		*value = __atomic_load_n(&cell->value, __ATOMIC_RELAXED);
		__atomic_store_n(&cell->turn, position + ring->capacity, __ATOMIC_RELEASE);
		return true;
	}
}

/* True if there was a value. For any thread. */
QUEUE_INLINE bool ring_has_value(const struct ring *ring)
{
	const uint32_t position = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
	const uint32_t turn = __atomic_load_n(&ring_cell(ring, position)->turn, __ATOMIC_SEQ_CST);

	return (int32_t)(turn - position - 1) >= 0;
}

/* Looks at the next value without taking it; ring_drop_alone() takes it. For an only consumer, which may
 * be killed at any instruction: its successor finds the value again. */
QUEUE_INLINE bool ring_peek_alone(struct ring *ring, uint32_t *value)
{
	uint32_t position = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
	struct ring_cell *cell = ring_cell(ring, position);
	int32_t ahead = (int32_t)(__atomic_load_n(&cell->turn, __ATOMIC_SEQ_CST) - position - 1);

	if (ahead > 0) { /* the one before was killed within ring_drop_alone() */
		__atomic_store_n(&ring->head, ++position, __ATOMIC_RELEASE);
		cell = ring_cell(ring, position);
		ahead = (int32_t)(__atomic_load_n(&cell->turn, __ATOMIC_SEQ_CST) - position - 1);
	}
	if (ahead < 0)
		return false;
	*value = __atomic_load_n(&cell->value, __ATOMIC_RELAXED);
	return true;
}

QUEUE_INLINE void ring_drop_alone(struct ring *ring)
{
	const uint32_t position = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);

	__atomic_store_n(&ring_cell(ring, position)->turn, position + ring->capacity,
			 __ATOMIC_RELEASE);
	__atomic_store_n(&ring->head, position + 1, __ATOMIC_RELEASE);
}

/* One producer, many consumers, never full: it has a cell for each job. The producer may be killed
 * at any instruction: all that was not published is not there. */
struct out_ring {
	_Alignas(64) uint32_t head;
	_Alignas(64) uint32_t tail;
	uint32_t capacity;
	uint32_t *values;
};

QUEUE_INLINE void out_push(struct out_ring *ring, uint32_t value)
{
	const uint32_t position = __atomic_load_n(&ring->tail, __ATOMIC_RELAXED);

	__atomic_store_n(&ring->values[position & (ring->capacity - 1)], value, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->tail, position + 1, __ATOMIC_SEQ_CST);
}

QUEUE_INLINE bool out_pop(struct out_ring *ring, uint32_t *value)
{
	uint32_t position = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);

	do {
		if (__atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) == position)
			return false;
		*value = __atomic_load_n(&ring->values[position & (ring->capacity - 1)],
					 __ATOMIC_RELAXED);
	} while (!__atomic_compare_exchange_n(&ring->head, &position, position + 1, true,
					      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	return true;
}

#endif
