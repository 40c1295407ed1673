/*
 * Workspaces that are kept from one spawn to the next, so that nothing is mapped for it.
 * One is taken by an atomic exchange: no thread waits for another, and a signal handler
 * that spawns takes the next one. There is no heap here: fork() takes its locks, also in
 * a handler that has interrupted their owner.
 */
#include <pthread.h>
#include <stdbool.h>

#include <syscall/syscall.h>

#include "spawn.h"

enum {
	COUNT = 16,
	MOST_KEPT = 512 * 1024, /* what a long list of arguments needed is given back */
	SCRATCH_UNIT = 64 * 1024,
};

static struct workspace pool[COUNT];

static bool is_pooled(const struct workspace *workspace)
{
	return workspace >= pool && workspace < pool + COUNT;
}

static bool take(struct workspace *workspace)
{
	if (__atomic_load_n(&workspace->taken, __ATOMIC_RELAXED) ||
	    __atomic_exchange_n(&workspace->taken, true, __ATOMIC_ACQUIRE))
		return false;
	/* popen_noshell() gives it back while its child is on it. */
	if (!aspawn_stack_busy(&workspace->stack))
		return true;
	__atomic_store_n(&workspace->taken, false, __ATOMIC_RELEASE);
	return false;
}

/* Of the two fields the address is set last and cleared first: another thread may fork
 * in between, and its child uses what is left. */
static void free_scratch(struct workspace *workspace)
{
	void *scratch = workspace->scratch;

	__atomic_store_n(&workspace->scratch, NULL, __ATOMIC_RELEASE);
	if (scratch)
		psys_munmap(scratch, workspace->scratch_size);
}

void *aspawn_compat_scratch(struct section *section, size_t size)
{
	struct workspace *workspace = section->workspace;

	if (workspace->scratch && workspace->scratch_size >= size)
		return workspace->scratch;
	if (size > SIZE_MAX - SCRATCH_UNIT)
		return NULL;
	free_scratch(workspace);
	size += SCRATCH_UNIT - 1;
	size -= size % SCRATCH_UNIT;
	void *scratch = psys_mmap(NULL, size, PSYS_PROT_READ | PSYS_PROT_WRITE,
				  PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);
	if (PSYS_IS_ERROR(scratch))
		return NULL;
	workspace->scratch_size = size;
	__atomic_store_n(&workspace->scratch, scratch, __ATOMIC_RELEASE);
	return scratch;
}

int aspawn_compat_enter(struct section *section)
{
	struct psys_sigset all;

	psys_sigfillset(&all);
	int r = psys_rt_sigprocmask(PSYS_SIG_SETMASK, &all, &section->mask, PSYS_SIGSET_SIZE);
	if (r < 0)
		return -r;
	for (struct workspace *workspace = pool; workspace < pool + COUNT; workspace++)
		if (take(workspace)) {
			section->workspace = workspace;
			return 0;
		}
	section->own = (struct workspace){ .stack = { NULL, 0 } };
	section->workspace = &section->own;
	return 0;
}

void aspawn_compat_leave(struct section *section)
{
	struct workspace *workspace = section->workspace;
	const bool pooled = is_pooled(workspace);

	if (!pooled || workspace->stack.size > MOST_KEPT)
		aspawn_stack_free(&workspace->stack);
	if (workspace->scratch && (!pooled || workspace->scratch_size > MOST_KEPT))
		free_scratch(workspace);
	if (pooled)
		__atomic_store_n(&workspace->taken, false, __ATOMIC_RELEASE);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &section->mask, NULL, PSYS_SIGSET_SIZE);
}

/*
 * After fork(): other threads are gone, and running children use the parent's copy of a
 * stack. A thread may have been anywhere in the use of what it had taken, also between
 * unmapping a stack and forgetting it: its memory is not looked at. Where a fork does not
 * wipe the state of a stack (Linux before 4.14, user-mode emulators), a copy under a child
 * of popen_noshell() is busy for as long as the child is.
 */
static void forget_threads(void)
{
	for (struct workspace *workspace = pool; workspace < pool + COUNT; workspace++) {
		const struct Stack_t stack = workspace->stack;

		if (!__atomic_load_n(&workspace->taken, __ATOMIC_ACQUIRE) && !aspawn_stack_busy(&stack))
			continue;
		workspace->stack = (struct Stack_t){ NULL, 0 };
		if (stack.addr)
			psys_munmap(stack.addr, stack.size);
		__atomic_store_n(&workspace->taken, false, __ATOMIC_RELEASE);
	}
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_threads);
}
