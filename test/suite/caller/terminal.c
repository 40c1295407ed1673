/* SPDX-License-Identifier: MIT */
/* Terminals of commands. */
#include "filter.h"
#include "tree.h"

enum { PTY = ASPAWN_STREAM_PTY, PIPE_ = ASPAWN_STREAM_PIPE };

static void need_terminals(void)
{
	int fd = psys_open("/dev/ptmx", PSYS_O_RDWR | PSYS_O_NOCTTY | PSYS_O_CLOEXEC, 0);
	const int locked = 0;

	need_call(fd < 0 ? -PSYS_ENOSYS : 0, "no pseudo-terminals");
	psys_ioctl(fd, PSYS_TIOCSPTLCK, (uintptr_t)&locked);
	const long peer = psys_ioctl(fd, PSYS_TIOCGPTPEER, PSYS_O_RDWR | PSYS_O_NOCTTY);
	if (peer < 0)
		skip("no TIOCGPTPEER");
	psys_close((int)peer);
	psys_close(fd);
}

static struct aspawn_command on_terminal(struct self *self, const char *role, const char *argument)
{
	struct aspawn_command command = command_in_role(self, role, argument);

	command.std_in = command.std_out = command.std_err = PTY;
	return command;
}

/* --- what the program finds ---------------------------------------------------- */

static char *add(char *to, const char *text)
{
	psys_strlcpy(to, text, 64);
	return to + psys_strlen(to);
}

static bool is_terminal(int fd, struct psys_winsize *size)
{
	return psys_ioctl(fd, PSYS_TIOCGWINSZ, (uintptr_t)size) >= 0;
}

/* Writes a line with the size of the terminal, the descriptors that are the terminal, and what the
 * terminal is to the process, in capitals if the foreground group is another. */
static void describe_terminal(void)
{
	struct psys_winsize size = { 0, 0, 0, 0 };
	char line[512] = "", *at = line, digits[PSYS_DECIMAL_SIZE];
	int group = 0, any = -1;

	for (int fd = 0; fd < 256; fd++) {
		if (!is_terminal(fd, &size))
			continue;
		psys_i64_to_decimal(digits, fd);
		at = add(add(at, digits), " ");
		any = fd;
	}
	psys_i64_to_decimal(digits, size.ws_row);
	at = add(add(at, digits), "x");
	psys_i64_to_decimal(digits, size.ws_col);
	at = add(add(at, digits), psys_getsid(0) == psys_getpid() ? " leader" : " member");
	psys_ioctl(any, PSYS_TIOCGPGRP, (uintptr_t)&group); /* of the controlling terminal only */
	at = add(at, group == psys_getpgid(0) ? " foreground\n" : " BACKGROUND\n");
	psys_write(1, line, (size_t)(at - line));
}

ROLE(describes_terminal)
{
	(void)argc, (void)argv;
	describe_terminal();
	return 3;
}

static void check_text(const char *text, const char *expected, int line)
{
	if (!psys_strcmp(text, expected))
		return;
	note(text, (int64_t)psys_strlen(text));
	check_failed(__FILE__, line, expected);
}

/* Checks what the program writes, and that the exit status is 3. */
static void check_says(struct aspawn_child *child, const char *expected, int line)
{
	char text[256];
	struct aspawn_io io = { .size = sizeof io, .out = text, .out_size = sizeof text };

	CHECK_EQUAL(aspawn_communicate(child, &io), 0);
	check_text(text, expected, line);
	CHECK_EQUAL(io.status, 3 << 8);
	CHECK(child->in_fd == -1 && child->out_fd == -1 && child->err_fd == -1 &&
	      child->pty_fd == -1);
}

static void check_each_subset(struct aspawn_command *command)
{
	static const char *const expected[] = {
		"",        "0 24x80",   "1 24x80",   "0 1 24x80",
		"2 24x80", "0 2 24x80", "1 2 24x80", "0 1 2 24x80",
	};
	int *const streams[] = { &command->std_in, &command->std_out, &command->std_err };

	for (int subset = 1; subset < 8; subset++) {
		char text[64];
		for (int fd = 0; fd < 3; fd++)
			*streams[fd] = subset & 1 << fd ? PTY : PIPE_;
		add(add(text, expected[subset]),
		    subset & 2 ? " leader foreground\r\n" : " leader foreground\n");
		struct aspawn_child child = start_command(NULL, command);
		CHECK(child.pty_fd > 2);
		CHECK_EQUAL(child.in_fd >= 0, !(subset & 1));
		CHECK_EQUAL(child.out_fd >= 0, !(subset & 2));
		CHECK_EQUAL(child.err_fd >= 0, !(subset & 4));
		check_says(&child, text, __LINE__);
	}
}

