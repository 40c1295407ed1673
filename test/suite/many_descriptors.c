/* SPDX-License-Identifier: MIT */
/* Pipes of a caller with many descriptors: the child makes them, each way that they reach it. */
#include "held.h"
#include "observe.h"
#include "sanitizer.h"

enum { MANY = 300 };

static const struct aspawn_action closefrom[] = { ASPAWN_CLOSEFROM(3) };

static void open_many(void)
{
	if (!memory_is_shared() || is_emulated())
		skip("memory is a copy");
	for (int fd = 3; fd < MANY; fd++)
		if (psys_fcntl(fd, PSYS_F_GETFD, 0) < 0)
			CHECK_EQUAL(psys_dup3(2, fd, PSYS_O_CLOEXEC), fd);
}

static struct aspawn_command piped_command(struct self *self, struct Stack_t *stack)
{
	struct aspawn_command command = command_in_role(self, "copies", NULL);

	command.stack = stack;
	command.std_in = command.std_out = command.std_err = ASPAWN_PIPE;
	command.actions = closefrom;
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

/* Starts the command with the flags, and returns how its pipes came: enum aspawn_pipes. */
static int start_and_copy(uint64_t flags)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = piped_command(&self, &stack);
	const int descriptors = count_descriptors();

	command.flags = flags;
	struct aspawn_child child = start_command(NULL, &command);
	const int pipes = aspawn_pipes(&stack);
	CHECK_EQUAL(child.pidfd < 0, flags & ASPAWN_COMMAND_NO_PIDFD ? 1 : 0);
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
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
	return pipes;
}

/* All ways to start, with pipes that come this way. */
static void check_pipes(int expected)
{
	static const uint64_t flags[] = { 0,
					  ASPAWN_COMMAND_STARTED_FD,
					  ASPAWN_COMMAND_NO_PIDFD,
					  ASPAWN_COMMAND_NONBLOCK,
					  ASPAWN_COMMAND_DESCRIPTORS_UNCHANGED,
					  ASPAWN_COMMAND_PRIVATE,
					  ASPAWN_COMMAND_PRIVATE | ASPAWN_COMMAND_STARTED_FD };

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		CHECK_EQUAL(start_and_copy(flags[i]), expected);
	CHECK_EQUAL(start_and_copy(ASPAWN_COMMAND_FORK), ASPAWN_PIPES_COPIED);
	CHECK_EQUAL(start_and_copy(ASPAWN_COMMAND_VFORK), ASPAWN_PIPES_COPIED);
}

static bool has_pidfd_getfd(void)
{
	return psys_pidfd_getfd(-1, -1, 0) == -PSYS_EBADF;
}

/* --- each way --------------------------------------------------------------------- */

TEST(pipes_reach_the_caller_as_the_kernel_allows)
{
	open_many();
	note("kernel gives the pipes by pidfd_getfd:", start_and_copy(0) == ASPAWN_PIPES_TAKEN);
	check_pipes(has_pidfd_getfd() ? ASPAWN_PIPES_TAKEN : ASPAWN_PIPES_OPENED);
}

TEST(few_descriptors_are_copied)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = piped_command(&self, &stack);

	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_pipes(&stack), ASPAWN_PIPES_COPIED);
	check_copies(&child);
	check_ends(&child, 0);
	command.std_in = ASPAWN_NULL; /* a console has no end */
	command.std_out = command.std_err = ASPAWN_INHERIT;
	child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_pipes(&stack),
		    memory_is_shared() && !is_emulated() ? ASPAWN_PIPES_NONE : ASPAWN_PIPES_COPIED);
	check_ends(&child, 0);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
	CHECK_EQUAL(aspawn_pipes(NULL), ASPAWN_PIPES_NONE);
}

TEST(pipes_are_opened_in_proc_if_pidfd_getfd_is_refused)
{
	open_many();
	filter_refuse(PSYS_NR_pidfd_getfd, PSYS_EPERM);
	check_pipes(have_proc() ? ASPAWN_PIPES_OPENED : ASPAWN_PIPES_COPIED);
}

