/* SPDX-License-Identifier: MIT */
/* Tests of a command's standard streams */
#include "../../../aspawn/spawn/stack.h"
#include "observe.h"

/* Writes what 0, 1 and 2 are: closed, the null device, a pipe, or other, with "+" if non-blocking.
 * Writes to 30, as the streams are under test. */
ROLE(shows_streams)
{
	struct psys_statx file;

	(void)argc, (void)argv;
	for (int fd = 0; fd <= 2; fd++) {
		const char *kind = "other";
		if (psys_fcntl(fd, PSYS_F_GETFD, 0) < 0)
			kind = "closed";
		else if (psys_statx(fd, "", PSYS_AT_EMPTY_PATH, PSYS_STATX_BASIC_STATS, &file) < 0)
			kind = "unknown";
		else if ((file.stx_mode & PSYS_S_IFMT) == PSYS_S_IFIFO)
			kind = "pipe";
		else if ((file.stx_mode & PSYS_S_IFMT) == PSYS_S_IFCHR &&
			 file.stx_rdev_major == 1 && file.stx_rdev_minor == 3)
			kind = "null";
		psys_write(30, kind, psys_strlen(kind));
		if (psys_fcntl(fd, PSYS_F_GETFL, 0) > 0 &&
		    psys_fcntl(fd, PSYS_F_GETFL, 0) & PSYS_O_NONBLOCK)
			psys_write(30, "+", 1);
		psys_write(30, " ", 1);
	}
	return 0;
}

/* Writes the letters of the argument, capitals to standard error. */
ROLE(writes)
{
	for (const char *at = argc > 1 ? argv[1] : ""; *at; at++)
		if (psys_write(*at >= 'A' && *at <= 'Z' ? 2 : 1, at, 1) != 1)
			return 1;
	return 0;
}

/* Reads until the end of file, and compares. */
static void check_reads(int fd, const char *text)
{
	char all[256];
	size_t length = 0;
	long r;

	while ((r = psys_read(fd, all + length, sizeof all - 1 - length)) > 0)
		length += (size_t)r;
	CHECK_EQUAL(r, 0);
	all[length] = '\0';
	if (!psys_strcmp(all, text))
		return;
	note(all, (int64_t)length);
	check_failed(__FILE__, __LINE__, text);
}

static void close_ends(struct aspawn_child *child)
{
	int *const ends[] = { &child->in_fd, &child->out_fd, &child->err_fd };

	for (int i = 0; i < 3; i++) {
		if (*ends[i] >= 0)
			CHECK_EQUAL(psys_close(*ends[i]), 0);
		*ends[i] = -1;
	}
}

static struct psys_statx stat_of(int fd)
{
	struct psys_statx file;

	if (psys_statx(fd, "", PSYS_AT_EMPTY_PATH, PSYS_STATX_BASIC_STATS, &file) == -PSYS_ENOSYS)
		skip("no statx");
	return file;
}

static int report_pipe[2];

static struct aspawn_command streams_command(struct self *self)
{
	static struct aspawn_action report;
	struct aspawn_command command = command_in_role(self, "shows_streams", NULL);

	stat_of(0);
	CHECK_EQUAL(psys_pipe2(report_pipe, PSYS_O_CLOEXEC), 0);
	CHECK_EQUAL(psys_dup3(report_pipe[1], 31, PSYS_O_CLOEXEC), 31);
	aspawn_action_dup2(&report, 31, 30);
	command.actions = &report;
	command.action_count = 1;
	return command;
}

static void check_streams(struct aspawn_command *command, int in, int out, int err, const char *text)
{
	command->std_in = in;
	command->std_out = out;
	command->std_err = err;
	struct aspawn_child child = start_command(NULL, command);
	CHECK_EQUAL(child.in_fd >= 0, in == ASPAWN_STREAM_PIPE);
	CHECK_EQUAL(child.out_fd >= 0, out == ASPAWN_STREAM_PIPE);
	CHECK_EQUAL(child.err_fd >= 0, err == ASPAWN_STREAM_PIPE);
	CHECK(child.in_fd > 2 || child.in_fd == -1);
	CHECK(child.out_fd > 2 || child.out_fd == -1);
	CHECK(child.err_fd > 2 || child.err_fd == -1);
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
	close_ends(&child);
	check_ends(&child, 0);
	char shown[64];
	long length = psys_read(report_pipe[0], shown, sizeof shown - 1);
	shown[length > 0 ? length : 0] = '\0';
	if (!psys_strcmp(shown, text))
		return;
	note(shown, length);
	check_failed(__FILE__, __LINE__, text);
}