static const uint64_t ways[] = { 0,
				 ASPAWN_COMMAND_STARTED_FD,
				 WAY_COPIED,
				 WAY_SUSPENDED,
				 WAY_PRIVATE,
				 WAY_PRIVATE | WAY_COPIED,
				 ASPAWN_COMMAND_DIES_WITH_CALLER };
enum { WAYS = sizeof ways / sizeof *ways, WAYS_WITHOUT_HELPER = 4 };

TEST(a_terminal_is_any_of_the_streams_and_the_session_has_it)
{
	struct self self;
	struct aspawn_command command = on_terminal(&self, "describes_terminal", NULL);

	need_terminals();
	int descriptors = count_descriptors();
	for (int i = 0; i < (memory_is_shared() ? WAYS : WAYS_WITHOUT_HELPER); i++) {
		set_way(&command, ways[i]);
		check_each_subset(&command);
	}
	CHECK_EQUAL(count_descriptors(), descriptors);
}

/* Here the child fetches its end of the terminal, which has a high number. */
TEST(a_terminal_reaches_a_child_that_copies_no_descriptors)
{
	const struct aspawn_action only = ASPAWN_ONLY_BELOW(3);
	struct self self;
	struct aspawn_command command = on_terminal(&self, "describes_terminal", NULL);

	need_terminals();
	command.actions = &only;
	command.action_count = 1;
	check_each_subset(&command);
	for (int fd = 3; fd < 160; fd++)
		CHECK(psys_open("/", PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0) > 2);
	check_each_subset(&command);
}

TEST(a_terminal_works_if_the_callers_streams_are_closed)
{
	struct self self;
	struct aspawn_command command = on_terminal(&self, "describes_terminal", NULL);
	int saved[3];

	need_terminals();
	for (int fd = 0; fd < 3; fd++) {
		saved[fd] = (int)psys_fcntl(fd, PSYS_F_DUPFD_CLOEXEC, 40);
		psys_close(fd);
	}
	struct aspawn_child child = start_command(NULL, &command);
	const int end = child.pty_fd;
	check_says(&child, "0 1 2 24x80 leader foreground\r\n", __LINE__);
	for (int fd = 0; fd < 3; fd++) {
		const long r = psys_fcntl(fd, PSYS_F_GETFD, 0);
		CHECK_EQUAL(psys_dup3(saved[fd], fd, 0), fd);
		CHECK_EQUAL(r, -PSYS_EBADF);
	}
	CHECK(end > 2);
}

TEST(the_callers_end_of_a_terminal_is_cloexec_and_nonblock_is_optional)
{
	struct self self;
	struct aspawn_command command = on_terminal(&self, "lingers", NULL);

	need_terminals();
	for (int nonblock = 0; nonblock < 2; nonblock++) {
		command.flags = nonblock ? ASPAWN_COMMAND_NONBLOCK : 0;
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(psys_fcntl(child.pty_fd, PSYS_F_GETFD, 0), PSYS_FD_CLOEXEC);
		CHECK_EQUAL(psys_fcntl(child.pty_fd, PSYS_F_GETFL, 0) & PSYS_O_NONBLOCK,
			    nonblock ? PSYS_O_NONBLOCK : 0);
		CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
		check_ends(&child, PSYS_SIGKILL);
		CHECK_EQUAL(psys_close(child.pty_fd), 0);
	}
}

/* The first end that a leader without a controlling terminal opens becomes the controlling
 * terminal. */
