/* SPDX-License-Identifier: MIT */
/*
 * The OOM killer kills every process that shares the memory of its victim, except a process that is
 * suspended in vfork. So a command that joins a cgroup begins in a copy of the memory.
 */
#include "observe.h"

enum { ARGUMENTS = 12, LENGTH = 120000 };

static bool write_to(int dirfd, const char *file, const char *text)
{
	int fd = psys_openat(dirfd, file, PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0);
	long r = psys_write(fd, text, psys_strlen(text));

	psys_close(fd);
	return r > 0;
}

/* 1.4 MB of arguments, which the exec has to copy. */
static void make_arguments(const char *argv[ARGUMENTS + 2])
{
	char *text = psys_mmap(NULL, LENGTH, PSYS_PROT_READ | PSYS_PROT_WRITE,
			       PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);

	CHECK(!PSYS_IS_ERROR(text));
	psys_memset(text, 'x', LENGTH - 1);
	for (int i = 1; i <= ARGUMENTS; i++)
		argv[i] = text;
	argv[ARGUMENTS + 1] = NULL;
}

static void check_out_of_memory(int memory)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const char *argv[ARGUMENTS + 2] = { self.argv[0] };
	struct cgroup group;
	int status;

	make_cgroup(&group);
	int root = psys_open(group.root, PSYS_O_PATH | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	if (!write_to(root, "cgroup.subtree_control", "+memory") ||
	    !write_to(group.fd, "memory.max", "300000")) {
		psys_close(root);
		remove_cgroup(&group);
		skip("no memory controller of version 2");
	}
	write_to(group.fd, "memory.swap.max", "0");
	make_arguments(argv);
	const struct aspawn_action action = ASPAWN_JOIN_CGROUP(group.fd);
	command.memory = memory;
	command.argv = (char *const *)argv;
	command.actions = &action;
	command.action_count = 1;
	struct aspawn_child child = start_command(&pool, &command);
	/* The test passes if this process survives. */
	int r = aspawn_wait(&child, &status, NULL, -1); /* in its exec, or before */
	CHECK(r == 0 || r == -PSYS_ECANCELED);
	CHECK(PSYS_WIFSIGNALED(status) && PSYS_WTERMSIG(status) == PSYS_SIGKILL);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_MODE), ASPAWN_MODE_FORK);
	psys_close(root);
	remove_cgroup(&group);
}

TEST(the_oom_killer_of_a_cgroup_spares_the_parent)
{
	check_out_of_memory(ASPAWN_MEMORY_SHARED);
}

TEST(the_oom_killer_of_a_cgroup_spares_a_suspended_parent)
{
	check_out_of_memory(ASPAWN_MEMORY_SUSPENDED);
}