TEST(pipes_are_opened_in_proc_without_pidfds)
{
	open_many();
	filter_refuse(PSYS_NR_pidfd_getfd, PSYS_ENOSYS);
	filter_refuse(PSYS_NR_pidfd_open, PSYS_ENOSYS);
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_PIDFD, PSYS_EINVAL);
	CHECK_EQUAL(start_and_copy(ASPAWN_COMMAND_NO_PIDFD), ASPAWN_PIPES_OPENED);
}

static void hide_proc(void)
{
	if (HAS_ASAN)
		skip("AddressSanitizer complains without /proc");
	if (psys_unshare(PSYS_CLONE_NEWNS) < 0 ||
	    psys_mount(NULL, "/", NULL, PSYS_MS_REC | PSYS_MS_PRIVATE, NULL) < 0 ||
	    psys_mount("none", "/proc", "tmpfs", 0, NULL) < 0)
		skip("/proc cannot be hidden here");
}

TEST(pipes_are_copied_without_pidfd_getfd_and_proc)
{
	open_many();
	hide_proc();
	filter_refuse(PSYS_NR_pidfd_getfd, PSYS_EPERM);
	check_pipes(ASPAWN_PIPES_COPIED);
}

/* Returns true if the next process of this pid namespace will have the number. */
static bool set_next_pid(int pid)
{
	char text[PSYS_DECIMAL_SIZE];
	int fd = psys_open("/proc/sys/kernel/ns_last_pid", PSYS_O_WRONLY | PSYS_O_CLOEXEC, 0);
	long length = (long)psys_i64_to_decimal(text, pid - 1);
	bool set = fd >= 0 && psys_write(fd, text, (size_t)length) == length;

	psys_close(fd);
	return set;
}

/* /proc is of another pid namespace, in which the child's number is this process's: it has pipes
 * with the same numbers, but not the same pipes. */
TEST(pipes_are_not_opened_in_another_proc)
{
	enum { GATE = 10, OPENER, END };
	int ends[2], gate[2], pid, other = psys_getpid();
	char byte;

	open_many();
	filter_refuse(PSYS_NR_pidfd_getfd, PSYS_EPERM);
	CHECK(psys_pipe2(gate, PSYS_O_CLOEXEC) == 0 && psys_pipe2(ends, PSYS_O_CLOEXEC) == 0);
	CHECK_EQUAL(psys_dup3(gate[0], GATE, PSYS_O_CLOEXEC), GATE);
	CHECK_EQUAL(psys_dup3(gate[1], OPENER, PSYS_O_CLOEXEC), OPENER);
	CHECK_EQUAL(psys_dup3(ends[0], END, PSYS_O_CLOEXEC), END);
	for (int i = 0; i < 2; i++) {
		psys_close(gate[i]);
		psys_close(ends[i]);
	}
	if (psys_unshare(PSYS_CLONE_NEWPID) < 0)
		skip("no pid namespaces");
	pid = fork_child();
	if (pid == 0) {
		psys_close(OPENER);
		psys_read(GATE, &byte, 1);
		for (int i = 0; i < 10; i++) {
			if (!set_next_pid(other))
				psys_exit_group(77);
			CHECK_EQUAL(start_and_copy(0), ASPAWN_PIPES_COPIED);
		}
		psys_exit_group(0);
	}
	for (int fd = MANY; fd < MANY + 16; fd++)
		CHECK_EQUAL(psys_dup3(END, fd, PSYS_O_CLOEXEC), fd);
	psys_close(OPENER);
	int status = reap(pid);
	if (status == 77)
		skip("the number of a process cannot be chosen");
	CHECK_EQUAL(status, 0);
}

/* A daemon that has changed its user: neither the kernel nor /proc lets it look into its child. */
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

TEST(pipes_are_moved_by_a_thread_of_an_undumpable_child)
{
	open_many();
	become_undumpable();
	check_pipes(has_pidfd_getfd() ? ASPAWN_PIPES_MOVED : ASPAWN_PIPES_COPIED);
}

TEST(pipes_are_copied_if_the_child_can_have_no_thread)
{
	open_many();
	become_undumpable();
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_THREAD, PSYS_EAGAIN);
	check_pipes(ASPAWN_PIPES_COPIED);
}

