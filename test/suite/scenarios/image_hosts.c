/* SPDX-License-Identifier: MIT */
/* The host of the image forks, or filters system calls. */
#include "filter.h"
#include "observe.h"

static struct aspawn_pool pool;
static const struct aspawn_action nothing = ASPAWN_RESUID(-1U, -1U, -1U);

static struct aspawn_child start_in_image(const struct aspawn_command *command)
{
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

	CHECK_EQUAL(why_not_started(&child), 0);
	const int mode = aspawn_describe(&child, ASPAWN_FACT_MODE);
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

/* A child in the image would map the page of its watch for itself alone. */
TEST(without_shared_memory_no_child_is_in_the_image)
{
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
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_MODE), ASPAWN_MODE_FORK);
	kill_lingering(aspawn_pid(&child));
	CHECK_EQUAL(aspawn_release(&child), 0);
}

/* --- a process that the caller has forked ----------------------------------------- */

enum { SCANNED = 4 * 1024 * 1024 };

/* Looks at descriptors and mappings: whatever the process has inherited of the pool. */
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

/* A forked process may have fewer privileges than the owner of these commands. */
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

/* The forked process does not have the page that the child shares with the host. */
TEST(a_forked_process_does_not_know_if_a_child_of_the_image_has_started)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	struct aspawn_child child;

	needs_image();
	child = start_in_image(&command);
	pid_of(&child);
	int pid = fork_child();
	if (!pid) {
		CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), -PSYS_ESTALE);
		CHECK_EQUAL(aspawn_release(&child), 0);
		CHECK_EQUAL(run_in_image(), ASPAWN_MODE_IMAGE);
		release_pool(&pool);
		psys_exit_group(0);
	}
	CHECK_EQUAL(reap(pid), 0);
	CHECK_EQUAL(why_not_started(&child), 0);
	kill_lingering(aspawn_pid(&child));
	CHECK_EQUAL(aspawn_release(&child), 0);
	release_pool(&pool);
}

enum { MOST_REGIONS = 64, UNIT = 4096, SCRIBBLED = 256 };

static struct region {
	char *at;
	size_t size;
} regions[MOST_REGIONS];
static int region_count;

static void add_region(char *at, size_t size)
{
	if (region_count < MOST_REGIONS)
		regions[region_count++] = (struct region){ at, size };
}

static uintptr_t read_hex(const char **at)
{
	uintptr_t number = 0;

	for (;; (*at)++) {
		const char digit = **at;
		if (digit >= '0' && digit <= '9')
			number = number * 16 + (uintptr_t)(digit - '0');
		else if (digit >= 'a' && digit <= 'f')
			number = number * 16 + (uintptr_t)(digit - 'a' + 10);
		else
			return number;
	}
}

