/* SPDX-License-Identifier: MIT */
/*
 * Later spawns reuse the stacks of children and the scratch memory, so that a spawn maps nothing.
 * An atomic exchange takes a scratch: no thread waits for another. No heap is used here: a handler
 * that interrupts malloc() may call fork(), which takes malloc's locks and would wait for its own
 * thread.
 */
#include <pthread.h>
#include <stdbool.h>

#include <syscall/syscall.h>

#include "spawn.h"

enum {
	COUNT = 16,
	MOST_KEPT = 512 * 1024, /* bytes; larger scratch memory is unmapped after use */
	SCRATCH_UNIT = 64 * 1024,
};

struct aspawn_pool aspawn_compat_stacks;
static struct scratch kept[COUNT];

static bool is_kept(const struct scratch *scratch)
{
	return scratch >= kept && scratch < kept + COUNT;
}

static bool take_scratch(struct scratch *scratch)
{
	return !__atomic_load_n(&scratch->taken, __ATOMIC_RELAXED) &&
	       !__atomic_exchange_n(&scratch->taken, true, __ATOMIC_ACQUIRE);
}

/* The address is stored last and cleared first: another thread may fork in between, and its
 * child must not use an address without a mapping. */
static void free_scratch(struct scratch *scratch)
{
	void *memory = scratch->memory;

	__atomic_store_n(&scratch->memory, NULL, __ATOMIC_RELEASE);
	if (memory)
		psys_munmap(memory, scratch->size);
}

void *aspawn_compat_scratch(struct section *section, size_t size)
{
	struct scratch *scratch = section->scratch;

	if (scratch->memory && scratch->size >= size)
		return scratch->memory;
	if (size > SIZE_MAX - SCRATCH_UNIT)
		return NULL;
	free_scratch(scratch);
	size += SCRATCH_UNIT - 1;
	size -= size % SCRATCH_UNIT;
	void *memory = psys_mmap(NULL, size, PSYS_PROT_READ | PSYS_PROT_WRITE,
				 PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);
	if (PSYS_IS_ERROR(memory))
		return NULL;
	scratch->size = size;
	__atomic_store_n(&scratch->memory, memory, __ATOMIC_RELEASE);
	return memory;
}

int aspawn_compat_enter(struct section *section)
{
	int r = block_signals(&section->mask);

	if (r < 0)
		return -r;
	section->own = (struct scratch){ .memory = NULL };
	section->scratch = &section->own;
	for (struct scratch *scratch = kept; scratch < kept + COUNT; scratch++)
		if (take_scratch(scratch)) {
			section->scratch = scratch;
			break;
		}
	return 0;
}

void aspawn_compat_leave(struct section *section)
{
	struct scratch *scratch = section->scratch;
	const bool returns = is_kept(scratch);

	if (!returns || scratch->size > MOST_KEPT)
		free_scratch(scratch);
	if (returns)
		__atomic_store_n(&scratch->taken, false, __ATOMIC_RELEASE);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &section->mask, NULL, PSYS_SIGSET_SIZE);
}

/* After fork() the threads that had taken scratch memory do not exist in the child. The pool of
 * stacks needs no repair. */
static void forget_threads(void)
{
	for (struct scratch *scratch = kept; scratch < kept + COUNT; scratch++)
		__atomic_store_n(&scratch->taken, false, __ATOMIC_RELEASE);
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_threads);
}
