/* SPDX-License-Identifier: MIT */
/* These tests show how events, or the server's death, wake the waiters of a queue. */
#include "filter.h"
#include "queues.h"

/* --- results -------------------------------------------------------------------------------- */

/* Without the server's wakeup each round would take a second, after which a waiter looks without
 * being woken, and the test would exceed its limit. */
TEST_SECONDS(queue_wakes_waiters, 100)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ 0 });

	for (int i = 0; i < scaled(60); i++) {
		CHECK(submit(queue, (struct aspawn_job){ 0 }, "naps", NULL) > 0);
		give_back(queue, next_result(queue));
		CHECK(submit(queue, (struct aspawn_job){ 0 }, "naps", NULL) > 0);
		CHECK_EQUAL(aspawn_queue_drain(queue, LONG), 0);
		give_back(queue, next_result(queue));
	}
	close_queue(queue);
}

static int waits_for_all(void *queue)
{
	const struct aspawn_result *result;

	while (aspawn_queue_wait(queue, &result, 1, -1) == 1)
		give_back(queue, result);
	return 0;
}

/* The thread that takes the last result dismisses the other, which would otherwise take a
 * second. */
TEST_SECONDS(queue_dismisses_waiters_when_the_last_result_is_taken, 100)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ 0 });
	struct thread threads[2];

	for (int round = 0; round < scaled(110); round++) {
		CHECK(submit(queue, (struct aspawn_job){ 0 }, "naps", NULL) > 0);
		for (int i = 0; i < 2; i++)
			thread_start(&threads[i], waits_for_all, queue);
		for (int i = 0; i < 2; i++)
			thread_join(&threads[i]);
	}
	CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_WAITING), 0);
	CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_ENDED), 0);
	close_queue(queue);
}

/* --- the server's death --------------------------------------------------------------------- */

static void kill_server(int server)
{
	CHECK_EQUAL(psys_kill(server, PSYS_SIGKILL), 0);
	CHECK(ends_soon(server));
}

/* As above, a waiter that is not woken takes a second. */
TEST_SECONDS(queue_wakes_waiters_when_its_server_is_killed, 100)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ 0 });
	struct thread thread;

	for (int round = 0; round < scaled(110); round++) {
		const int server = server_of(queue);

		CHECK(submit(queue, (struct aspawn_job){ 0 }, "lingers", NULL) > 0);
		await_running(queue, 1);
		thread_start(&thread, waits_for_all, queue);
		sleep_ms(5); /* the thread may sleep by now, but need not */
		kill_server(server);
		thread_join(&thread);
	}
	CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_SERVERS), scaled(110));
	close_queue(queue);
}

TEST(queue_fd_is_readable_when_a_server_without_jobs_is_killed)
{
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .flags = ASPAWN_QUEUE_FD });
	struct psys_timespec at_once = { 0, 0 };
	struct psys_pollfd poll = { aspawn_queue_fd(queue), PSYS_POLLIN, 0 };
	const struct aspawn_result *result;

	if (!have_proc() || psys_pidfd_open(psys_getpid(), 0) < 0)
		skip("no /proc, or no pidfds");
	for (int round = 0; round < 3; round++) {
		const int server = server_of(queue);

		while (state_of(server) != 'S') /* it tells of a result that was taken before */
			sleep_ms(1);
		CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, 0), -PSYS_ECHILD);
		CHECK_EQUAL(psys_ppoll(&poll, 1, &at_once, NULL, 0), 0);
		psys_kill(server, PSYS_SIGKILL);
		CHECK_EQUAL(psys_ppoll(&poll, 1, NULL, NULL, 0), 1);
		CHECK_EQUAL(aspawn_queue_wait(queue, &result, 1, 0), -PSYS_ECHILD);
		CHECK_EQUAL(psys_ppoll(&poll, 1, &at_once, NULL, 0), 0);
	}
	close_queue(queue);
}
