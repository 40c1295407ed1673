/* SPDX-License-Identifier: MIT */
/* What ends a tree, what survives it, and what the caller learns. */
#include "filter.h"
#include "held.h"
#include "queues.h"
#include "tree.h"

/* --- members ------------------------------------------------------------------------ */

/* Begins a descendant in another session, whose parent has ended. */
static void begin_daemon(void)
{
	int *ready = shared_page();

	if (fork_child()) {
		gate_wait(ready);
		return;
	}
	psys_setsid();
	if (fork_child())
		psys_exit_group(0);
	gate_open(ready);
}

static void linger(void)
{
	psys_write(1, "x", 1);
	sleep_ms(600000);
	psys_exit_group(0);
}

/* Exits with 7 and leaves a daemon. */
ROLE(leaves_a_daemon)
{
	(void)argc, (void)argv;
	const int self = psys_getpid();
	begin_daemon();
	if (psys_getpid() != self)
		linger();
	return 7;
}

/* The daemon ends when its input does. */
ROLE(has_a_reader)
{
	char byte;

	(void)argc, (void)argv;
	const int self = psys_getpid();
	begin_daemon();
	if (psys_getpid() == self)
		linger();
	psys_write(1, "x", 1);
	while (psys_read(0, &byte, 1) > 0)
		continue;
	return 0;
}

/* Program and child stay, in one group. */
ROLE(has_children)
{
	(void)argc, (void)argv;
	fork_child();
	linger();
	return 1;
}

/* Both stay. */
ROLE(has_a_daemon)
{
	(void)argc, (void)argv;
	begin_daemon();
	linger();
	return 1;
}

static void on_sigterm(int signal)
{
	(void)signal;
	psys_write(1, "t", 1);
	psys_exit_group(3);
}

/* The argument is the number of generations below, each in another session. All exit on SIGTERM. */
ROLE(generations)
{
	int left = (argc > 1 ? argv[1][0] - '0' : 0);

	set_handler(PSYS_SIGTERM, on_sigterm);
	while (left-- > 0) {
		if (fork_child())
			break;
		psys_setsid();
	}
	linger();
	return 1;
}

/* Sends a signal to the parent, which is the helper. */
ROLE(signals_helper)
{
	int signal = 0;

	for (const char *at = argc > 1 ? argv[1] : ""; *at; at++)
		signal = signal * 10 + (*at - '0');
	psys_kill(psys_getppid(), signal);
	psys_write(1, "x", 1);
	if (signal == PSYS_SIGKILL)
		sleep_ms(600000);
	return 7;
}

/* Each process forks the next process and exits. The program stays. */
ROLE(endless_chain)
{
	(void)argc, (void)argv;
	set_disposition(PSYS_SIGTERM, PSYS_SIG_IGN);
	if (fork_child())
		linger();
	for (;;)
		if (psys_fork() != 0)
			psys_exit_group(0);
}

/* Forks until no number is left, and goes on. An argument leaves few numbers. */
ROLE(fork_bomb)
{
	const uint64_t most = argc > 1 ? 12 : 60; /* which the helper competes with */
	const struct psys_rlimit64 limit = { most, most };

	(void)argv;
	psys_prlimit64(0, PSYS_RLIMIT_NPROC, &limit, NULL);
	psys_write(1, "x", 1);
	for (;;)
		if (psys_fork() == 0)
			psys_setsid();
	return 0; /* gcc wants one */
}

/* More than one read of the list has. */
ROLE(many_children)
{
	const int count = scaled(1000);

	(void)argc, (void)argv;
	for (int i = 0; i < count; i++)
		if (fork_child() == 0)
			sleep_ms(600000);
	return 7;
}

/* --- ends ----------------------------------------------------------------------------- */

TEST(nothing_is_left_when_the_program_has_ended)
{
	static struct aspawn_pool pool;
	static const uint64_t flags[] = { 0, ASPAWN_COMMAND_NO_PIDFD, ASPAWN_COMMAND_STARTED_FD,
					  ASPAWN_COMMAND_TREE_OR_GROUP,
					  ASPAWN_COMMAND_DIES_WITH_CALLER };
	static const struct aspawn_action closes[] = { ASPAWN_ONLY_BELOW(3) };
	const int descriptors = count_descriptors();

	need_lists();
	for (int i = 0; i < 8 * (int)(sizeof flags / sizeof *flags); i++) {
		struct self self;
		struct aspawn_command command = tree_command(&self, "leaves_a_daemon", NULL);
		command.flags = flags[i / 8];
		command.memory = i & 1 ? ASPAWN_MEMORY_COPIED : ASPAWN_MEMORY_SHARED;
		command.pool = i & 2 ? &pool : NULL;
		command.actions = i & 4 ? closes : NULL;
		command.action_count = i & 4 ? 1 : 0;
		struct aspawn_child child = start_command(NULL, &command);
		check_unseen(pid_of(&child));
		CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_OWNER), ASPAWN_OWNER_TREE);
		check_ends(&child, 7 << 8);
		check_all_have_ended(child.out_fd, 0);
		CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_OWNER), ASPAWN_OWNER_TREE);
		CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_SURVIVORS), 0);
		CHECK_EQUAL(aspawn_kill_tree(&child, 0), -PSYS_EINVAL);
		check_nothing_is_left();
		CHECK_EQUAL(count_descriptors(), descriptors);
	}
	release_pool(&pool);
}

