/* SPDX-License-Identifier: MIT */
/* The server starts jobs that need their own memory by the library's image. */
#include "held.h"
#include "queues.h"

#define NOTHING ASPAWN_RESUID(-1U, -1U, -1U) /* it needs memory of its own all the same */

static const struct aspawn_action nothing = NOTHING;
static const uint64_t kinds[] = { 0, ASPAWN_QUEUE_LOCAL };

/* How a job with NOTHING begins: in the image, and in a copy of the memory. */
static const int memories[] = { ASPAWN_MEMORY_SHARED, ASPAWN_MEMORY_COPIED };
enum { WAYS = sizeof memories / sizeof *memories };

/* Skips the test where no child is in the image, which filters may prevent before Linux 5.16. */
static void needs_image_under_filters(void)
{
	filter_refuse(PSYS_NR_sync, PSYS_EPERM);
	if (observe(&nothing, 1, "").mode != ASPAWN_MODE_IMAGE)
		skip("no image here");
}

static struct aspawn_queue *queue_of(uint64_t flags)
{
	return open_queue(&(struct aspawn_queue_options){ .running = 4, .flags = flags });
}

/* No memory is copied from now on. */
static void forbid_copies(void)
{
	filter_refuse_flags_without(PSYS_NR_clone, clone_flags, 0, PSYS_CLONE_VM, PSYS_EAGAIN);
	if (psys_fork() != -PSYS_EAGAIN)
		skip("fork(2) is no clone(2) here");
}

static const struct aspawn_result *result_of(struct aspawn_queue *queue, struct aspawn_job job,
					     const struct aspawn_command *command)
{
	CHECK(submit_command(queue, job, command) > 0);
	return next_result(queue);
}

TEST(queue_starts_jobs_of_other_users_without_a_copy_of_the_memory)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", "text");

	needs_image_under_filters();
	command.actions = &nothing;
	command.action_count = 1;
	forbid_copies();
	for (int i = 0; i < 2; i++) {
		struct aspawn_queue *queue = queue_of(kinds[i]);
		for (int round = 0; round < 10; round++) { /* each stack is used again */
			const struct aspawn_result *result = result_of(
				queue, (struct aspawn_job){ .out_size = KEPT, .err_size = KEPT },
				&command);
			CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
			CHECK_EQUAL(result->status, 0);
			CHECK_EQUAL(result->out_length, 4);
			CHECK(!psys_memcmp(result->out, "text", 4));
			CHECK_EQUAL(result->err_length, 0);
			CHECK_EQUAL(result->executed_ns, 0);
			give_back(queue, result);
		}
		command.memory = ASPAWN_MEMORY_COPIED;
		const struct aspawn_result *result =
			result_of(queue, (struct aspawn_job){ 0 }, &command);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_NOT_STARTED);
		CHECK_EQUAL(result->failure.error, -PSYS_EAGAIN);
		give_back(queue, result);
		command.memory = ASPAWN_MEMORY_SHARED;
		close_queue(queue);
	}
}

TEST(job_with_memory_of_its_own_has_its_streams)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "copies", NULL);
	struct aspawn_queue *queue = queue_of(0);

	command.actions = &nothing;
	command.action_count = 1;
	for (int i = 0; i < WAYS; i++) {
		command.memory = memories[i];
		const struct aspawn_result *result = result_of(
			queue,
			(struct aspawn_job){ .out_size = KEPT, .input = "input", .input_size = 5 },
			&command);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
		CHECK_EQUAL(result->out_length, 5);
		CHECK(!psys_memcmp(result->out, "input", 5));
		give_back(queue, result);
	}
	close_queue(queue);
}

/* The failure has the action, the descriptor by the caller's number, and the error. */
static void check_failure(const struct aspawn_result *result, int step, uint32_t kind, int fd)
{
	char number[PSYS_DECIMAL_SIZE];

	psys_i64_to_decimal(number, fd);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_NOT_STARTED);
	CHECK_EQUAL(result->failure.step, step);
	CHECK_EQUAL(result->failure.kind, kind);
	CHECK_EQUAL(result->failure.error, -PSYS_ENOTDIR);
	CHECK(!psys_strcmp(result->failure.subject, number));
	CHECK_EQUAL(result->status, 127 << 8);
}