TEST(each_kind_of_standard_stream_is_connected)
{
	enum {
		I = ASPAWN_STREAM_DEFAULT,
		N = ASPAWN_STREAM_NULL,
		P = ASPAWN_STREAM_PIPE,
		S = ASPAWN_STREAM_STDOUT
	};
	struct self self;
	struct aspawn_command command = streams_command(&self);
	int other = psys_open("/", PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0), pipe[2];
	int descriptors;

	CHECK_EQUAL(psys_pipe2(pipe, PSYS_O_CLOEXEC), 0);
	/* The caller's own streams are neither pipes nor the null device. */
	for (int fd = 0; fd < 3; fd++)
		CHECK_EQUAL(psys_dup3(other, fd, 0), fd);
	descriptors = count_descriptors();
	check_streams(&command, I, I, I, "other other other ");
	check_streams(&command, 0, 1, 2, "other other other ");
	check_streams(&command, -4, -4, -4, "other other other ");
	check_streams(&command, N, I, I, "null other other ");
	check_streams(&command, I, N, I, "other null other ");
	check_streams(&command, I, I, N, "other other null ");
	check_streams(&command, N, N, N, "null null null ");
	check_streams(&command, P, I, I, "pipe other other ");
	check_streams(&command, I, P, I, "other pipe other ");
	check_streams(&command, I, I, P, "other other pipe ");
	check_streams(&command, P, P, P, "pipe pipe pipe ");
	check_streams(&command, I, N, S, "other null null ");
	check_streams(&command, I, P, S, "other pipe pipe ");
	check_streams(&command, N, pipe[1], S, "null pipe pipe ");
	check_streams(&command, pipe[0], I, I, "pipe other other ");
	check_streams(&command, I, pipe[1], I, "other pipe other ");
	check_streams(&command, I, I, pipe[1], "other other pipe ");
	check_streams(&command, pipe[1], pipe[1], pipe[1], "pipe pipe pipe ");
	CHECK_EQUAL(count_descriptors(), descriptors);
	/* The caller's descriptors are unchanged. */
	CHECK(psys_fcntl(pipe[0], PSYS_F_GETFD, 0) == PSYS_FD_CLOEXEC &&
	      psys_fcntl(pipe[1], PSYS_F_GETFD, 0) == PSYS_FD_CLOEXEC);
	for (int fd = 0; fd < 3; fd++)
		CHECK_EQUAL(psys_fcntl(fd, PSYS_F_GETFD, 0), 0);
}

/* Otherwise the pipes would get the numbers 0 to 2, which the program's streams need. */
TEST(standard_streams_work_if_the_callers_are_closed)
{
	enum {
		I = ASPAWN_STREAM_DEFAULT,
		N = ASPAWN_STREAM_NULL,
		P = ASPAWN_STREAM_PIPE,
		S = ASPAWN_STREAM_STDOUT
	};
	struct self self;
	struct aspawn_command command = streams_command(&self);

	for (int closed = 1; closed < 8; closed++) {
		int saved[3];
		for (int fd = 0; fd < 3; fd++) {
			saved[fd] = (int)psys_fcntl(fd, PSYS_F_DUPFD_CLOEXEC, 40);
			CHECK(saved[fd] >= 40);
			CHECK_EQUAL(psys_dup3(saved[fd], fd, 0), fd);
			if (closed & 1 << fd)
				CHECK_EQUAL(psys_close(fd), 0);
		}
		check_streams(&command, P, P, P, "pipe pipe pipe ");
		check_streams(&command, N, N, N, "null null null ");
		check_streams(&command, P, N, P, "pipe null pipe ");
		check_streams(&command, N, P, S, "null pipe pipe ");
		for (uint64_t flags = 0; flags < 2; flags++) {
			set_way(&command, flags ? ASPAWN_COMMAND_STARTED_FD | WAY_COPIED : 0);
			if (closed == 7) {
				check_streams(&command, I, I, I, "closed closed closed ");
				check_streams(&command, P, I, I, "pipe closed closed ");
				check_streams(&command, I, P, I, "closed pipe closed ");
				check_streams(&command, I, I, P, "closed closed pipe ");
				check_streams(&command, I, P, S, "closed pipe pipe ");
			}
		}
		set_way(&command, 0);
		for (int fd = 0; fd < 3; fd++) {
			CHECK_EQUAL(psys_dup3(saved[fd], fd, 0), fd);
			psys_close(saved[fd]);
		}
	}
}

