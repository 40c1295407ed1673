/* SPDX-License-Identifier: MIT */
/* A caller with many descriptors: the child fetches what it needs, or copies all. */
#include "held.h"
#include "observe.h"
#include "sanitizer.h"

enum { MANY = 300 };

static const struct aspawn_action only_below[] = { ASPAWN_ONLY_BELOW(3) };

static void open_many(void)
{
	if (!memory_is_shared() || is_emulated())
		skip("memory is a copy");
	for (int fd = 3; fd < MANY; fd++)
		if (psys_fcntl(fd, PSYS_F_GETFD, 0) < 0)
			CHECK_EQUAL(psys_dup3(2, fd, PSYS_O_CLOEXEC), fd);
}

static struct aspawn_command piped_command(struct self *self, struct aspawn_pool *pool)
{
	struct aspawn_command command = command_in_role(self, "copies", NULL);

	command.pool = pool;
	command.std_in = command.std_out = command.std_err = ASPAWN_STREAM_PIPE;
	command.actions = only_below;
	command.action_count = 1;
	return command;
}

static void close_ends(struct aspawn_child *child)
{
	psys_close(child->in_fd);
	psys_close(child->out_fd);
	psys_close(child->err_fd);
}

static void check_end(int fd, bool nonblocking)
{
	CHECK(fd >= MANY);
	CHECK_EQUAL(psys_fcntl(fd, PSYS_F_GETFD, 0), PSYS_FD_CLOEXEC);
	CHECK_EQUAL(psys_fcntl(fd, PSYS_F_GETFL, 0) & PSYS_O_NONBLOCK,
		    nonblocking ? PSYS_O_NONBLOCK : 0);
}

/* What is written to the program comes back, and ends when its input does. */
static void check_copies(struct aspawn_child *child)
{
	char text[16];
	long length;

	CHECK_EQUAL(psys_write(child->in_fd, "there", 5), 5);
	CHECK_EQUAL(psys_close(child->in_fd), 0);
	do
		length = psys_read(child->out_fd, text, sizeof text);
	while (length == -PSYS_EAGAIN);
	CHECK_EQUAL(length, 5);
	CHECK_EQUAL(psys_memcmp(text, "there", 5), 0);
	do
		length = psys_read(child->out_fd, text, sizeof text);
	while (length == -PSYS_EAGAIN);
	CHECK_EQUAL(length, 0);
	do
		length = psys_read(child->err_fd, text, sizeof text);
	while (length == -PSYS_EAGAIN);
	CHECK_EQUAL(length, 0);
	psys_close(child->out_fd);
	psys_close(child->err_fd);
}

static ASPAWN_CHILD int notes_last(void *copied)
{
	*(bool *)copied = psys_fcntl(MANY - 1, PSYS_F_GETFD, 0) >= 0;
	return 0;
}

/* Starts the command with the flags. Returns false if the child has not copied all descriptors. A
 * function asks, since a report pipe could have the number otherwise. */
static bool start_and_copy(uint64_t flags)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = piped_command(&self, &pool);
	const int descriptors = count_descriptors();
	bool copied = true;
	const struct aspawn_action actions[] = { ASPAWN_CALL(notes_last, &copied),
						 ASPAWN_ONLY_BELOW(3) };

	set_way(&command, flags);
	if (!(flags & (ASPAWN_COMMAND_STARTED_FD | WAY_SUSPENDED))) {
		command.actions = actions;
		command.action_count = 2;
	}
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(child.ended_fd < 0, flags & ASPAWN_COMMAND_NO_PIDFD ? 1 : 0);
	CHECK_EQUAL(child.started_fd < 0, flags & ASPAWN_COMMAND_STARTED_FD ? 0 : 1);
	check_end(child.in_fd, flags & ASPAWN_COMMAND_NONBLOCK);
	check_end(child.out_fd, flags & ASPAWN_COMMAND_NONBLOCK);
	check_end(child.err_fd, flags & ASPAWN_COMMAND_NONBLOCK);
	if (child.started_fd >= 0)
		check_end(child.started_fd, false);
	check_copies(&child);
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
	check_ends(&child, 0);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK(!have_children());
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	return copied;
}