TEST(failure_of_a_job_names_the_callers_descriptor)
{
	const int fd = (int)psys_fcntl(1, PSYS_F_DUPFD_CLOEXEC, 77);
	const struct aspawn_action actions[] = { ASPAWN_DUP2(fd, 0), ASPAWN_FCHDIR(fd), NOTHING };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_queue *queue = queue_of(0);

	CHECK(fd >= 77);
	command.actions = actions;
	for (int i = 0; i < 2 * WAYS; i++) {
		command.action_count = i < WAYS ? 3 : 2;
		command.memory = memories[i % WAYS];
		const struct aspawn_result *result =
			result_of(queue, (struct aspawn_job){ 0 }, &command);
		check_failure(result, 1, ASPAWN_ACTION_FCHDIR, fd);
		give_back(queue, result);
	}
	close_queue(queue);
}

/* Each descriptor is used twice, between others which the action replaces, or from which all are
 * closed. */
TEST(job_uses_a_descriptor_as_often_as_it_names_it)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", "x");
	struct aspawn_queue *queue = queue_of(0);
	int pipes[2][2], count = 0;
	char bytes[32];

	for (int i = 0; i < 2; i++)
		CHECK_EQUAL(psys_pipe2(pipes[i], PSYS_O_CLOEXEC), 0);
	for (int number = 3; number < 20; number++) { /* some of these are the server's */
		const struct aspawn_action actions[] = {
			ASPAWN_DUP2(pipes[0][1], 1),  ASPAWN_DUP2(pipes[1][1], number),
			ASPAWN_CLOSEFROM(number + 1), ASPAWN_DUP2(number, 1),
			ASPAWN_DUP2(number, 2),       NOTHING,
		};
		if (psys_fcntl(number, PSYS_F_GETFD, 0) >= 0)
			continue;
		command.actions = actions;
		for (int i = 0; i < 2 * WAYS; i++, count++) {
			command.action_count = i < WAYS ? 6 : 5;
			command.memory = memories[i % WAYS];
			const struct aspawn_result *result =
				result_of(queue, (struct aspawn_job){ 0 }, &command);
			CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
			CHECK_EQUAL(result->status, 0);
			give_back(queue, result);
			CHECK_EQUAL(psys_read(pipes[1][0], bytes, sizeof bytes), 1);
		}
	}
	CHECK(count > 0);
	close_queue(queue);
	for (int i = 0; i < 2; i++) {
		CHECK_EQUAL(psys_close(pipes[i][1]), 0);
		CHECK_EQUAL(psys_read(pipes[i][0], bytes, sizeof bytes), 0);
	}
}

/* Runs a job with as many arguments as fit, of the prepared command unless prepared is 0. */
static void run_with_most_arguments(struct aspawn_queue *queue, struct aspawn_command *command,
				    int64_t prepared, size_t most)
{
	static char *argv[20000];
	struct aspawn_job job = { .size = sizeof job, .prepared = prepared };
	int64_t r;

	CHECK(most < sizeof argv / sizeof *argv);
	job.argv = prepared ? argv : NULL;
	job.command = prepared ? NULL : command;
	for (size_t i = 1; i < most; i++)
		argv[i] = (char *)(uintptr_t) "";
	argv[0] = command->argv[0]; /* the role */
	command->argv = argv;
	do {
		argv[most] = NULL;
		r = aspawn_queue_submit(queue, &job, NULL);
		most -= most / 16;
	} while (r == -PSYS_E2BIG && most > 16);
	CHECK(r > 0);
	const struct aspawn_result *result = next_result(queue);
	CHECK_EQUAL(result->status, 7 << 8);
	give_back(queue, result);
}

/* The stack gets a copy of what the job has, where each action takes more, and a shell the
 * arguments again. The stack is in the queue's mapping, and is not exchanged for a larger stack. */
