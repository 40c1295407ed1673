/* SPDX-License-Identifier: MIT */
/* The image that a pool keeps: its files, its slots, and when the caller is suspended for it. */
#include "held.h"
#include "observe.h"

enum {
	NUMBERS = 240, /* of programs that end with their argument */
	WRONG = 250,   /* status of one that was not executed as such */
	LOWEST = 3,
};

static struct aspawn_pool pool;
static int files; /* that the pool keeps: the image, if not installed */
static const struct aspawn_action nothing = ASPAWN_RESUID(-1U, -1U, -1U);

/* Ends with the number that is the argument, plus one for each x that follows. As the image it gets
 * other arguments. */
ROLE(ends_with)
{
	int number = 0;

	if (argc != 2)
		return WRONG;
	for (const char *at = argv[1]; *at; at++) {
		if (*at >= '0' && *at <= '9')
			number = number * 10 + (*at - '0');
		else if (*at == 'x')
			number++;
		else
			return WRONG;
	}
	return number % NUMBERS;
}

static int start_on(struct aspawn_pool *on, struct aspawn_child *child, int number, uint64_t flags)
{
	char argument[PSYS_DECIMAL_SIZE];
	struct self self;

	psys_i64_to_decimal(argument, number % NUMBERS);
	struct aspawn_command command = command_in_role(&self, "ends_with", argument);
	command.pool = on;
	command.flags = flags;
	command.actions = &nothing;
	command.action_count = 1;
	return aspawn_start(child, &command);
}

static struct aspawn_child begin(int number)
{
	struct aspawn_child child;

	CHECK_EQUAL(start_on(&pool, &child, number, ASPAWN_COMMAND_NO_PIDFD), 0);
	return child;
}

static void end(struct aspawn_child *child, int number)
{
	CHECK_EQUAL(aspawn_wait_started(child, NULL, -1), 0);
	check_ends(child, (number % NUMBERS) << 8);
}

static void run_in(int mode, int number)
{
	struct aspawn_child child = begin(number);

	CHECK_EQUAL(aspawn_child_mode(&child), mode);
	end(&child, number);
}

static bool is_memfd(int fd)
{
	return psys_fcntl(fd, PSYS_F_GET_SEALS, 0) >= 0;
}

static int count_memfds(void)
{
	int count = 0;

	for (int fd = 0; fd < 1000; fd++)
		count += is_memfd(fd);
	return count;
}

/* Returns the descriptor of a memfd but one, of which so many have lower numbers, or -1. */
static int find_memfd_after(int skipped, int but)
{
	for (int fd = 0; fd < 1000; fd++)
		if (fd != but && is_memfd(fd) && !skipped--)
			return fd;
	return -1;
}

static int find_memfd(int but)
{
	return find_memfd_after(0, but);
}

static uint64_t inode_of(int fd)
{
	struct psys_statx file = { 0 };

	CHECK_EQUAL(psys_statx(fd, "", PSYS_AT_EMPTY_PATH, PSYS_STATX_INO, &file), 0);
	return file.stx_ino;
}

/* Starts two commands, after which the image is proven; returns the first
 * descriptor that the pool keeps, or skips the test if it keeps none. */
static int prove(void)
{
	struct aspawn_child child = begin(1);

	if (aspawn_child_mode(&child) != ASPAWN_MODE_IMAGE)
		skip("no image here");
	end(&child, 1);
	const int fd = find_memfd(-1);
	if (fd < 0)
		skip("the pool keeps no image here");
	files = count_memfds();
	run_in(ASPAWN_MODE_IMAGE, 2);
	return fd;
}

/* The same before the test has used the pool. */
static void needs_kept_image(void)
{
	prove();
	CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
}

/* A killed child may still be about to leave its stack. */
static void check_trims(void)
{
	int r;

	while ((r = aspawn_pool_trim(&pool)) == -PSYS_EBUSY)
		sleep_ms(1);
	CHECK_EQUAL(r, 0);
}

/* --- the files ------------------------------------------------------------------- */