/* Checks all ways to start. */
static void check_pipes(bool copied)
{
	static const uint64_t flags[] = { 0, ASPAWN_COMMAND_NO_PIDFD, ASPAWN_COMMAND_NONBLOCK,
					  WAY_PRIVATE };

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		CHECK_EQUAL(start_and_copy(flags[i]), copied);
	start_and_copy(ASPAWN_COMMAND_STARTED_FD);
	start_and_copy(ASPAWN_COMMAND_STARTED_FD | WAY_PRIVATE);
	start_and_copy(ASPAWN_COMMAND_STARTED_FD | WAY_SUSPENDED);
	start_and_copy(WAY_SUSPENDED);
	CHECK(start_and_copy(WAY_COPIED));
}

/* As Yama does not by default: the caller is no child of its child. */
static bool child_may_fetch(void)
{
	const int pid = fork_child();

	if (pid == 0) {
		const int fd = psys_pidfd_open(psys_getppid(), 0);
		psys_exit_group(psys_pidfd_getfd(fd, -1, 0) == -PSYS_EBADF && fd >= 0);
	}
	return reap(pid) != 0;
}

/* --- each way --------------------------------------------------------------------- */

TEST(pipes_are_not_copied_with_all_below_them)
{
	need_call(psys_close_range(~0U, ~0U, 0), "no close_range");
	open_many();
	check_pipes(!child_may_fetch());
}

TEST(pipes_are_copied_if_pidfd_getfd_is_refused)
{
	open_many();
	filter_refuse(PSYS_NR_pidfd_getfd, PSYS_EPERM);
	check_pipes(true);
}

TEST(pipes_are_copied_without_pidfds)
{
	open_many();
	filter_refuse(PSYS_NR_pidfd_open, PSYS_ENOSYS);
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_PIDFD, PSYS_EINVAL);
	CHECK(start_and_copy(ASPAWN_COMMAND_NO_PIDFD));
}

/* A daemon that has changed its user may not look into its child. */
static void become_undumpable(void)
{
	struct psys_rlimit64 none = { 0, 0 };

	need_others_to_reach_program();
	if (psys_prctl(PSYS_PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    psys_setresgid(65534, 65534, 65534) < 0 || psys_setresuid(65534, 65534, 65534) < 0)
		skip("may not become another user");
	psys_prlimit64(0, PSYS_RLIMIT_CORE, &none, NULL);
	CHECK_EQUAL(psys_prctl(PSYS_PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
}

TEST(pipes_of_an_undumpable_caller_are_copied)
{
	open_many();
	become_undumpable();
	check_pipes(true);
}

/* The descriptors are copied all the same, and the pipes come as ever. */
TEST(pipes_come_without_close_range)
{
	need_call(psys_unshare(0), "no unshare");
	open_many();
	filter_refuse(PSYS_NR_close_range, PSYS_ENOSYS);
	check_pipes(true);
}

/* In the other namespace the caller has no number, or another process has the number. */
TEST(a_child_in_another_pid_namespace_copies_pipes)
{
	open_many();
	if (psys_unshare(PSYS_CLONE_NEWPID) < 0)
		skip("no pid namespaces");
	CHECK(start_and_copy(0));
}

/* --- numbers ------------------------------------------------------------------------ */

TEST(the_child_has_no_more_than_its_streams)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "shows", "descriptors");
	char text[64] = "";

	open_many();
	command.pool = &pool;
	command.std_in = command.std_out = ASPAWN_STREAM_PIPE;
	command.actions = only_below;
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	for (long at = 0, r; (r = psys_read(child.out_fd, text + at, 32)) > 0;)
		at += r;
	CHECK_EQUAL(psys_strcmp(text, "0 1 2"), 0);
	check_ends(&child, 0);
}

static ASPAWN_CHILD int has_streams_alone(void *arg)
{
	int count = 0;

	(void)arg;
	for (int fd = 3; fd < MANY + 20; fd++)
		count += psys_fcntl(fd, PSYS_F_GETFD, 0) >= 0;
	return count ? -PSYS_EEXIST : 0;
}

/* Nor the caller's ends: if the caller dies, a write to its own pipe would block. */
TEST(the_child_has_its_own_ends_alone)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = piped_command(&self, &pool);
	const struct aspawn_action actions[] = { ASPAWN_CALL(has_streams_alone, NULL),
						 ASPAWN_ONLY_BELOW(3) };

	need_call(psys_pidfd_getfd(-1, -1, 0), "no pidfd_getfd");
	open_many();
	command.actions = actions;
	command.action_count = 2;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	close_ends(&child);
	check_ends(&child, 0);
}