/* The thread is gone: a process with two may not enter a user namespace. */
TEST(a_child_whose_thread_moved_the_pipes_has_one_thread)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = piped_command(&self, &stack);
	const struct aspawn_action actions[] = { ASPAWN_UNSHARE(PSYS_CLONE_THREAD),
						 ASPAWN_CLOSEFROM(3) };

	open_many();
	become_undumpable();
	command.actions = actions;
	command.action_count = 2;
	for (int i = 0; i < scaled(500); i++) {
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(why_not_started(&child), 0);
		close_ends(&child);
		check_ends(&child, 0);
	}
}

/* The descriptors are copied all the same, and the pipes come as ever. */
TEST(pipes_come_without_close_range)
{
	open_many();
	filter_refuse(PSYS_NR_close_range, PSYS_ENOSYS);
	check_pipes(has_pidfd_getfd() ? ASPAWN_PIPES_TAKEN : ASPAWN_PIPES_OPENED);
}

/* In the child getppid(2) is 0, and says nothing of the parent's end. */
TEST(pipes_come_from_a_child_in_another_pid_namespace)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = piped_command(&self, &stack);

	open_many();
	if (psys_unshare(PSYS_CLONE_NEWPID) < 0)
		skip("no pid namespaces");
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_pipes(&stack),
		    has_pidfd_getfd() ? ASPAWN_PIPES_TAKEN : ASPAWN_PIPES_OPENED);
	check_copies(&child);
	check_ends(&child, 0);
}

/* --- numbers ------------------------------------------------------------------------ */

TEST(the_child_has_no_more_than_its_streams)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "shows", "descriptors");
	char text[64] = "";

	open_many();
	command.stack = &stack;
	command.std_in = command.std_out = ASPAWN_PIPE;
	command.actions = closefrom;
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	for (long at = 0, r; (r = psys_read(child.out_fd, text + at, 32)) > 0;)
		at += r;
	CHECK_EQUAL(psys_strcmp(text, "0 1 2"), 0);
	check_ends(&child, 0);
}

static ASPAWN_CHILD int has_three(void *arg)
{
	int count = 0;

	(void)arg;
	for (int fd = 3; fd < MANY + 20; fd++)
		count += psys_fcntl(fd, PSYS_F_GETFD, 0) >= 0;
	return count == 3 ? 0 : -PSYS_EEXIST;
}

/* Nor the caller's ends: if the caller dies, a write to its own pipe would block. */
TEST(the_child_has_its_own_ends_alone)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = piped_command(&self, &stack);
	const struct aspawn_action actions[] = { ASPAWN_CALL(has_three, NULL), ASPAWN_CLOSEFROM(3) };

	open_many();
	command.actions = actions;
	command.action_count = 2;
	for (int i = 0; i < 2; i++) {
		struct aspawn_child child = start_command(NULL, &command);
		CHECK(aspawn_pipes(&stack) != ASPAWN_PIPES_COPIED);
		CHECK_EQUAL(why_not_started(&child), 0);
		close_ends(&child);
		check_ends(&child, 0);
		filter_refuse(PSYS_NR_pidfd_getfd, PSYS_EPERM);
	}
}

TEST(pipes_of_the_child_avoid_closed_standard_streams)
{
	open_many();
	CHECK_EQUAL(psys_fcntl(2, PSYS_F_DUPFD, MANY), MANY);
	for (int fd = 0; fd < 3; fd++)
		psys_close(fd);
	start_and_copy(0);
	psys_dup3(MANY, 2, 0);
}

/* 5 is not open in the caller: the child's pipes must not seem to be it. */
TEST(the_childs_pipes_are_none_of_the_callers_descriptors)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = piped_command(&self, &stack);
	int extra;
	const struct aspawn_action actions[] = { ASPAWN_FCHDIR(5), ASPAWN_OUTPUT_PIPE(1, &extra),
						 ASPAWN_CLOSEFROM(3) };

	open_many();
	psys_close(5);
	command.actions = actions;
	command.action_count = 3;
	command.std_in = ASPAWN_NULL; /* a console has no end */
	command.std_out = command.std_err = ASPAWN_INHERIT;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), -PSYS_EBADF);
	CHECK(aspawn_pipes(&stack) != ASPAWN_PIPES_COPIED);
	check_ends(&child, 127 << 8);
}