TEST(a_caller_that_leads_a_session_does_not_get_its_childs_terminal)
{
	struct self self;
	const struct aspawn_command command = on_terminal(&self, "describes_terminal", NULL);

	need_terminals();
	const int pid = fork_child();
	if (pid == 0) {
		CHECK_EQUAL(psys_setsid(), psys_getpid());
		struct aspawn_child child = start_command(NULL, &command);
		const int fd = psys_open("/dev/tty", PSYS_O_RDWR | PSYS_O_CLOEXEC, 0);
		CHECK(fd == -PSYS_ENXIO || fd == -PSYS_ENOENT);
		check_says(&child, "0 1 2 24x80 leader foreground\r\n", __LINE__);
		psys_exit_group(0);
	}
	CHECK_EQUAL(reap(pid), 0);
}

/* --- size ------------------------------------------------------------------------ */

static volatile int resized;

static void on_sigwinch(int signal)
{
	(void)signal;
	resized = 1;
}

ROLE(describes_resized_terminal)
{
	struct psys_sigset changes, mask;
	char byte;

	(void)argc, (void)argv;
	psys_sigemptyset(&changes);
	psys_sigaddset(&changes, PSYS_SIGWINCH);
	psys_rt_sigprocmask(PSYS_SIG_BLOCK, &changes, &mask, PSYS_SIGSET_SIZE);
	set_handler(PSYS_SIGWINCH, on_sigwinch);
	describe_terminal();
	while (!resized)
		psys_rt_sigsuspend(&mask, PSYS_SIGSET_SIZE);
	describe_terminal();
	/* At the end of a session's leader the kernel may drop the leader's last output. */
	psys_read(0, &byte, 1);
	return 3;
}

/* Reads until the text ends so, or the terminal does. */
static void expect(int fd, const char *end)
{
	char text[4096];
	size_t length = 0;
	const size_t wanted = psys_strlen(end);

	for (;;) {
		const long r = psys_read(fd, text + length, 1);
		CHECK_EQUAL(r, 1);
		length += (size_t)r;
		CHECK(length < sizeof text);
		if (length >= wanted && !psys_memcmp(text + length - wanted, end, wanted))
			return;
	}
}

TEST(a_terminal_has_the_size_of_the_command_and_is_resized)
{
	struct self self;
	struct aspawn_command command = on_terminal(&self, "describes_resized_terminal", NULL);

	need_terminals();
	command.pty_rows = 7;
	struct aspawn_child child = start_command(NULL, &command);
	expect(child.pty_fd, "0 1 2 7x80 leader foreground\r\n");
	CHECK_EQUAL(aspawn_resize(&child, 300, 65535), 0);
	expect(child.pty_fd, "0 1 2 300x65535 leader foreground\r\n");
	CHECK_EQUAL(psys_write(child.pty_fd, "\n", 1), 1);
	check_ends(&child, 3 << 8);
	CHECK_EQUAL(aspawn_resize(&child, 1, 2), 0);
	CHECK_EQUAL(psys_close(child.pty_fd), 0);
	CHECK_EQUAL(aspawn_resize(&child, 1, 2), -PSYS_EBADF);
	/* The terminal has the size before the program runs. */
	command.pty_rows = 65535;
	command.pty_columns = 1;
	child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_resize(&child, 9, 10), 0);
	expect(child.pty_fd, "0 1 2 9x10 leader foreground\r\n");
	CHECK_EQUAL(psys_close(child.pty_fd), 0);
	check_ends(&child, PSYS_SIGHUP);
}

TEST(resize_rejects_what_has_no_terminal)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_child none = { .pty_fd = 0 };

	CHECK_EQUAL(aspawn_resize(NULL, 1, 1), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_resize(&none, 1, 1), -PSYS_EINVAL);
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_resize(&child, 1, 1), -PSYS_EINVAL);
	check_ends(&child, 7 << 8);
	need_terminals();
	command = on_terminal(&self, "exit_7", NULL);
	child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_resize(&child, 65536, 1), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_resize(&child, 1, 65536), -PSYS_EINVAL);
	check_ends(&child, 7 << 8);
	psys_close(child.pty_fd);
}

/* --- input and output --------------------------------------------------------------- */

static char *big_text(size_t size)
{
	char *text = psys_mmap(NULL, size, PSYS_PROT_READ | PSYS_PROT_WRITE,
			       PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);

	CHECK(!PSYS_IS_ERROR(text));
	return text;
}

