/* SPDX-License-Identifier: MIT */
/* Private commands: the caller goes on before its helper has cloned the child. */
#include "held.h"
#include "private.h"

static int reached, go;

/* The next helper waits before it clones until the gate go is opened. */
static void hold_helper(void)
{
	need_shared_memory();
	filter_hold(PSYS_NR_getppid, &reached, &go);
}

/* Starts a command whose helper is held; returns when it is. */
static struct aspawn_child start_held(const struct aspawn_command *command)
{
	struct aspawn_child child = start_command(NULL, command);

	gate_wait(&reached);
	return child;
}

TEST(a_private_start_does_not_wait_for_its_helper)
{
	struct self self;
	struct aspawn_command command = private_command(&self, "exit_7", NULL);

	hold_helper();
	struct aspawn_child child = start_held(&command);
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, 0), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 0), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(aspawn_ended(&child), 0);
	CHECK_EQUAL(aspawn_pid(&child), -PSYS_EAGAIN);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), -PSYS_EAGAIN);
	gate_open(&go);
	pid_of(&child);
	CHECK_EQUAL(why_not_started(&child), 0);
	check_ends(&child, 7 << 8);
	check_nothing_is_left();
}

TEST(what_the_caller_changes_after_a_private_start_does_not_reach_the_child)
{
	struct self self;
	struct aspawn_command command = private_command(&self, "shows", "directory");
	char text[256], before[256], *const none[] = { NULL };
	int ends[2];

	CHECK_EQUAL(psys_pipe2(ends, PSYS_O_CLOEXEC), 0);
	const int out = ends[1] == 9 ? (int)psys_fcntl(ends[1], PSYS_F_DUPFD_CLOEXEC, 10) : ends[1];
	const struct aspawn_action to = ASPAWN_DUP2(out, 1);
	command.actions = &to;
	command.action_count = 1;
	CHECK(psys_getcwd(before, sizeof before) > 0);
	hold_helper();
	struct aspawn_child child = start_held(&command);
	CHECK_EQUAL(psys_chdir("/proc"), 0);
	psys_close(out);
	command.argv = none;
	psys_memset(&self, 'x', sizeof self);
	gate_open(&go);
	const long length = psys_read(ends[0], text, sizeof text - 1);
	CHECK(length > 0);
	text[length] = '\0';
	CHECK_EQUAL(psys_strncmp(text, before, psys_strlen(before)), 0);
	check_ends(&child, 0);
}

/* Once the helper closes its descriptors, the child keeps nothing of the host's open. */
static void check_helper_lets_go(void)
{
	struct self self;
	struct aspawn_command command = private_command(&self, "lingers", NULL);
	int ends[2];
	char byte;

	CHECK_EQUAL(psys_pipe2(ends, PSYS_O_CLOEXEC), 0);
	hold_helper();
	struct aspawn_child child = start_held(&command);
	psys_close(ends[1]);
	CHECK_EQUAL(psys_fcntl(ends[0], PSYS_F_SETFL, PSYS_O_NONBLOCK), 0);
	CHECK_EQUAL(psys_read(ends[0], &byte, 1), -PSYS_EAGAIN);
	gate_open(&go);
	CHECK_EQUAL(psys_fcntl(ends[0], PSYS_F_SETFL, 0), 0);
	CHECK_EQUAL(psys_read(ends[0], &byte, 1), 0);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
	check_ends(&child, PSYS_SIGKILL);
}

TEST(the_helper_lets_go_of_the_callers_descriptors)
{
	check_helper_lets_go();
}

TEST(the_helper_lets_go_without_close_range)
{
	need_shared_memory();
	filter_refuse(PSYS_NR_close_range, PSYS_ENOSYS);
	check_helper_lets_go();
}

/* This helper can neither have another table nor close all at once. */
TEST(the_helper_lets_go_of_descriptors_one_by_one)
{
	struct self self;
	struct aspawn_command command = private_command(&self, "copies", NULL);
	char text[16];
	struct aspawn_io io = { .size = sizeof io,
				.input = "private",
				.input_size = 7,
				.out = text,
				.out_size = sizeof text };

	need_shared_memory();
	filter_refuse(PSYS_NR_close_range, PSYS_ENOSYS);
	filter_refuse(PSYS_NR_unshare, PSYS_EPERM);
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(psys_strcmp(text, "private"), 0);
}