TEST(a_pool_keeps_one_descriptor_until_it_is_trimmed)
{
	needs_kept_image();
	CHECK_EQUAL(files, 1);
	const int descriptors = count_descriptors(), mappings = count_mappings();
	struct self self;
	struct aspawn_command plain = command_in_role(&self, "exit_7", NULL);
	plain.pool = &pool;
	for (int round = 0; round < 3; round++) {
		struct aspawn_child child = start_command(NULL, &plain);
		check_ends(&child, 7 << 8);
		CHECK_EQUAL(count_memfds(), 0);
		const int with_stack = count_mappings();
		run_in(ASPAWN_MODE_IMAGE, 1);
		const int with_image = count_mappings();
		CHECK(with_image - with_stack <= 3);
		for (int i = 0; i < 100; i++) {
			run_in(ASPAWN_MODE_IMAGE, i);
			CHECK_EQUAL(count_memfds(), files);
			CHECK_EQUAL(count_mappings(), with_image);
		}
		if (have_proc())
			CHECK_EQUAL(count_descriptors(), descriptors + files);
		CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
		CHECK_EQUAL(count_memfds(), 0);
		CHECK_EQUAL(count_descriptors(), descriptors);
		CHECK_EQUAL(count_mappings(), mappings);
	}
}

TEST(the_kept_descriptors_avoid_closed_standard_streams)
{
	needs_kept_image();
	const int saved = (int)psys_fcntl(1, PSYS_F_DUPFD_CLOEXEC, 800);

	for (int fd = 0; fd < 3; fd++)
		psys_close(fd);
	struct aspawn_child child;
	int r = start_on(&pool, &child, 5, ASPAWN_COMMAND_NO_PIDFD);
	const bool free = psys_fcntl(0, PSYS_F_GETFD, 0) < 0 &&
			  psys_fcntl(1, PSYS_F_GETFD, 0) < 0 && psys_fcntl(2, PSYS_F_GETFD, 0) < 0;
	psys_dup2(saved, 1);
	psys_dup2(saved, 2);
	CHECK_EQUAL(r, 0);
	CHECK(free);
	CHECK_EQUAL(count_memfds(), files);
	CHECK(find_memfd(-1) >= LOWEST);
	for (int i = 0; i < files; i++)
		CHECK_EQUAL(psys_fcntl(find_memfd_after(i, -1), PSYS_F_GETFD, 0), PSYS_FD_CLOEXEC);
	end(&child, 5);
}

ROLE(counts_memfds)
{
	(void)argc;
	(void)argv;
	return count_memfds();
}

TEST(no_child_has_the_kept_descriptor)
{
	const int kept = prove();
	const struct aspawn_action actions[] = {
		nothing,
		ASPAWN_OPEN(kept, "/dev/null", PSYS_O_RDONLY, 0),
		ASPAWN_DUP2(kept, kept + 1),
	};
	struct self self, other;
	struct aspawn_command command = command_in_role(&self, "counts_memfds", NULL);
	struct aspawn_command plain = command_in_role(&other, "counts_memfds", NULL);
	struct Stack_t stack = { 0 };

	command.pool = &pool;
	command.actions = actions;
	for (size_t i = 1; i <= 3; i++) {
		command.action_count = i; /* the number may be the command's too */
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_child_mode(&child), ASPAWN_MODE_IMAGE);
		CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
		check_ends(&child, 0);
		child = start_command(&stack, &plain);
		check_ends(&child, 0);
		CHECK(is_memfd(kept));
	}
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

/* --- the host uses its number ---------------------------------------------------------- */

/* Makes a directory in which a program has the name of the role. So the image's argv[0] is that
 * name, and this program, executed in place of the image, ends in the role. */
static char directory[64] = "/tmp/aspawn-cache-";
static void make_directory(void)
{
	struct self self;
	char path[96];

	append_own_name(directory);
	if (psys_mkdirat(PSYS_AT_FDCWD, directory, 0755) < 0)
		skip("no directory in /tmp");
	self_in_role(&self, "", NULL);
	psys_strlcpy(path, directory, sizeof path);
	psys_strlcpy(path + psys_strlen(path), "/@ends_with", 16);
	CHECK_EQUAL(psys_symlinkat(self.file, PSYS_AT_FDCWD, path), 0);
}