TEST(the_childs_pipes_give_way_to_actions)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = piped_command(&self, &stack);
	struct aspawn_action actions[10];
	int extra, count = 0;
	char text[8];

	open_many();
	while (count < 8) {
		aspawn_action_open(&actions[count], count + 3, "/dev/null", PSYS_O_RDONLY, 0);
		count++;
	}
	aspawn_action_output_pipe(&actions[count++], 1, &extra);
	aspawn_action_closefrom(&actions[count++], 3);
	command.flags = ASPAWN_COMMAND_STARTED_FD;
	command.actions = actions;
	command.action_count = (size_t)count;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK(aspawn_pipes(&stack) != ASPAWN_PIPES_COPIED);
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

/* A function may close what the caller has there. */
TEST(a_call_does_not_meet_the_childs_pipes)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = piped_command(&self, &stack);
	int extra;
	const struct aspawn_action actions[] = { ASPAWN_CALL(closes_low_numbers, NULL),
						 ASPAWN_OUTPUT_PIPE(1, &extra),
						 ASPAWN_CLOSEFROM(3) };

	open_many();
	command.actions = actions;
	for (int i = 0; i < 2; i++) {
		command.action_count = i ? 3 : 1;
		command.flags = i ? 0 : ASPAWN_COMMAND_STARTED_FD;
		command.action_count = 3;
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_pipes(&stack), ASPAWN_PIPES_COPIED);
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
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", "there");
	const struct aspawn_action actions[] = { ASPAWN_DUP2(FAR, 1),
						 ASPAWN_CALL(is_alone, (void *)(FAR - 1)),
						 ASPAWN_CLOSEFROM(3) };
	struct aspawn_failure failure;
	char text[8] = "";

	const int descriptors = count_descriptors();
	CHECK_EQUAL(psys_ftruncate(FAR, 0), 0);
	CHECK_EQUAL(psys_lseek(FAR, 0, PSYS_SEEK_SET), 0);
	command.stack = &stack;
	command.flags = flags;
	command.std_out = as_stream ? FAR : 0;
	command.actions = actions + as_stream;
	command.action_count = as_stream ? 2 : 3;
	struct aspawn_child child = start_command(NULL, &command);
	aspawn_wait_started(&child, &failure, -1);
	CHECK_EQUAL(count_descriptors(), descriptors + (child.pidfd >= 0));
	if (failure.error) {
		CHECK_EQUAL(failure.error, -PSYS_EEXIST);
		check_ends(&child, 127 << 8);
	} else {
		check_ends(&child, 0);
		/* It is the caller's own: they have one offset. */
		CHECK_EQUAL(psys_lseek(FAR, 0, PSYS_SEEK_CUR), 5);
		CHECK_EQUAL(psys_lseek(FAR, 0, PSYS_SEEK_SET), 0);
		CHECK_EQUAL(psys_read(FAR, text, sizeof text), 5);
		CHECK_EQUAL(psys_strcmp(text, "there"), 0);
	}
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
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
	static const uint64_t flags[] = { 0, ASPAWN_COMMAND_PRIVATE, ASPAWN_COMMAND_NO_PIDFD,
					  ASPAWN_COMMAND_DESCRIPTORS_UNCHANGED };

	for (size_t i = 0; i < 2 * sizeof flags / sizeof *flags; i++)
		CHECK_EQUAL(writes_to_far(flags[i / 2], i % 2), fetched);
	CHECK(!writes_to_far(ASPAWN_COMMAND_FORK, false));
}

static bool has_thread_pidfds(void)
{
	return psys_pidfd_open(INT32_MAX, PSYS_PIDFD_THREAD) == -PSYS_ESRCH;
}

TEST(a_far_descriptor_is_fetched)
{
	open_far();
	if (psys_close_range(MANY, ~0U, PSYS_CLOSE_RANGE_UNSHARE) < 0)
		skip("no close_range");
	check_far(true);
	note("kernel fetches far descriptors from an undumpable caller:", has_thread_pidfds());
}

TEST(a_far_descriptor_is_fetched_from_a_thread_of_an_undumpable_child)
{
	open_far();
	if (psys_close_range(MANY, ~0U, PSYS_CLOSE_RANGE_UNSHARE) < 0)
		skip("no close_range");
	become_undumpable();
	check_far(has_thread_pidfds());
}