static int lets_the_helper_go(void *arg)
{
	(void)arg;
	gate_wait(&reached);
	sleep_ms(2500); /* longer than two calls wait for the number of the child */
	gate_open(&go);
	return 0;
}

TEST(a_time_limit_that_is_over_before_the_helper_clones_ends_the_child)
{
	struct self self;
	const struct aspawn_command command = private_command(&self, "lingers", NULL);
	struct aspawn_io io = { .size = sizeof io,
				.time_limit_ms = 1,
				.grace_ms = ASPAWN_GRACE_NONE };
	struct thread thread;

	need_shared_memory();
	thread_start(&thread, lets_the_helper_go, NULL);
	hold_helper();
	CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(io.status, PSYS_SIGKILL);
	thread_join(&thread);
	check_nothing_is_left();
}

/* The helper dies in its own call, clone(2), since the helper is cloned by clone3(2). */
static void start_killed_in_clone(struct aspawn_child *child, struct aspawn_pool *pool,
				  const struct aspawn_action *action, int expected)
{
	struct self self;
	struct aspawn_command command = private_command(&self, "exit_7", NULL);
	struct thread thread;
	int killed = 0, error;

	need_shared_memory();
	command.memory = ASPAWN_MEMORY_COPIED;
	command.pool = pool;
	command.actions = action;
	command.action_count = action != NULL;
	hold_until_child_is_killed(PSYS_NR_clone, &thread, &killed);
	error = aspawn_start(child, &command);
	thread_join(&thread);
	if (!killed)
		skip("no clone3, or no list of children in /proc");
	CHECK_EQUAL(error, expected);
}

TEST(the_memory_of_a_helper_killed_as_it_clones_is_free)
{
	static struct aspawn_pool pool;
	struct aspawn_child child;

	start_killed_in_clone(&child, &pool, NULL, 0);
	CHECK_EQUAL(aspawn_release(&child), 0);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	check_nothing_is_left();
}

TEST(a_start_fails_whose_helper_is_killed_as_it_clones)
{
	const struct aspawn_action action = ASPAWN_ONLY_BELOW(3);
	struct aspawn_child child;

	start_killed_in_clone(&child, NULL, &action, -PSYS_EAGAIN);
	check_nothing_is_left();
}

/* Who kills it after pipe2(2) would leave two descriptors whose numbers nobody knows. */
TEST(a_helper_with_the_callers_descriptors_makes_no_pipe)
{
	const struct aspawn_action action = ASPAWN_ONLY_BELOW(3);
	struct self self;
	struct aspawn_command command = private_command(&self, "exit_7", NULL);

	need_call(psys_set_robust_list(NULL, 0) == -PSYS_EINVAL ? 0 : -PSYS_ENOSYS,
		  "no robust futexes");
	command.memory = ASPAWN_MEMORY_COPIED;
	command.actions = &action;
	command.action_count = 1;
	filter_refuse(PSYS_NR_pipe2, PSYS_EMFILE);
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	check_ends(&child, 7 << 8);
	check_nothing_is_left();
}

TEST(a_copy_with_the_callers_descriptors_reports_by_a_pipe_without_robust_futexes)
{
	const struct aspawn_action action = ASPAWN_ONLY_BELOW(3);
	const int descriptors = count_descriptors();
	struct self self;
	struct aspawn_command command = private_command(&self, "exit_7", NULL);

	command.memory = ASPAWN_MEMORY_COPIED;
	command.actions = &action;
	command.action_count = 1;
	filter_refuse(PSYS_NR_set_robust_list, PSYS_ENOSYS);
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	check_ends(&child, 7 << 8);
	command.file = "/missing";
	child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), -PSYS_ENOENT);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, LONG), -PSYS_ECANCELED);
	CHECK_EQUAL(count_descriptors(), descriptors);
	check_nothing_is_left();
}