TEST(stack_of_a_job_has_room_for_all_that_the_job_has)
{
	static struct aspawn_action actions[4000];
	const size_t most = sizeof actions / sizeof *actions;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int64_t prepared;

	if (!have_proc())
		skip("no /proc");
	const int mappings = count_mappings();
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .job_bytes = 100000 });
	for (size_t i = 0; i < most; i++)
		actions[i] = i % 2 ? (struct aspawn_action)ASPAWN_DUP2(77, 0) :
				     (struct aspawn_action)ASPAWN_SETENV("A", "1");
	actions[0] = nothing;
	CHECK_EQUAL(psys_dup2(1, 77), 77);
	command.flags = ASPAWN_COMMAND_SHELL_ON_ENOEXEC;
	command.actions = actions;
	command.action_count = 1;
	run_with_most_arguments(queue, &command, 0, 19000);
	command.argv = ASPAWN_ARGV(command.argv[0]);
	command.action_count = most;
	while ((prepared = aspawn_queue_prepare(queue, &command, NULL)) == -PSYS_E2BIG)
		command.action_count -= command.action_count / 16;
	CHECK(prepared > 0);
	run_with_most_arguments(queue, &command, prepared, 19000);
	close_queue(queue);
	psys_close(77);
	CHECK_EQUAL(count_mappings(), mappings);
}

/* Submits jobs, and returns when all run. */
static void let_run(struct aspawn_queue *queue, const struct aspawn_command *command)
{

	for (int i = 0; i < 4; i++)
		CHECK(submit_command(queue, (struct aspawn_job){ 0 }, command) > 0);
	await_running(queue, 4);
}

TEST(forked_process_has_no_page_of_its_hosts_jobs)
{
	const int mappings = count_mappings();
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	struct aspawn_queue *queue = queue_of(0);
	int status;

	if (!have_proc())
		skip("no /proc");
	command.actions = &nothing;
	command.action_count = 1;
	if (observe(&nothing, 1, "").mode != ASPAWN_MODE_IMAGE)
		skip("no image here");
	let_run(queue, &command);
	const int pid = psys_fork();
	if (!pid) {
		aspawn_queue_close(queue);
		psys_exit_group(count_mappings() - mappings);
	}
	CHECK_EQUAL(psys_wait4(pid, &status, 0, NULL), pid);
	CHECK_EQUAL(status, 0);
	close_queue(queue);
}

/* An oom score needs its own memory, but after the filter the job makes no call for the queue. */
TEST(job_with_memory_of_its_own_may_forbid_prctl)
{
	static const struct psys_sock_filter no_prctl[] = {
		{ 0x20, 0, 0, 0 }, /* the number of the call */
		{ 0x15, 0, 1, PSYS_NR_prctl },
		{ 0x06, 0, 0, 0x00050000 | PSYS_EDOM },
		{ 0x06, 0, 0, 0x7fff0000 },
	};
	const struct aspawn_action actions[] = { ASPAWN_OOM_SCORE_ADJ(500), ASPAWN_NO_NEW_PRIVS(),
						 ASPAWN_SECCOMP(no_prctl, 4) };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	if (observe(actions, 3, "getppid").result < 0)
		skip("no seccomp, or no /proc");
	struct aspawn_queue *queue = queue_of(0);
	command.actions = actions;
	command.action_count = 3;
	for (int i = 0; i < WAYS; i++) {
		command.memory = memories[i];
		const struct aspawn_result *result =
			result_of(queue, (struct aspawn_job){ 0 }, &command);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
		CHECK_EQUAL(result->status, 7 << 8);
		give_back(queue, result);
	}
	close_queue(queue);
}

/* --- a killed server ------------------------------------------------------------------------- */

static void check_lost(struct aspawn_queue *queue)
{
	const struct aspawn_result *result = next_result(queue);

	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_LOST);
	CHECK(!result->pid || ends_soon(result->pid));
	give_back(queue, result);
}

