/* SPDX-License-Identifier: MIT */
/* These tests show who copies the descriptors: a child that begins on its parent's table does not
 * disturb the parent, and nobody waits for a child with a copy. */
#include "filter.h"
#include "observe.h"
#include "sanitizer.h"

enum { FIRST = 100, KEPT = 40 };

/* A thread that opens and closes descriptors, and checks that its own descriptors stay open */
struct mover {
	struct thread thread;
	int stop, lost, rounds;
};

static int move(void *arg)
{
	struct mover *mover = arg;

	while (!__atomic_load_n(&mover->stop, __ATOMIC_RELAXED)) {
		int fd = psys_open("/dev/null", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
		int high = (int)psys_fcntl(fd, PSYS_F_DUPFD_CLOEXEC, 300);
		if (fd < 0 || high < 300 || psys_close(fd) < 0 || psys_close(high) < 0)
			mover->lost++;
		for (int i = 0; i < KEPT; i++)
			if (psys_fcntl(FIRST + i, PSYS_F_GETFD, 0) != PSYS_FD_CLOEXEC)
				mover->lost++;
		__atomic_add_fetch(&mover->rounds, 1, __ATOMIC_RELAXED);
	}
	return 0;
}

static void start_mover(struct mover *mover)
{
	for (int i = 0; i < KEPT; i++)
		CHECK_EQUAL(psys_dup3(2, FIRST + i, PSYS_O_CLOEXEC), FIRST + i);
	thread_start(&mover->thread, move, mover);
	/* it may have no turn for long */
	while (!__atomic_load_n(&mover->rounds, __ATOMIC_RELAXED))
		psys_sched_yield();
}

static void stop_mover(struct mover *mover)
{
	__atomic_store_n(&mover->stop, 1, __ATOMIC_RELAXED);
	thread_join(&mover->thread);
	CHECK_EQUAL(mover->lost, 0);
}

/* Starts commands, some of which succeed, some fail, and some are killed before their exec. */
static void spawn_among_movers(int spawns)
{
	static const struct aspawn_action actions[] = { ASPAWN_ONLY_BELOW(3),
							ASPAWN_CHDIR("/no such directory") };
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct mover mover = { .stop = 0 };
	int status, killed = 0;

	command.pool = &pool;
	command.actions = actions;
	start_mover(&mover);
	for (int i = 0; i < spawns; i++) {
		struct aspawn_child child;

		command.action_count = i % 3 == 1 ? 2 : 1;
		CHECK_EQUAL(aspawn_start(&child, &command), 0);
		if (i % 3 == 2)
			aspawn_kill(&child, PSYS_SIGKILL);
		aspawn_wait_started(&child, NULL, -1);
		int r = aspawn_wait(&child, &status, NULL, -1);
		if (status == PSYS_SIGKILL && i % 3 == 2) {
			CHECK(r == 0 || r == -PSYS_ECANCELED);
			killed++;
		} else {
			CHECK_EQUAL(r, i % 3 == 1 ? -PSYS_ECANCELED : 0);
			CHECK_EQUAL(status, i % 3 == 1 ? 127 << 8 : 7 << 8);
		}
	}
	stop_mover(&mover);
	note("killed:", killed);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

TEST(only_below_does_not_disturb_threads_that_open_and_close)
{
	spawn_among_movers(scaled(1000));
}

TEST(only_below_falls_back_to_unshare)
{
	need_call(psys_unshare(0), "no unshare");
	filter_refuse(PSYS_NR_close_range, PSYS_ENOSYS);
	spawn_among_movers(scaled(500));
}

/* The child has its copies when the call has returned. */
TEST(a_descriptor_may_be_closed_right_after_start)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_action closing[] = { ASPAWN_CLOSEFROM(3), ASPAWN_ONLY_BELOW(3) };
	struct aspawn_action actions[2];

	for (int i = 0; i < scaled(500); i++) {
		struct aspawn_child child;
		int fd = psys_open("/dev/null", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0), status;

		CHECK(fd >= 0);
		actions[0] = (struct aspawn_action)ASPAWN_DUP2(fd, 0);
		actions[1] = closing[i % 2];
		command.pool = &pool;
		command.actions = actions;
		command.action_count = 2;
		CHECK_EQUAL(aspawn_start(&child, &command), 0);
		psys_close(fd);
		CHECK_EQUAL(aspawn_wait(&child, &status, NULL, -1), 0);
		CHECK_EQUAL(status, 7 << 8);
	}
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

TEST(only_below_fails_if_unshare_is_forbidden)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_action action = ASPAWN_ONLY_BELOW(3);
	struct aspawn_failure failure;
	struct aspawn_child child;
	int descriptors = count_descriptors();

	if (!memory_is_shared())
		skip("memory is a copy, and so is the table");
	filter_refuse(PSYS_NR_close_range, PSYS_EPERM);
	filter_refuse(PSYS_NR_unshare, PSYS_EPERM);
	command.pool = &pool;
	command.actions = &action;
	command.action_count = 1;
	for (int i = 0; i < 2; i++) {
		command.flags = i ? ASPAWN_COMMAND_STARTED_FD : 0;
		CHECK_EQUAL(aspawn_start(&child, &command), 0);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
		CHECK_EQUAL(failure.error, -PSYS_EPERM);
		CHECK_EQUAL(failure.step, ASPAWN_STEP_DESCRIPTORS);
		CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), -PSYS_ECANCELED);
	}
	CHECK_EQUAL(count_descriptors(), descriptors);
}

