/* SPDX-License-Identifier: MIT */
/* A child that begins on its parent's descriptor table does not disturb the parent. */
#include "filter.h"
#include "observe.h"

enum { FIRST = 100, KEPT = 40 };

/* A thread that opens and closes descriptors, and checks that its own stay open. */
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
		mover->rounds++;
	}
	return 0;
}

static void start_mover(struct mover *mover)
{
	for (int i = 0; i < KEPT; i++)
		CHECK_EQUAL(psys_dup3(2, FIRST + i, PSYS_O_CLOEXEC), FIRST + i);
	thread_start(&mover->thread, move, mover);
}

static void stop_mover(struct mover *mover)
{
	__atomic_store_n(&mover->stop, 1, __ATOMIC_RELAXED);
	thread_join(&mover->thread);
	CHECK_EQUAL(mover->lost, 0);
	CHECK(mover->rounds > 0);
}

/* Starts commands that succeed, that fail, and that are killed before their exec. */
static void spawn_among_movers(uint64_t flags, int spawns)
{
	static const struct aspawn_action actions[] = { ASPAWN_CLOSEFROM(3),
							ASPAWN_CHDIR("/no such directory") };
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct mover mover = { .stop = 0 };
	int status, killed = 0;

	command.flags = flags;
	command.stack = &stack;
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
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

TEST_SECONDS(closefrom_does_not_disturb_threads_that_open_and_close, 60)
{
	spawn_among_movers(0, scaled(3000));
}

TEST_SECONDS(closefrom_with_descriptors_unchanged_does_not_wait, 60)
{
	/* This breaks the flag's promise, which only matters to the child. */
	spawn_among_movers(ASPAWN_COMMAND_DESCRIPTORS_UNCHANGED, scaled(1500));
}

TEST_SECONDS(closefrom_falls_back_to_unshare, 60)
{
	filter_refuse(PSYS_NR_close_range, PSYS_ENOSYS);
	spawn_among_movers(0, scaled(1000));
}

/* The child has its copies when the call has returned. */
TEST_SECONDS(a_descriptor_may_be_closed_right_after_start, 60)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_action actions[2] = { ASPAWN_CLOSEFROM(0), ASPAWN_CLOSEFROM(3) };

	for (int i = 0; i < scaled(1000); i++) {
		struct aspawn_child child;
		int fd = psys_open("/dev/null", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0), status;

		CHECK(fd >= 0);
		actions[0] = (struct aspawn_action)ASPAWN_DUP2(fd, 0);
		command.stack = &stack;
		command.actions = actions;
		command.action_count = 2;
		CHECK_EQUAL(aspawn_start(&child, &command), 0);
		psys_close(fd);
		CHECK_EQUAL(aspawn_wait(&child, &status, NULL, -1), 0);
		CHECK_EQUAL(status, 7 << 8);
	}
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

TEST(closefrom_fails_if_unshare_is_forbidden)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_action action = ASPAWN_CLOSEFROM(3);
	struct aspawn_failure failure;
	struct aspawn_child child;
	int descriptors = count_descriptors();

	if (!memory_is_shared())
		skip("memory is a copy, and so is the table");
	filter_refuse(PSYS_NR_close_range, PSYS_EPERM);
	filter_refuse(PSYS_NR_unshare, PSYS_EPERM);
	command.stack = &stack;
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

TEST(closefrom_works_without_proc_and_close_range)
{
	struct psys_rlimit64 limit = { 200, 200 };

	filter_refuse(PSYS_NR_close_range, PSYS_ENOSYS);
	if (psys_unshare(PSYS_CLONE_NEWNS) < 0 ||
	    psys_mount(NULL, "/", NULL, PSYS_MS_REC | PSYS_MS_PRIVATE, NULL) < 0 ||
	    psys_mount("none", "/proc", "tmpfs", 0, NULL) < 0)
		skip("/proc cannot be hidden here");
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL), 0);
	CHECK_EQUAL(psys_dup3(2, 150, 0), 150);
	CHECK_SHOWS("open", "descriptor:150", ASPAWN_UMASK(0));
	CHECK_SHOWS("closed", "descriptor:150", ASPAWN_CLOSEFROM(3));
	CHECK_SHOWS("closed", "descriptor:150", ASPAWN_CLOEXEC_FROM(3));
}