TEST(killed_server_leaves_no_memory_of_an_image)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	struct aspawn_queue *queue = queue_of(0);

	if (!have_proc())
		skip("no /proc");
	command.actions = &nothing;
	command.action_count = 1;
	int mappings = 0;
	for (int round = 0; round < 3; round++) {
		const int server = server_of(queue);
		let_run(queue, &command);
		CHECK_EQUAL(psys_kill(server, PSYS_SIGKILL), 0);
		for (int i = 0; i < 4; i++)
			check_lost(queue);
		if (round == 0) /* all stacks were used */
			mappings = count_mappings();
		CHECK_EQUAL(count_mappings(), mappings);
	}
	close_queue(queue);
}

static struct held_server {
	int reached, go, pid;
	struct aspawn_queue *queue;
} held;

static int kills_the_server(void *arg)
{
	(void)arg;
	gate_wait(&held.reached);
	CHECK_EQUAL(psys_kill(held.pid, PSYS_SIGKILL), 0);
	CHECK(ends_soon(held.pid));
	gate_open(&held.go);
	return 0;
}

/* The server is suspended for the image, which the child has not executed yet. */
TEST(server_killed_while_it_starts_an_image_leaves_nothing)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct thread thread;

	needs_image_under_filters();
	if (!have_proc())
		skip("no /proc");
	filter_hold(PSYS_NR_memfd_create, &held.reached, &held.go);
	struct aspawn_queue *queue = queue_of(0);
	command.actions = &nothing;
	command.action_count = 1;
	held.pid = server_of(queue);
	const int mappings = count_mappings();
	thread_start(&thread, kills_the_server, NULL);
	CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
	check_lost(queue);
	thread_join(&thread);
	for (int i = 0; i < 5; i++) {
		const struct aspawn_result *result =
			result_of(queue, (struct aspawn_job){ 0 }, &command);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
		CHECK_EQUAL(result->status, 7 << 8);
		give_back(queue, result);
	}
	CHECK(count_mappings() <= mappings + 2); /* the guards of two stacks */
	close_queue(queue);
}

/* At any instruction. */
TEST_SECONDS(jobs_with_memory_of_their_own_go_on_while_servers_are_killed, 300)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_queue *queue = queue_of(0);
	int lost = 0;

	if (!have_proc())
		skip("no /proc");
	command.actions = &nothing;
	command.action_count = 1;
	for (int i = 0; i < scaled(100) + 10; i++) {
		const struct psys_timespec nap = { 0, i % 50 * 10000 };
		const int server = server_of(queue);

		CHECK(submit_command(queue, (struct aspawn_job){ 0 }, &command) > 0);
		psys_nanosleep(&nap, NULL);
		CHECK_EQUAL(psys_kill(server, PSYS_SIGKILL), 0);
		CHECK(ends_soon(server));
		const struct aspawn_result *result = next_result(queue);
		CHECK(result->outcome == ASPAWN_OUTCOME_LOST ||
		      (result->outcome == ASPAWN_OUTCOME_RAN && result->status == 7 << 8));
		lost += result->outcome == ASPAWN_OUTCOME_LOST;
		give_back(queue, result);
	}
	note("lost: ", lost);
	close_queue(queue);
}

/* The kernel has not begun the exec: no SIGCHLD would come, and no ordinary wait
 * would find the child. */
TEST(job_killed_in_its_exec_of_the_image_has_executed_nothing)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_queue *queue;
	struct thread thread;
	int killed = 0;

	needs_image_under_filters();
	command.actions = &nothing;
	command.action_count = 1;
	queue = queue_of(ASPAWN_QUEUE_LOCAL);
	hold_until_child_is_killed(PSYS_NR_execveat, &thread, &killed);
	const struct aspawn_result *result = result_of(queue, (struct aspawn_job){ 0 }, &command);
	thread_join(&thread);
	CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_RAN);
	CHECK_EQUAL(result->status, 7 << 8);
	give_back(queue, result);
	close_queue(queue);
	if (!killed)
		skip("no list of children in /proc");
}