TEST(kill_tree_ends_all_of_a_tree)
{
	need_lists();
	for (int way = 0; way < 4; way++) {
		struct self self;
		struct aspawn_command command = tree_command(&self, "has_a_daemon", NULL);
		command.flags = way & 1 ? ASPAWN_COMMAND_NO_PIDFD : 0;
		struct aspawn_child child = start_command(NULL, &command);
		await_bytes(child.out_fd, 2);
		CHECK_EQUAL(aspawn_ended(&child), 0);
		CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 20), -PSYS_ETIMEDOUT);
		CHECK_EQUAL(aspawn_kill_tree(&child, way & 2 ? 0 : ASPAWN_GRACE_NONE), 0);
		check_ends(&child, way & 2 ? PSYS_SIGTERM : PSYS_SIGKILL);
		check_all_have_ended(child.out_fd, 0);
		check_nothing_is_left();
	}
}

/* SIGTERM goes to all generations, in whatever session, and the grace is not waited for in vain. */
TEST(kill_tree_lets_all_generations_end_themselves)
{
	struct self self;
	char text[32];
	long length, terms = 0;

	need_lists();
	struct aspawn_command command = tree_command(&self, "generations", "5");
	struct aspawn_child child = start_command(NULL, &command);
	await_bytes(child.out_fd, 6);
	CHECK_EQUAL(aspawn_kill_tree(&child, LONG), 0);
	check_ends(&child, 3 << 8);
	while ((length = psys_read(child.out_fd, text, sizeof text)) > 0)
		terms += length;
	CHECK_EQUAL(terms, 6);
	psys_close(child.out_fd);
}

/* The caller's order arrives before the helper looks for the first time, or soon after. */
TEST(kill_tree_gives_a_grace_from_the_beginning)
{
	need_lists();
	for (int i = 0; i < scaled(100); i++) {
		struct self self;
		struct aspawn_command command = tree_command(&self, "lingers", NULL);
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_kill_tree(&child, LONG), 0);
		check_ends(&child, PSYS_SIGTERM);
		psys_close(child.out_fd);
	}
}

TEST(kill_tree_shortens_a_grace)
{
	struct self self;

	need_lists();
	struct aspawn_command command = tree_command(&self, "endless_chain", NULL);
	struct aspawn_child child = start_command(NULL, &command);
	await_bytes(child.out_fd, 1);
	CHECK_EQUAL(aspawn_kill_tree(&child, INT64_MAX), 0);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 50), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(aspawn_kill_tree(&child, ASPAWN_GRACE_NONE), 0);
	check_ends(&child, PSYS_SIGKILL);
	check_all_have_ended(child.out_fd, 0);
}

TEST(a_tree_of_many_children_ends)
{
	struct self self;

	need_lists();
	struct aspawn_command command = tree_command(&self, "many_children", NULL);
	struct aspawn_child child = start_command(NULL, &command);
	check_ends(&child, 7 << 8);
	check_all_have_ended(child.out_fd, 0);
}

static void has_fork_bomb(const void *arg)
{
	const unsigned user = own_user();
	struct self self;

	(void)arg;
	if (psys_geteuid() == 0) {
		CHECK_EQUAL(psys_setresgid((int)user, (int)user, (int)user), 0);
		CHECK_EQUAL(psys_setresuid((int)user, (int)user, (int)user), 0);
	}
	struct aspawn_command command =
		tree_command(&self, "fork_bomb", scaled(50) < 50 ? "few" : NULL);
	struct aspawn_child child = start_command(NULL, &command);
	await_bytes(child.out_fd, 1);
	sleep_ms(20);
	CHECK_EQUAL(aspawn_kill_tree(&child, ASPAWN_GRACE_NONE), 0);
	check_ends(&child, PSYS_SIGKILL);
	check_all_have_ended(child.out_fd, 0);
}