TEST(standard_streams_reject_invalid_numbers)
{
	static const int invalid[][3] = {
		{ 1, 0, 0 },
		{ 2, 0, 0 },
		{ ASPAWN_STREAM_STDOUT, 0, 0 },
		{ -6, 0, 0 },
		{ INT32_MIN, 0, 0 },
		{ 0, 2, 0 },
		{ 0, ASPAWN_STREAM_STDOUT, 0 },
		{ 0, -6, 0 },
		{ 0, INT32_MIN, 0 },
		{ 0, 0, 1 },
		{ 0, 0, -6 },
		{ 0, 0, INT32_MIN },
		{ ASPAWN_STREAM_PIPE, ASPAWN_STREAM_PIPE, -6 },
	};
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_child child;
	int descriptors = count_descriptors();

	for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
		command.std_in = invalid[i][0];
		command.std_out = invalid[i][1];
		command.std_err = invalid[i][2];
		psys_memset(&child, 0x55, sizeof child);
		CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EINVAL);
		CHECK(aspawn_pid(&child) == -PSYS_EINVAL && child.ended_fd == -1 &&
		      child.started_fd == -1);
		CHECK(child.in_fd == -1 && child.out_fd == -1 && child.err_fd == -1);
		CHECK_EQUAL(aspawn_release(&child), 0);
		CHECK_EQUAL(count_descriptors(), descriptors);
	}
	CHECK(!have_children());
}

/* The step is ASPAWN_STEP_STREAMS, not an action of the caller. */
TEST(a_standard_stream_that_is_not_open_is_reported)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_action action = ASPAWN_UMASK(0);
	struct aspawn_failure failure;
	char text[64];

	command.actions = &action;
	command.action_count = 1;
	for (int stream = 0; stream < 3; stream++) {
		command.std_in = stream == 0 ? 333 : 0;
		command.std_out = stream == 1 ? 333 : 0;
		command.std_err = stream == 2 ? 333 : 0;
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
		CHECK_EQUAL(failure.step, ASPAWN_STEP_STREAMS);
		CHECK_EQUAL(failure.error, -PSYS_EBADF);
		CHECK_EQUAL(failure.kind, 0);
		CHECK_EQUAL(psys_strcmp(failure.subject, "333"), 0);
		aspawn_failure_text(text, sizeof text, &failure);
		CHECK_EQUAL(psys_strcmp(text, "streams 333: EBADF"), 0);
		check_ends(&child, 127 << 8);
	}
}

TEST(to_stdout_keeps_the_order_of_output_and_errors)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", "aBcDEf");

	command.std_out = ASPAWN_STREAM_PIPE;
	command.std_err = ASPAWN_STREAM_STDOUT;
	struct aspawn_child child = start_command(NULL, &command);
	check_reads(child.out_fd, "aBcDEf");
	close_ends(&child);
	check_ends(&child, 0);
	command.std_err = ASPAWN_STREAM_PIPE;
	child = start_command(NULL, &command);
	check_reads(child.out_fd, "acf");
	check_reads(child.err_fd, "BDE");
	close_ends(&child);
	check_ends(&child, 0);
}

/* Streams come before the actions, which may replace or use the streams. */
TEST(actions_come_after_the_standard_streams)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "writes", "aBc");
	const struct aspawn_action crossed[] = { ASPAWN_DUP2(1, 9), ASPAWN_DUP2(2, 1),
						 ASPAWN_DUP2(9, 2), ASPAWN_CLOSE(9) };
	int read_end;
	const struct aspawn_action replaced[] = { ASPAWN_OUTPUT_PIPE(1, &read_end),
						  ASPAWN_CLOSEFROM(3) };

	command.std_out = command.std_err = ASPAWN_STREAM_PIPE;
	command.actions = crossed;
	command.action_count = 4;
	struct aspawn_child child = start_command(NULL, &command);
	check_reads(child.out_fd, "B");
	check_reads(child.err_fd, "ac");
	close_ends(&child);
	check_ends(&child, 0);
	/* ASPAWN_STREAM_STDOUT means std_out, not the file that an action opens as 1. */
	command.std_err = ASPAWN_STREAM_STDOUT;
	command.actions = replaced;
	command.action_count = 2;
	child = start_command(NULL, &command);
	check_reads(read_end, "ac");
	check_reads(child.out_fd, "B");
	psys_close(read_end);
	close_ends(&child);
	check_ends(&child, 0);
}

