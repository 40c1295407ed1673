/* SPDX-License-Identifier: MIT */
/* Tests of jobs that are trees, and of what ends with them or goes on beside them */
#include "filter.h"
#include "held.h"
#include "queues.h"
#include "tree.h"

static const uint64_t kinds[] = { 0, ASPAWN_QUEUE_LOCAL };

static struct aspawn_queue *queue_of(uint64_t flags)
{
	need_lists();
	return open_queue(&(struct aspawn_queue_options){ .running = 2, .flags = flags });
}

/* Starts a job. Returns a pipe, whose other end all of the tree has as standard output, when so
 * many bytes have been written. */
static int start_tree(struct aspawn_queue *queue, struct aspawn_job job, const char *role,
		      const char *argument, int count)
{
	int ends[2];
	struct self self;
	struct aspawn_command command = command_in_role(&self, role, argument);

	CHECK_EQUAL(psys_pipe2(ends, PSYS_O_CLOEXEC), 0);
	const struct aspawn_action action = ASPAWN_DUP2(ends[1], 1);
	command.owner = ASPAWN_OWNER_TREE;
	command.actions = &action;
	command.action_count = 1;
	CHECK(submit_command(queue, job, &command) > 0);
	/* A local queue starts the tree here, with the caller's descriptors. */
	while (aspawn_queue_count(queue, ASPAWN_COUNT_WAITING) > 0)
		aspawn_queue_drain(queue, 1);
	psys_close(ends[1]);
	await_bytes(ends[0], count);
	return ends[0];
}

/* Checks the next result, of a tree that has left nothing. */
static void check_tree_ended(struct aspawn_queue *queue, int pipe, int outcome, int status,
			     const char *expected)
{
	const struct aspawn_result *result = next_result(queue);
	char text[64];

	check_all_have_ended(pipe, 0);
	CHECK_EQUAL(result->outcome, outcome);
	CHECK_EQUAL(result->status, status);
	CHECK_EQUAL(result->survivors, 0);
	CHECK(result->pid > 0);
	aspawn_result_text(text, sizeof text, result);
	CHECK_EQUAL(psys_strcmp(text, expected), 0);
	give_back(queue, result);
}

/* --- ends ------------------------------------------------------------------------------ */

TEST(a_job_ends_with_all_that_it_has_started)
{
	for (int i = 0; i < 2; i++) {
		struct aspawn_queue *queue = queue_of(kinds[i]);
		for (int round = 0; round < 4; round++) {
			const int pipe = start_tree(queue, (struct aspawn_job){ .cookie = 1 },
						    "leaves_a_daemon", NULL, 0);
			check_tree_ended(queue, pipe, ASPAWN_OUTCOME_RAN, 7 << 8, "exit 7");
		}
		close_queue(queue);
		check_nothing_is_left();
	}
}

TEST(a_time_limit_of_a_job_ends_its_tree)
{
	for (int i = 0; i < 2; i++) {
		struct aspawn_queue *queue = queue_of(kinds[i]);
		struct aspawn_job job = { .time_limit_ms = 50, .grace_ms = ASPAWN_GRACE_NONE };
		int pipe = start_tree(queue, job, "has_a_daemon", NULL, 0);
		check_tree_ended(queue, pipe, ASPAWN_OUTCOME_TIMED_OUT, PSYS_SIGKILL,
				 "timed out, killed by SIGKILL");
		job.grace_ms = LONG; /* all of it ends by SIGTERM */
		pipe = start_tree(queue, job, "has_a_daemon", NULL, 0);
		check_tree_ended(queue, pipe, ASPAWN_OUTCOME_TIMED_OUT, PSYS_SIGTERM,
				 "timed out, killed by SIGTERM");
		close_queue(queue);
	}
}

ROLE(ignores_sigterm)
{
	(void)argc, (void)argv;
	set_disposition(PSYS_SIGTERM, PSYS_SIG_IGN);
	psys_write(1, "x", 1);
	sleep_ms(600000);
	return 1;
}