TEST(a_fork_bomb_ends)
{
	need_lists();
	if (psys_geteuid())
		skip("not root: the limit is for all processes of the user");
	need_others_to_reach_program();
	const int host = fork_child();
	if (host == 0) {
		has_fork_bomb(NULL);
		psys_exit_group(0);
	}
	CHECK_EQUAL(reap(host), 0);
}

TEST(a_released_tree_is_let_go)
{
	static struct aspawn_pool pool;

	need_lists();
	for (int i = 0; i < 2; i++) {
		struct self self;
		struct aspawn_command command = tree_command(&self, "has_a_reader", NULL);
		struct psys_timespec moment = { 0, 20000000 };

		command.pool = i ? &pool : NULL;
		command.std_in = ASPAWN_STREAM_PIPE;
		struct aspawn_child child = start_command(NULL, &command);
		const int pid = pid_of(&child);
		await_bytes(child.out_fd, 2);
		CHECK_EQUAL(aspawn_release(&child), 0);
		CHECK_EQUAL(psys_kill(pid, PSYS_SIGTERM), 0);
		sleep_until_gone(pid);
		struct psys_pollfd poll = { child.out_fd, PSYS_POLLIN, 0 };
		CHECK_EQUAL(psys_ppoll(&poll, 1, &moment, NULL, 0), 0);
		psys_close(child.in_fd); /* then the daemon ends */
		check_all_have_ended(child.out_fd, LONG);
		CHECK_EQUAL(aspawn_release(&child), 0);
	}
	release_pool(&pool);
}

/* Killing is no letting go. */
TEST(a_tree_whose_end_is_ordered_may_be_released)
{
	struct self self;

	need_lists();
	struct aspawn_command command = tree_command(&self, "has_a_daemon", NULL);
	struct aspawn_child child = start_command(NULL, &command);
	await_bytes(child.out_fd, 2);
	CHECK_EQUAL(aspawn_kill_tree(&child, ASPAWN_GRACE_NONE), 0);
	CHECK_EQUAL(aspawn_release(&child), 0);
	check_all_have_ended(child.out_fd, LONG);
	/* The release has given the helper's results back, if it came after the helper's end. */
	const int r = aspawn_wait(&child, NULL, NULL, LONG);
	CHECK(r == 0 || r == -PSYS_ECHILD);
}

/* --- aspawn_run() ----------------------------------------------------------------------- */

TEST(run_ends_the_tree_at_its_time_limit)
{
	static const int graces[] = { ASPAWN_GRACE_NONE, 20 };
	char text[32];

	need_lists();
	for (int i = 0; i < 4; i++) {
		struct self self;
		struct aspawn_command command =
			tree_command(&self, i < 2 ? "has_a_daemon" : "leaves_a_daemon", NULL);
		struct aspawn_io io = { .size = sizeof io,
					.flags = i & 1 ? ASPAWN_IO_KILL_GROUP : 0,
					.out = text,
					.out_size = sizeof text,
					.time_limit_ms = i < 2 ? 50 : LONG,
					.grace_ms = graces[i & 1] };
		CHECK_EQUAL(aspawn_run(&command, &io), i < 2 ? -PSYS_ETIMEDOUT : 0);
		CHECK_EQUAL(io.outcome, i < 2 ? ASPAWN_OUTCOME_TIMED_OUT : ASPAWN_OUTCOME_RAN);
		if (i >= 2)
			CHECK_EQUAL(io.status, 7 << 8);
		check_nothing_is_left();
	}
}

/* --- what happens to a helper ------------------------------------------------------------- */

/* Starts a program that sends the signal to its helper. */
static struct aspawn_child start_attacker(struct self *self, const char *signal)
{
	struct aspawn_command command = tree_command(self, "signals_helper", signal);
	struct aspawn_child child = start_command(NULL, &command);

	await_bytes(child.out_fd, 1);
	return child;
}

static void loses_its_helper(const void *arg)
{
	struct self self;
	char text[64];
	int status = -7, ended;

	(void)arg;
	struct aspawn_child child = start_attacker(&self, "9");
	const int pid = pid_of(&child);
	while (!(ended = aspawn_ended(&child))) /* the helper has a signal to die of */
		sleep_ms(1);
	CHECK_EQUAL(ended, -PSYS_EOWNERDEAD);
	CHECK_EQUAL(aspawn_kill_tree(&child, 0), -PSYS_EOWNERDEAD);
	CHECK_EQUAL(psys_kill(pid, PSYS_SIGKILL), 0);
	CHECK_EQUAL(aspawn_wait(&child, &status, NULL, LONG), -PSYS_EOWNERDEAD);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_OUTCOME), ASPAWN_OUTCOME_LOST);
	CHECK_EQUAL(status, -7);
	CHECK_EQUAL(aspawn_wait(&child, &status, NULL, LONG), -PSYS_EINVAL);
	check_all_have_ended(child.out_fd, LONG);

	/* A run ends the program, and knows nothing else. */
	struct aspawn_command command = tree_command(&self, "signals_helper", "9");
	struct aspawn_io io = { .size = sizeof io, .out = text, .out_size = sizeof text };
	CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_EOWNERDEAD);
	CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_LOST);
	aspawn_io_text(text, sizeof text, -PSYS_EOWNERDEAD, &io);
	CHECK_EQUAL(psys_strcmp(text, "EOWNERDEAD"), 0);
}