static ASPAWN_CHILD int notes_open(void *is_open)
{
	for (int fd = 0; fd < MANY; fd++)
		((bool *)is_open)[fd] = psys_fcntl(fd, PSYS_F_GETFD, 0) >= 0;
	return 0;
}

/* If the caller dies, a write of the report would block. */
TEST(the_child_has_not_the_callers_end_of_the_report)
{
	static bool is_open[MANY];
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_action actions[] = { ASPAWN_CALL(notes_open, is_open),
						 ASPAWN_ONLY_BELOW(3) };

	if (!memory_is_shared() || is_emulated())
		skip("memory is a copy");
	command.flags = ASPAWN_COMMAND_STARTED_FD;
	command.actions = actions;
	command.action_count = 2;
	struct aspawn_child child = start_command(NULL, &command);
	const int fd = child.started_fd;
	check_ends(&child, 7 << 8);
	CHECK(fd < MANY && is_open[2] && !is_open[fd]);
}

static ASPAWN_CHILD int has_no_output(void *arg)
{
	(void)arg;
	return psys_fcntl(1, PSYS_F_GETFD, 0) < 0 ? 0 : -PSYS_EEXIST;
}

TEST(pipes_of_the_child_avoid_closed_standard_streams)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = piped_command(&self, &pool);
	const struct aspawn_action actions[] = { ASPAWN_CALL(has_no_output, NULL),
						 ASPAWN_ONLY_BELOW(3) };

	open_many();
	CHECK_EQUAL(psys_fcntl(2, PSYS_F_DUPFD, MANY), MANY);
	for (int fd = 0; fd < 3; fd++)
		psys_close(fd);
	start_and_copy(0);
	command.std_out = command.std_err = ASPAWN_STREAM_DEFAULT;
	command.actions = actions;
	command.action_count = 2;
	struct aspawn_child child = start_command(NULL, &command);
	psys_dup3(MANY, 2, 0);
	CHECK_EQUAL(why_not_started(&child), 0);
	psys_close(child.in_fd);
	check_ends(&child, 0);
}

/* 5 is not open in the caller: the child's pipes must not seem to be descriptor 5. */
TEST(the_childs_pipes_are_none_of_the_callers_descriptors)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = piped_command(&self, &pool);
	int extra;
	const struct aspawn_action actions[] = { ASPAWN_FCHDIR(5), ASPAWN_OUTPUT_PIPE(1, &extra),
						 ASPAWN_ONLY_BELOW(3) };

	open_many();
	psys_close(5);
	command.actions = actions;
	command.action_count = 3;
	command.std_in = ASPAWN_STREAM_NULL; /* a console has no end */
	command.std_out = command.std_err = ASPAWN_STREAM_DEFAULT;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), -PSYS_EBADF);
	check_ends(&child, 127 << 8);
}

