/* SPDX-License-Identifier: MIT */
/* Why a command has ended: what a run, and the description of a child, say of it. */
#include "held.h"
#include "tree.h"

/* --- the OOM killer ----------------------------------------------------------------- */

/* An emulator's own memory counts too. */
enum { MOST_MEMORY = 32 << 20, PAGE = 4096 };

/* Takes more than the group may have. */
static int take_memory(void)
{
	char *at = psys_mmap(NULL, 2 * MOST_MEMORY, PSYS_PROT_READ | PSYS_PROT_WRITE,
			     PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < 2 * MOST_MEMORY; i += PAGE)
		at[i] = 1;
	return 2;
}

/* With an argument, another process takes the memory. */
ROLE(takes_memory)
{
	(void)argv;
	if (argc > 1) {
		const int pid = fork_child();
		if (pid)
			return reap(pid) == 128 + PSYS_SIGKILL ? 7 : 1;
	}
	return take_memory();
}

ROLE(kills_itself)
{
	(void)argc, (void)argv;
	psys_kill(psys_getpid(), PSYS_SIGKILL);
	return 1;
}

/* The last action joins other, unless other is -1. */
static struct aspawn_io run_in_groups(const struct cgroup *group, int other, const char *role,
				      const char *argument)
{
	const struct aspawn_action actions[] = { ASPAWN_JOIN_CGROUP(group->fd),
						 ASPAWN_JOIN_CGROUP(other) };
	struct self self;
	struct aspawn_command command = command_in_role(&self, role, argument);
	struct aspawn_io io = { .size = sizeof io };

	command.actions = actions;
	command.action_count = other < 0 ? 1 : 2;
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	return io;
}

/* Makes a group with a limit, or skips the test. The group is of version 1 where the memory
 * controller is. */
static void make_limited_group(struct cgroup *group)
{
	char limit[PSYS_DECIMAL_SIZE];

	limit[psys_i64_to_decimal(limit, MOST_MEMORY)] = '\0';
	make_cgroup(group);
	const int root = psys_open(group->root, PSYS_O_PATH | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	CHECK_EQUAL(aspawn_oom_kills(root), -PSYS_ENOENT);
	const int r = write_to_cgroup(root, "cgroup.subtree_control", "+memory");
	psys_close(root);
	if (r == 0) {
		CHECK_EQUAL(write_to_cgroup(group->fd, "memory.max", limit), 0);
		write_to_cgroup(group->fd, "memory.swap.max", "0");
		return;
	}
	CHECK_EQUAL(aspawn_oom_kills(group->fd), -PSYS_ENOENT);
	remove_cgroup(group);
	make_cgroup_of(group, "memory");
	CHECK_EQUAL(write_to_cgroup(group->fd, "memory.limit_in_bytes", limit), 0);
}

TEST(a_run_says_that_it_was_out_of_memory)
{
	static const struct {
		const char *role, *argument;
		int status, outcome, kills;
	} runs[] = {
		{ "exit_7", NULL, 7 << 8, ASPAWN_OUTCOME_RAN, 0 },
		{ "takes_memory", NULL, PSYS_SIGKILL, ASPAWN_OUTCOME_OUT_OF_MEMORY, 1 },
		{ "kills_itself", NULL, PSYS_SIGKILL, ASPAWN_OUTCOME_RAN, 1 },
		{ "takes_memory", "forks", 7 << 8, ASPAWN_OUTCOME_RAN, 2 },
	};
	struct cgroup group;
	char text[64];

	CHECK_EQUAL(aspawn_oom_kills(-1), -PSYS_EBADF);
	make_limited_group(&group);
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		const struct aspawn_io io =
			run_in_groups(&group, -1, runs[i].role, runs[i].argument);
		CHECK_EQUAL(io.status, runs[i].status);
		CHECK_EQUAL(io.outcome, runs[i].outcome);
		CHECK_EQUAL(aspawn_oom_kills(group.fd), runs[i].kills);
		aspawn_io_text(text, sizeof text, 0, &io);
		CHECK_EQUAL(psys_strcmp(text, "out of memory, killed by SIGKILL") == 0, i == 1);
	}
	remove_cgroup(&group);
}

/* With version 1 a program joins a group for each controller. */
TEST(a_run_in_two_groups_says_that_it_was_out_of_memory)
{
	char limit[PSYS_DECIMAL_SIZE], root[64] = "/tmp/aspawn-freezer-";
	struct cgroup group;

	make_cgroup_of(&group, "memory");
	append_own_name(root);
	psys_mkdirat(PSYS_AT_FDCWD, root, 0700);
	const int mounted = psys_mount("cgroup", root, "cgroup", 0, "freezer");
	const int other = psys_open(root, PSYS_O_PATH | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	psys_umount2(root, PSYS_MNT_DETACH);
	psys_unlinkat(PSYS_AT_FDCWD, root, PSYS_AT_REMOVEDIR);
	if (mounted < 0) {
		remove_cgroup(&group);
		skip("no freezer of version 1");
	}
	limit[psys_i64_to_decimal(limit, MOST_MEMORY)] = '\0';
	CHECK_EQUAL(write_to_cgroup(group.fd, "memory.limit_in_bytes", limit), 0);
	const struct aspawn_io io = run_in_groups(&group, other, "takes_memory", NULL);
	CHECK_EQUAL(io.status, PSYS_SIGKILL);
	CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_OUT_OF_MEMORY);
	psys_close(other);
	remove_cgroup(&group);
}

