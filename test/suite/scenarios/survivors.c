/* SPDX-License-Identifier: MIT */
/* The library may not kill these programs of another user. The test itself may. */
#include "queues.h"
#include "tree.h"

struct left {
	int pid, outcome, status, survivors, cut;
};

/* What a process without the capability has learned. The process ends when the program is gone. */
static struct left learn_from(int from)
{
	struct left left;

	CHECK_EQUAL(psys_read(from, &left, sizeof left), (long)sizeof left);
	CHECK(left.pid > 0 && exists(left.pid));
	CHECK_EQUAL(psys_kill(left.pid, PSYS_SIGKILL), 0);
	return left;
}

static struct aspawn_command other_users(struct self *self, const char *role)
{
	static const struct aspawn_action user = ASPAWN_USER(65534, 65534, NULL, 0);
	struct aspawn_command command = command_in_role(self, role, NULL);

	command.actions = &user;
	command.action_count = 1;
	return command;
}

static void need_another_user(void)
{
	if (psys_geteuid())
		skip("not root");
	need_others_to_reach_program();
}

/* The server reaps the program at last. */
static void leave_job(int to, uint64_t flags)
{
	struct self self;
	const struct aspawn_command command = other_users(&self, "lingers");
	struct aspawn_job job = { .time_limit_ms = 100,
				  .grace_ms = ASPAWN_GRACE_NONE,
				  .out_size = KEPT };
	const struct aspawn_result *result;

	may_not_kill();
	struct aspawn_queue *queue = open_queue(
		&(struct aspawn_queue_options){ .running = 1, .jobs = 2, .flags = flags });
	for (;; job.time_limit_ms *= 2) { /* before it has changed its user it may be killed */
		CHECK(submit_command(queue, job, &command) > 0);
		result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_TIMED_OUT);
		if (result->survivors)
			break;
		give_back(queue, result);
	}
	const struct left left = { result->pid, result->outcome, result->status, result->survivors,
				   result->cut };
	char text[64];
	aspawn_result_text(text, sizeof text, result);
	CHECK_EQUAL(psys_strcmp(text, "timed out, no status, and some of it survives"), 0);
	give_back(queue, result);
	/* The place and the queue are free for others. */
	CHECK(submit(queue, (struct aspawn_job){ 0 }, "exit_7", NULL) > 0);
	result = next_result(queue);
	CHECK_EQUAL(result->status, 7 << 8);
	give_back(queue, result);
	CHECK_EQUAL(psys_write(to, &left, sizeof left), (long)sizeof left);
	if (flags)
		CHECK_EQUAL(psys_wait4(left.pid, NULL, 0, NULL), left.pid);
	else
		while (exists(left.pid))
			sleep_ms(1);
	close_queue(queue);
	psys_exit_group(0);
}

static void check_left_job(uint64_t flags)
{
	int ends[2] = { -1, -1 };

	need_another_user();
	if (is_emulated())
		skip("an emulated program may be killed");
	CHECK_EQUAL(psys_pipe2(ends, PSYS_O_CLOEXEC), 0);
	const int host = fork_child();
	if (host == 0)
		leave_job(ends[1], flags);
	const struct left left = learn_from(ends[0]);
	CHECK_EQUAL(left.outcome, ASPAWN_OUTCOME_TIMED_OUT);
	CHECK_EQUAL(left.status, -1);
	CHECK_EQUAL(left.survivors, 1);
	CHECK_EQUAL(left.cut, 1);
	CHECK_EQUAL(reap(host), 0);
}

TEST(a_job_that_may_not_be_killed_has_a_result)
{
	check_left_job(0);
}

TEST(a_job_of_a_local_queue_that_may_not_be_killed_has_a_result)
{
	check_left_job(ASPAWN_QUEUE_LOCAL);
}

static void leave_child(int to)
{
	struct aspawn_io io = { .size = sizeof io, .grace_ms = ASPAWN_GRACE_NONE };
	struct self self;
	const struct aspawn_command command = other_users(&self, "lingers");
	struct aspawn_child child;
	int r = -PSYS_ETIMEDOUT;

	may_not_kill();
	for (io.time_limit_ms = 100; r == -PSYS_ETIMEDOUT; io.time_limit_ms *= 2) {
		child = start_command(NULL, &command);
		r = aspawn_communicate(&child, &io);
	}
	CHECK_EQUAL(r, -PSYS_EPERM);
	const struct left left = { io.survivor, io.outcome, io.status, 0, io.cut };
	CHECK_EQUAL(left.pid, aspawn_pid(&child));
	CHECK_EQUAL(psys_write(to, &left, sizeof left), (long)sizeof left);
	check_ends(&child, PSYS_SIGKILL);
	psys_exit_group(0);
}

TEST(communicate_tells_which_program_may_not_be_killed)
{
	int ends[2] = { -1, -1 };

	need_another_user();
	CHECK_EQUAL(psys_pipe2(ends, PSYS_O_CLOEXEC), 0);
	const int host = fork_child();
	if (host == 0)
		leave_child(ends[1]);
	const struct left left = learn_from(ends[0]);
	CHECK_EQUAL(left.outcome, ASPAWN_OUTCOME_LOST);
	CHECK_EQUAL(left.status, -1);
	CHECK_EQUAL(reap(host), 0);
}
