/* SPDX-License-Identifier: MIT */
/* A queue runs beside a libc: jobs begin on the thread pointer of the server. */
#include <errno.h>

#include <aspawn/queue.h>

#include "../suite/harness.h"
#include "../suite/observe.h"

static int calls;

/* The function's stack protector reads the thread's memory, where errno is too. */
static int sets_errno(void *arg)
{
	volatile char array[64];

	(void)arg;
	for (unsigned i = 0; i < sizeof array; i++)
		array[i] = 1;
	errno = EXDEV;
	__atomic_add_fetch(&calls, array[5], __ATOMIC_SEQ_CST);
	return 0;
}

TEST(queue_gives_its_server_a_thread_pointer_of_its_own)
{
	const struct aspawn_queue_options options = { .size = sizeof options };
	const struct aspawn_action action = ASPAWN_CALL(sets_errno, NULL);
	const struct aspawn_result *result;
	struct aspawn_queue *queue;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_job job = { .size = sizeof job, .command = &command };

	if (!memory_is_shared())
		skip("this emulator copies the memory");
	if (!PSYS_CLONE_TLS_IS_POINTER)
		skip("not on this architecture");
	command.actions = &action;
	command.action_count = 1;
	errno = 0;
	CHECK_EQUAL(aspawn_queue_create(&queue, &options), 0);
	CHECK(aspawn_queue_submit(queue, &job, NULL) > 0);
	CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, -1), 1);
	CHECK_EQUAL(result->status, 7 << 8);
	CHECK_EQUAL(calls, 1);
	CHECK_EQUAL(errno, 0);
	CHECK_EQUAL(aspawn_queue_close(queue), 0);
}