static void remove_directory(void)
{
	char path[96];

	psys_strlcpy(path, directory, sizeof path);
	psys_strlcpy(path + psys_strlen(path), "/@ends_with", 16);
	psys_unlinkat(PSYS_AT_FDCWD, path, 0);
	psys_unlinkat(PSYS_AT_FDCWD, directory, PSYS_AT_REMOVEDIR);
}

/* Returns a memfd with this program, by a number that is not the next one. */
static int make_other_program(void)
{
	static char buffer[65536];
	struct self self;
	int made = psys_memfd_create("other", PSYS_MFD_CLOEXEC | PSYS_MFD_ALLOW_SEALING);
	int fd = (int)psys_fcntl(made, PSYS_F_DUPFD_CLOEXEC, 900);
	long length;

	CHECK(fd >= 900);
	psys_close(made);
	self_in_role(&self, "", NULL);
	int from = psys_open(self.file, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	CHECK(from >= 0);
	while ((length = psys_read(from, buffer, sizeof buffer)) > 0)
		CHECK_EQUAL(psys_write(fd, buffer, (size_t)length), length);
	psys_close(from);
	return fd;
}

/* Runs a command which the other program would answer. Returns its status, or the negative error of
 * a failure, which must name the image's file: by its path, if it is installed. */
static int run_searched(int number)
{
	static const char subject[] = "memfd:aspawn";
	char argument[PSYS_DECIMAL_SIZE];
	char *const argv[] = { (char *)(uintptr_t) "@ends_with", argument, NULL };
	const struct aspawn_command command = {
		.size = sizeof command,
		.argv = argv,
		.search_path = directory,
		.envp = environment,
		.flags = ASPAWN_COMMAND_NO_PIDFD,
		.actions = &nothing,
		.action_count = 1,
		.pool = &pool,
	};
	struct aspawn_failure failure;
	struct aspawn_child child;
	int status = -1;

	psys_i64_to_decimal(argument, number % NUMBERS);
	CHECK_EQUAL(aspawn_start(&child, &command), 0);
	int r = aspawn_wait_started(&child, &failure, LONG);
	if (r < 0) {
		CHECK_EQUAL(r, -PSYS_ECANCELED);
		r = aspawn_wait(&child, &status, NULL, LONG);
		CHECK(status != WRONG << 8);
		CHECK_EQUAL(status, 127 << 8);
		CHECK_EQUAL(failure.step, ASPAWN_STEP_EXEC);
		CHECK(*failure.subject == '/' || !psys_strcmp(failure.subject, subject));
		return failure.error;
	}
	CHECK_EQUAL(aspawn_wait(&child, &status, NULL, LONG), 0);
	CHECK(status != WRONG << 8);
	CHECK_EQUAL(status, (number % NUMBERS) << 8);
	return 0;
}

TEST(a_pool_whose_descriptor_was_closed_makes_another)
{
	const int first = prove(), mappings = count_mappings();

	for (int i = 0; i < 20; i++) {
		psys_close(find_memfd_after(i & (files - 1), -1));
		if (i % 3 == 0)
			psys_close(find_memfd(-1));
		run_in(ASPAWN_MODE_IMAGE, i);
		run_in(ASPAWN_MODE_IMAGE, i + 1);
		CHECK_EQUAL(count_memfds(), files);
		CHECK_EQUAL(count_mappings(), mappings);
	}
	psys_close(find_memfd(-1));
	CHECK_EQUAL(psys_open("/dev/null", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0), first);
	CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
	CHECK(psys_fcntl(first, PSYS_F_GETFD, 0) >= 0);
}

TEST(another_file_with_the_kept_number_is_neither_executed_nor_closed)
{
	needs_kept_image();
	const int other = make_other_program();

	make_directory();
	const uint64_t inode = inode_of(other);
	CHECK_EQUAL(run_searched(1), 0);
	for (int i = 0; i < 10; i++) {
		const int kept = find_memfd_after(i & (files - 1), other);
		CHECK_EQUAL(psys_dup3(other, kept, PSYS_O_CLOEXEC), kept);
		CHECK_EQUAL(run_searched(i), 0);
		CHECK_EQUAL(run_searched(i), 0);
		CHECK_EQUAL(inode_of(kept), inode);
		CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
		CHECK_EQUAL(inode_of(kept), inode);
		CHECK_EQUAL(count_memfds(), 2);
		psys_close(kept);
		CHECK_EQUAL(run_searched(i), 0);
		CHECK_EQUAL(find_memfd_after(i & (files - 1), other), kept);
	}
	CHECK_EQUAL(inode_of(other), inode);
	remove_directory();
}

static struct {
	int other, kept, copy, changes, busy;
} changer;

enum { PAUSES = -1, ENDS = -2 }; /* in place of the kept file */

/* Puts the other program over the number, and the image back, so that the number is never free. */
static int changes_the_kept_file(void *arg)
{
	(void)arg;
	for (int kept = PAUSES; kept != ENDS;) {
		__atomic_store_n(&changer.busy, 1, __ATOMIC_SEQ_CST);
		kept = __atomic_load_n(&changer.kept, __ATOMIC_SEQ_CST);
		if (kept >= 0) {
			psys_dup3(changer.other, kept, PSYS_O_CLOEXEC);
			for (int i = 0; i < changer.changes % 200; i++)
				__asm__ volatile("");
			psys_dup3(changer.copy, kept, PSYS_O_CLOEXEC);
			changer.changes++;
		}
		__atomic_store_n(&changer.busy, 0, __ATOMIC_SEQ_CST);
		if (kept == PAUSES)
			psys_futex(&changer.kept, PSYS_FUTEX_WAIT, PAUSES, NULL, NULL, 0);
	}
	return 0;
}

static void change_file(int kept)
{
	__atomic_store_n(&changer.kept, kept, __ATOMIC_SEQ_CST);
	psys_futex(&changer.kept, PSYS_FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Returns when the thread has put the image back and waits. */
static void pause_changes(void)
{
	change_file(PAUSES);
	while (__atomic_load_n(&changer.busy, __ATOMIC_SEQ_CST))
		psys_sched_yield();
}

TEST(a_thread_that_changes_the_kept_file_has_no_other_program_executed)
{
	int failures = 0;
	struct thread thread;

	needs_kept_image();
	make_directory();
	changer.other = make_other_program();
	changer.kept = PAUSES;
	thread_start(&thread, changes_the_kept_file, NULL);
	for (int i = 0; i < scaled(40); i++) {
		const int which = i / 2 & (files - 1);
		if (i % 2)
			CHECK_EQUAL(run_searched(1), 0); /* it is proven */
		else
			CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
		int kept = find_memfd_after(which, changer.other);
		if (kept < 0) {
			CHECK_EQUAL(run_searched(1), 0);
			kept = find_memfd_after(which, changer.other);
		}
		changer.copy = (int)psys_fcntl(kept, PSYS_F_DUPFD_CLOEXEC, 950);
		change_file(kept);
		for (int j = 0; j < 4; j++)
			failures += run_searched(i + j) < 0;
		pause_changes();
		psys_close(changer.copy);
		if (find_memfd_after(which, changer.other) != kept || count_memfds() > 1 + files) {
			psys_close(kept); /* the pool has another */
			CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
		}
	}
	change_file(ENDS);
	thread_join(&thread);
	note("changes:", changer.changes);
	note("commands that failed:", failures);
	remove_directory();
}

static int reached, go;

/* While the pool makes a file, puts the other program over its number. */
static int replaces_the_new_file(void *other)
{
	gate_wait(&reached);
	const int made = find_memfd_after(changer.kept, *(int *)other);
	if (made >= 0)
		psys_dup3(*(int *)other, made, PSYS_O_CLOEXEC);
	changer.changes = made;
	gate_open(&go);
	return 0;
}

static void replace_new_file(int which, long call)
{
	struct thread thread;

	needs_kept_image();
	if (which >= files)
		skip("the pool makes no such file here");
	make_directory();
	int other = make_other_program();
	changer.kept = which;
	thread_start(&thread, replaces_the_new_file, &other);
	filter_hold(call, &reached, &go);
	for (int i = 0; i < 3; i++)
		CHECK_EQUAL(run_searched(i), 0);
	gate_open(&reached); /* there may be another call */
	thread_join(&thread);
	if (changer.changes < 0)
		skip("the pool makes its files by other calls");
	remove_directory();
}

TEST(a_thread_that_replaces_the_new_file_has_no_other_program_executed)
{
	replace_new_file(0, FTRUNCATE);
}

TEST(a_thread_that_replaces_the_new_image_has_no_other_program_executed)
{
	replace_new_file(0, PSYS_NR_pread64);
}

/* It is sealed as if it were the image. */
TEST(a_thread_that_replaces_the_image_before_the_seals_has_no_other_program_executed)
{
	replace_new_file(0, PSYS_NR_fchmod);
}

/* --- slots ----------------------------------------------------------------------- */

enum { CROWD = 100 };

TEST(a_hundred_commands_in_flight_have_their_own_arguments)
{
	static struct aspawn_child children[CROWD];

	needs_kept_image();
	const int descriptors = count_descriptors(), mappings = count_mappings();
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < CROWD; i++)
			children[i] = begin(round * 50 + i);
		CHECK_EQUAL(aspawn_pool_trim(&pool), -PSYS_EBUSY);
		for (int i = 0; i < CROWD; i++) {
			struct aspawn_child *child = &children[round % 2 ? i : CROWD - 1 - i];
			const int number = round * 50 + (int)(child - children);
			CHECK_EQUAL(aspawn_child_mode(child), ASPAWN_MODE_IMAGE);
			end(child, number);
		}
		CHECK_EQUAL(count_memfds(), files);
	}
	check_trims();
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK_EQUAL(count_mappings(), mappings);
}

TEST(released_commands_give_their_slots_back)
{
	static int pids[CROWD];

	needs_kept_image();
	const int descriptors = count_descriptors(), mappings = count_mappings();
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < CROWD; i++) {
			struct aspawn_child child = begin(round * 50 + i);
			pids[i] = aspawn_pid(&child);
			CHECK_EQUAL(aspawn_release(&child), 0);
		}
		for (int i = 0; i < CROWD; i++)
			CHECK_EQUAL(reap(pids[i]), (round * 50 + i) % NUMBERS);
	}
	check_trims();
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK_EQUAL(count_mappings(), mappings);
}