TEST(the_childs_pipes_give_way_to_actions)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = piped_command(&self, &pool);
	struct aspawn_action actions[10];
	int extra, count = 0;
	char text[8];

	open_many();
	while (count < 8) {
		aspawn_action_open(&actions[count], count + 3, "/dev/null", PSYS_O_RDONLY, 0);
		count++;
	}
	aspawn_action_output_pipe(&actions[count++], 1, &extra);
	aspawn_action_only_below(&actions[count++], 3);
	command.flags = ASPAWN_COMMAND_STARTED_FD;
	command.actions = actions;
	command.action_count = (size_t)count;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	CHECK_EQUAL(psys_write(child.in_fd, "x", 1), 1);
	CHECK_EQUAL(psys_read(extra, text, sizeof text), 1);
	close_ends(&child);
	check_ends(&child, 0);
}

static ASPAWN_CHILD int closes_low_numbers(void *arg)
{
	(void)arg;
	for (int fd = 3; fd < 20; fd++)
		psys_close(fd);
	return 0;
}

/* A called function may close a descriptor of the caller's. */
TEST(a_call_does_not_meet_the_childs_pipes)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = piped_command(&self, &pool);
	int extra;
	const struct aspawn_action actions[] = { ASPAWN_CALL(closes_low_numbers, NULL),
						 ASPAWN_OUTPUT_PIPE(1, &extra),
						 ASPAWN_ONLY_BELOW(3) };

	open_many();
	command.actions = actions;
	for (int i = 0; i < 2; i++) {
		command.action_count = i ? 3 : 1;
		command.flags = i ? 0 : ASPAWN_COMMAND_STARTED_FD;
		command.action_count = 3;
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(why_not_started(&child), 0);
		close_ends(&child);
		psys_close(extra);
		check_ends(&child, 0);
	}
}

/* --- a far descriptor of the caller's ---------------------------------------------------- */

enum { FAR = MANY - 20 };

/* Fails if the child has copied the caller's descriptors. */
static ASPAWN_CHILD int is_alone(void *fd)
{
	return psys_fcntl((int)(intptr_t)fd, PSYS_F_GETFD, 0) < 0 ? 0 : -PSYS_EEXIST;
}

/* Returns true if the child has not copied all below its output. */
static bool writes_to_far(uint64_t flags, bool as_stream)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", "there");
	const struct aspawn_action actions[] = { ASPAWN_DUP2(FAR, 1),
						 ASPAWN_CALL(is_alone, (void *)(FAR - 1)),
						 ASPAWN_ONLY_BELOW(3) };
	struct aspawn_failure failure;
	char text[8] = "";

	const int descriptors = count_descriptors();
	CHECK_EQUAL(psys_ftruncate(FAR, 0), 0);
	CHECK_EQUAL(psys_lseek(FAR, 0, PSYS_SEEK_SET), 0);
	command.pool = &pool;
	set_way(&command, flags);
	command.std_out = as_stream ? FAR : 0;
	command.actions = actions + as_stream;
	command.action_count = as_stream ? 2 : 3;
	struct aspawn_child child = start_command(NULL, &command);
	aspawn_wait_started(&child, &failure, -1);
	CHECK_EQUAL(count_descriptors(), descriptors + (child.ended_fd >= 0));
	if (failure.error) {
		CHECK_EQUAL(failure.error, -PSYS_EEXIST);
		check_ends(&child, 127 << 8);
	} else {
		check_ends(&child, 0);
		/* The descriptor is the caller's own, and shares the offset. */
		CHECK_EQUAL(psys_lseek(FAR, 0, PSYS_SEEK_CUR), 5);
		CHECK_EQUAL(psys_lseek(FAR, 0, PSYS_SEEK_SET), 0);
		CHECK_EQUAL(psys_read(FAR, text, sizeof text), 5);
		CHECK_EQUAL(psys_strcmp(text, "there"), 0);
	}
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	return !failure.error;
}

static void open_far(void)
{
	open_many();
	int fd = psys_memfd_create("far", PSYS_MFD_CLOEXEC);
	CHECK_EQUAL(psys_dup3(fd, FAR, PSYS_O_CLOEXEC), FAR);
	CHECK_EQUAL(psys_close(fd), 0);
}