TEST(closefrom_and_only_below_work_without_proc_and_close_range)
{
	struct psys_rlimit64 limit = { 200, 200 };

	filter_refuse(PSYS_NR_close_range, PSYS_ENOSYS);
	if (psys_unshare(PSYS_CLONE_NEWNS) < 0 ||
	    psys_mount(NULL, "/proc", NULL, PSYS_MS_PRIVATE, NULL) < 0 ||
	    psys_mount("none", "/proc", "tmpfs", 0, NULL) < 0)
		skip("/proc cannot be hidden here");
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL), 0);
	CHECK_EQUAL(psys_dup3(2, 150, 0), 150);
	CHECK_SHOWS("open", "descriptor:150", ASPAWN_UMASK(0));
	CHECK_SHOWS("closed", "descriptor:150", ASPAWN_CLOSEFROM(3));
	CHECK_SHOWS("closed", "descriptor:150", ASPAWN_ONLY_BELOW(3));
	CHECK_SHOWS("closed", "descriptor:150", ASPAWN_CLOEXEC_FROM(3));
}

/* --- closefrom: a copy of few --------------------------------------------------- */

enum { MOST_FEW = 1024, LOOKED_AT = 400 };

static ASPAWN_CHILD int notes_descriptor(void *has)
{
	*(bool *)has = psys_fcntl(LOOKED_AT, PSYS_F_GETFD, 0) >= 0;
	return 0;
}

/* Returns true if the child begins with the descriptor and then closes the descriptor. */
static bool begins_with_copies(struct aspawn_action closing, struct aspawn_pool *pool)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	bool has = false;
	const struct aspawn_action actions[] = { ASPAWN_CALL(notes_descriptor, &has), closing };

	command.pool = pool;
	command.actions = actions;
	command.action_count = 2;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	check_ends(&child, 7 << 8);
	return has;
}

static bool closefrom_begins_with_copies(struct aspawn_pool *pool)
{
	return begins_with_copies((struct aspawn_action)ASPAWN_CLOSEFROM(3), pool);
}

/* Sets the limit of descriptors, and opens a descriptor that a child has only by a copy of the
 * table. */
static void set_limit(uint64_t most)
{
	struct psys_rlimit64 limit;

	if (!memory_is_shared() || is_emulated())
		skip("memory is a copy");
	need_call(psys_close_range(~0U, ~0U, 0), "no close_range");
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, NULL, &limit), 0);
	if (limit.rlim_max < most)
		limit.rlim_max = most;
	limit.rlim_cur = most;
	if (psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL) < 0)
		skip("may not have so many descriptors");
	CHECK_EQUAL(psys_dup3(2, LOOKED_AT, PSYS_O_CLOEXEC), LOOKED_AT);
}

/* With a gap: the lowest free number is low. */
static void open_more_than_few(void)
{
	for (int i = 0; i < MOST_FEW; i++)
		CHECK(psys_fcntl(2, PSYS_F_DUPFD_CLOEXEC, LOOKED_AT) >= 0);
}

/* Returns true from Linux 6.2 on. */
static bool kernel_counts(void)
{
	struct psys_stat status;

	return psys_stat("/proc/self/fd", &status) >= 0 && status.st_size > 0;
}