TEST(a_tree_that_kills_its_helper_is_an_error)
{
	need_lists();
	run_under_reaper(loses_its_helper, NULL);
}

static void stops_its_helper(uint64_t flags)
{
	struct self self;
	char signal[PSYS_DECIMAL_SIZE];

	signal[psys_i64_to_decimal(signal, PSYS_SIGSTOP)] = '\0';
	struct aspawn_command command = tree_command(&self, "signals_helper", signal);
	command.flags = flags;
	struct aspawn_child child = start_command(NULL, &command);
	await_bytes(child.out_fd, 1);
	sleep_ms(20);
	check_ends(&child, 7 << 8);
	check_all_have_ended(child.out_fd, 0);
	psys_exit_group(0);
}

/* Both hosts run at a time, as a wait takes a second to notice. */
TEST(a_tree_cannot_stop_its_helper)
{
	static const uint64_t flags[] = { 0, ASPAWN_COMMAND_NO_PIDFD };
	int hosts[2];

	need_lists();
	/* If this process is a child of init, its group gets SIGHUP when one helper exits after its
	 * host while the other helper is stopped (kernel/exit.c, kill_orphaned_pgrp). */
	set_disposition(PSYS_SIGHUP, PSYS_SIG_IGN);
	for (int i = 0; i < 2; i++) {
		hosts[i] = fork_child();
		if (hosts[i] == 0)
			stops_its_helper(flags[i]);
	}
	for (int i = 0; i < 2; i++)
		CHECK_EQUAL(reap(hosts[i]), 0);
}

/* --- callers that change --------------------------------------------------------------------- */

static void changes_user(bool changes_session)
{
	struct self self;
	struct aspawn_command command = tree_command(&self, "has_a_daemon", NULL);
	struct aspawn_child child = start_command(NULL, &command);

	await_bytes(child.out_fd, 2);
	CHECK_EQUAL(psys_setresuid(65534, 65534, 65534), 0);
	if (changes_session)
		CHECK(psys_setsid() > 0);
	CHECK_EQUAL(aspawn_kill(&child, 0), -PSYS_EPERM);
	CHECK_EQUAL(aspawn_kill_tree(&child, ASPAWN_GRACE_NONE), 0);
	check_ends(&child, PSYS_SIGKILL);
	check_all_have_ended(child.out_fd, 0);
	psys_exit_group(0);
}

TEST(a_tree_obeys_a_caller_that_has_changed_its_user)
{
	need_lists();
	if (psys_geteuid())
		skip("not root");
	for (int i = 0; i < 2; i++) {
		const int host = fork_child();
		if (host == 0)
			changes_user(i);
		CHECK_EQUAL(reap(host), 0);
	}
}

/* The caller's thread ends, its process goes on. */
static int starts_tree(void *child)
{
	struct self self;
	struct aspawn_command command = tree_command(&self, "has_a_daemon", NULL);

	command.flags = ASPAWN_COMMAND_DIES_WITH_CALLER;
	*(struct aspawn_child *)child = start_command(NULL, &command);
	return 0;
}

TEST(a_tree_outlives_the_thread_that_started_it)
{
	struct aspawn_child child;
	struct thread thread;

	need_lists();
	thread_start(&thread, starts_tree, &child);
	thread_join(&thread);
	await_bytes(child.out_fd, 2);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 50), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(aspawn_kill_tree(&child, 0), 0);
	check_ends(&child, PSYS_SIGTERM);
	check_all_have_ended(child.out_fd, 0);
}

/* --- what survives ---------------------------------------------------------------------------- */

