/* SPDX-License-Identifier: MIT */
/* Tests of queues in a process whose main thread has ended */
#include "queues.h"

enum { JOBS = 8 };

static struct aspawn_queue *queue_of_main_thread; /* NULL: the other thread makes one */
static int pipe_to_test[2];

static struct aspawn_queue *short_queue(void)
{
	return open_queue(&(struct aspawn_queue_options){ .running = 1 });
}

static struct aspawn_queue *queue_after_main_thread(void)
{
	await_end_of_main_thread();
	return queue_of_main_thread ? queue_of_main_thread : short_queue();
}

static int runs_jobs(void *unused)
{
	struct aspawn_queue *queue = queue_after_main_thread();

	(void)unused;
	for (int i = 0; i < JOBS; i++) {
		CHECK(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0);
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
		CHECK_EQUAL(result->status, 7 << 8);
		give_back(queue, result);
	}
	CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_SERVERS), 1);
	close_queue(queue);
	psys_exit_group(7);
}

static int ends_while_a_job_runs(void *unused)
{
	struct aspawn_queue *queue = queue_after_main_thread();
	const int server = server_of(queue);

	(void)unused;
	CHECK(submit(queue, (struct aspawn_job){ 0 }, "lingers", NULL) > 0);
	psys_write(pipe_to_test[1], &server, sizeof server);
	psys_exit_group(7);
}

static void check_without_main_thread(int (*fn)(void *), bool has_queue)
{
	if (!memory_is_shared())
		skip("this emulator copies the memory");
	const int host = fork_child();
	if (host == 0) {
		queue_of_main_thread = has_queue ? short_queue() : NULL;
		end_main_thread(fn);
	}
	CHECK_EQUAL(reap(host), 7);
}

TEST(queue_runs_jobs_after_the_main_thread_has_ended)
{
	check_without_main_thread(runs_jobs, false);
}

TEST(queue_outlives_the_main_thread_that_made_it)
{
	check_without_main_thread(runs_jobs, true);
}

/* Other processes have /proc there, and the server cannot read the host's state. */
TEST(queue_runs_jobs_after_the_main_thread_has_ended_in_a_pid_namespace)
{
	if (!memory_is_shared())
		skip("this emulator copies the memory");
	const long host = psys_clone(PSYS_CLONE_NEWPID | PSYS_SIGCHLD, NULL, NULL, NULL, NULL);
	if (host == 0)
		end_main_thread(runs_jobs);
	if (host < 0)
		skip("may not make a pid namespace");
	CHECK_EQUAL(reap((int)host), 7);
}

TEST(queue_ends_with_its_host_after_the_main_thread_has_ended)
{
	int server;

	CHECK_EQUAL(psys_pipe2(pipe_to_test, PSYS_O_CLOEXEC), 0);
	check_without_main_thread(ends_while_a_job_runs, false);
	CHECK_EQUAL(psys_read(pipe_to_test[0], &server, sizeof server), sizeof server);
	CHECK(ends_soon(server));
}