/* Runs commands with numbers from first up, some at the same time. */
static void run_many(int first, int many)
{
	struct aspawn_child children[6];

	for (int i = 0; i < many; i++) {
		const int batch = 1 + i % 6;
		for (int j = 0; j < batch; j++)
			children[j] = begin(first + (i * 7 + j) % 40);
		for (int j = 0; j < batch; j++)
			end(&children[j], first + (i * 7 + j) % 40);
	}
}

static bool maps_the_file(void)
{
	static char maps[65536];
	int fd = psys_open("/proc/self/maps", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	size_t at = 0;

	for (long size; (size = psys_read(fd, maps + at, sizeof maps - 1 - at)) > 0;)
		at += (size_t)size;
	psys_close(fd);
	for (maps[at] = '\0'; at > 0; at--)
		if (!psys_strncmp(maps + at, "memfd:aspawn", 12))
			return true;
	return false;
}

/* It may have fewer privileges. */
TEST(a_forked_host_does_not_map_the_kept_file)
{
	prove();
	if (!maps_the_file())
		skip("no /proc");
	struct aspawn_child child = begin(9);
	/* Until then it may be between its mmap and its madvise (SECURITY.md). */
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
	int pid = fork_child();
	if (pid == 0) {
		CHECK(!maps_the_file());
		CHECK_EQUAL(aspawn_release(&child), 0);
		check_trims();
		psys_exit_group(0);
	}
	CHECK_EQUAL(reap(pid), 0);
	end(&child, 9);
}

TEST(a_forked_host_does_not_use_the_slots_of_the_other)
{
	needs_kept_image();
	for (int round = 0; round < 3; round++) {
		const int kept = prove();
		struct aspawn_child child = begin(9);
		int pid = fork_child();
		if (pid == 0) {
			CHECK_EQUAL(aspawn_release(&child), 0);
			run_many(120, scaled(80));
			check_trims();
			psys_exit_group(0);
		}
		run_many(60, scaled(80));
		end(&child, 9);
		CHECK_EQUAL(find_memfd(-1), kept);
		CHECK_EQUAL(reap(pid), 0);
		if (round % 2)
			check_trims();
	}
}

static int finished;

static int runs_many(void *number)
{
	run_many(*(int *)number, scaled(120));
	__atomic_add_fetch(&finished, 1, __ATOMIC_SEQ_CST);
	return 0;
}

TEST(threads_share_the_kept_image_while_another_trims)
{
	static int numbers[] = { 0, 50, 100, 150 };
	enum { COUNT = sizeof numbers / sizeof *numbers };
	struct thread threads[COUNT];
	int trims = 0;

	needs_kept_image();
	const int descriptors = count_descriptors(), mappings = count_mappings();
	for (int i = 0; i < COUNT; i++)
		thread_start(&threads[i], runs_many, &numbers[i]);
	while (__atomic_load_n(&finished, __ATOMIC_SEQ_CST) < COUNT) {
		trims += aspawn_pool_trim(&pool) == 0;
		psys_sched_yield();
	}
	for (int i = 0; i < COUNT; i++)
		thread_join(&threads[i]);
	note("trims that left nothing:", trims);
	check_trims();
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK_EQUAL(count_mappings(), mappings);
}

static int trims_the_pool(void *result)
{
	gate_wait(&reached);
	*(int *)result = aspawn_pool_trim(&pool);
	gate_open(&go);
	return 0;
}

TEST(a_start_that_looks_at_the_kept_file_is_not_disturbed_by_trim)
{
	struct thread thread;
	int result = 1;

	prove();
	thread_start(&thread, trims_the_pool, &result);
	filter_hold(PSYS_NR_statx, &reached, &go);
	struct aspawn_child child = begin(3);
	end(&child, 3);
	const int trimmed = result;
	gate_open(&reached); /* before Linux 5.16 the memory is copied under a filter */
	thread_join(&thread);
	if (trimmed == 1)
		skip("no image under filters");
	CHECK_EQUAL(trimmed, -PSYS_EBUSY);
	CHECK_EQUAL(count_memfds(), files);
	CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
}

TEST(a_command_larger_than_a_slot_has_all_arguments)
{
	static char argument[100 * 1024];
	struct self self;
	struct aspawn_command command = command_in_role(&self, "ends_with", argument);
	const int kept = prove();

	psys_memset(argument, 'x', sizeof argument - 1);
	command.pool = &pool;
	command.actions = &nothing;
	command.action_count = 1;
	for (int i = 0; i < 10; i++) {
		struct aspawn_child child = start_command(NULL, &command), small = begin(i);
		CHECK_EQUAL(aspawn_child_mode(&child), ASPAWN_MODE_IMAGE);
		end(&child, sizeof argument - 1);
		end(&small, i);
		CHECK_EQUAL(count_memfds(), files);
		CHECK_EQUAL(find_memfd(-1), kept);
	}
	CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
}

TEST(a_killed_child_gives_its_slot_back)
{
	int executed = 0;

	needs_kept_image();
	const int descriptors = count_descriptors(), mappings = count_mappings();
	const int count = scaled(100);
	for (int i = 0; i < count; i++) {
		struct aspawn_failure failure = { 0 };
		struct aspawn_child child = begin(5);
		const int pid = aspawn_pid(&child);
		int status = -1;

		const struct psys_timespec nap = { 0, i % 50 * 5000 };
		if (i % 50)
			psys_nanosleep(&nap, NULL);
		CHECK_EQUAL(psys_kill(pid, PSYS_SIGKILL), 0);
		if (i % 4 == 3) {
			CHECK_EQUAL(aspawn_release(&child), 0);
			CHECK_EQUAL(psys_wait4(pid, &status, 0, NULL), pid);
		} else {
			int r = aspawn_wait_started(&child, &failure, LONG);
			CHECK(r == 0 || r == -PSYS_ECANCELED);
			CHECK_EQUAL(failure.error, r ? -PSYS_ECHILD : 0);
			executed += r == 0;
			r = aspawn_wait(&child, &status, NULL, LONG);
			CHECK(r == 0 || r == -PSYS_ECANCELED);
		}
		CHECK(status == PSYS_SIGKILL || status == 5 << 8);
	}
	note("of which had executed the program:", executed);
	check_trims();
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK_EQUAL(count_mappings(), mappings);
	run_in(ASPAWN_MODE_IMAGE, 1);
}

/* --- what changes after the image has worked ----------------------------------------- */

TEST(a_kept_image_is_not_used_if_its_exec_would_lose_a_capability)
{
	prove();
	if (psys_geteuid())
		skip("not root");
	CHECK_EQUAL(psys_prctl(PSYS_PR_CAPBSET_DROP, PSYS_CAP_SETUID, 0, 0, 0), 0);
	run_in(ASPAWN_MODE_FORK, 1);
	run_in(ASPAWN_MODE_FORK, 2);
}

TEST(a_kept_image_is_not_used_by_a_host_that_is_not_dumpable)
{
	prove();
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_DUMPABLE, 0, 0, 0, 0), 0);
	run_in(ASPAWN_MODE_FORK, 1);
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
	run_in(ASPAWN_MODE_IMAGE, 2);
}