/* The program's copy shows the end of the input, with or without the end of the last line. */
TEST(run_types_input_at_a_terminal_and_ends_it)
{
	enum { SIZE = 200000 };
	static const char *const inputs[] = { "", "one", "one\n", "one\ntwo", "one\n\n" };
	struct self self;
	struct aspawn_command command = on_terminal(&self, "copies", NULL);
	char text[64];
	struct aspawn_io io = { .size = sizeof io, .out = text, .out_size = sizeof text };

	need_terminals();
	command.std_out = PIPE_;
	int descriptors = count_descriptors();
	for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
		io.input = inputs[i];
		io.input_size = psys_strlen(inputs[i]);
		CHECK_EQUAL(aspawn_run(&command, &io), 0);
		CHECK_EQUAL(io.status, 0);
		check_text(text, inputs[i], __LINE__);
	}
	io.input = NULL;
	io.input_size = 0;
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.out_length, 0);
	/* The input exceeds the terminal's buffer, but each line fits. */
	char *in = big_text(SIZE), *out = big_text(SIZE + 1);
	for (int i = 0; i < SIZE; i++)
		in[i] = i % 1000 == 999 ? '\n' : (char)('a' + i % 26);
	io.input = in;
	io.input_size = SIZE;
	io.out = out;
	io.out_size = SIZE + 1;
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.out_length, SIZE);
	CHECK_EQUAL(psys_memcmp(in, out, SIZE), 0);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK(!have_children());
}

/* The end is EIO of read(2). */
TEST(run_collects_all_that_is_written_to_a_terminal)
{
	struct self self;
	struct aspawn_command command = on_terminal(&self, "writes_a_lot", NULL);
	struct aspawn_io io = { .size = sizeof io };

	need_terminals();
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.status, 0);
	CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_RAN);
	CHECK_EQUAL(io.out_total, 60000);
	CHECK_EQUAL(io.err_total, 0);
	command.std_in = command.std_out = ASPAWN_STREAM_NULL; /* the role writes to 1 */
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.out_total + io.err_total, 0);
}

TEST(standard_error_at_a_terminal_is_collected_as_such)
{
	struct self self;
	struct aspawn_command command = on_terminal(&self, "writes", "aBcD");
	char out[64], err[64];
	struct aspawn_io io = {
		.size = sizeof io, .out = out, .out_size = 64, .err = err, .err_size = 64
	};

	need_terminals();
	command.std_out = PIPE_;
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	check_text(out, "ac", __LINE__);
	check_text(err, "BD", __LINE__);
	command.std_out = PTY;
	CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_EINVAL);
	check_text(io.failure.subject, "io.err", __LINE__);
	io.err_size = 0;
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	check_text(out, "aBcD", __LINE__);
	/* A terminal only for input has nothing to read, and a terminal only for output takes
	 * nothing. */
	command.std_out = command.std_err = ASPAWN_STREAM_NULL;
	CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_EINVAL);
	check_text(io.failure.subject, "io.out", __LINE__);
	command.std_in = ASPAWN_STREAM_NULL;
	command.std_out = PTY;
	io.input = "text";
	CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_EINVAL);
	check_text(io.failure.subject, "io.input", __LINE__);
}

/* Returns true if the process sleeps, and does not poll again and again. Without /proc the answer
 * is true. */