TEST(jobs_go_on_while_a_tree_is_cancelled)
{
	for (int i = 0; i < 2; i++) {
		struct aspawn_queue *queue = queue_of(kinds[i]);
		const int pipe = start_tree(queue, (struct aspawn_job){ .grace_ms = LONG },
					    "ignores_sigterm", NULL, 1);
		CHECK_EQUAL(aspawn_queue_cancel_all(queue), 0);
		for (int round = 0; round < 4; round++) {
			CHECK(submit(queue, (struct aspawn_job){ .cookie = 2 }, "exit_7", NULL) > 0);
			const struct aspawn_result *result = next_result(queue);
			CHECK_EQUAL(result->cookie, 2);
			CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
			give_back(queue, result);
		}
		CHECK_EQUAL(aspawn_queue_count(queue, ASPAWN_COUNT_RUNNING), 1);
		close_queue(queue);
		check_all_have_ended(pipe, LONG);
	}
}

TEST(a_cancelled_tree_has_a_grace)
{
	for (int i = 0; i < 2; i++) {
		struct aspawn_queue *queue = queue_of(kinds[i]);
		const int pipe = start_tree(queue, (struct aspawn_job){ .grace_ms = 20 },
					    "ignores_sigterm", NULL, 1);
		CHECK_EQUAL(aspawn_queue_cancel_all(queue), 0);
		check_tree_ended(queue, pipe, ASPAWN_OUTCOME_CANCELLED, PSYS_SIGKILL, "cancelled");
		close_queue(queue);
	}
}

/* --- the end of the queue, its server, and its host ---------------------------------------- */

static void ends_with_a_tree(uint64_t flags, int to_test, int *both_run)
{
	struct aspawn_queue *queue = queue_of(flags);
	struct self self;
	struct aspawn_command command = command_in_role(&self, "has_a_daemon", NULL);
	const struct aspawn_action action = ASPAWN_DUP2(to_test, 1);

	command.owner = ASPAWN_OWNER_TREE;
	command.actions = &action;
	command.action_count = 1;
	CHECK(submit_command(queue, (struct aspawn_job){ .grace_ms = LONG }, &command) > 0);
	while (aspawn_queue_count(queue, ASPAWN_COUNT_WAITING) > 0)
		aspawn_queue_drain(queue, 1);
	gate_wait(both_run);
	psys_kill(psys_getpid(), PSYS_SIGKILL);
}

TEST(trees_of_jobs_end_with_the_host)
{
	need_lists();
	for (int i = 0; i < 2; i++) {
		int ends[2], *both_run = shared_page();
		CHECK_EQUAL(psys_pipe2(ends, PSYS_O_CLOEXEC), 0);
		const int host = fork_child();
		if (host == 0)
			ends_with_a_tree(kinds[i], ends[1], both_run);
		psys_close(ends[1]);
		await_bytes(ends[0], 2);
		gate_open(both_run);
		CHECK_EQUAL(reap(host), 128 + PSYS_SIGKILL);
		check_all_have_ended(ends[0], LONG);
	}
}

TEST(trees_of_jobs_end_with_the_server)
{
	struct aspawn_queue *queue = queue_of(0);
	const int server = server_of(queue);
	const int pipe =
		start_tree(queue, (struct aspawn_job){ .grace_ms = LONG }, "has_a_daemon", NULL, 2);

	psys_kill(server, PSYS_SIGKILL);
	const struct aspawn_result *result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_LOST);
	give_back(queue, result);
	check_all_have_ended(pipe, LONG);
	const int next = start_tree(queue, (struct aspawn_job){ 0 }, "leaves_a_daemon", NULL, 0);
	check_tree_ended(queue, next, ASPAWN_OUTCOME_RAN, 7 << 8, "exit 7");
	close_queue(queue);
}

/* --- what happens to a helper ---------------------------------------------------------------- */

static const char *number_of_signal(char text[PSYS_DECIMAL_SIZE], int signal)
{
	text[psys_i64_to_decimal(text, signal)] = '\0';
	return text;
}

