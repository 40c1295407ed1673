/* SPDX-License-Identifier: MIT */
/* Filters refuse newer calls. Container engines refuse unknown calls: older engines with EPERM,
 * newer engines with ENOSYS. The promises of a command must hold all the same. */
#include "filter.h"
#include "private.h"
#include "tree.h"

/* The table has all newer calls of the library. All architectures but one have the same numbers. */
static const long newer_calls[] = {
	PSYS_NR_pidfd_send_signal, PSYS_NR_pidfd_open,  PSYS_NR_clone3,     PSYS_NR_close_range,
	PSYS_NR_openat2,           PSYS_NR_pidfd_getfd, PSYS_NR_faccessat2,
};
enum { ALL_CALLS = sizeof newer_calls / sizeof *newer_calls };

/* Refuses the call with this index, or all calls. */
static void refuse(int index, int error)
{
	for (int i = 0; i < ALL_CALLS; i++)
		if (i == index || index == ALL_CALLS)
			filter_refuse(newer_calls[i], error);
}

static const struct aspawn_action copying[] = { ASPAWN_OOM_SCORE_ADJ(100) };

/* A program has a parent and memory in four ways. */
static struct aspawn_command command_of(int way, struct self *self, const char *role)
{
	struct aspawn_command command = command_in_role(self, role, NULL);

	command.owner = way < 3 ? way : ASPAWN_OWNER_CALLER;
	if (way == 3) {
		command.actions = copying;
		command.action_count = 1;
	}
	return command;
}

static void check_time_limit_ends(int way, uint64_t flags)
{
	struct self self;
	struct aspawn_command command = command_of(way, &self, "lingers");
	struct aspawn_io io = {
		.size = sizeof io, .flags = flags, .time_limit_ms = 20, .grace_ms = 20
	};
	const int r = aspawn_run(&command, &io);

	if (way == ASPAWN_OWNER_TREE && r == -PSYS_ECANCELED)
		return; /* this machine has no lists of children */
	CHECK_EQUAL(r, -PSYS_ETIMEDOUT);
	CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_TIMED_OUT);
	CHECK(io.status == PSYS_SIGTERM || io.status == PSYS_SIGKILL);
}

static void check_signals_arrive(int way)
{
	struct self self;
	struct aspawn_command command = command_of(way, &self, "lingers");
	struct aspawn_child child = start_command(NULL, &command);
	const int started = aspawn_wait_started(&child, NULL, -1);

	if (started == -PSYS_ECANCELED && way == ASPAWN_OWNER_TREE) {
		CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), -PSYS_ECANCELED);
		return;
	}
	CHECK_EQUAL(started, 0);
	CHECK_EQUAL(aspawn_kill(&child, 0), 0);
	CHECK_EQUAL(aspawn_kill_group(&child, 0), 0);
	CHECK_EQUAL(way == ASPAWN_OWNER_TREE ? aspawn_kill_tree(&child, ASPAWN_GRACE_NONE) :
					       aspawn_kill(&child, PSYS_SIGKILL),
		    0);
	check_ends(&child, PSYS_SIGKILL);
}

static void check_all_works(int index, int error)
{
	need_shared_memory();
	refuse(index, error);
	for (int way = 0; way < 4; way++) {
		check_time_limit_ends(way, 0);
		check_time_limit_ends(way, ASPAWN_IO_KILL_GROUP);
		check_signals_arrive(way);
	}
	check_nothing_is_left();
	psys_exit_group(0);
}

static void check_each_refusal(int error)
{
	need_shared_memory();
	for (int index = 0; index <= ALL_CALLS; index++) {
		const int host = fork_child();
		if (!host)
			check_all_works(index, error);
		note("index of the refused call:", index);
		CHECK_EQUAL(reap(host), 0);
	}
}

TEST(signals_arrive_where_a_filter_refuses_newer_calls_with_eperm)
{
	check_each_refusal(PSYS_EPERM);
}

TEST(signals_arrive_where_a_filter_refuses_newer_calls_with_enosys)
{
	check_each_refusal(PSYS_ENOSYS);
}
