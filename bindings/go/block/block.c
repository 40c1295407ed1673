/* SPDX-License-Identifier: MIT */
/*
 * The library as the block of code that Go programs have in their text, and the entries that Go
 * calls in it. The block has no data of its own and needs no relocation. block.py compiles this
 * file.
 */
#define ASPAWN_NO_WEAK_SYMBOLS
#define PSYS_DEFINE_MEMORY_FUNCTIONS
#include "aspawn.c"

#include "aspawn.h"
#include "interface.h"

/* What Go sends: pointers to memory of Go that is not on a stack, and numbers. */
struct arguments {
	void *pointer[8];
	int64_t number[4];
};

#define ENTRY(name)                                           \
	__attribute__((used, retain, section(".text.entry"))) \
	int64_t aspawn_go_##name(struct arguments *of)

#define CALL(name, value)     \
	ENTRY(name)           \
	{                     \
		return value; \
	}

/* Stores pointers to the strings, which lie one after another. Returns what follows them. */
static const char *store_strings(char **to, int64_t count, const char *strings)
{
	for (int64_t i = 0; i < count; i++) {
		to[i] = (char *)strings;
		strings += psys_strlen(strings) + 1;
	}
	to[count] = NULL;
	return strings;
}

/*
 * Adds the pointers to a copy of the command.
 *
 * command  as Go sends it, without pointers
 * words    the numbers of arguments and variables, then the operands of the actions
 * bytes    the file, argv and envp, each with a NUL, and what operands lead to
 * arrays   memory for the actions, argv and envp
 * results  what actions store
 */
static void complete_command(struct aspawn_command *command, const int64_t *words,
			     const char *bytes, void *arrays, int *results)
{
	const int64_t argc = *words++, envc = *words++;
	struct aspawn_action *actions = arrays;
	char **argv = (char **)(actions + command->action_count), **envp = argv + argc + 1;

	command->file = bytes;
	command->argv = argv;
	command->envp = envp;
	command->actions = actions;
	store_strings(envp, envc, store_strings(argv, argc, bytes + psys_strlen(bytes) + 1));
	for (size_t i = 0; i < command->action_count; i++)
		words = make_action(&actions[i], words, bytes, results);
}

ENTRY(start)
{
	struct aspawn_command command = *(struct aspawn_command *)of->pointer[1];

	command.pool = of->pointer[6];
	complete_command(&command, of->pointer[2], of->pointer[3], of->pointer[4], of->pointer[5]);
	return aspawn_start(of->pointer[0], &command);
}

ENTRY(submit)
{
	struct aspawn_command command = *(struct aspawn_command *)of->pointer[1];
	struct aspawn_job job = *(struct aspawn_job *)of->pointer[5];

	complete_command(&command, of->pointer[2], of->pointer[3], of->pointer[4], NULL);
	job.command = &command;
	job.input = of->pointer[6];
	return aspawn_queue_submit(of->pointer[0], &job, of->pointer[7]);
}

CALL(wait_started, aspawn_wait_started(of->pointer[0], of->pointer[1], 0))
CALL(wait, aspawn_wait(of->pointer[0], of->pointer[1], of->pointer[2], 0))
CALL(ended, aspawn_ended(of->pointer[0]))
CALL(pid, aspawn_pid(of->pointer[0]))
CALL(pidfd, aspawn_pidfd(of->pointer[0]))
CALL(describe, aspawn_describe(of->pointer[0], (int)of->number[0]))
CALL(release, aspawn_release(of->pointer[0]))
CALL(kill, aspawn_kill(of->pointer[0], (int)of->number[0]))
CALL(kill_group, aspawn_kill_group(of->pointer[0], (int)of->number[0]))
CALL(kill_tree, aspawn_kill_tree(of->pointer[0], of->number[0]))
CALL(kill_cgroup, aspawn_kill_cgroup((int)of->number[0]))
CALL(failure_name, (int64_t)psys_strlcpy(of->pointer[1], aspawn_failure_name(of->pointer[0]),
					 (size_t)of->number[0]))
CALL(queue_close, aspawn_queue_close(of->pointer[0]))
CALL(queue_fd, aspawn_queue_fd(of->pointer[0]))
CALL(queue_wait, aspawn_queue_wait(of->pointer[0], of->pointer[1], (int)of->number[0], 0))
CALL(queue_release, aspawn_queue_release(of->pointer[0], of->pointer[1], (int)of->number[0]))
CALL(queue_cancel, aspawn_queue_cancel(of->pointer[0], of->number[0]))

/*
 * In the kernel's code for the clock g may not be in its register, and Go's signal handlers use it.
 * number[0]: the signal mask of jobs, in place of the mask of this thread, which lasts as long as
 * the call.
 */
ENTRY(queue_create)
{
	struct aspawn_queue **queue = of->pointer[0];
	const int r = aspawn_queue_create(queue, of->pointer[1]);

	if (r == 0) {
		(*queue)->clock = NULL;
		psys_memcpy(&(*queue)->mask, &of->number[0], sizeof of->number[0]);
	}
	return r;
}

/* --- calls that may wait -------------------------------------------------------------- */

/* At the top of the thread's stack. */
struct thread {
	int64_t (*entry)(struct arguments *of);
	struct arguments *of;
	int64_t result;
	int runs; /* a futex, which the kernel clears and wakes at the thread's end */
};

static int run_thread(void *of)
{
	struct thread *thread = of;

	thread->result = thread->entry(thread->of);
	psys_exit(0);
}

/*
 * Begins an entry on a thread of its own, which Go's runtime does not know. All signals are blocked
 * there, as a handler would need a g. Go waits for the end of the thread. So the caller's thread is
 * in no call of C that the collector would have to wait for.
 *
 * pointer  thread, at the top of its stack; the entry's arguments
 * number   the entry's address in the block
 */
ENTRY(thread)
{
	enum { MASK_SIZE = PSYS_SIGSET_SIZE };
	const unsigned long flags = PSYS_CLONE_VM | PSYS_CLONE_FS | PSYS_CLONE_FILES |
				    PSYS_CLONE_SIGHAND | PSYS_CLONE_THREAD | PSYS_CLONE_SYSVSEM |
				    PSYS_CLONE_CHILD_CLEARTID;
	extern const char aspawn_go_block[] __attribute__((visibility("hidden")));
	struct thread *thread = of->pointer[0];
	struct psys_sigset mask;

	thread->entry = (int64_t(*)(struct arguments *))(uintptr_t)(aspawn_go_block + of->number[0]);
	thread->of = of->pointer[1];
	thread->runs = 1;
	long r = block_signals(&mask, false);
	if (r < 0)
		return r;
	r = psys_clone_thunk(flags, thread, NULL, &thread->runs, NULL, run_thread, thread);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &mask, NULL, MASK_SIZE);
	return r;
}

/* --- for tests ------------------------------------------------------------------------- */

enum { PAINT = 0x5a, PAINTED = 15 * 1024 };

/* Returns how much of the painted stack below is no longer painted; number[0]: paint it. */
ENTRY(depth)
{
	volatile unsigned char area[PAINTED];
	size_t untouched = 0;

	if (of->number[0])
		for (size_t i = 0; i < PAINTED; i++)
			area[i] = PAINT;
	while (untouched < PAINTED && area[untouched] == PAINT)
		untouched++;
	return (int64_t)(PAINTED - untouched);
}