TEST(a_kept_image_that_a_filter_refuses_is_replaced_by_a_copy)
{
	prove();
	filter_refuse(PSYS_NR_execveat, PSYS_EPERM);
	for (int i = 0; i < 50; i++)
		run_in(ASPAWN_MODE_FORK, i);
	CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
}

static void limit_files(uint64_t size)
{
	const struct psys_rlimit64 limit = { size, size };
	struct psys_sigset set;

	psys_sigemptyset(&set);
	psys_sigaddset(&set, PSYS_SIGXFSZ);
	CHECK_EQUAL(psys_rt_sigprocmask(PSYS_SIG_BLOCK, &set, NULL, PSYS_SIGSET_SIZE), 0);
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_FSIZE, &limit, NULL), 0);
}

/* A signal that is pending would be in the program too, which inherits the mask. */
static void check_no_sigxfsz(void)
{
	struct psys_sigset pending;

	psys_memset(&pending, 0, sizeof pending);
	CHECK(psys_rt_sigpending(&pending, PSYS_SIGSET_SIZE) >= 0);
	CHECK(!psys_sigismember(&pending, PSYS_SIGXFSZ));
}

TEST(a_limit_of_the_file_size_makes_a_copy_though_the_image_has_worked)
{
	prove();
	limit_files(1000);
	for (int i = 0; i < 10; i++)
		run_in(ASPAWN_MODE_FORK, i);
	check_no_sigxfsz();
	CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
	run_in(ASPAWN_MODE_FORK, 1);
	check_no_sigxfsz();
}