/* golang/go#22315: ETXTBSY if another thread's child holds the descriptor through which a program
 * was just written. */
struct writer {
	struct thread thread;
	int number, failures, spawned, rounds;
	const char *program;
	size_t size;
};

static int write_and_spawn(void *arg)
{
	const struct aspawn_action close_all = ASPAWN_CLOSEFROM(3);
	struct writer *writer = arg;
	struct Stack_t stack = { 0 };
	char path[64] = "/tmp/aspawn-writer-";

	psys_i64_to_decimal(path + psys_strlen(path), psys_gettid());
	char *const argv[] = { (char[]){ "@exit_7" }, NULL };
	const struct aspawn_command command = {
		.size = sizeof command,
		.file = path,
		.argv = argv,
		.actions = &close_all,
		.action_count = 1,
		.stack = &stack,
	};
	for (int i = 0; i < writer->rounds; i++) {
		struct aspawn_child child;
		int status = -1;
		int fd = psys_open(
			path, PSYS_O_WRONLY | PSYS_O_CREAT | PSYS_O_EXCL | PSYS_O_CLOEXEC, 0755);
		writer->failures +=
			psys_write(fd, writer->program, writer->size) != (long)writer->size;
		psys_close(fd);
		writer->failures += aspawn_start(&child, &command) != 0 ||
				    aspawn_wait(&child, &status, NULL, -1) != 0 || status != 7 << 8;
		writer->spawned++;
		psys_unlinkat(PSYS_AT_FDCWD, path, 0);
	}
	aspawn_stack_free(&stack);
	return 0;
}

TEST_SECONDS(no_etxtbsy_when_threads_write_and_spawn_programs, 120)
{
	enum { THREADS = 8 };
	struct writer writers[THREADS] = { 0 };
	struct psys_statx status;
	struct self self;
	int spawned = 0, failures = 0;

	if (!memory_is_shared() || is_emulated())
		skip("memory is a copy");
	self_in_role(&self, "exit_7", NULL);
	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	int fd = psys_open(self.file, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	CHECK_EQUAL(psys_statx(fd, "", PSYS_AT_EMPTY_PATH, PSYS_STATX_SIZE, &status), 0);
	const char *program =
		psys_mmap(NULL, (size_t)status.stx_size, PSYS_PROT_READ, PSYS_MAP_PRIVATE, fd, 0);
	CHECK(!PSYS_IS_ERROR(program));
	psys_close(fd);
	for (int i = 0; i < THREADS; i++) {
		writers[i].program = program;
		writers[i].size = (size_t)status.stx_size;
		writers[i].rounds = scaled(300);
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

/* Threads with pipes to their children: no child has the pipe of another. */
static int lists(void *arg)
{
	struct writer *lister = arg;
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "shows", "descriptors");

	command.stack = &stack;
	for (int i = 0; i < lister->rounds; i++) {
		char text[256] = "";
		struct aspawn_io io = { .size = sizeof io,
					.input = "",
					.out = { .data = text, .size = sizeof text } };
		lister->failures +=
			aspawn_run(&command, &io) != 0 || psys_strcmp(text, "0 1 2") != 0;
		lister->spawned++;
	}
	aspawn_stack_free(&stack);
	return 0;
}

TEST_SECONDS(no_child_inherits_another_childs_pipe, 60)
{
	enum { THREADS = 4 };
	struct writer listers[THREADS] = { 0 };

	if (is_emulated())
		skip("an emulator has descriptors of its own");
	for (int fd = 3; fd < 64; fd++)
		psys_close(fd);
	for (int i = 0; i < THREADS; i++) {
		listers[i].rounds = scaled(500);
		thread_start(&listers[i].thread, lists, &listers[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		thread_join(&listers[i].thread);
		CHECK(listers[i].spawned > 0);
		CHECK_EQUAL(listers[i].failures, 0);
	}
}