static void check_far(bool fetched)
{
	static const uint64_t flags[] = { 0, WAY_PRIVATE, ASPAWN_COMMAND_NO_PIDFD };

	for (size_t i = 0; i < 2 * sizeof flags / sizeof *flags; i++)
		CHECK_EQUAL(writes_to_far(flags[i / 2], i % 2), fetched);
	CHECK(!writes_to_far(WAY_COPIED, false));
}

TEST(a_far_descriptor_is_fetched_if_the_kernel_allows)
{
	need_call(psys_pidfd_getfd(-1, -1, 0), "no pidfd_getfd");
	open_far();
	if (psys_close_range(MANY, ~0U, PSYS_CLOSE_RANGE_UNSHARE) < 0)
		skip("no close_range");
	note("kernel lets a child fetch descriptors of its parent:", child_may_fetch());
	check_far(child_may_fetch());
}

TEST(a_far_descriptor_of_an_undumpable_caller_is_copied)
{
	open_far();
	become_undumpable();
	check_far(false);
}

TEST(a_far_descriptor_is_copied_without_pidfd_getfd)
{
	open_far();
	filter_refuse(PSYS_NR_pidfd_getfd, PSYS_EPERM);
	check_far(false);
}

static bool has_thread_pidfds(void)
{
	return psys_pidfd_open(INT32_MAX, PSYS_PIDFD_THREAD) == -PSYS_ESRCH;
}

static bool fetches; /* a child, of a thread other than the main one */

static int checks_far(void *unused)
{
	(void)unused;
	await_end_of_main_thread();
	check_far(fetches);
	psys_exit_group(0);
}

/* Linux 5.6 to 6.8. */
static int checks_far_of_a_process_without_descriptors(void *unused)
{
	(void)unused;
	await_end_of_main_thread();
	filter_refuse(PSYS_NR_pidfd_getfd, PSYS_EBADF);
	filter_refuse_flags(PSYS_NR_pidfd_open, 1, PSYS_PIDFD_THREAD, PSYS_EINVAL);
	check_far(false);
	psys_exit_group(0);
}

/* The ended main thread has no descriptors: its pid does not lead to other threads' descriptors. */
TEST(a_far_descriptor_is_fetched_after_the_main_thread_has_ended)
{
	need_call(psys_pidfd_getfd(-1, -1, 0), "no pidfd_getfd");
	open_far();
	if (psys_close_range(MANY, ~0U, PSYS_CLOSE_RANGE_UNSHARE) < 0)
		skip("no close_range");
	fetches = has_thread_pidfds() && child_may_fetch();
	end_main_thread(checks_far);
}

TEST(a_far_descriptor_is_copied_after_the_main_thread_has_ended)
{
	open_far();
	end_main_thread(checks_far_of_a_process_without_descriptors);
}

TEST(a_far_descriptor_and_pipes)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = piped_command(&self, &pool);
	char text[8];

	need_call(psys_pidfd_getfd(-1, -1, 0), "no pidfd_getfd");
	open_far();
	command.std_out = FAR;
	for (int i = 0; i < 4; i++) {
		command.owner = i % 2 ? ASPAWN_OWNER_PRIVATE : ASPAWN_OWNER_CALLER;
		CHECK_EQUAL(psys_lseek(FAR, 0, PSYS_SEEK_SET), 0);
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(psys_write(child.in_fd, "there", 5), 5);
		psys_close(child.in_fd);
		CHECK_EQUAL(psys_read(child.err_fd, text, sizeof text), 0);
		psys_close(child.err_fd);
		check_ends(&child, 0);
		CHECK_EQUAL(psys_lseek(FAR, 0, PSYS_SEEK_CUR), 5);
		if (i == 1)
			become_undumpable();
	}
}