TEST(a_limit_of_the_file_size_raises_no_signal_in_the_host)
{
	static const uint64_t limits[] = { 1 << 20, 100000, 65536, 1000, 0 };

	needs_kept_image();
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		limit_files(limits[i]);
		for (int j = 0; j < 3; j++) {
			struct aspawn_child child = begin(j);
			end(&child, j);
			check_no_sigxfsz();
		}
		CHECK_EQUAL(count_memfds(), 0);
		CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
	}
}

/* --- the caller goes on ---------------------------------------------------------------- */

/* ptrace(2) */
enum {
	PTRACE_TRACEME = 0,
	PTRACE_CONT = 7,
	PTRACE_DETACH = 17,
	PTRACE_SETOPTIONS = 0x4200,
	PTRACE_O_TRACEFORK = 1 << 1,
	PTRACE_O_TRACEVFORK = 1 << 2,
	PTRACE_O_TRACECLONE = 1 << 3,
	PTRACE_O_TRACEEXEC = 1 << 4,
	PTRACE_O_EXITKILL = 1 << 20,
	PTRACE_EVENT_FORK = 1,
	PTRACE_EVENT_VFORK = 2,
	PTRACE_EVENT_EXEC = 4,
};

static void go_on(int request, int pid, int signal)
{
	CHECK(psys_ptrace(request, pid, NULL, (void *)(intptr_t)signal) >= 0);
}