TEST(a_far_descriptor_is_copied_without_pidfd_getfd)
{
	open_far();
	filter_refuse(PSYS_NR_pidfd_getfd, PSYS_EPERM);
	check_far(false);
}

TEST(a_far_descriptor_and_pipes)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = piped_command(&self, &stack);
	char text[8];

	open_far();
	command.std_out = FAR;
	for (int i = 0; i < 4; i++) {
		command.flags = i % 2 ? ASPAWN_COMMAND_PRIVATE : 0;
		CHECK_EQUAL(psys_lseek(FAR, 0, PSYS_SEEK_SET), 0);
		struct aspawn_child child = start_command(NULL, &command);
		CHECK(aspawn_pipes(&stack) != ASPAWN_PIPES_COPIED);
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

/* The numbers that the library has in the caller's table are none of the caller's. */
TEST(a_far_descriptor_that_is_not_open_fails_its_action)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = piped_command(&self, &stack);
	struct aspawn_failure failure;

	open_many();
	for (int i = 0; i < 4; i++) {
		const struct aspawn_action actions[] = { ASPAWN_DUP2(FAR + i, 1),
							 ASPAWN_CLOSEFROM(3) };

		for (int fd = FAR; fd < FAR + 4; fd++)
			psys_close(fd);
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
	const struct aspawn_action actions[] = { ASPAWN_FCHDIR(FAR), ASPAWN_CLOSEFROM(3) };
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

/* Under whatever low number it is: actions before it may take that. */
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
	aspawn_action_closefrom(&actions[count++], 3);
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

/* By ASPAWN_DUP2 of a number to itself, for a later function. */
TEST(a_far_descriptor_may_keep_its_number)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_action actions[] = { ASPAWN_DUP2(FAR, FAR),
						 ASPAWN_CALL(is_open, (void *)FAR),
						 ASPAWN_DUP2(FAR, 1), ASPAWN_CLOSEFROM(3) };

	open_far();
	command.actions = actions;
	command.action_count = 4;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	check_ends(&child, 7 << 8);
}

/* --- what goes wrong ------------------------------------------------------------------ */

/* The last descriptors of the caller: for a pidfd and three pipes it needs four. */
static void check_limit(uint64_t flags)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = piped_command(&self, &stack);
	const struct psys_sigset mask = get_mask();
	struct psys_rlimit64 limit;
	int r = 0, failures = 0;

	command.flags = flags;
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
			CHECK(!aspawn_stack_busy(&stack));
			failures++;
		} else {
			check_copies(&child);
			check_ends(&child, 0);
		}
		limit.rlim_cur = MANY + 20;
		CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL), 0);
		CHECK_EQUAL(count_descriptors(), descriptors);
	}
	CHECK(failures >= 4 && r == 0);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

TEST(a_start_with_pipes_fails_at_the_limit_of_descriptors)
{
	open_many();
	check_limit(0);
	check_limit(ASPAWN_COMMAND_PRIVATE);
	check_limit(ASPAWN_COMMAND_NO_PIDFD);
	filter_refuse(PSYS_NR_pidfd_getfd, PSYS_EPERM);
	check_limit(0);
}

TEST(an_undumpable_start_with_pipes_fails_at_the_limit_of_descriptors)
{
	open_many();
	become_undumpable();
	check_limit(0);
	check_limit(ASPAWN_COMMAND_PRIVATE);
}

/* Nothing but the child makes pipes. */
TEST(a_start_fails_if_the_child_cannot_make_the_pipes)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = piped_command(&self, &stack);
	struct aspawn_child child;

	open_many();
	const int descriptors = count_descriptors();
	filter_refuse(PSYS_NR_pipe2, PSYS_ENFILE);
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_ENFILE);
	command.flags = ASPAWN_COMMAND_PRIVATE;
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_ENFILE);
	become_undumpable();
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_ENFILE);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK(!have_children());
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