/* The library's own numbers in the caller's table are not the caller's descriptors. */
TEST(a_far_descriptor_that_is_not_open_fails_its_action)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = piped_command(&self, &pool);
	struct aspawn_failure failure;

	enum { OWN = 9 }; /* three pipes, and pidfds of caller, helper and child */

	need_call(psys_pidfd_getfd(-1, -1, 0), "no pidfd_getfd");
	open_many();
	for (int i = 0; i < 2 * OWN; i++) {
		const struct aspawn_action actions[] = { ASPAWN_DUP2(FAR + i / 2, 1),
							 ASPAWN_ONLY_BELOW(3) };

		for (int fd = FAR; fd < FAR + OWN; fd++)
			psys_close(fd);
		command.owner = i % 2 ? ASPAWN_OWNER_PRIVATE : ASPAWN_OWNER_CALLER;
		command.actions = actions;
		command.action_count = 2;
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
		CHECK_EQUAL(failure.step, 0);
		CHECK_EQUAL(failure.error, -PSYS_EBADF);
		close_ends(&child);
		check_ends(&child, 127 << 8);
	}
}

TEST(a_failure_names_the_callers_far_descriptor)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_action actions[] = { ASPAWN_FCHDIR(FAR), ASPAWN_ONLY_BELOW(3) };
	struct aspawn_failure failure;

	open_far();
	command.actions = actions;
	command.action_count = 2;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(failure.error, -PSYS_ENOTDIR);
	CHECK_EQUAL(psys_strcmp(failure.subject, "280"), 0);
	check_ends(&child, 127 << 8);
}

/* The fetched descriptor gives way, since an earlier action may take its low number. */
TEST(a_far_descriptor_gives_way_to_actions)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", "there");
	struct aspawn_action actions[8];
	int count = 0;

	open_far();
	while (count < 6) {
		aspawn_action_open(&actions[count], count + 3, "/dev/null", PSYS_O_RDONLY, 0);
		count++;
	}
	aspawn_action_dup2(&actions[count++], FAR, 1);
	aspawn_action_only_below(&actions[count++], 3);
	command.actions = actions;
	command.action_count = (size_t)count;
	struct aspawn_child child = start_command(NULL, &command);
	check_ends(&child, 0);
	CHECK_EQUAL(psys_lseek(FAR, 0, PSYS_SEEK_CUR), 5);
}

static ASPAWN_CHILD int is_open(void *fd)
{
	return psys_fcntl((int)(intptr_t)fd, PSYS_F_GETFD, 0) < 0 ? -PSYS_EBADF : 0;
}

/* The child uses all lower numbers, and the fetched descriptors get each other's numbers. */
TEST(the_number_of_a_fetched_descriptor_may_be_another_callers)
{
	enum { FIRST = 180, LOW = 128 };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_action actions[MANY - FIRST + 1];
	size_t count = 0;

	open_many();
	for (int fd = FIRST; fd < MANY; fd++)
		aspawn_action_dup2(&actions[count++], fd, fd);
	aspawn_action_only_below(&actions[count++], LOW);
	command.actions = actions;
	command.action_count = count;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	check_ends(&child, 7 << 8);
}

/* ASPAWN_DUP2 of a number to itself keeps the number, for a later function. */
TEST(a_far_descriptor_may_keep_its_number)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_action actions[] = { ASPAWN_DUP2(FAR, FAR),
						 ASPAWN_CALL(is_open, (void *)FAR),
						 ASPAWN_DUP2(FAR, 1), ASPAWN_ONLY_BELOW(3) };

	open_far();
	command.actions = actions;
	command.action_count = 4;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	check_ends(&child, 7 << 8);
}

TEST(many_uses_of_a_far_descriptor_are_one_fetch)
{
	enum { USES = 1000 };
	const struct psys_rlimit64 limit = { MANY + 100, MANY + 100 };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", "there");
	static struct aspawn_action actions[USES + 2];

	open_far();
	for (int i = 0; i < USES; i++)
		aspawn_action_dup2(&actions[i], FAR, MANY + i % 50);
	aspawn_action_dup2(&actions[USES], FAR, 1);
	aspawn_action_only_below(&actions[USES + 1], 3);
	command.actions = actions;
	command.action_count = USES + 2;
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL), 0);
	struct aspawn_child child = start_command(NULL, &command);
	check_ends(&child, 0);
	CHECK_EQUAL(psys_lseek(FAR, 0, PSYS_SEEK_CUR), 5);
}