static bool sleeps(int pid)
{
	char path[64] = "/proc/", text[512];

	psys_i64_to_decimal(path + psys_strlen(path), pid);
	add(path + psys_strlen(path), "/stat");
	const int fd = psys_open(path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	const long length = psys_read(fd, text, sizeof text - 1);
	psys_close(fd);
	text[length > 0 ? length : 0] = '\0';
	const char *end = psys_strchrnul(text, ')'); /* of the name */
	return !*end || end[2] == 'S';
}

/* Leaves its terminal when the caller has seen the output, and ends when the caller waits for the
 * end. */
ROLE(leaves_its_terminal)
{
	char byte;

	(void)argc, (void)argv;
	set_disposition(PSYS_SIGHUP, PSYS_SIG_IGN);
	psys_write(1, "text", 4);
	if (psys_read(30, &byte, 1) != 0)
		return 1;
	for (int fd = 0; fd < 3; fd++)
		psys_close(fd);
	for (int times = 0; times < 3; times = sleeps(psys_getppid()) ? times + 1 : 0)
		sleep_ms(1);
	return 3;
}

static int close_gate(void *arg, int stream, const void *bytes, size_t count)
{
	(void)stream, (void)bytes, (void)count;
	psys_close(*(int *)arg);
	*(int *)arg = -1;
	return 0;
}

/* The caller goes on to have input for the terminal. */
TEST(a_program_that_has_left_its_terminal_runs_on)
{
	enum { SIZE = 1 << 20 };
	struct self self;
	struct aspawn_command command = on_terminal(&self, "leaves_its_terminal", NULL);
	int gate[2];
	struct aspawn_io io = { .size = sizeof io,
				.input = big_text(SIZE),
				.input_size = SIZE,
				.sink = close_gate,
				.arg = &gate[1] };

	need_terminals();
	psys_memset((char *)(uintptr_t)io.input, '\n', SIZE); /* lines are not dropped */
	CHECK_EQUAL(psys_pipe2(gate, PSYS_O_CLOEXEC), 0);
	const struct aspawn_action action = ASPAWN_DUP2(gate[0], 30);
	command.actions = &action;
	command.action_count = 1;
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.status, 3 << 8);
	CHECK_EQUAL(gate[1], -1);
}

/* --- the end, groups and other processes ---------------------------------------------- */

TEST(closing_the_callers_end_of_a_terminal_hangs_the_program_up)
{
	struct self self;
	struct aspawn_command command = on_terminal(&self, "lingers", NULL);

	need_terminals();
	for (int i = 0; i < (memory_is_shared() ? WAYS : WAYS_WITHOUT_HELPER); i++) {
		set_way(&command, ways[i]);
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
		CHECK_EQUAL(psys_close(child.pty_fd), 0);
		check_ends(&child, PSYS_SIGHUP);
	}
}

TEST(a_terminal_makes_the_group_that_a_run_or_tree_has)
{
	struct self self;
	struct aspawn_command command = on_terminal(&self, "describes_terminal", NULL);
	char text[64];
	struct aspawn_io io = { .size = sizeof io,
				.flags = ASPAWN_IO_KILL_GROUP,
				.out = text,
				.out_size = sizeof text };

	need_terminals();
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	check_text(text, "0 1 2 24x80 leader foreground\r\n", __LINE__);
	need_shared_memory();
	command.owner = ASPAWN_OWNER_TREE;
	command.flags = ASPAWN_COMMAND_TREE_OR_GROUP;
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	check_text(text, "0 1 2 24x80 leader foreground\r\n", __LINE__);
}

TEST(kill_group_ends_what_a_program_on_a_terminal_has_started)
{
	struct self self;
	struct aspawn_command command = on_terminal(&self, "leaves_a_grandchild", NULL);
	struct aspawn_io io = { .size = sizeof io, .flags = ASPAWN_IO_KILL_GROUP, .grace_ms = 1 };

	need_terminals();
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.status, 3 << 8);
	CHECK_EQUAL(io.out_total, 4);
}

TEST(actions_that_make_a_session_or_group_fail_on_a_terminal)
{
	const struct aspawn_action actions[][2] = {
		{ ASPAWN_UMASK(0), ASPAWN_SETSID() },
		{ ASPAWN_UMASK(0), ASPAWN_SETPGID(0) },
		{ ASPAWN_FOREGROUND(0), ASPAWN_CONTROLLING_TERMINAL(0) }, /* but these not */
	};
	struct self self;
	struct aspawn_command command = on_terminal(&self, "exit_7", NULL);
	struct aspawn_failure failure;

	need_terminals();
	command.action_count = 2;
	for (int i = 0; i < 3; i++) {
		command.actions = actions[i];
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), i < 2 ? -PSYS_ECANCELED : 0);
		CHECK_EQUAL(failure.step, i < 2 ? 1 : ASPAWN_STEP_NONE);
		CHECK_EQUAL(failure.error, i < 2 ? -PSYS_EPERM : 0);
		check_ends(&child, i < 2 ? 127 << 8 : 7 << 8);
		psys_close(child.pty_fd);
	}
}

