/* SPDX-License-Identifier: MIT */
/* Tests of the first signal that ends a run, a tree or a job */
#include "queues.h"
#include "tree.h"

/* MIPS has 128, but the statuses of 127 and 128 are those of a stop and of an exit. */
enum { HIGHEST_SIGNAL = PSYS_NSIG < 126 ? PSYS_NSIG : 126 };

static const int signals[] = { 0, PSYS_SIGHUP, PSYS_SIGINT, PSYS_SIGUSR1, HIGHEST_SIGNAL };

enum { SIGNALS = sizeof signals / sizeof *signals };

/* nohup(1) and the & of a shell do this. */
static void ignore_and_block_signals(void)
{
	struct psys_sigset mask;

	psys_sigemptyset(&mask);
	for (int i = 1; i < SIGNALS; i++) {
		set_disposition(signals[i], PSYS_SIG_IGN);
		psys_sigaddset(&mask, signals[i]);
	}
	CHECK_EQUAL(psys_rt_sigprocmask(PSYS_SIG_SETMASK, &mask, NULL, PSYS_SIGSET_SIZE), 0);
}

static int status_of(int signal)
{
	return signal ? signal : PSYS_SIGTERM;
}

static void exit_9(int signal)
{
	(void)signal;
	psys_exit_group(9);
}

/* Only a handler ends the program with the status, after a stop. */
ROLE(stops)
{
	(void)argc, (void)argv;
	set_handler(PSYS_SIGUSR1, exit_9);
	psys_kill(psys_getpid(), PSYS_SIGSTOP);
	sleep_ms(600000);
	return 0;
}

static struct aspawn_command command_of(struct self *self, const char *role, int signal)
{
	struct aspawn_command command = command_in_role(self, role, NULL);

	command.stop_signal = signal;
	return command;
}

static void check_run(const struct aspawn_command *command, uint64_t flags, int status)
{
	struct aspawn_io io = {
		.size = sizeof io, .flags = flags, .time_limit_ms = 100, .grace_ms = LONG
	};

	/* A program's own handler may not be set yet. */
	for (; io.time_limit_ms < 20000; io.time_limit_ms *= 2) {
		CHECK_EQUAL(aspawn_run(command, &io), -PSYS_ETIMEDOUT);
		CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_TIMED_OUT);
		if (io.status == status || status != 9 << 8)
			break;
	}
	CHECK_EQUAL(io.status, status);
}

TEST(a_run_ends_by_its_stop_signal)
{
	struct self self;

	if (is_emulated())
		skip("an emulator keeps signals for itself");
	ignore_and_block_signals();
	for (int i = 0; i < 4 * SIGNALS; i++) {
		const int signal = signals[i / 4];
		struct aspawn_command command = command_of(&self, "lingers", signal);

		command.flags = i & 1 ? ASPAWN_COMMAND_INHERIT_SIGNALS : 0;
		check_run(&command, i & 2 ? ASPAWN_IO_KILL_GROUP : 0, status_of(signal));
	}
}

TEST(a_stopped_program_gets_the_stop_signal_of_a_run)
{
	struct self self;
	const struct aspawn_command command = command_of(&self, "stops", PSYS_SIGUSR1);

	check_run(&command, 0, 9 << 8);
	check_run(&command, ASPAWN_IO_KILL_GROUP, 9 << 8);
}

TEST(a_tree_ends_by_its_stop_signal)
{
	struct self self;

	need_lists();
	ignore_and_block_signals();
	for (int i = 0; i <= SIGNALS; i++) {
		const int signal = i < SIGNALS ? signals[i] : PSYS_SIGUSR1;
		const int status = i < SIGNALS ? status_of(signal) : 9 << 8;
		struct aspawn_command command =
			command_of(&self, i < SIGNALS ? "lingers" : "stops", signal);

		command.owner = ASPAWN_OWNER_TREE;
		check_run(&command, 0, status);
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
		if (i == SIGNALS) /* its handler is there then */
			while (state_of(aspawn_pid(&child)) != 'T')
				sleep_ms(1);
		CHECK_EQUAL(aspawn_kill_tree(&child, LONG), 0);
		check_ends(&child, status);
	}
}

static void check_jobs(uint64_t queue_flags, int owner)
{
	struct aspawn_queue *queue =
		open_queue(&(struct aspawn_queue_options){ .flags = queue_flags, .running = 2 });
	struct self self;

	for (int i = 0; i <= SIGNALS; i++) {
		const int signal = i < SIGNALS ? signals[i] : PSYS_SIGUSR1;
		struct aspawn_command command =
			command_of(&self, i < SIGNALS ? "lingers" : "stops", signal);

		command.owner = owner;
		command.flags = i & 1 ? ASPAWN_COMMAND_INHERIT_SIGNALS : 0;
		struct aspawn_job job = { .time_limit_ms = 100, .grace_ms = LONG };
		const int expected = i < SIGNALS ? status_of(signal) : 9 << 8;
		int status = -1;
		/* A program's own handler may not be set yet. */
		for (; status != expected && job.time_limit_ms < 20000; job.time_limit_ms *= 2) {
			CHECK(submit_command(queue, job, &command) > 0);
			const struct aspawn_result *result = next_result(queue);
			CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_TIMED_OUT);
			status = result->status;
			CHECK(status == expected || i == SIGNALS);
			give_back(queue, result);
		}
		CHECK_EQUAL(status, expected);
	}
	close_queue(queue);
}

TEST(a_job_ends_by_its_stop_signal)
{
	ignore_and_block_signals();
	check_jobs(0, ASPAWN_OWNER_CALLER);
	check_jobs(ASPAWN_QUEUE_LOCAL, ASPAWN_OWNER_CALLER);
}

TEST(a_job_that_is_a_tree_ends_by_its_stop_signal)
{
	need_lists();
	ignore_and_block_signals();
	check_jobs(0, ASPAWN_OWNER_TREE);
	check_jobs(ASPAWN_QUEUE_LOCAL, ASPAWN_OWNER_TREE);
}

TEST(the_image_begins_a_program_that_ends_by_its_stop_signal)
{
	const struct aspawn_action for_image = ASPAWN_RESUID(-1U, -1U, -1U);
	struct self self;
	struct aspawn_command command = command_of(&self, "lingers", PSYS_SIGINT);

	ignore_and_block_signals();
	command.flags = ASPAWN_COMMAND_INHERIT_SIGNALS;
	command.actions = &for_image;
	command.action_count = 1;
	check_run(&command, 0, PSYS_SIGINT);
}