/* The server has not the capability either. */
static void has_survivors_of_a_job(const struct aspawn_command *command)
{
	struct aspawn_queue *queue = open_queue(&(struct aspawn_queue_options){ .running = 1 });
	const struct aspawn_result *result;
	char text[64];

	do { /* before it has changed its user it may be killed */
		CHECK(submit_command(queue,
				     (struct aspawn_job){ .time_limit_ms = 100,
							  .grace_ms = ASPAWN_GRACE_NONE },
				     command) > 0);
		result = next_result(queue);
		CHECK_EQUAL(result->outcome, ASPAWN_OUTCOME_TIMED_OUT);
		if (!result->survivors)
			give_back(queue, result);
	} while (!result->survivors);
	CHECK_EQUAL(result->survivors, 2);
	CHECK_EQUAL(result->status, -1);
	aspawn_result_text(text, sizeof text, result);
	CHECK_EQUAL(psys_strcmp(text, "timed out, no status, and some of it survives"), 0);
	close_queue(queue);
}

enum { NO_SET_USER_ID = 9, WAYS = 4 };

/* The real user is root too, and from then on the caller may not signal the program. */
ROLE(becomes_root)
{
	(void)argc, (void)argv;
	if (psys_setresuid(0, 0, 0) < 0)
		return NO_SET_USER_ID;
	begin_daemon();
	linger();
	return 1;
}

/* Nobody else sees the program, in a file system of this process. */
static bool make_set_user_id_program(const char *path)
{
	static char bytes[65536];
	long length = 1;

	if (!may_mount() || psys_unshare(PSYS_CLONE_NEWNS) < 0 ||
	    psys_mount("none", "/", NULL, PSYS_MS_REC | PSYS_MS_PRIVATE, NULL) < 0 ||
	    psys_mount("none", "/tmp", "tmpfs", 0, "mode=755") < 0)
		return false;
	const int from = psys_open("/proc/self/exe", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	const int to = psys_open(path, PSYS_O_WRONLY | PSYS_O_CREAT | PSYS_O_CLOEXEC, 0700);
	while (length > 0 && (length = psys_read(from, bytes, sizeof bytes)) > 0)
		CHECK_EQUAL(psys_write(to, bytes, (size_t)length), length);
	CHECK_EQUAL(psys_fchmod(to, 04755), 0);
	psys_close(to);
	return psys_close(from) == 0;
}

static void has_set_user_id_survivors(void)
{
	struct self self;
	struct aspawn_command command = tree_command(&self, "becomes_root", NULL);
	char byte;

	command.file = "/tmp/becomes-root";
	if (is_emulated() || !make_set_user_id_program(command.file))
		psys_exit_group(NO_SET_USER_ID);
	CHECK_EQUAL(psys_setresgid(65534, 65534, 65534), 0);
	CHECK_EQUAL(psys_setresuid(65534, 65534, 65534), 0);
	struct aspawn_child child = start_command(NULL, &command);
	if (psys_read(child.out_fd, &byte, 1) != 1) {
		check_ends(&child, NO_SET_USER_ID << 8);
		psys_exit_group(NO_SET_USER_ID);
	}
	await_bytes(child.out_fd, 1);
	CHECK_EQUAL(aspawn_kill_tree(&child, 10), 0);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, LONG), -PSYS_ENOTEMPTY);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_SURVIVORS), 2);
	psys_exit_group(0);
}

/* Root without the capability, and another user. */
static void has_survivors(int way)
{
	const struct aspawn_action user = ASPAWN_USER(65534, 65534, NULL, 0);
	struct self self;
	char text[64];
	struct aspawn_command command = tree_command(&self, "has_a_daemon", NULL);
	int status = 0;

	if (way == 3)
		has_set_user_id_survivors();
	may_not_kill();
	command.actions = &user;
	command.action_count = 1;
	if (way == 2) {
		command.std_out = ASPAWN_STREAM_DEFAULT;
		has_survivors_of_a_job(&command);
		psys_exit_group(0);
	}
	if (way) {
		struct aspawn_io io = { .size = sizeof io,
					.out = text,
					.out_size = sizeof text,
					.grace_ms = ASPAWN_GRACE_NONE };
		int r = -PSYS_ETIMEDOUT;
		command.std_out = ASPAWN_STREAM_DEFAULT;
		/* Before the change of user the program may be killed. */
		for (io.time_limit_ms = 100; r == -PSYS_ETIMEDOUT; io.time_limit_ms *= 2)
			r = aspawn_run(&command, &io);
		CHECK_EQUAL(r, -PSYS_ENOTEMPTY);
		CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_TIMED_OUT);
		CHECK_EQUAL(io.status, -1);
		aspawn_io_text(text, sizeof text, -PSYS_ENOTEMPTY, &io);
		CHECK_EQUAL(psys_strcmp(text, "timed out, no status, and some of it survives"), 0);
		psys_exit_group(0);
	}
	struct aspawn_child child = start_command(NULL, &command);
	await_bytes(child.out_fd, 2);
	CHECK_EQUAL(aspawn_kill_tree(&child, 10), 0);
	CHECK_EQUAL(aspawn_wait(&child, &status, NULL, LONG), -PSYS_ENOTEMPTY);
	CHECK_EQUAL(status, -1);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_SURVIVORS), 2);
	psys_exit_group(0);
}