/* The ends have other numbers than the caller's descriptors. */
TEST(actions_do_not_find_the_ends_of_a_terminal)
{
	struct self self;
	struct aspawn_command command = on_terminal(&self, "exit_7", NULL);
	struct aspawn_action action;
	struct aspawn_failure failure;

	need_terminals();
	const int lowest = psys_open("/", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	CHECK_EQUAL(psys_close(lowest), 0);
	command.actions = &action;
	command.action_count = 1;
	for (int fd = lowest; fd < lowest + 3; fd++) {
		aspawn_action_dup2(&action, fd, 40);
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
		CHECK_EQUAL(failure.step, 0);
		CHECK_EQUAL(failure.error, -PSYS_EBADF);
		check_ends(&child, 127 << 8);
		psys_close(child.pty_fd);
	}
}

/* The descendants are a member of the session in the background, and a process of another
 * session. */
ROLE(has_descendants)
{
	(void)argc, (void)argv;
	set_disposition(PSYS_SIGHUP, PSYS_SIG_IGN);
	for (int i = 0; i < 2; i++)
		if (fork_child() == 0) {
			CHECK_EQUAL(i ? psys_setsid() > 0 : psys_setpgid(0, 0) == 0, 1);
			psys_write(1, "x", 1);
			sleep_ms(600000);
		}
	sleep_ms(600000);
	return 0;
}

TEST(a_tree_behind_a_terminal_ends_as_a_whole)
{
	struct self self;
	struct aspawn_command command = on_terminal(&self, "has_descendants", NULL);
	char byte;

	need_terminals();
	need_lists();
	command.owner = ASPAWN_OWNER_TREE;
	struct aspawn_child child = start_command(NULL, &command);
	await_bytes(child.pty_fd, 2);
	CHECK_EQUAL(aspawn_kill_tree(&child, ASPAWN_GRACE_NONE), 0);
	check_ends(&child, PSYS_SIGKILL);
	CHECK_EQUAL(psys_read(child.pty_fd, &byte, 1), -PSYS_EIO); /* all have left it */
	CHECK_EQUAL(psys_close(child.pty_fd), 0);
}

TEST(a_terminal_belongs_to_the_session_of_another_user)
{
	const struct aspawn_action user = ASPAWN_USER(65534, 65534, NULL, 0);
	struct self self;
	struct aspawn_command command = on_terminal(&self, "describes_terminal", NULL);

	if (psys_geteuid())
		skip("not root");
	need_terminals();
	need_others_to_reach_program();
	command.actions = &user;
	command.action_count = 1;
	for (int i = 0; i < 4; i++) {
		if (ways[i] & WAY_SUSPENDED)
			continue;
		set_way(&command, ways[i]);
		check_each_subset(&command);
	}
}

/* --- what there is none of ----------------------------------------------------------------- */

ROLE(has_no_other_terminal)
{
	char path[64] = "/dev/pts/";
	int number = -1;

	(void)argc, (void)argv;
	if (psys_ioctl(0, 0x80045430, (uintptr_t)&number) < 0) /* TIOCGPTN is of the other end */
		number = 0;
	psys_i64_to_decimal(path + psys_strlen(path), number);
	if (psys_open(path, PSYS_O_RDWR | PSYS_O_NOCTTY, 0) != -PSYS_ENOENT)
		return 1;
	describe_terminal();
	return 3;
}

TEST(a_terminal_needs_no_dev_pts_where_the_program_is)
{
	const struct aspawn_action actions[] = {
		ASPAWN_UNSHARE(PSYS_CLONE_NEWNS),
		ASPAWN_MOUNT(NULL, "/", NULL, PSYS_MS_REC | PSYS_MS_PRIVATE, NULL),
		ASPAWN_MOUNT("none", "/dev/pts", "tmpfs", 0, "size=64k"),
	};
	struct self self;
	struct aspawn_command command = on_terminal(&self, "has_no_other_terminal", NULL);

	need_terminals();
	if (!may_mount())
		skip("may not mount");
	command.actions = actions;
	command.action_count = 3;
	struct aspawn_child child = start_command(NULL, &command);
	check_says(&child, "0 1 2 24x80 leader foreground\r\n", __LINE__);
}

/* The call fails with the error, and leaves nothing. */
static void check_no_terminal(const struct aspawn_command *command, int error, int other)
{
	const int descriptors = count_descriptors();
	struct aspawn_io io = { .size = sizeof io };
	struct aspawn_failure failure;
	struct aspawn_child child;
	char text[320];

	const int r = aspawn_start(&child, command);
	CHECK(r == error || r == other);
	CHECK(child.pty_fd == -1 && child.in_fd == -1 && child.out_fd == -1 && child.err_fd == -1);
	CHECK_EQUAL(aspawn_resize(&child, 1, 1), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(failure.step, ASPAWN_STEP_STREAMS);
	CHECK_EQUAL(failure.error, r);
	check_text(failure.subject, "/dev/ptmx", __LINE__);
	CHECK_EQUAL(aspawn_run(command, &io), r);
	CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_NONE);
	aspawn_io_text(text, sizeof text, r, &io);
	CHECK_EQUAL(psys_strncmp(text, "streams \"/dev/ptmx\": E", 22), 0);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK(!have_children());
}

TEST(a_caller_without_dev_pts_is_told)
{
	struct self self;
	const struct aspawn_command command = on_terminal(&self, "exit_7", NULL);

	need_terminals();
	if (!may_mount())
		skip("may not mount");
	CHECK_EQUAL(psys_unshare(PSYS_CLONE_NEWNS), 0);
	CHECK_EQUAL(psys_mount(NULL, "/", NULL, PSYS_MS_REC | PSYS_MS_PRIVATE, NULL), 0);
	CHECK_EQUAL(psys_mount("none", "/dev/pts", "tmpfs", 0, "size=64k"), 0);
	check_no_terminal(&command, -PSYS_ENODEV, -PSYS_ENOENT);
}

TEST(a_kernel_without_tiocgptpeer_is_told)
{
	struct self self;
	const struct aspawn_command command = on_terminal(&self, "exit_7", NULL);

	need_terminals();
	filter_refuse_flags(PSYS_NR_ioctl, 1, PSYS_TIOCGPTPEER, PSYS_ENOTTY);
	check_no_terminal(&command, -PSYS_ENOTTY, -PSYS_ENOTTY);
}

static int closes;

static void count_close(const struct psys_seccomp_data *call, bool may_wait)
{
	(void)may_wait;
	closes += call->nr == PSYS_NR_close && (int)call->args[0] >= 0;
}

/* By the second close another thread would lose a descriptor just opened. */
TEST(the_callers_end_is_closed_once_if_there_is_no_other)
{
	static int armed;
	struct self self;
	const struct aspawn_command command = on_terminal(&self, "exit_7", NULL);
	struct aspawn_child child;

	need_terminals();
	filter_refuse_flags(PSYS_NR_ioctl, 1, PSYS_TIOCGPTPEER, PSYS_ENOTTY);
	filter_show_calls(&armed, count_close);
	__atomic_store_n(&armed, true, __ATOMIC_RELEASE);
	const int r = aspawn_start(&child, &command);
	__atomic_store_n(&armed, false, __ATOMIC_RELEASE);
	CHECK_EQUAL(r, -PSYS_ENOTTY);
	CHECK_EQUAL(closes, 1);
}

TEST(a_terminal_needs_two_descriptors)
{
	struct self self;
	const struct aspawn_command command = on_terminal(&self, "exit_7", NULL);

	need_terminals();
	const int lowest = psys_open("/", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	CHECK_EQUAL(psys_close(lowest), 0);
	for (int i = 0; i < 2; i++) {
		const struct psys_rlimit64 limit = { (uint64_t)(lowest + i),
						     (uint64_t)(lowest + 1) };
		CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL), 0);
		check_no_terminal(&command, -PSYS_EMFILE, -PSYS_EMFILE);
	}
}

/* An otherwise invalid command has made no terminal. */
TEST(an_invalid_stream_beside_a_terminal_leaves_nothing)
{
	struct self self;
	struct aspawn_command command = on_terminal(&self, "exit_7", NULL);
	struct aspawn_failure failure;
	struct aspawn_child child;

	need_terminals();
	const int descriptors = count_descriptors();
	command.std_err = 1;
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	check_text(failure.subject, "std_err", __LINE__);
	CHECK_EQUAL(child.pty_fd, -1);
	CHECK_EQUAL(count_descriptors(), descriptors);
}