/* Copying all below the last is cheaper. */
TEST(more_far_descriptors_than_a_child_fetches_are_copied)
{
	enum { FIRST = 130 };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_action actions[MANY - FIRST + 1];
	size_t count = 0;

	open_many();
	for (int fd = FIRST; fd < MANY; fd++)
		aspawn_action_dup2(&actions[count++], fd, fd);
	aspawn_action_only_below(&actions[count++], FIRST);
	command.actions = actions;
	command.action_count = count;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	check_ends(&child, 7 << 8);
}

/* --- what goes wrong ------------------------------------------------------------------ */

/* The caller has only its last descriptors: six for three pipes, and one or two for pidfds. */
static void check_limit(uint64_t flags)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = piped_command(&self, &pool);
	const struct psys_sigset mask = get_mask();
	struct psys_rlimit64 limit;
	int r = 0, failures = 0;

	set_way(&command, flags);
	const int descriptors = count_descriptors();
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, NULL, &limit), 0);
	for (uint64_t most = MANY; most < MANY + 16; most++) {
		struct aspawn_child child;

		limit.rlim_cur = most;
		CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL), 0);
		r = aspawn_start(&child, &command);
		CHECK(same_mask(get_mask(), mask));
		if (r < 0) {
			CHECK_EQUAL(r, -PSYS_EMFILE);
			CHECK(!have_children());
			CHECK_EQUAL(aspawn_pool_release(&pool), 0);
			failures++;
		} else {
			check_copies(&child);
			check_ends(&child, 0);
		}
		limit.rlim_cur = MANY + 20;
		CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL), 0);
		CHECK_EQUAL(count_descriptors(), descriptors);
	}
	CHECK(failures >= 6 && r == 0);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

TEST(a_start_with_pipes_fails_at_the_limit_of_descriptors)
{
	open_many();
	check_limit(0);
	check_limit(WAY_PRIVATE);
	check_limit(ASPAWN_COMMAND_NO_PIDFD);
	filter_refuse(PSYS_NR_pidfd_getfd, PSYS_EPERM);
	check_limit(0);
}

TEST(an_undumpable_start_with_pipes_fails_at_the_limit_of_descriptors)
{
	open_many();
	become_undumpable();
	check_limit(0);
	check_limit(WAY_PRIVATE);
}

TEST(a_start_fails_if_pipes_cannot_be_made)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = piped_command(&self, &pool);
	struct aspawn_child child;

	open_many();
	const int descriptors = count_descriptors();
	filter_refuse(PSYS_NR_pipe2, PSYS_ENFILE);
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_ENFILE);
	command.owner = ASPAWN_OWNER_PRIVATE;
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_ENFILE);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK(!have_children());
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

/* The child has no numbers for so many descriptors. */
TEST(a_command_fails_if_the_child_cannot_fetch)
{
	enum { LIMIT = 64, FIRST = 150, LAST = 249 };
	const struct psys_rlimit64 limit = { LIMIT, LIMIT };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_action actions[LAST - FIRST + 2];
	struct aspawn_failure failure;
	size_t count = 0;

	open_many();
	if (!child_may_fetch() || psys_close_range(MANY, ~0U, PSYS_CLOSE_RANGE_UNSHARE) < 0)
		skip("nothing can be fetched");
	for (int fd = FIRST; fd <= LAST; fd++)
		aspawn_action_dup2(&actions[count++], fd, 1);
	aspawn_action_only_below(&actions[count++], 3);
	for (int fd = LIMIT - 8; fd < LIMIT; fd++) /* for what the caller makes itself */
		psys_close(fd);
	command.actions = actions;
	command.action_count = count;
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL), 0);
	const int descriptors = count_descriptors();
	for (int i = 0; i < 2; i++) {
		command.flags = i ? ASPAWN_COMMAND_STARTED_FD : 0;
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
		CHECK_EQUAL(failure.step, ASPAWN_STEP_DESCRIPTORS);
		CHECK_EQUAL(failure.error, -PSYS_EMFILE);
		check_ends(&child, 127 << 8);
		CHECK_EQUAL(count_descriptors(), descriptors);
	}
}