TEST(survivors_that_may_not_be_signalled_are_counted)
{
	need_lists();
	if (psys_geteuid())
		skip("not root");
	need_others_to_reach_program();
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	int hosts[WAYS], left = 0, hosts_without = 0;
	for (int way = 0; way < WAYS; way++) { /* at a time: each helper gives up after a second */
		hosts[way] = fork_child();
		if (hosts[way] == 0)
			has_survivors(way);
	}
	for (int way = 0; way < WAYS; way++) {
		const int status = reap(hosts[way]);
		CHECK(status == 0 || (status == NO_SET_USER_ID && way == 3));
		hosts_without += status != 0;
	}
	note("hosts without set-user-ID programs:", hosts_without);
	/* The rest are this process's children now, with what the programs have not reaped. */
	for (int pid; (pid = first_child_of(psys_gettid()));) {
		int status = 0;

		psys_kill(pid, PSYS_SIGKILL);
		psys_wait4(pid, &status, (int)PSYS___WALL,
			   NULL); /* the kernel may have reaped a helper */
		left += status == PSYS_SIGKILL;
	}
	CHECK_EQUAL(left, 2 * (WAYS - hosts_without));
}

/* The killed program is a zombie of the tracer's, until the tracer waits. The helper gives up after
 * ten seconds (SUITE_PATIENT), or twenty rounds without a clock. */
TEST(a_tracer_outside_holds_some_of_a_tree)
{
	struct self self;
	int status, r;

	need_lists();
	if (!psys_getenv(environment, "SUITE_PATIENT"))
		filter_refuse(PSYS_NR_clock_gettime, PSYS_EPERM);
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	struct aspawn_command command = tree_command(&self, "has_a_daemon", NULL);
	struct aspawn_child child = start_command(NULL, &command);
	await_bytes(child.out_fd, 2);
	const int pid = aspawn_pid(&child);
	need_call(psys_ptrace(0x4206 /* PTRACE_SEIZE */, pid, NULL, NULL), "may not trace");
	CHECK_EQUAL(aspawn_kill_tree(&child, ASPAWN_GRACE_NONE), 0);
	while ((r = aspawn_wait(&child, &status, NULL, -1)) == -PSYS_ETIMEDOUT)
		continue; /* the helper has given up, and is about to end */
	CHECK_EQUAL(r, -PSYS_ENOTEMPTY);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_SURVIVORS), 1);
	CHECK_EQUAL(status, -1);
	check_all_have_ended(child.out_fd, 0);
	CHECK_EQUAL(psys_wait4(pid, &status, (int)PSYS___WALL, NULL), pid);
	CHECK_EQUAL(status, PSYS_SIGKILL);
}

/* In version 1 a SIGKILL waits until the group is thawed. */
static void check_frozen(const char *controller, const char *file, const char *frozen,
			 const char *thawed)
{
	char number[PSYS_DECIMAL_SIZE];
	struct cgroup group;
	struct self self;
	int status, r;

	make_cgroup_of(&group, controller);
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	struct aspawn_command command = tree_command(&self, "has_a_daemon", NULL);
	struct aspawn_child child = start_command(NULL, &command);
	await_bytes(child.out_fd, 2);
	const int pid = aspawn_pid(&child);
	number[psys_i64_to_decimal(number, pid)] = '\0';
	CHECK_EQUAL(write_to_cgroup(group.fd, "cgroup.procs", number), 0);
	if (write_to_cgroup(group.fd, file, frozen) < 0) {
		CHECK_EQUAL(aspawn_kill_tree(&child, ASPAWN_GRACE_NONE), 0);
		CHECK_EQUAL(aspawn_release(&child), 0);
		remove_cgroup(&group);
		skip("no freezer");
	}
	CHECK_EQUAL(aspawn_kill_tree(&child, ASPAWN_GRACE_NONE), 0);
	while ((r = aspawn_wait(&child, &status, NULL, -1)) == -PSYS_ETIMEDOUT)
		continue;
	CHECK_EQUAL(r, controller ? -PSYS_ENOTEMPTY : 0);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_SURVIVORS), controller != NULL);
	CHECK_EQUAL(write_to_cgroup(group.fd, file, thawed), 0);
	check_all_have_ended(child.out_fd, LONG);
	if (controller)
		CHECK_EQUAL(reap(pid), 128 + PSYS_SIGKILL);
	/* What the program has not reaped; and the helper, which the kernel may reap. */
	for (int rest; (rest = first_child_of(psys_gettid()));)
		psys_wait4(rest, NULL, (int)PSYS___WALL, NULL);
	remove_cgroup(&group);
}