TEST(pipe_ends_are_cloexec_and_nonblock_is_optional)
{
	struct self self;
	struct aspawn_command command = streams_command(&self);
	int extra = -1;
	struct aspawn_action actions[2] = { command.actions[0], ASPAWN_OUTPUT_PIPE(20, &extra) };

	command.std_in = command.std_out = command.std_err = ASPAWN_STREAM_PIPE;
	command.actions = actions;
	command.action_count = 2;
	for (int nonblock = 0; nonblock < 2; nonblock++) {
		command.flags = nonblock ? ASPAWN_COMMAND_NONBLOCK : 0;
		struct aspawn_child child = start_command(NULL, &command);
		const int ends[] = { child.in_fd, child.out_fd, child.err_fd, extra };
		for (int i = 0; i < 4; i++) {
			CHECK(ends[i] > 2);
			CHECK_EQUAL(psys_fcntl(ends[i], PSYS_F_GETFD, 0), PSYS_FD_CLOEXEC);
			CHECK_EQUAL(psys_fcntl(ends[i], PSYS_F_GETFL, 0) & PSYS_O_NONBLOCK,
				    nonblock ? PSYS_O_NONBLOCK : 0);
		}
		check_ends(&child, 0);
		/* The program's ends are blocking. */
		char shown[64];
		long length = psys_read(report_pipe[0], shown, sizeof shown - 1);
		shown[length > 0 ? length : 0] = '\0';
		CHECK_EQUAL(psys_strcmp(shown, "pipe pipe pipe "), 0);
		close_ends(&child);
		psys_close(extra);
	}
}

/* Where the library's frames in the caller are, below the test's; and the caller's pipe ends. */
static uintptr_t lowest_frame, highest_frame;
static int ends[2];
static const struct Stack_t *searched; /* the child's */
static int addresses_found;

static ASPAWN_CHILD int finds_addresses(void *arg)
{
	const struct control *control = stack_control(searched);

	(void)arg;
	addresses_found = 0;
	/* Look above the child's frames, where unread copies of the caller's registers lie. */
	for (const uintptr_t *at = control->request.user_data;
	     at < (const uintptr_t *)(control + 1); at++)
		addresses_found += (*at > lowest_frame && *at < highest_frame) ||
				   *at - (uintptr_t)ends < sizeof ends;
	return 0;
}

/* Returns how many addresses the child of a command finds, with pipes or without. */
static int addresses_found_by(struct aspawn_command *command, bool with_pipes)
{
	static const struct aspawn_action actions[] = { ASPAWN_CALL(finds_addresses, NULL),
							ASPAWN_OUTPUT_PIPE(3, &ends[0]),
							ASPAWN_INPUT_PIPE(4, &ends[1]) };
	static struct aspawn_child child;

	command->actions = actions;
	command->action_count = with_pipes ? 3 : 1;
	command->std_in = command->std_out = command->std_err = with_pipes ? ASPAWN_STREAM_PIPE : 0;
	ends[0] = ends[1] = child.in_fd = child.out_fd = child.err_fd = -1;
	addresses_found = -1;
	searched = stack_of(&child);
	CHECK_EQUAL(aspawn_start(&child, command), 0);
	CHECK_EQUAL(why_not_started(&child), 0);
	close_ends(&child);
	for (int i = 0; i < 2; i++)
		CHECK_EQUAL(psys_close(ends[i]), with_pipes ? 0 : -PSYS_EBADF);
	check_ends(&child, 7 << 8);
	return addresses_found;
}

/* A child that goes wrong must not decide where its parent stores a number. A word that looks like
 * an address without pipes is no address. A structure's hole of an address's size fails here, as
 * the hole keeps the former contents. */
TEST(where_pipe_ends_are_stored_is_not_in_the_childs_memory)
{
	static struct self self;
	static struct aspawn_command command;

	if (!memory_is_shared())
		skip("this emulator copies the memory");
	command = command_in_role(&self, "exit_7", NULL);
	highest_frame = (uintptr_t)__builtin_frame_address(0);
	lowest_frame = highest_frame - 65536;
	const int without = addresses_found_by(&command, false);
	CHECK(without >= 0);
	CHECK_EQUAL(addresses_found_by(&command, true), without);
}

/* A caller, such as a daemon, has closed its standard streams, and opens them later. */
TEST(no_pidfd_of_the_library_is_a_standard_stream)
{
	const struct aspawn_action copying = ASPAWN_OOM_SCORE_ADJ(100);
	struct Stack_t stack = { 0 };
	struct self self;
	int pid, pidfd = -1;

	for (int fd = 0; fd < 3; fd++)
		psys_close(fd);
	for (int way = 0; way < 4; way++) {
		struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

		command.owner = way < 3 ? way : ASPAWN_OWNER_CALLER;
		command.actions = &copying;
		command.action_count = way == 3;
		struct aspawn_child child;
		if (aspawn_start(&child, &command) < 0)
			continue; /* this machine has no helpers */
		const int own = aspawn_pidfd(&child);
		CHECK(own < 0 || own > 2);
		for (int fd = 0; fd < 3; fd++)
			CHECK_EQUAL(psys_fcntl(fd, PSYS_F_GETFD, 0), -PSYS_EBADF);
		psys_close(own);
		check_ends(&child, 7 << 8);
	}
	CHECK(aspawn_with(0, &pidfd, &pid, &stack, 4096, child_returns, NULL, NULL, 0) > 2);
	CHECK(pidfd < 0 || pidfd > 2);
	reap(pid);
}
