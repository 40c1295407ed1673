/* SPDX-License-Identifier: MIT */
/* The image that a pool keeps: where its slots could be lost, or be another's. */
#include "filter.h"
#include "observe.h"

static struct aspawn_pool pool;

static struct aspawn_child start_in_image(const struct aspawn_command *command)
{
	static const struct aspawn_action nothing = ASPAWN_RESUID(-1U, -1U, -1U);
	struct aspawn_command other = *command;
	struct aspawn_child child;

	other.pool = &pool;
	other.actions = &nothing;
	other.action_count = 1;
	CHECK_EQUAL(aspawn_start(&child, &other), 0);
	return child;
}

static int run_in_image(void)
{
	struct self self;
	const struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_child child = start_in_image(&command);
	const int mode = aspawn_child_mode(&child);

	CHECK_EQUAL(why_not_started(&child), 0);
	check_ends(&child, 7 << 8);
	return mode;
}

static void needs_image(void)
{
	if (run_in_image() != ASPAWN_MODE_IMAGE)
		skip("no image here");
}

TEST(a_pool_under_a_filter_of_robust_futexes_makes_a_copy)
{
	needs_image();
	filter_refuse(PSYS_NR_set_robust_list, PSYS_ENOSYS);
	CHECK_EQUAL(run_in_image(), ASPAWN_MODE_FORK);
}

/* Such a child would map the page of its watch for itself alone. */
TEST(without_shared_memory_no_child_is_in_the_image)
{
	static const struct aspawn_action nothing = ASPAWN_RESUID(-1U, -1U, -1U);
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	struct aspawn_child child;

	needs_image();
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_VM, PSYS_EINVAL);
	CHECK_EQUAL(run_in_image(), ASPAWN_MODE_FORK);
	command.actions = &nothing;
	command.action_count = 1;
	child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	CHECK_EQUAL(aspawn_child_mode(&child), ASPAWN_MODE_FORK);
	kill_lingering(child.pid);
	CHECK_EQUAL(aspawn_release(&child), 0);
}

/* --- a process that the caller has forked ----------------------------------------- */

enum { SCANNED = 4 * 1024 * 1024 };

/* Descriptors, mappings: whatever the process has inherited of the pool. */
static bool finds(const char *secret, size_t length, bool overwrites)
{
	char *seen = psys_mmap(NULL, SCANNED, PSYS_PROT_READ | PSYS_PROT_WRITE,
			       PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);
	bool found = false;

	CHECK(!PSYS_IS_ERROR(seen));
	for (int fd = 3; fd < 100; fd++) {
		long size = psys_pread64(fd, seen, SCANNED, 0);
		for (long i = 0; i + (long)length <= size; i++)
			found = found || !psys_memcmp(seen + i, secret, length);
		if (size > 0 && overwrites) {
			psys_memset(seen, 0, (size_t)size);
			psys_pwrite64(fd, seen, (size_t)size, 0);
			psys_ftruncate(fd, 0);
		}
	}
	psys_munmap(seen, SCANNED);
	return found;
}

/* A process that was forked may have fewer privileges than the one whose commands these are. */
TEST(a_forked_process_neither_reads_nor_changes_commands)
{
	static const char secret[] = "a secret of the command";
	int *gates = shared_page();
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", secret);
	struct aspawn_child child;

	needs_image();
	int pid = fork_child();
	if (!pid) {
		gate_wait(&gates[0]);
		const bool found = finds(secret, sizeof secret, true);
		gate_open(&gates[1]);
		psys_exit_group(found);
	}
	child = start_in_image(&command);
	CHECK_EQUAL(why_not_started(&child), 0);
	check_ends(&child, 7 << 8);
	gate_open(&gates[0]);
	gate_wait(&gates[1]);
	CHECK_EQUAL(reap(pid), 0);
	CHECK_EQUAL(run_in_image(), ASPAWN_MODE_IMAGE);
}

/* It does not have the slot, which may be another child's by then. */
TEST(a_forked_process_does_not_know_if_a_child_of_the_image_has_started)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	struct aspawn_child child;

	needs_image();
	child = start_in_image(&command);
	int pid = fork_child();
	if (!pid) {
		CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), -PSYS_ESTALE);
		CHECK_EQUAL(aspawn_release(&child), 0);
		CHECK_EQUAL(run_in_image(), ASPAWN_MODE_IMAGE);
		CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
		psys_exit_group(0);
	}
	CHECK_EQUAL(reap(pid), 0);
	CHECK_EQUAL(why_not_started(&child), 0);
	kill_lingering(child.pid);
	CHECK_EQUAL(aspawn_release(&child), 0);
	CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
}

TEST(trim_in_a_forked_process_unmaps_nothing_of_others)
{
	enum { SIZE = 64 * 1024 };
	char *mine[64];

	needs_image();
	int pid = fork_child();
	if (!pid) {
		for (int i = 0; i < 64; i++) {
			mine[i] = psys_mmap(NULL, SIZE, PSYS_PROT_READ | PSYS_PROT_WRITE,
					    PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);
			CHECK(!PSYS_IS_ERROR(mine[i]));
		}
		CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
		for (int i = 0; i < 64; i++)
			mine[i][0] = 1;
		psys_exit_group(0);
	}
	CHECK_EQUAL(reap(pid), 0);
}