/* The library's files that the process can map, or has inherited a mapping of. */
static void find_regions(void)
{
	static char maps[65536];
	static const char name[] = "memfd:aspawn";

	for (int fd = 3; fd < 100; fd++) {
		const int64_t size = psys_lseek(fd, 0, PSYS_SEEK_END);
		char *at = size <= 0 ?
				   NULL :
				   psys_mmap(NULL, (size_t)size, PSYS_PROT_READ | PSYS_PROT_WRITE,
					     PSYS_MAP_SHARED, fd, 0);
		if (at && !PSYS_IS_ERROR(at))
			add_region(at, (size_t)size);
	}
	const int fd = psys_open("/proc/self/maps", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	for (long length, size = 0; fd >= 0 && size < (long)sizeof maps - 1; size += length)
		if ((length = psys_read(fd, maps + size, sizeof maps - 1 - (size_t)size)) <= 0)
			break;
	for (const char *line = maps; *line;) {
		const char *at = line, *const end = psys_strchrnul(line, '\n');
		char *const from = (char *)read_hex(&at);
		at++;
		const size_t size = read_hex(&at) - (uintptr_t)from;
		const bool is_writable = at[2] == 'w' && at[4] == 's';
		while (at < end && psys_strncmp(at, name, sizeof name - 1))
			at++;
		if (at < end && is_writable)
			add_region(from, size);
		line = *end ? end + 1 : end;
	}
}

/* As a report the bytes mean a failure, and an executed program. */
static void forge(int *gates)
{
	if (psys_geteuid() == 0) {
		psys_setresgid(65534, 65534, 65534);
		psys_setresuid(65534, 65534, 65534);
		psys_prctl(PSYS_PR_SET_DUMPABLE, 1, 0, 0, 0); /* for /proc/self */
	}
	find_regions();
	gate_open(&gates[0]);
	while (!__atomic_load_n(&gates[1], __ATOMIC_ACQUIRE))
		for (int i = 0; i < region_count; i++)
			for (size_t at = 0; at + SCRIBBLED <= regions[i].size; at += UNIT)
				psys_memset(regions[i].at + at, 0xf3, SCRIBBLED);
}

/* When the process is forked, one command is between its start and its exec. The others come
 * later. */
TEST(forked_process_cannot_forge_outcomes_of_its_hosts_commands)
{
	char fifo[64] = "/tmp/aspawn-forge-";
	int *gates = shared_page();
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_action actions[] = { nothing, ASPAWN_OPEN(0, fifo, PSYS_O_RDONLY, 0) };
	struct aspawn_child child;

	needs_image();
	append_own_name(fifo);
	if (psys_mknodat(PSYS_AT_FDCWD, fifo, PSYS_S_IFIFO | 0600, 0) < 0)
		skip("no FIFO in /tmp");
	CHECK_EQUAL(run_in_image(), ASPAWN_MODE_IMAGE);
	command.pool = &pool;
	command.actions = actions;
	command.action_count = 2;
	CHECK_EQUAL(aspawn_start(&child, &command), 0);
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, 50), -PSYS_ETIMEDOUT);
	const int pid = fork_child();
	if (!pid) {
		forge(gates);
		psys_exit_group(0);
	}
	gate_wait(&gates[0]);
	for (int i = 0; i < scaled(300); i++)
		run_in_image();
	const int fd = psys_open(fifo, PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0);
	CHECK(fd >= 0);
	CHECK_EQUAL(why_not_started(&child), 0);
	check_ends(&child, 7 << 8);
	gate_open(&gates[1]);
	CHECK_EQUAL(reap(pid), 0);
	psys_unlinkat(PSYS_AT_FDCWD, fifo, 0);
}

static void check_long_name(char *name)
{
	char *const argv[] = { (char *)(uintptr_t) "name", NULL };
	struct aspawn_failure failures[2];

	CHECK_EQUAL(run_in_image(), ASPAWN_MODE_IMAGE);
	for (int copied = 0; copied < 2; copied++) {
		const struct aspawn_command command = {
			.size = sizeof command,
			.file = name,
			.argv = argv,
			.envp = environment,
			.actions = &nothing,
			.action_count = 1,
			.memory = copied ? ASPAWN_MEMORY_COPIED : ASPAWN_MEMORY_SHARED,
			.pool = &pool,
		};
		struct aspawn_child child = start_command(NULL, &command);

		CHECK_EQUAL(aspawn_wait_started(&child, &failures[copied], -1), -PSYS_ECANCELED);
		check_ends(&child, 127 << 8);
	}
	CHECK_EQUAL(failures[0].error, failures[1].error);
	CHECK_EQUAL(failures[0].step, failures[1].step);
	CHECK_EQUAL(psys_strcmp(failures[0].subject, failures[1].subject), 0);
}

/* The arguments of the image must fit in its exec. */
TEST(a_name_of_any_length_fails_as_in_a_copy)
{
	static const size_t lengths[] = { 255, 4095, 60000, 100000, 131071, 131072, 300000 };
	static char name[300001];

	needs_image();
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		psys_memset(name, 'n', lengths[i]);
		for (uint64_t kib = 500; kib < 8192; kib += kib / 2) {
			const struct psys_rlimit64 limit = { kib * 1024, 8192 * 1024 };
			CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_STACK, &limit, NULL), 0);
			check_long_name(name);
		}
	}
}