/* The host says that it goes on, and waits until its second child is held, or is not any more. */
static void mark(void)
{
	CHECK_EQUAL(psys_kill(psys_getpid(), PSYS_SIGUSR2), 0);
}

/*
 * Traces the host, until its end. Its second child is held at its beginning, or at its first exec,
 * from the host's first mark to the second. The first command suspends the host, the second does
 * not.
 */
static void trace(int host, bool at_exec)
{
	static const int events[] = { PTRACE_EVENT_VFORK, PTRACE_EVENT_FORK };
	int children[2] = { 0 }, clones = 0, count = 0, marks = 0, status, pid;
	bool held = false, is_marked = false;

	CHECK_EQUAL(psys_wait4(host, &status, 0, NULL), host);
	CHECK(status >> 8 == PSYS_SIGSTOP);
	CHECK(psys_ptrace(PTRACE_SETOPTIONS, host, NULL,
			  (void *)(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
				   PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) >= 0);
	go_on(PTRACE_CONT, host, 0);
	for (;;) {
		pid = psys_wait4(-1, &status, PSYS___WALL, NULL);
		CHECK(pid > 0);
		const int event = status >> 16, signal = status >> 8 & 0xff;
		if (pid == host && (status & 0xff) != 0x7f) {
			CHECK_EQUAL(status, 0);
			break;
		}
		if (pid == host && event) {
			if (clones < 2)
				CHECK_EQUAL(event, events[clones]);
			clones++;
			go_on(PTRACE_CONT, host, 0);
		} else if (pid == host && signal == PSYS_SIGUSR2) {
			is_marked = true;
			marks++;
		} else if (pid == host) {
			go_on(PTRACE_CONT, host, signal);
		} else if ((status & 0xff) == 0x7f) {
			if (count < 2 && pid != children[0])
				children[count++] = pid;
			if (pid != children[1])
				go_on(PTRACE_DETACH, pid, 0);
			else if (at_exec && event != PTRACE_EVENT_EXEC)
				go_on(PTRACE_CONT, pid, 0);
			else
				held = true;
		}
		if (is_marked && marks == 2)
			go_on(PTRACE_DETACH, children[1], 0);
		if (is_marked && held) {
			is_marked = false;
			go_on(PTRACE_CONT, host, 0);
		}
	}
	CHECK_EQUAL(marks, 2);
}

/* Returns in the host, a child which this process traces; ends the test otherwise. */
static void be_traced(bool at_exec)
{
	if (psys_prctl(PSYS_PR_GET_SECCOMP, 0, 0, 0, 0))
		skip("a filter, under which each image is awaited");
	int host = fork_child();
	if (host == 0) {
		if (psys_ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			psys_exit_group(77);
		psys_kill(psys_getpid(), PSYS_SIGSTOP);
		return;
	}
	struct psys_siginfo info;
	CHECK_EQUAL(psys_waitid(PSYS_P_PID, host, &info,
				PSYS_WEXITED | PSYS_WSTOPPED | PSYS_WNOWAIT, NULL),
		    0);
	if (info.code == 1) /* CLD_EXITED */
		skip("no ptrace");
	trace(host, at_exec);
	psys_exit_group(0);
}

TEST(the_caller_is_not_suspended_after_the_image_has_worked)
{
	needs_kept_image();
	be_traced(false);
	run_in(ASPAWN_MODE_IMAGE, 1);
	struct aspawn_child child = begin(2);
	mark();
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, 0), -PSYS_ETIMEDOUT);
	mark();
	end(&child, 2);
	CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
	psys_exit_group(0);
}

/* The image has not yet mapped its slot, but the stack is free. */
TEST(a_released_command_keeps_its_slot_until_its_exec)
{
	needs_kept_image();
	be_traced(true);
	run_in(ASPAWN_MODE_IMAGE, 1);
	struct aspawn_child child = begin(2);
	const int pid = aspawn_pid(&child);
	CHECK_EQUAL(aspawn_release(&child), 0);
	mark();
	run_many(100, 20);
	CHECK_EQUAL(aspawn_pool_trim(&pool), -PSYS_EBUSY);
	CHECK_EQUAL(count_memfds(), files);
	mark();
	CHECK_EQUAL(reap(pid), 2);
	check_trims();
	CHECK_EQUAL(count_memfds(), 0);
	psys_exit_group(0);
}