/* A clone3 that fails late has stored the number of a pidfd which is not open. */
TEST(the_number_that_a_clone3_leaves_in_a_killed_helper_is_not_closed)
{
	struct self self;
	const struct aspawn_command command = private_command(&self, "exit_7", NULL);
	struct aspawn_io io = { .size = sizeof io, .flags = ASPAWN_IO_KILL_GROUP };
	const int other = psys_open("/", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	bool is_killed = false;

	CHECK(other >= 0);
	filter_kill_in_clone3(other, &is_killed);
	const int descriptors = count_descriptors(), r = aspawn_run(&command, &io);
	if (!is_killed)
		skip("no clone3");
	CHECK_EQUAL(r, -PSYS_EAGAIN);
	CHECK(psys_fcntl(other, PSYS_F_GETFD, 0) >= 0);
	CHECK_EQUAL(count_descriptors(), descriptors);
	check_nothing_is_left();
}

/* The helper, suspended in its clone until the child's exec. */
static ASPAWN_CHILD int kills_its_parent(void *host)
{
	const int parent = psys_getppid();

	return parent == (int)(intptr_t)host ? -PSYS_EINVAL : psys_kill(parent, PSYS_SIGKILL);
}

TEST(a_child_is_started_whose_helper_is_killed_after_its_clone)
{
	static struct aspawn_pool pool;
	const struct aspawn_action actions[] = {
		ASPAWN_CALL(kills_its_parent, (void *)(intptr_t)psys_getpid()),
		ASPAWN_ONLY_BELOW(3),
	};
	struct self self;
	struct aspawn_command command = private_command(&self, "exit_7", NULL);
	struct aspawn_io io = { .size = sizeof io, .flags = ASPAWN_IO_KILL_GROUP };

	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags_without(PSYS_NR_clone, clone_flags, PSYS_SIGCHLD, PSYS_CLONE_VFORK,
				    PSYS_EPERM);
	command.actions = actions;
	command.action_count = 2;
	const int descriptors = count_descriptors();
	struct aspawn_child child = start_command(&pool, &command);
	CHECK(aspawn_pid(&child) > 0);
	CHECK_EQUAL(why_not_started(&child), 0);
	check_ends(&child, 7 << 8);
	command.pool = &pool;
	command.action_count = 1;
	CHECK_EQUAL(aspawn_run(&command, &io), 0);
	CHECK_EQUAL(io.status, 7 << 8);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	CHECK_EQUAL(count_descriptors(), descriptors);
	check_nothing_is_left();
}

/* The helper opens a pidfd before it stores how it has cloned the child. */
TEST(the_exec_of_a_copy_is_seen_whose_helper_is_killed_after_its_clone)
{
	static struct aspawn_pool pool;
	struct self self;
	struct aspawn_command command = private_command(&self, "lingers", NULL);
	struct thread thread;
	int killed = 0;

	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	const int pidfd = psys_pidfd_open(psys_getpid(), 0);
	need_call(pidfd, "no pidfds"); /* where a filter refuses the call, nothing is held */
	psys_close(pidfd);
	command.memory = ASPAWN_MEMORY_COPIED;
	command.flags = ASPAWN_COMMAND_NO_PIDFD;
	hold_until_child_is_killed(PSYS_NR_pidfd_open, &thread, &killed);
	struct aspawn_child child = start_command(&pool, &command);
	thread_join(&thread);
	const int pid = aspawn_pid(&child);
	CHECK(pid > 0);
	if (!killed) {
		psys_kill(pid, PSYS_SIGKILL);
		skip("no list of children in /proc");
	}
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, LONG), 0);
	CHECK_EQUAL(aspawn_ended(&child), 0);
	CHECK_EQUAL(psys_kill(pid, PSYS_SIGKILL), 0);
	check_ends(&child, PSYS_SIGKILL);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	check_nothing_is_left();
}