TEST(closefrom_copies_few_descriptors)
{
	set_limit(MOST_FEW);
	CHECK(closefrom_begins_with_copies(NULL));
	set_limit((uint64_t)MOST_FEW * 4);
	note("kernel counts descriptors:", kernel_counts());
	CHECK_EQUAL(closefrom_begins_with_copies(NULL), kernel_counts());
}

TEST(closefrom_does_not_copy_many_descriptors)
{
	set_limit((uint64_t)MOST_FEW * 4);
	open_more_than_few();
	CHECK(!closefrom_begins_with_copies(NULL));
}

TEST(closefrom_does_not_copy_descriptors_that_nobody_counts)
{
	set_limit((uint64_t)MOST_FEW * 4);
	filter_refuse(PSYS_NR_statx, PSYS_EACCES);
	CHECK(!closefrom_begins_with_copies(NULL));
	if (HAS_ASAN)
		skip("ASan needs prlimit(2)");
	filter_refuse(PSYS_NR_prlimit64, PSYS_EPERM);
	CHECK(!closefrom_begins_with_copies(NULL));
}

TEST(only_below_copies_no_descriptors)
{
	static const struct aspawn_action only_below = ASPAWN_ONLY_BELOW(3);

	set_limit(MOST_FEW);
	CHECK(!begins_with_copies(only_below, NULL));
}

/* The answer changes within this many starts of a pool. */
static void await_answer(struct aspawn_pool *pool, bool copies)
{
	int starts = 0;

	while (closefrom_begins_with_copies(pool) != copies)
		CHECK(++starts < 100);
}

TEST(a_pool_counts_descriptors_now_and_then)
{
	static struct aspawn_pool pool;

	set_limit(MOST_FEW);
	CHECK(closefrom_begins_with_copies(&pool));
	set_limit((uint64_t)MOST_FEW * 4);
	open_more_than_few();
	CHECK(closefrom_begins_with_copies(&pool));
	await_answer(&pool, false);
	CHECK_EQUAL(psys_close_range(LOOKED_AT, ~0U, 0), 0);
	set_limit(MOST_FEW);
	CHECK(!closefrom_begins_with_copies(&pool));
	await_answer(&pool, true);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

/* The child cannot close anything before the start has returned. */
TEST(closefrom_does_not_wait_for_the_child)
{
	static int reached, go;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int out;
	const struct aspawn_action actions[] = { ASPAWN_OUTPUT_PIPE(1, &out), ASPAWN_CLOSEFROM(3) };

	set_limit(MOST_FEW);
	filter_hold(PSYS_NR_close_range, &reached, &go);
	command.actions = actions;
	command.action_count = 2;
	struct aspawn_child child = start_command(NULL, &command);
	gate_wait(&reached);
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, 0), -PSYS_ETIMEDOUT);
	gate_open(&go);
	psys_close(out);
	check_ends(&child, 7 << 8);
}

/* --- programs that were just written -------------------------------------------- */

/* golang/go#22315: ETXTBSY if another thread's child holds the descriptor through which a program
 * was just written. */
#ifdef PSYS_NR_nanosleep
enum { NANOSLEEP = PSYS_NR_nanosleep };
#else
enum { NANOSLEEP = PSYS_NR_clock_nanosleep };
#endif

struct program {
	const char *data;
	size_t size;
};

/* Maps this program into memory. */
static struct program map_program(void)
{
	struct program program;
	struct psys_statx status;
	struct self self;

	if (!memory_is_shared() || is_emulated())
		skip("memory is a copy");
	self_in_role(&self, "exit_7", NULL);
	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	int fd = psys_open(self.file, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	CHECK_EQUAL(psys_statx(fd, "", PSYS_AT_EMPTY_PATH, PSYS_STATX_SIZE, &status), 0);
	program.size = (size_t)status.stx_size;
	program.data = psys_mmap(NULL, program.size, PSYS_PROT_READ, PSYS_MAP_PRIVATE, fd, 0);
	CHECK(!PSYS_IS_ERROR(program.data));
	psys_close(fd);
	return program;
}

/* Writes the program to "/tmp/aspawn-writer-<thread>...". Returns the descriptor, still open. */
static int write_program(char path[64], struct program program)
{
	psys_strlcpy(path, "/tmp/aspawn-writer-", 64);
	psys_i64_to_decimal(path + psys_strlen(path), psys_gettid());
	append_own_name(path);
	int fd = psys_open(path, PSYS_O_WRONLY | PSYS_O_CREAT | PSYS_O_EXCL | PSYS_O_CLOEXEC, 0755);
	return psys_write(fd, program.data, program.size) == (long)program.size ? fd : -1;
}

static struct aspawn_command written_command(const char *path)
{
	static const struct aspawn_action close_all = ASPAWN_ONLY_BELOW(3);
	static char name[] = "@exit_7";
	static char *const argv[] = { name, NULL };