TEST(a_frozen_tree_ends)
{
	need_lists();
	check_frozen(NULL, "cgroup.freeze", "1", "0");
}

/* The helper cannot tell the time, and gives up after twenty rounds. */
TEST(what_is_frozen_by_version_1_survives_its_tree)
{
	need_lists();
	filter_refuse(PSYS_NR_clock_gettime, PSYS_EPERM);
	check_frozen("freezer", "freezer.state", "FROZEN", "THAWED");
}

/* The argument is the first process of a pid namespace. */
ROLE(forks_in_namespace)
{
	char path[64] = "/proc/";

	psys_strlcpy(path + 6, argc > 1 ? argv[1] : "", 20);
	psys_strlcpy(path + psys_strlen(path), "/ns/pid", 16);
	const int fd = psys_open(path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	if (psys_setns(fd, PSYS_CLONE_NEWPID) < 0)
		return 1;
	const int middle = fork_child();
	if (middle)
		return reap(middle);
	if (fork_child())
		psys_exit_group(7);
	linger();
	return 1;
}

TEST(what_a_foreign_pid_namespace_adopts_escapes)
{
	const struct psys_timespec moment = { 0, 20000000 };
	char number[PSYS_DECIMAL_SIZE];
	struct self self;

	need_lists();
	const int init = psys_clone(PSYS_CLONE_NEWPID | PSYS_SIGCHLD, NULL, NULL, NULL, NULL);
	need_call(init, "may not make a pid namespace");
	if (init == 0) {
		sleep_ms(600000);
		psys_exit_group(0);
	}
	number[psys_i64_to_decimal(number, init)] = '\0';
	struct aspawn_command command = tree_command(&self, "forks_in_namespace", number);
	struct aspawn_child child = start_command(NULL, &command);
	await_bytes(child.out_fd, 1);
	check_ends(&child, 7 << 8);
	struct psys_pollfd poll = { child.out_fd, PSYS_POLLIN, 0 };
	struct psys_timespec time = moment;
	CHECK_EQUAL(psys_ppoll(&poll, 1, &time, NULL, 0), 0);
	CHECK_EQUAL(psys_kill(init, PSYS_SIGKILL), 0);
	CHECK_EQUAL(reap(init), 128 + PSYS_SIGKILL);
	check_all_have_ended(child.out_fd, LONG);
}

/* --- where there is no list of children ------------------------------------------------------- */

/* Runs as the first process of a pid namespace, with which all others end. */
static void uses_groups(bool hides_proc)
{
	static const char *const roles[] = { "has_a_daemon", "has_children" };
	struct aspawn_failure failure;
	struct aspawn_child child;
	struct self self;

	if (hides_proc)
		CHECK_EQUAL(psys_mount("none", "/proc", "tmpfs", 0, NULL), 0);
	struct aspawn_command command = tree_command(&self, roles[0], NULL);
	CHECK_EQUAL(aspawn_start(&child, &command), 0);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(failure.step, ASPAWN_STEP_CLONE);
	CHECK_EQUAL(failure.error, -PSYS_EOPNOTSUPP);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, LONG), -PSYS_ECANCELED);
	check_all_have_ended(child.out_fd, 0);

	for (int in_group = 0; in_group < 2; in_group++) {
		command = tree_command(&self, roles[in_group], NULL);
		command.flags = ASPAWN_COMMAND_TREE_OR_GROUP;
		child = start_command(NULL, &command);
		pid_of(&child);
		CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_OWNER), ASPAWN_OWNER_PRIVATE);
		await_bytes(child.out_fd, 2);
		CHECK_EQUAL(aspawn_kill_tree(&child, in_group ? LONG : ASPAWN_GRACE_NONE), 0);
		CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, LONG), in_group ? 0 : -PSYS_ENOTEMPTY);
		CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_OWNER), ASPAWN_OWNER_PRIVATE);
		CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_SURVIVORS), !in_group);
		if (in_group)
			check_all_have_ended(child.out_fd, 0);
	}
}