TEST(a_helper_killed_before_it_clones_is_a_failure_of_the_command)
{
	struct self self;
	struct aspawn_command command = private_command(&self, "exit_7", NULL);
	struct aspawn_failure failure;
	struct thread thread;
	int killed = 0, status = -1;
	char byte;

	command.std_out = ASPAWN_STREAM_PIPE;
	hold_until_child_is_killed(PSYS_NR_getppid, &thread, &killed);
	struct aspawn_child child = start_command(NULL, &command);
	thread_join(&thread);
	if (!killed)
		skip("no list of children in /proc");
	CHECK_EQUAL(aspawn_pid(&child), -PSYS_ECANCELED);
	CHECK_EQUAL(aspawn_pidfd(&child), -PSYS_ECANCELED);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), -PSYS_ESRCH);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, 0), -PSYS_ECANCELED);
	CHECK_EQUAL(failure.step, ASPAWN_STEP_CLONE);
	CHECK_EQUAL(failure.error, -PSYS_ECHILD);
	CHECK_EQUAL(aspawn_ended(&child), 1);
	CHECK_EQUAL(aspawn_wait(&child, &status, NULL, 0), -PSYS_ECANCELED);
	CHECK_EQUAL(status, PSYS_SIGKILL);
	CHECK_EQUAL(psys_read(child.out_fd, &byte, 1), 0);
	psys_close(child.out_fd);
	check_nothing_is_left();
}

/* The child of the helper alone is to be refused, whose exit signal is SIGCHLD. */
static void refuse_the_clone(int error)
{
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_SIGCHLD, error);
}

