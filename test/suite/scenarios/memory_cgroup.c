/* SPDX-License-Identifier: MIT */
/*
 * The OOM killer kills every process that shares the victim's memory, except a process suspended in
 * vfork, whose child is not chosen either. Therefore the parent of a command that begins in a
 * cgroup is suspended until the exec. The exec fails if the cgroup has no memory for the command.
 */
#include "../private.h"

/* The exec has to copy this argument, with less memory. */
enum { LENGTH = 120000 };
#define LIMIT "65536"
/* The first page table of a program is 64 KiB in one piece on powerpc64. For such a piece the
 * kernel kills nobody: the exec fails. */
#define LIMIT_BEYOND_THE_TABLE "131072"

static const char *make_argument(void)
{
	char *text = psys_mmap(NULL, LENGTH, PSYS_PROT_READ | PSYS_PROT_WRITE,
			       PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);

	CHECK(!PSYS_IS_ERROR(text));
	return psys_memset(text, 'x', LENGTH - 1);
}

/* Makes a cgroup of version 2 with a limit of bytes. */
static void make_limited(struct cgroup *group, const char *limit)
{
	make_cgroup(group);
	const int root = psys_open(group->root, PSYS_O_PATH | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	const int r = write_to_cgroup(root, "cgroup.subtree_control", "+memory");

	psys_close(root);
	if (r < 0 || write_to_cgroup(group->fd, "memory.max", limit) < 0) {
		remove_cgroup(group);
		skip("no memory controller of version 2");
	}
	write_to_cgroup(group->fd, "memory.swap.max", "0");
}

static void check_out_of_memory(struct cgroup *group, int memory, int mode)
{
	struct aspawn_failure failure;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const char *const argv[] = { self.argv[0], make_argument(), NULL };
	int status;

	const struct aspawn_action action = ASPAWN_JOIN_CGROUP(group->fd);
	command.memory = memory;
	command.argv = (char *const *)(uintptr_t)argv;
	command.actions = &action;
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	/* The test passes if this process survives. */
	const int r = aspawn_wait(&child, &status, NULL, -1);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_MODE), mode);
	if (mode == ASPAWN_MODE_VFORK) {
		CHECK_EQUAL(r, -PSYS_ECANCELED);
		aspawn_wait_started(&child, &failure, -1);
		CHECK_EQUAL(failure.step, ASPAWN_STEP_EXEC);
		CHECK_EQUAL(failure.error, -PSYS_ENOMEM);
		CHECK_EQUAL(status, 127 << 8);
	} else { /* in its exec, or before */
		CHECK(r == 0 || r == -PSYS_ECANCELED);
		CHECK_EQUAL(status & 0x7f, PSYS_SIGKILL);
	}
	remove_cgroup(group);
}

TEST(the_oom_killer_of_a_cgroup_spares_the_parent)
{
	struct cgroup group;

	make_limited(&group, LIMIT);
	check_out_of_memory(&group, ASPAWN_MEMORY_SHARED, ASPAWN_MODE_VFORK);
}

TEST(the_oom_killer_of_a_cgroup_spares_a_suspended_parent)
{
	struct cgroup group;

	make_limited(&group, LIMIT);
	check_out_of_memory(&group, ASPAWN_MEMORY_SUSPENDED, ASPAWN_MODE_VFORK);
}

TEST(the_oom_killer_of_a_cgroup_spares_who_has_been_copied)
{
	struct cgroup group;

	make_limited(&group, LIMIT_BEYOND_THE_TABLE);
	check_out_of_memory(&group, ASPAWN_MEMORY_COPIED, ASPAWN_MODE_FORK);
}

/* A mount would keep the controller from version 2 for good. */
static bool controller_has_version_1(void)
{
	char text[1024] = "";
	const int fd = psys_open("/proc/cgroups", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);

	psys_read(fd, text, sizeof text - 1);
	psys_close(fd);
	for (const char *at = text; *at; at++)
		if (!psys_strncmp(at, "\nmemory\t", 8))
			return at[8] != '0';
	return false;
}

