/* SPDX-License-Identifier: MIT */
/* Why a command has ended: what a run, and the description of a child, say of it. */
#include "tree.h"

/* --- the OOM killer ----------------------------------------------------------------- */

enum { MOST_MEMORY = 8 << 20, PAGE = 4096 };

static bool set_in_group(int dirfd, const char *file, const char *text)
{
	const int fd = psys_openat(dirfd, file, PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0);
	const long r = psys_write(fd, text, psys_strlen(text));

	psys_close(fd);
	return r > 0;
}

/* More than the group may have. The argument: a process of its own does. */
ROLE(takes_memory)
{
	(void)argv;
	if (argc > 1) {
		const int pid = fork_child();
		if (pid)
			return reap(pid) == 128 + PSYS_SIGKILL ? 7 : 1;
	}
	char *at = psys_mmap(NULL, 2 * MOST_MEMORY, PSYS_PROT_READ | PSYS_PROT_WRITE,
			     PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < 2 * MOST_MEMORY; i += PAGE)
		at[i] = 1;
	return 2;
}

ROLE(kills_itself)
{
	(void)argc, (void)argv;
	psys_kill(psys_getpid(), PSYS_SIGKILL);
	return 1;
}

static struct aspawn_io run_in_group(const struct cgroup *group, const char *role,
				     const char *argument)
{
	const struct aspawn_action action = ASPAWN_JOIN_CGROUP(group->fd);
	struct self self;
	struct aspawn_command command = command_in_role(&self, role, argument);
	struct aspawn_io io = { .size = sizeof io };

	command.actions = &action;
	command.action_count = 1;
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	return io;
}

/* A group with a limit, or a skip. Of version 1 where the memory controller is that version's. */
static void make_limited_group(struct cgroup *group)
{
	char limit[PSYS_DECIMAL_SIZE];

	limit[psys_i64_to_decimal(limit, MOST_MEMORY)] = '\0';
	make_cgroup(group);
	const int root = psys_open(group->root, PSYS_O_PATH | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	CHECK_EQUAL(aspawn_oom_kills(root), -PSYS_ENOENT);
	const bool has_memory = set_in_group(root, "cgroup.subtree_control", "+memory");
	psys_close(root);
	if (has_memory) {
		CHECK(set_in_group(group->fd, "memory.max", limit));
		set_in_group(group->fd, "memory.swap.max", "0");
		return;
	}
	CHECK_EQUAL(aspawn_oom_kills(group->fd), -PSYS_ENOENT);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, group->path, PSYS_AT_REMOVEDIR), 0);
	psys_close(group->fd);
	CHECK_EQUAL(psys_umount2(group->root, PSYS_MNT_DETACH), 0);
	if (psys_mount("cgroup", group->root, "cgroup", 0, "memory") < 0) {
		CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, group->root, PSYS_AT_REMOVEDIR), 0);
		skip("no memory controller");
	}
	CHECK_EQUAL(psys_mkdirat(PSYS_AT_FDCWD, group->path, 0755), 0);
	group->fd = psys_open(group->path, PSYS_O_PATH | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	CHECK(set_in_group(group->fd, "memory.limit_in_bytes", limit));
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
		const struct aspawn_io io = run_in_group(&group, runs[i].role, runs[i].argument);
		CHECK_EQUAL(io.status, runs[i].status);
		CHECK_EQUAL(io.outcome, runs[i].outcome);
		CHECK_EQUAL(aspawn_oom_kills(group.fd), runs[i].kills);
		aspawn_io_text(text, sizeof text, 0, &io);
		CHECK_EQUAL(psys_strcmp(text, "out of memory, killed by SIGKILL") == 0, i == 1);
	}
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

/* As a signal handler of the caller could. */
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