static void check_not_cloned(struct aspawn_command command, uint64_t flags, int error)
{
	const int descriptors = count_descriptors();
	struct aspawn_failure failure;
	int status = -1;
	char text[64], byte;

	command.std_out = ASPAWN_STREAM_PIPE;
	command.flags |= flags;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(psys_read(child.out_fd, &byte, 1), 0);
	psys_close(child.out_fd);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(failure.step, ASPAWN_STEP_CLONE);
	CHECK_EQUAL(failure.error, error);
	aspawn_failure_text(text, sizeof text, &failure);
	CHECK_EQUAL(psys_strncmp(text, "clone: E", 8), 0);
	CHECK_EQUAL(aspawn_pid(&child), -PSYS_ECANCELED);
	CHECK_EQUAL(aspawn_wait(&child, &status, NULL, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(status, 127 << 8);
	CHECK_EQUAL(count_descriptors(), descriptors);
	check_nothing_is_left();
}

TEST(a_child_that_cannot_be_cloned_is_a_failure_of_the_command)
{
	struct self self;
	const struct aspawn_command command = private_command(&self, "exit_7", NULL);

	refuse_the_clone(PSYS_EAGAIN);
	for (int i = 0; i < 4; i++)
		check_not_cloned(command,
				 (i & 1 ? ASPAWN_COMMAND_STARTED_FD : 0) |
					 (i & 2 ? ASPAWN_COMMAND_NO_PIDFD : 0),
				 -PSYS_EAGAIN);
}

/* The caller waits for the helper, which has the caller's descriptors. */
TEST(a_start_fails_whose_helper_cannot_clone)
{
	const struct aspawn_action action = ASPAWN_ONLY_BELOW(3);
	const int descriptors = count_descriptors();
	const struct psys_sigset mask = get_mask();
	struct self self;
	struct aspawn_command command = private_command(&self, "exit_7", NULL);
	struct aspawn_child child;

	command.actions = &action;
	command.action_count = 1;
	command.std_out = ASPAWN_STREAM_PIPE;
	refuse_the_clone(PSYS_EAGAIN);
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EAGAIN);
	CHECK(same_mask(mask, get_mask()));
	CHECK_EQUAL(count_descriptors(), descriptors);
	check_nothing_is_left();
}

TEST(a_private_command_in_another_pid_namespace_fails)
{
	struct self self;
	const struct aspawn_command command = private_command(&self, "exit_7", NULL);

	if (psys_unshare(PSYS_CLONE_NEWPID) < 0)
		skip("may not make a pid namespace");
	check_not_cloned(command, 0, -PSYS_EOPNOTSUPP);
}

/* --- the helper and the child -------------------------------------------------------------- */

TEST(a_child_whose_helper_is_stopped_is_killed)
{
	struct aspawn_child child;
	struct psys_timespec no_time = { 0, 0 };
	const int helper = start_helped(&child, 0, NULL), pid = aspawn_pid(&child);

	CHECK_EQUAL(psys_kill(helper, PSYS_SIGSTOP), 0);
	CHECK_EQUAL(aspawn_kill(&child, 0), 0);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
	const int pidfd = aspawn_pidfd(&child);
	CHECK(pidfd >= 0);
	struct psys_pollfd poll[2] = { { pidfd, PSYS_POLLIN, 0 },
				       { child.ended_fd, PSYS_POLLIN, 0 } };
	CHECK_EQUAL(psys_ppoll(poll, 1, NULL, NULL, 0), 1);
	CHECK_EQUAL(psys_ppoll(poll + 1, 1, &no_time, NULL, 0), 0);
	CHECK_EQUAL(psys_kill(helper, PSYS_SIGCONT), 0);
	check_ends(&child, PSYS_SIGKILL);
	CHECK_EQUAL(psys_kill(pid, 0), -PSYS_ESRCH);
	psys_close(pidfd);
}

TEST(a_pidfd_is_the_childs_own)
{
	for (int i = 0; i < 4; i++) {
		struct self self;
		struct aspawn_command command = command_in_role(&self, "lingers", NULL);
		const int descriptors = count_descriptors();
		const bool is_private = i & 1, wants_pidfd = !(i & 2);

		if (is_private)
			need_shared_memory();
		command.owner = is_private ? ASPAWN_OWNER_PRIVATE : ASPAWN_OWNER_CALLER;
		command.flags = wants_pidfd ? 0 : ASPAWN_COMMAND_NO_PIDFD;
		struct aspawn_child child = start_command(NULL, &command);
		pid_of(&child);
		const int pidfd = aspawn_pidfd(&child);
		if (pidfd == -PSYS_ENOSYS)
			skip("no pidfd_open");
		CHECK(pidfd > 2 && pidfd != child.ended_fd);
		CHECK_EQUAL(psys_fcntl(pidfd, PSYS_F_GETFD, 0), PSYS_FD_CLOEXEC);
		CHECK_EQUAL(psys_pidfd_send_signal(pidfd, PSYS_SIGKILL, NULL, 0), 0);
		while (aspawn_ended(&child) == 0)
			sleep_ms(1);
		const int again = aspawn_pidfd(&child);
		if (is_private) { /* its helper reaps it */
			CHECK(again == -PSYS_ESRCH || again >= 0);
		} else {
			CHECK(again >= 0);
		}
		check_ends(&child, PSYS_SIGKILL);
		CHECK_EQUAL(psys_pidfd_send_signal(pidfd, 0, NULL, 0), -PSYS_ESRCH);
		CHECK_EQUAL(aspawn_pidfd(&child), -PSYS_EINVAL);
		psys_close(pidfd);
		if (again >= 0)
			psys_close(again);
		CHECK_EQUAL(count_descriptors(), descriptors);
	}
	CHECK_EQUAL(aspawn_pid(NULL), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_pidfd(NULL), -PSYS_EINVAL);
}

/* --- the host ------------------------------------------------------------------------------- */

/* Each host ends right after its start. Each command runs. */
TEST(a_private_command_runs_if_its_host_ends_at_once)
{
	const int hosts = scaled(300);
	struct self self;
	struct aspawn_command command = private_command(&self, "writes", "x");
	char bytes[64];
	int ends[2];
	long total = 0, length;

	need_shared_memory();
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	CHECK_EQUAL(psys_pipe2(ends, PSYS_O_CLOEXEC), 0);
	const struct aspawn_action to = ASPAWN_DUP2(ends[1], 1);
	command.actions = &to;
	command.action_count = 1;
	for (int i = 0; i < hosts; i++) {
		struct aspawn_child child;
		const int host = fork_child();

		if (host == 0)
			psys_exit_group(-aspawn_start(&child, &command));
		int status, pid;
		while ((pid = psys_wait4(-1, &status, PSYS___WALL, NULL)) != host)
			CHECK(pid > 0);
		CHECK_EQUAL(status, 0);
		length = psys_read(ends[0], bytes, sizeof bytes);
		CHECK(length > 0);
		total += length;
	}
	CHECK(total >= hosts);
	while (psys_wait4(-1, NULL, PSYS___WALL, NULL) > 0)
		continue;
}