TEST(a_failed_start_with_pipes_works_with_sigchld_ignored)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = piped_command(&self, &stack);
	struct aspawn_child child;

	open_many();
	set_disposition(PSYS_SIGCHLD, PSYS_SIG_IGN);
	filter_refuse(PSYS_NR_pipe2, PSYS_ENFILE);
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_ENFILE);
	CHECK(!have_children());
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

/* Killed on its way to its own table: the start has succeeded, the pipes are at their end. */
static void check_killed(long nr, uint64_t flags)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = piped_command(&self, &stack);
	struct psys_rlimit64 none = { 0, 0 };
	char text[8];

	open_many();
	set_disposition(PSYS_SIGPIPE, PSYS_SIG_IGN);
	/* Before Linux 5.16 a core dump kills all processes that share the memory. */
	psys_prlimit64(0, PSYS_RLIMIT_CORE, &none, NULL);
	psys_prctl(PSYS_PR_SET_DUMPABLE, 0, 0, 0, 0);
	const int descriptors = count_descriptors();
	filter_trap(nr);
	command.flags = flags;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), -PSYS_ECHILD);
	check_ends(&child, PSYS_SIGSYS);
	CHECK_EQUAL(psys_write(child.in_fd, "x", 1), -PSYS_EPIPE);
	CHECK_EQUAL(psys_read(child.out_fd, text, sizeof text), 0);
	CHECK_EQUAL(psys_read(child.err_fd, text, sizeof text), 0);
	close_ends(&child);
	CHECK_EQUAL(count_descriptors(), descriptors);
}

TEST(a_child_killed_before_it_makes_the_pipes)
{
	check_killed(PSYS_NR_close_range, ASPAWN_COMMAND_STARTED_FD);
}

TEST(a_child_killed_after_its_thread_has_moved_the_pipes)
{
	if (!has_pidfd_getfd())
		skip("no pidfd_getfd");
	open_many();
	become_undumpable();
	check_killed(PSYS_NR_tgkill, ASPAWN_COMMAND_PRIVATE);
}

TEST(a_start_with_pipes_reports_that_unshare_is_forbidden)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = piped_command(&self, &stack);
	struct aspawn_failure failure;

	open_many();
	filter_refuse(PSYS_NR_close_range, PSYS_ENOSYS);
	filter_refuse(PSYS_NR_unshare, PSYS_EPERM);
	for (int i = 0; i < 4; i++) {
		command.flags = (i & 1 ? ASPAWN_COMMAND_STARTED_FD : 0) |
				(i & 2 ? ASPAWN_COMMAND_PRIVATE : 0);
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

/* --- the caller is stopped, or gone ------------------------------------------------------ */

/* As in a frozen cgroup: only the caller's handler lets the child make its pipes. */
TEST(signals_are_handled_while_a_child_that_makes_pipes_is_stopped)
{
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = piped_command(&self, &stack);
	struct psys_sigset mask = get_mask();
	struct thread thread;

	if (!has_pidfd_getfd()) /* the caller would make one, to try /proc */
		skip("no pidfd_getfd");
	open_many();
	hold_until_signal(PSYS_NR_pipe2, &thread);
	struct aspawn_child child = start_command(NULL, &command);
	CHECK(same_mask(get_mask(), mask));
	check_copies(&child);
	check_ends(&child, 0);
	thread_join(&thread);
}

/* Killed while the child waits for it: nobody else would ever answer. */
TEST(a_child_ends_if_its_caller_is_killed_before_it_takes_the_pipes)
{
	int *shared = shared_page(), status;

	if (!has_pidfd_getfd())
		skip("no pidfd_getfd");
	open_many();
	if (psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		skip("no subreapers");
	int host = fork_child();
	if (host == 0) {
		struct Stack_t stack = { 0 };
		struct self self;
		struct aspawn_command command = piped_command(&self, &stack);

		filter_hold(PSYS_NR_pidfd_getfd, &shared[0], &shared[1]);
		start_command(NULL, &command);
		psys_exit_group(0);
	}
	gate_wait(&shared[0]);
	CHECK_EQUAL(psys_kill(host, PSYS_SIGKILL), 0);
	CHECK_EQUAL(psys_wait4(host, &status, 0, NULL), host);
	CHECK(psys_wait4(-1, &status, 0, NULL) > 0);
	CHECK_EQUAL(status, 127 << 8);
}