/* Each process with the victim's memory ends too: the helper, and thereby the program. The
 * program's child goes on, as this process's child. */
TEST(the_oom_killer_of_the_caller_takes_the_helper_along)
{
	struct psys_timespec moment = { 0, 20000000 };
	char number[PSYS_DECIMAL_SIZE];
	struct cgroup group;
	int ends[2], *tree_runs = shared_page();

	need_lists();
	make_limited_group(&group);
	CHECK_EQUAL(psys_pipe2(ends, PSYS_O_CLOEXEC), 0);
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	const int host = fork_child();
	if (host == 0) {
		struct self self;
		struct aspawn_command command = tree_command(&self, "has_a_daemon", NULL);

		number[psys_i64_to_decimal(number, psys_getpid())] = '\0';
		CHECK_EQUAL(write_to_cgroup(group.fd, "cgroup.procs", number), 0);
		command.flags = ASPAWN_COMMAND_DIES_WITH_CALLER;
		command.std_out = ends[1];
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(why_not_started(&child), 0);
		gate_wait(tree_runs);
		psys_exit_group(take_memory());
	}
	psys_close(ends[1]);
	await_bytes(ends[0], 2);
	gate_open(tree_runs);
	CHECK_EQUAL(reap(host), 128 + PSYS_SIGKILL);
	struct psys_pollfd poll = { ends[0], PSYS_POLLIN, 0 };
	CHECK_EQUAL(psys_ppoll(&poll, 1, &moment, NULL, 0), 0);
	do {
		const int pid = first_child_of(psys_gettid());
		/* __WALL: a helper may have no exit signal yet */
		if (pid && psys_kill(pid, PSYS_SIGKILL) == 0)
			psys_wait4(pid, NULL, (int)PSYS___WALL, NULL);
		moment = (struct psys_timespec){ 0, 1000000 };
	} while (psys_ppoll(&poll, 1, &moment, NULL, 0) == 0);
	check_all_have_ended(ends[0], LONG);
	remove_cgroup(&group);
}

/* --- the description of a child ------------------------------------------------------- */

static void check_outcome_of(const struct aspawn_child *child, int outcome)
{
	CHECK_EQUAL(aspawn_describe(child, ASPAWN_FACT_OUTCOME), outcome);
}

TEST(a_child_says_why_it_ended)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_io io = { .size = sizeof io, .time_limit_ms = 1 };
	int status;

	struct aspawn_child child = start_command(NULL, &command);
	check_outcome_of(&child, ASPAWN_OUTCOME_NONE);
	check_ends(&child, 7 << 8);
	check_outcome_of(&child, ASPAWN_OUTCOME_RAN);

	command.file = "/nonexistent";
	child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), -PSYS_ECANCELED);
	check_outcome_of(&child, ASPAWN_OUTCOME_NOT_STARTED);

	command = command_in_role(&self, "exit_7", NULL);
	child = start_command(NULL, &command);
	CHECK_EQUAL(psys_wait4(aspawn_pid(&child), &status, 0, NULL), aspawn_pid(&child));
	const int r = aspawn_wait(&child, NULL, NULL, -1);
	CHECK(r == 0 || r == -PSYS_ECHILD);
	check_outcome_of(&child, r ? ASPAWN_OUTCOME_LOST : ASPAWN_OUTCOME_RAN);

	command = command_in_role(&self, "lingers", NULL);
	child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
	CHECK_EQUAL(aspawn_communicate(&child, &io), -PSYS_ETIMEDOUT);
	check_outcome_of(&child, ASPAWN_OUTCOME_TIMED_OUT);
}

/* A signal handler of the caller could kill the tree likewise. */
static int kill_tree_of(void *child, int stream, const void *bytes, size_t count)
{
	(void)stream, (void)bytes, (void)count;
	CHECK_EQUAL(aspawn_kill_tree(child, ASPAWN_GRACE_NONE), 0);
	return 0;
}

TEST(a_tree_that_was_killed_was_cancelled)
{
	struct aspawn_child child;
	struct self self;
	struct aspawn_io io = { .size = sizeof io, .sink = kill_tree_of, .arg = &child };
	char text[64];

	need_lists();
	struct aspawn_command command = tree_command(&self, "writes_and_stays", NULL);
	child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_communicate(&child, &io), 0);
	CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_CANCELLED);
	check_outcome_of(&child, ASPAWN_OUTCOME_CANCELLED);
	aspawn_io_text(text, sizeof text, 0, &io);
	CHECK_EQUAL(psys_strcmp(text, "cancelled, killed by SIGKILL"), 0);

	command = tree_command(&self, "exit_7", NULL);
	child = start_command(NULL, &command);
	check_ends(&child, 7 << 8);
	psys_close(child.out_fd);
	check_outcome_of(&child, ASPAWN_OUTCOME_RAN);
}

ROLE(writes_and_stays)
{
	(void)argc, (void)argv;
	psys_write(1, "x", 1);
	sleep_ms(600000);
	return 1;
}