TEST(the_oom_killer_of_a_cgroup_of_version_1_spares_the_parent)
{
	const struct aspawn_action user = ASPAWN_RESUID(-1U, -1U, -1U);
	struct cgroup group;

	if (!controller_has_version_1())
		skip("no memory controller of version 1");
	make_cgroup_of(&group, "memory");
	CHECK_EQUAL(write_to_cgroup(group.fd, "memory.limit_in_bytes", LIMIT), 0);
	check_out_of_memory(&group, ASPAWN_MEMORY_SHARED, observe(&user, 1, "").mode);
}

/* --- where the OOM killer does not spare the parent ------------------------------------ */

struct stage {
	int in_group, may_execute; /* gates */
	const struct cgroup *group;
};

static ASPAWN_CHILD int stays_in_group(void *arg)
{
	struct stage *stage = arg;

	__atomic_store_n(&stage->in_group, 1, __ATOMIC_RELEASE);
	psys_futex(&stage->in_group, PSYS_FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	gate_wait(&stage->may_execute);
	return 0;
}

/* Forks a process that starts a command and waits, or kills the command's helper before the
 * exec. */
static int fork_host(struct stage *stage, bool kills_helper)
{
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	const int host = fork_child();
	if (host) {
		gate_wait(&stage->in_group);
		return host;
	}
	const struct aspawn_action actions[] = { ASPAWN_JOIN_CGROUP(stage->group->fd),
						 ASPAWN_CALL(stays_in_group, stage) };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const char *const argv[] = { self.argv[0], make_argument(), NULL };
	command.argv = (char *const *)(uintptr_t)argv;
	command.actions = actions;
	command.action_count = 2;
	struct aspawn_child child = start_command(NULL, &command);
	struct psys_pollfd helper = { child.ended_fd, PSYS_POLLIN, 0 };
	gate_wait(&stage->in_group);
	if (kills_helper) {
		CHECK_EQUAL(psys_pidfd_send_signal(child.ended_fd, PSYS_SIGKILL, NULL, 0), 0);
		CHECK_EQUAL(psys_ppoll(&helper, 1, NULL, NULL, 0), 1);
		gate_open(&stage->may_execute);
	}
	aspawn_wait(&child, NULL, NULL, -1);
	sleep_ms(LONG);
	psys_exit_group(0);
}

/* Reaps all that the host has left. */
static void check_host_is_killed(int host)
{
	int r;

	CHECK_EQUAL(reap(host), 128 + PSYS_SIGKILL);
	do
		r = psys_wait4(-1, NULL, (int)PSYS___WALL, NULL);
	while (r > 0 || r == -PSYS_EINTR);
}

TEST(the_oom_killer_of_a_cgroup_reaches_who_shares_memory_without_a_suspended_parent)
{
	struct stage *stage = shared_page();
	struct cgroup group;

	make_limited(&group, LIMIT_BEYOND_THE_TABLE);
	stage->group = &group;
	check_host_is_killed(fork_host(stage, true));
	remove_cgroup(&group);
}

TEST(the_oom_killer_of_a_whole_cgroup_reaches_who_shares_memory)
{
	enum { MUCH = 64 << 20 };
	struct stage *stage = shared_page();
	struct cgroup group;

	make_limited(&group, "8000000");
	if (write_to_cgroup(group.fd, "memory.oom.group", "1") < 0) {
		remove_cgroup(&group);
		skip("this kernel has no memory.oom.group");
	}
	stage->group = &group;
	const int host = fork_host(stage, false);
	const int member = fork_child();
	if (!member) {
		CHECK_EQUAL(write_to_cgroup(group.fd, "cgroup.procs", "0"), 0);
		char *memory = psys_mmap(NULL, MUCH, PSYS_PROT_READ | PSYS_PROT_WRITE,
					 PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);
		CHECK(!PSYS_IS_ERROR(memory));
		for (size_t i = 0; i < MUCH; i += 4096)
			memory[i] = 1;
		psys_exit_group(0);
	}
	CHECK_EQUAL(reap(member), 128 + PSYS_SIGKILL);
	check_host_is_killed(host);
	remove_cgroup(&group);
}