/* Runs report the clone's failure as do starts that do not wait for the helper's clone. */
static void check_runs_tell_the_clone(void)
{
	const struct aspawn_action closing = ASPAWN_ONLY_BELOW(3);
	struct self self;
	struct aspawn_command command = tree_command(&self, "exit_7", NULL);
	struct aspawn_failure failure;
	struct aspawn_child child;

	command.std_out = ASPAWN_STREAM_DEFAULT;
	command.actions = &closing;
	for (int i = 0; i < 4; i++) {
		struct aspawn_io io = { .size = sizeof io,
					.flags = i % 2 ? ASPAWN_IO_KILL_GROUP : 0 };
		command.action_count = (size_t)i / 2;
		CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ECANCELED);
		CHECK_EQUAL(io.outcome, ASPAWN_OUTCOME_NOT_STARTED);
		CHECK_EQUAL(io.status, 127 << 8);
		CHECK_EQUAL(io.failure.step, ASPAWN_STEP_CLONE);
		CHECK_EQUAL(io.failure.error, -PSYS_EOPNOTSUPP);
	}
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EOPNOTSUPP);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(failure.step, ASPAWN_STEP_CLONE);
	CHECK_EQUAL(failure.error, -PSYS_EOPNOTSUPP);
}

static void check_groups(bool hides_proc)
{
	need_shared_memory();
	if (!may_mount())
		skip("may not mount");
	const int pid = psys_clone(PSYS_CLONE_NEWPID | PSYS_CLONE_NEWNS | PSYS_SIGCHLD, NULL, NULL,
				   NULL, NULL);
	if (pid < 0)
		skip("may not make namespaces");
	if (pid == 0) {
		CHECK_EQUAL(psys_mount("none", "/", NULL, PSYS_MS_REC | PSYS_MS_PRIVATE, NULL), 0);
		uses_groups(hides_proc);
		check_runs_tell_the_clone();
		psys_exit_group(0);
	}
	CHECK_EQUAL(reap(pid), 0);
}

TEST(without_proc_a_tree_fails_or_is_a_group)
{
	check_groups(true);
}

TEST(with_proc_of_another_namespace_a_tree_fails_or_is_a_group)
{
	check_groups(false);
}

/* --- what is refused ------------------------------------------------------------------------- */

TEST(rejects_what_is_no_tree)
{
	struct self self;
	struct aspawn_command command = tree_command(&self, "exit_7", NULL);
	struct aspawn_child child;

	command.memory = ASPAWN_MEMORY_SUSPENDED;
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EINVAL);
	command.memory = ASPAWN_MEMORY_SHARED;
	command.owner = ASPAWN_OWNER_TREE + 1;
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EINVAL);
	command.owner = ASPAWN_OWNER_PRIVATE;
	command.flags = ASPAWN_COMMAND_TREE_OR_GROUP;
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_kill_tree(NULL, 0), -PSYS_EINVAL);
	need_lists();
	command.flags = 0;
	child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_kill_tree(&child, 0), -PSYS_EINVAL);
	check_ends(&child, 7 << 8);
	psys_close(child.out_fd);
	command.owner = ASPAWN_OWNER_TREE;
	child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_kill_tree(&child, -2), -PSYS_EINVAL);
	while (aspawn_ended(&child) == 0)
		sleep_ms(1);
	CHECK_EQUAL(aspawn_kill_tree(&child, 0), -PSYS_ESRCH);
	check_ends(&child, 7 << 8);
	psys_close(child.out_fd);
}

TEST(a_tree_is_refused_where_no_process_shares_memory)
{
	struct self self;
	struct aspawn_command command = tree_command(&self, "exit_7", NULL);
	struct aspawn_child child;

	if (memory_is_shared()) {
		filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
		filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_VM, PSYS_EINVAL);
	}
	for (int i = 0; i < 2; i++) {
		command.flags = i ? ASPAWN_COMMAND_TREE_OR_GROUP : 0;
		CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EOPNOTSUPP);
	}
	check_nothing_is_left();
}

TEST(a_tree_ends_without_pidfds)
{
	need_lists();
	filter_refuse(PSYS_NR_pidfd_open, PSYS_ENOSYS);
	filter_refuse(PSYS_NR_pidfd_send_signal, PSYS_ENOSYS);
	for (int i = 0; i < 2; i++) {
		struct self self;
		struct aspawn_command command = tree_command(&self, "has_a_daemon", NULL);
		struct aspawn_child child = start_command(NULL, &command);
		await_bytes(child.out_fd, 2);
		CHECK_EQUAL(aspawn_kill_tree(&child, i ? 20 : ASPAWN_GRACE_NONE), 0);
		check_ends(&child, i ? PSYS_SIGTERM : PSYS_SIGKILL);
		check_all_have_ended(child.out_fd, 0);
	}
}

TEST(a_tree_ends_without_sigtimedwait)
{
	need_lists();
	filter_refuse(PSYS_NR_rt_sigtimedwait, PSYS_EPERM);
	struct self self;
	struct aspawn_command command = tree_command(&self, "leaves_a_daemon", NULL);
	struct aspawn_child child = start_command(NULL, &command);
	check_ends(&child, 7 << 8);
	check_all_have_ended(child.out_fd, 0);
}