	return (struct aspawn_command){ .size = sizeof(struct aspawn_command),
					.file = path,
					.argv = argv,
					.actions = &close_all,
					.action_count = 1 };
}

struct writer {
	struct thread thread;
	int failures, spawned, rounds;
	struct program program;
};

static int write_and_spawn(void *arg)
{
	struct writer *writer = arg;
	struct aspawn_pool pool = { { 0 } };
	char path[64] = "";
	struct aspawn_command command = written_command(path);

	command.pool = &pool;
	for (int i = 0; i < writer->rounds; i++) {
		struct aspawn_child child;
		int status = -1, fd = write_program(path, writer->program);

		writer->failures += fd < 64;
		psys_close(fd);
		writer->failures += aspawn_start(&child, &command) != 0 ||
				    aspawn_wait(&child, &status, NULL, -1) != 0 || status != 7 << 8;
		writer->spawned++;
		psys_unlinkat(PSYS_AT_FDCWD, path, 0);
	}
	aspawn_pool_release(&pool);
	return 0;
}

/* The kernel copies a table in words of 32 or 64 descriptors. For a moment another child has the
 * first word's descriptors: the writers' descriptors are in other words here. Busy programs are
 * tried again at once, which would not help. */
TEST(no_etxtbsy_when_threads_write_and_spawn_programs)
{
	enum { THREADS = 8 };
	struct writer writers[THREADS] = { 0 };
	const struct program program = map_program();
	int spawned = 0, failures = 0;

	filter_refuse(NANOSLEEP, PSYS_EINTR);
	for (int fd = 3; fd < 64; fd++)
		CHECK_EQUAL(psys_dup3(2, fd, PSYS_O_CLOEXEC), fd);
	for (int i = 0; i < THREADS; i++) {
		writers[i].program = program;
		writers[i].rounds = scaled(60);
		thread_start(&writers[i].thread, write_and_spawn, &writers[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		thread_join(&writers[i].thread);
		spawned += writers[i].spawned;
		failures += writers[i].failures;
	}
	note("programs written and spawned:", spawned);
	CHECK_EQUAL(failures, 0);
}

TEST(a_busy_program_is_tried_again)
{
	static int reached, go;
	const struct program program = map_program();
	struct aspawn_child child;
	char path[64];
	const struct aspawn_command command = written_command(path);

	filter_hold(NANOSLEEP, &reached, &go);
	int fd = write_program(path, program);
	CHECK(fd >= 0);
	CHECK_EQUAL(aspawn_start(&child, &command), 0);
	gate_wait(&reached);
	psys_close(fd);
	gate_open(&go);
	check_ends(&child, 7 << 8);
	psys_unlinkat(PSYS_AT_FDCWD, path, 0);
}

/* Threads with pipes to their children: no child has the pipe of another. */
static int lists(void *arg)
{
	struct writer *lister = arg;
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "shows", "descriptors");

	command.pool = &pool;
	for (int i = 0; i < lister->rounds; i++) {
		char text[256] = "";
		struct aspawn_io io = {
			.size = sizeof io, .input = "", .out = text, .out_size = sizeof text
		};
		lister->failures +=
			aspawn_run(&command, &io) != 0 || psys_strcmp(text, "0 1 2") != 0;
		lister->spawned++;
	}
	aspawn_pool_release(&pool);
	return 0;
}

TEST(no_child_inherits_another_childs_pipe)
{
	enum { THREADS = 4 };
	struct writer listers[THREADS] = { 0 };

	if (is_emulated())
		skip("an emulator has descriptors of its own");
	for (int fd = 3; fd < 64; fd++)
		psys_close(fd);
	for (int i = 0; i < THREADS; i++) {
		listers[i].rounds = scaled(250);
		thread_start(&listers[i].thread, lists, &listers[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		thread_join(&listers[i].thread);
		CHECK(listers[i].spawned > 0);
		CHECK_EQUAL(listers[i].failures, 0);
	}
}