/* Kills the child before it has its own table. The start has succeeded, and the pipes are at their
 * end. */
static void check_killed(long nr, uint64_t flags)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = piped_command(&self, &pool);
	struct psys_rlimit64 none = { 0, 0 };
	char text[8];

	open_many();
	set_disposition(PSYS_SIGPIPE, PSYS_SIG_IGN);
	/* Before Linux 5.16 a core dump kills every process sharing the memory. */
	psys_prlimit64(0, PSYS_RLIMIT_CORE, &none, NULL);
	psys_prctl(PSYS_PR_SET_DUMPABLE, 0, 0, 0, 0);
	const int descriptors = count_descriptors();
	filter_trap(nr);
	set_way(&command, flags);
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), -PSYS_ECHILD);
	check_ends(&child, PSYS_SIGSYS);
	CHECK_EQUAL(psys_write(child.in_fd, "x", 1), -PSYS_EPIPE);
	CHECK_EQUAL(psys_read(child.out_fd, text, sizeof text), 0);
	CHECK_EQUAL(psys_read(child.err_fd, text, sizeof text), 0);
	close_ends(&child);
	CHECK_EQUAL(count_descriptors(), descriptors);
}

TEST(a_child_killed_before_it_has_its_own_table_leaves_pipes_at_their_end)
{
	check_killed(PSYS_NR_close_range, ASPAWN_COMMAND_STARTED_FD);
}

TEST(a_child_killed_while_it_fetches_leaves_pipes_at_their_end)
{
	need_call(psys_pidfd_open(psys_getpid(), 0), "no pidfd_open");
	check_killed(PSYS_NR_pidfd_getfd, WAY_PRIVATE);
}

TEST(a_start_with_pipes_reports_that_unshare_is_forbidden)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = piped_command(&self, &pool);
	struct aspawn_failure failure;

	open_many();
	filter_refuse(PSYS_NR_close_range, PSYS_ENOSYS);
	filter_refuse(PSYS_NR_unshare, PSYS_EPERM);
	for (int i = 0; i < 4; i++) {
		command.flags = i & 1 ? ASPAWN_COMMAND_STARTED_FD : 0;
		command.owner = i & 2 ? ASPAWN_OWNER_PRIVATE : ASPAWN_OWNER_CALLER;
		struct aspawn_child child = start_command(NULL, &command);
		struct psys_pollfd poll = { child.started_fd, PSYS_POLLIN, 0 };
		if (i & 1) /* a failure, not only the end of the pipe */
			CHECK(psys_ppoll(&poll, 1, NULL, NULL, 0) == 1 &&
			      poll.revents & PSYS_POLLIN);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
		CHECK_EQUAL(failure.step, ASPAWN_STEP_DESCRIPTORS);
		CHECK_EQUAL(failure.error, -PSYS_EPERM);
		close_ends(&child);
		check_ends(&child, 127 << 8);
	}
}

/* As in a frozen cgroup: only the caller's handler lets the child go on. */
TEST(signals_are_handled_while_a_child_that_fetches_pipes_is_stopped)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = piped_command(&self, &pool);
	struct psys_sigset mask = get_mask();
	struct thread thread;

	need_call(psys_pidfd_getfd(-1, -1, 0), "no pidfd_getfd");
	open_many();
	hold_until_signal(PSYS_NR_pidfd_getfd, &thread);
	struct aspawn_child child = start_command(NULL, &command);
	CHECK(same_mask(get_mask(), mask));
	check_copies(&child);
	check_ends(&child, 0);
	thread_join(&thread);
}