static void loses_helpers(const void *arg)
{
	char signal[PSYS_DECIMAL_SIZE];

	(void)arg;
	for (int i = 0; i < 2; i++) {
		struct aspawn_queue *queue = queue_of(kinds[i]);
		for (int round = 0; round < 4; round++) { /* more than there are stacks */
			const int pipe =
				start_tree(queue, (struct aspawn_job){ 0 }, "signals_helper",
					   number_of_signal(signal, PSYS_SIGKILL), 0);
			const struct aspawn_result *result = next_result(queue);
			CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_LOST);
			CHECK_EQUAL(result->status, -1);
			give_back(queue, result);
			check_all_have_ended(pipe, LONG);
		}
		close_queue(queue);
	}
}

TEST(a_job_that_kills_its_helper_is_lost)
{
	need_lists();
	run_under_reaper(loses_helpers, NULL);
}

TEST(a_job_cannot_stop_its_helper)
{
	char signal[PSYS_DECIMAL_SIZE];

	struct aspawn_queue *queue = queue_of(0);
	const int pipe = start_tree(queue, (struct aspawn_job){ 0 }, "signals_helper",
				    number_of_signal(signal, PSYS_SIGSTOP), 0);
	check_tree_ended(queue, pipe, ASPAWN_OUTCOME_RAN, 7 << 8, "exit 7");
	close_queue(queue);
}

/* --- how a job becomes a tree ----------------------------------------------------------------- */

TEST(trees_of_jobs_may_be_prepared_or_change_their_user)
{
	static const struct aspawn_action user[] = { ASPAWN_USER(65534, 65534, NULL, 0) };
	struct aspawn_queue *queue = queue_of(0);
	const bool is_root = psys_geteuid() == 0;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "leaves_a_daemon", NULL);

	command.owner = ASPAWN_OWNER_TREE;
	command.flags = ASPAWN_COMMAND_TREE_OR_GROUP | ASPAWN_COMMAND_STARTED_FD;
	if (is_root)
		need_others_to_reach_program();
	for (int way = 0; way < 4; way++) {
		command.memory = way & 1 ? ASPAWN_MEMORY_COPIED : ASPAWN_MEMORY_SHARED;
		command.actions = user;
		command.action_count = is_root && way & 2;
		const int64_t prepared = aspawn_queue_prepare(queue, &command, NULL);
		CHECK(prepared > 0);
		/* The daemon holds the output. */
		const struct aspawn_job job = {
			.size = sizeof job, .prepared = prepared, .out_size = KEPT, .grace_ms = LONG
		};
		CHECK(aspawn_queue_submit(queue, &job, NULL) > 0);
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
		CHECK_EQUAL(result->status, 7 << 8);
		give_back(queue, result);
		CHECK_EQUAL(aspawn_queue_release_prepared(queue, prepared), 0);
	}
	command.file = "/nonexistent";
	CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
	const struct aspawn_result *result = next_result(queue);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_NOT_STARTED);
	CHECK_EQUAL(result->failure.error, -PSYS_ENOENT);
	CHECK_EQUAL(result->failure.step, ASPAWN_STEP_EXEC);
	CHECK_EQUAL(result->status, 127 << 8);
	give_back(queue, result);
	close_queue(queue);
}

/* The helper cannot clone the program. */
TEST(a_tree_that_cannot_be_cloned_is_a_job_not_started)
{
	for (int i = 0; i < 2; i++) {
		struct aspawn_queue *queue;
		if (i == 0)
			filter_refuse(PSYS_NR_prctl, PSYS_EPERM);
		queue = queue_of(kinds[i]);
		struct self self;
		struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
		command.owner = ASPAWN_OWNER_TREE;
		CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
		const struct aspawn_result *result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_NOT_STARTED);
		CHECK_EQUAL(result->failure.step, ASPAWN_STEP_CLONE);
		CHECK_EQUAL(result->failure.error, -PSYS_EPERM);
		CHECK_EQUAL(result->pid, 0);
		give_back(queue, result);
		close_queue(queue);
	}
}
