/* SPDX-License-Identifier: MIT */
/* The helper or caller of private children is killed, held up or special. */
#include "held.h"
#include "private.h"

/* --- who dies when ------------------------------------------------------------------ */

TEST(the_helper_ends_if_its_host_is_killed)
{
	int *shared = shared_page(), status;
	const int pidfd = psys_pidfd_open(psys_getpid(), 0);

	if (pidfd < 0)
		skip("no pidfd");
	struct aspawn_child probe = start_private(NULL, exits, NULL);
	const bool reaped_by_kernel =
		aspawn_describe(&probe, ASPAWN_FACT_HELPER) == ASPAWN_HELPER_AUTOREAPED;
	CHECK_EQUAL(end_of(&probe), 0);
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	int host = fork_child();
	if (host == 0) {
		struct aspawn_child child;

		shared[0] = start_helped(&child, 0, NULL);
		shared[1] = aspawn_pid(&child);
		gate_open(&shared[2]);
		sleep_ms(600000);
	}
	gate_wait(&shared[2]);
	CHECK_EQUAL(psys_kill(host, PSYS_SIGKILL), 0);
	CHECK_EQUAL(psys_wait4(host, &status, 0, NULL), host);
	/* This process is the subreaper: it inherits the helper, which wait(2) finds as an ordinary
	 * child, and then the private child. */
	if (reaped_by_kernel) {
		sleep_until_gone(shared[0]);
	} else {
		CHECK_EQUAL(psys_wait4(-1, &status, 0, NULL), shared[0]);
		CHECK_EQUAL(status, 0);
	}
	CHECK_EQUAL(psys_wait4(-1, &status, PSYS_WNOHANG, NULL), 0);
	CHECK_EQUAL(psys_kill(shared[1], PSYS_SIGKILL), 0);
	CHECK_EQUAL(psys_wait4(-1, &status, 0, NULL), shared[1]);
	CHECK_EQUAL(status, PSYS_SIGKILL);
}

/* Touches memory that holds a lock on a file. The kernel drops the lock when the last process that
 * shares the memory has left. */
static void hold_lock_by_memory(void)
{
	enum { SIZE = 16 << 20 };
	const int fd = psys_open("held", PSYS_O_RDWR | PSYS_O_CREAT | PSYS_O_CLOEXEC, 0600);

	CHECK_EQUAL(psys_ftruncate(fd, SIZE), 0);
	CHECK_EQUAL(psys_flock(fd, PSYS_LOCK_EX), 0);
	void *memory =
		psys_mmap(NULL, SIZE, PSYS_PROT_READ | PSYS_PROT_WRITE, PSYS_MAP_PRIVATE, fd, 0);
	CHECK(!PSYS_IS_ERROR(memory));
	psys_memset(memory, 1, SIZE);
	CHECK_EQUAL(psys_close(fd), 0);
}

struct left {
	uint64_t way;
	bool other_user, is_stopped, exits;
	int *shared;
};

static void leave_a_lingering_command(const struct left *left)
{
	const struct aspawn_action user = ASPAWN_RESUID(-1U, -1U, -1U);
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);

	hold_lock_by_memory();
	set_way(&command, left->way);
	command.actions = &user;
	command.action_count = left->other_user;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	left->shared[0] = aspawn_pid(&child);
	gate_open(&left->shared[1]);
	if (!left->exits)
		sleep_ms(600000);
	psys_exit_group(0);
}

static void check_memory_is_free(struct left left)
{
	int pid, status, killed = 0;

	left.shared = shared_page();
	const int host = fork_child();
	if (host == 0)
		leave_a_lingering_command(&left);
	gate_wait(&left.shared[1]);
	const int fd = psys_open("held", PSYS_O_RDWR | PSYS_O_CLOEXEC, 0);
	CHECK(fd >= 0);
	if (!left.exits) {
		CHECK_EQUAL(psys_flock(fd, PSYS_LOCK_EX | PSYS_LOCK_NB), -PSYS_EAGAIN);
		if (left.is_stopped)
			CHECK_EQUAL(psys_kill(left.shared[0], PSYS_SIGSTOP), 0);
		CHECK_EQUAL(psys_kill(host, PSYS_SIGKILL), 0);
	}
	CHECK_EQUAL(reap(host), left.exits ? 0 : 128 + PSYS_SIGKILL);
	CHECK_EQUAL(psys_flock(fd, PSYS_LOCK_EX), 0); /* waits until the memory is free */
	psys_close(fd);
	/* This process is the subreaper: it inherits the helper, and then the child. */
	CHECK_EQUAL(psys_kill(left.shared[0], PSYS_SIGKILL), 0);
	while ((pid = psys_wait4(-1, &status, PSYS___WALL, NULL)) > 0)
		if (pid == left.shared[0])
			killed = status;
	CHECK_EQUAL(killed, PSYS_SIGKILL);
}

/* A helper has the memory of its caller. */
TEST(the_memory_of_a_host_is_free_at_its_end_whatever_its_child_does)
{
	const int pidfd = psys_pidfd_open(psys_getpid(), 0);

	need_shared_memory();
	if (pidfd < 0)
		skip("no pidfd");
	enter_own_directory();
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	check_memory_is_free((struct left){ WAY_PRIVATE });
	check_memory_is_free((struct left){ WAY_PRIVATE, .is_stopped = true });
	check_memory_is_free((struct left){ WAY_PRIVATE, .exits = true });
	check_memory_is_free((struct left){ WAY_PRIVATE | ASPAWN_COMMAND_NO_PIDFD });
	check_memory_is_free((struct left){ WAY_PRIVATE | WAY_COPIED });
	check_memory_is_free((struct left){ WAY_PRIVATE, .other_user = true });
	check_memory_is_free((struct left){ .other_user = true });
	check_memory_is_free((struct left){ .other_user = true, .is_stopped = true });
	check_memory_is_free((struct left){ .other_user = true, .exits = true });
}

static void kills_the_helper_of_one_with_pdeathsig(const void *arg)
{
	const struct aspawn_action action = ASPAWN_PDEATHSIG(PSYS_SIGUSR1);
	struct aspawn_child child;
	int helper = start_helped(&child, 0, &action);

	(void)arg;
	CHECK_EQUAL(psys_kill(helper, PSYS_SIGKILL), 0);
	sleep_until_gone(aspawn_pid(&child));
	int r = aspawn_wait(&child, NULL, NULL, -1);
	CHECK(r == 0 || r == -PSYS_ECHILD);
}

TEST(pdeathsig_of_a_private_child_follows_the_helper)
{
	run_under_reaper(kills_the_helper_of_one_with_pdeathsig, NULL);
}

/* The child goes to init, or to this process if it is a subreaper. */
struct killed {
	uint64_t flags;
	bool is_subreaper;
};

static void loses_the_helper(const void *arg)
{
	const struct killed *killed = arg;
	const uint64_t flags = killed->flags;
	const bool is_subreaper = killed->is_subreaper;
	struct aspawn_child child;
	int status = -7, helper;

	if (is_subreaper)
		CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	helper = start_helped(&child, flags, NULL);
	const int pid = aspawn_pid(&child);
	const bool known = is_subreaper || (child.ended_fd >= 0 && keeps_status());
	note("the status is known:", known);
	CHECK_EQUAL(psys_kill(helper, PSYS_SIGTERM), 0); /* blocked */
	sleep_ms(20);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 0), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(psys_kill(helper, PSYS_SIGKILL), 0);
	psys_waitid(PSYS_P_PID, helper, NULL, (int)(PSYS_WEXITED | PSYS_WNOWAIT | PSYS___WALL),
		    NULL); /* -ECHILD if the kernel reaps the helper */
	if (child.ended_fd >= 0 || is_subreaper) {
		CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 20), -PSYS_ETIMEDOUT);
		CHECK_EQUAL(aspawn_ended(&child), 0);
		CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGTERM), 0);
	} else {
		CHECK_EQUAL(psys_kill(pid, PSYS_SIGTERM), 0);
	}
	int r = aspawn_wait(&child, &status, NULL, LONG);
	CHECK_EQUAL(r, known ? 0 : -PSYS_ECHILD);
	CHECK_EQUAL(status, known ? PSYS_SIGTERM : -7);
	CHECK_EQUAL(aspawn_pid(&child), -PSYS_EINVAL);
	sleep_until_gone(pid);
	check_nothing_is_left();
}

TEST(the_status_survives_a_killed_helper_if_the_kernel_keeps_it)
{
	run_under_reaper(loses_the_helper, &(struct killed){ 0, false });
}

TEST(the_status_is_lost_with_the_helper_without_a_pidfd)
{
	run_under_reaper(loses_the_helper, &(struct killed){ ASPAWN_COMMAND_NO_PIDFD, false });
}

TEST(a_subreaper_gets_the_child_of_a_killed_helper)
{
	run_under_reaper(loses_the_helper, &(struct killed){ 0, true });
}

TEST(a_subreaper_gets_the_child_of_a_killed_helper_without_a_pidfd)
{
	run_under_reaper(loses_the_helper, &(struct killed){ ASPAWN_COMMAND_NO_PIDFD, true });
}

static ASPAWN_CHILD int stores_parent(void *to)
{
	__atomic_store_n((int *)to, psys_getppid(), __ATOMIC_RELEASE);
	return 0;
}

/* The call goes on without the helper. After the child's end it has no time for output. */
static void communicates_without_the_helper(const void *arg)
{
	struct self self;
	struct aspawn_command command = private_command(&self, "copies", NULL);
	char text[16];
	struct aspawn_io io = { .size = sizeof io,
				.input = "private",
				.input_size = 7,
				.out = text,
				.out_size = sizeof text,
				.grace_ms = ASPAWN_GRACE_NONE };
	static int helper;
	const struct aspawn_action action = ASPAWN_CALL(stores_parent, &helper);

	(void)arg;
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	command.actions = &action;
	command.action_count = 1;
	command.std_in = command.std_out = ASPAWN_STREAM_PIPE;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	CHECK_EQUAL(psys_kill(helper, PSYS_SIGKILL), 0);
	struct psys_pollfd poll = { child.ended_fd, PSYS_POLLIN, 0 };
	CHECK_EQUAL(psys_ppoll(&poll, 1, NULL, NULL, 0), child.ended_fd >= 0);
	CHECK_EQUAL(aspawn_communicate(&child, &io), 0);
	CHECK_EQUAL(io.status, 0);
	CHECK_EQUAL(psys_strcmp(text, "private"), 0);
}

TEST(communicate_goes_on_without_a_killed_helper)
{
	run_under_reaper(communicates_without_the_helper, NULL);
}

static int kills_after_a_moment(void *pid)
{
	sleep_ms(50);
	return psys_kill(*(int *)pid, PSYS_SIGKILL);
}

/* The caller may not sleep for a limited time, which would have an end. */
static void waits_without_the_helper(const void *arg)
{
	struct aspawn_child child;
	struct thread thread;
	const int helper = start_helped(&child, 0, NULL);
	int pid = aspawn_pid(&child);

	(void)arg;
	if (child.ended_fd < 0)
		skip("no pidfd");
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	CHECK_EQUAL(psys_kill(helper, PSYS_SIGKILL), 0);
	thread_start(&thread, kills_after_a_moment, &pid);
#ifdef PSYS_NR_nanosleep
	filter_trap(PSYS_NR_nanosleep);
#endif
	filter_trap(PSYS_NR_clock_nanosleep);
	check_ends(&child, PSYS_SIGKILL);
	thread_join(&thread);
}

TEST(a_wait_lasts_as_long_as_the_child_of_a_killed_helper)
{
	run_under_reaper(waits_without_the_helper, NULL);
}

struct ending {
	struct aspawn_child child;
	int pid, reached, go;
};

/* Ends the child, waits for the helper's end, and opens the gate. */
static int ends_them(void *arg)
{
	struct ending *ending = arg;
	struct psys_pollfd poll = { ending->child.ended_fd, PSYS_POLLIN, 0 };

	gate_wait(&ending->reached);
	psys_kill(ending->pid, PSYS_SIGKILL);
	psys_ppoll(&poll, 1, NULL, NULL, 0);
	gate_open(&ending->go);
	return 0;
}

TEST(an_end_is_seen_that_comes_while_one_looks)
{
	static struct ending ending;
	struct thread thread;

	start_helped(&ending.child, 0, NULL);
	if (ending.child.ended_fd < 0)
		skip("no pidfd");
	ending.pid = aspawn_pid(&ending.child);
	thread_start(&thread, ends_them, &ending);
	filter_hold(PSYS_NR_waitid, &ending.reached, &ending.go);
	CHECK_EQUAL(aspawn_ended(&ending.child), 1);
	thread_join(&thread);
	check_ends(&ending.child, PSYS_SIGKILL);
}

/* --- callers of other kinds --------------------------------------------------------- */

/* A caller with a private child has executed this program. The argument is the child's pid. */
ROLE(finds_no_private_child)
{
	int pid = 0, status;

	(void)argc;
	for (const char *at = argv[argc - 1]; *at >= '0' && *at <= '9'; at++)
		pid = pid * 10 + (*at - '0');
	set_handler(PSYS_SIGCHLD, on_sigchld);
	unblock_sigchld();
	if (psys_kill(pid, 0) < 0) /* the child lives */
		return 1;
	check_unseen(pid);
	CHECK_EQUAL(psys_kill(pid, PSYS_SIGKILL), 0);
	sleep_until_gone(pid); /* the child's helper has reaped it */
	check_unseen(pid);
	/* If the kernel reaps the helper, no zombie is left. Otherwise the helper's end raises
	 * SIGCHLD in a program that has not made the helper. */
	const int helpers = psys_wait4(-1, &status, PSYS___WALL, NULL) > 0;
	return sigchlds == helpers ? 7 : 2;
}

TEST(a_private_child_outlives_the_exec_of_its_host)
{
	need_shared_memory();
	int host = fork_child();
	if (host == 0) {
		char number[PSYS_DECIMAL_SIZE];
		struct aspawn_child child = start_private("lingers", NULL, NULL);

		psys_i64_to_decimal(number, aspawn_pid(&child));
		psys_exit_group(-exec_role("finds_no_private_child", number));
	}
	CHECK_EQUAL(reap(host), 7);
}

/* Runs fn as the first process of a pid namespace. */
static int run_as_pid_1(void (*fn)(void))
{
	long pid = psys_clone(PSYS_CLONE_NEWPID | PSYS_SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0) {
		fn();
		psys_exit_group(0);
	}
	if (pid < 0)
		skip("may not make a pid namespace");
	return reap((int)pid);
}

static void as_pid_1(void)
{
	int gate = 0;

	CHECK_EQUAL(psys_getpid(), 1);
	check_status_arrives(0);
	struct aspawn_child child = start_private(NULL, waits, &gate);
	check_unseen(aspawn_pid(&child));
	gate_open(&gate);
	CHECK_EQUAL(end_of(&child), 0);
}

TEST(pid_1_can_have_private_children)
{
	need_shared_memory();
	CHECK_EQUAL(run_as_pid_1(as_pid_1), 0);
}

/* A forked copy of the caller has no information about the child, and does not touch the child. */
TEST(a_forked_host_knows_no_private_child)
{
	static struct aspawn_pool pool;
	struct self self;
	struct aspawn_command command = private_command(&self, "lingers", NULL);

	for (int memory = 0; memory < 2; memory++) {
		command.pool = memory ? &pool : NULL;
		struct aspawn_child child = start_command(NULL, &command);
		pid_of(&child);
		int copy = fork_child();

		if (copy == 0) {
			CHECK_EQUAL(aspawn_release(&child), 0);
			struct aspawn_child own = start_command(NULL, &command);
			pid_of(&own);
			CHECK_EQUAL(aspawn_kill(&own, PSYS_SIGKILL), 0);
			check_ends(&own, PSYS_SIGKILL);
			check_nothing_is_left();
			psys_exit_group(0);
		}
		CHECK_EQUAL(reap(copy), 0);
		CHECK_EQUAL(aspawn_ended(&child), 0);
		CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
		check_ends(&child, PSYS_SIGKILL);
		check_nothing_is_left();
	}
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

/* The thread that has spawned ends. The helper belongs to the process, and lives on. */
static int spawns_and_ends(void *child)
{
	start_helped(child, 0, NULL);
	sleep_ms(50); /* until the helper waits */
	return 0;
}

TEST(a_private_child_outlives_the_thread_that_spawned_it)
{
	struct aspawn_child child;
	struct psys_rusage usage;
	struct thread thread;

	need_shared_memory();
	thread_start(&thread, spawns_and_ends, &child);
	thread_join(&thread);
	sleep_ms(50);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
	CHECK_EQUAL(aspawn_wait(&child, NULL, &usage, LONG), 0);
	CHECK(usage.ru_minflt > 0); /* only the helper can know this */
	check_nothing_is_left();
}

/* --- held up before the helper has reported --------------------------------------------- */

/* The caller waits for the helper, which has the caller's descriptors. */
TEST(signals_are_handled_while_a_helper_is_held_up)
{
	const struct aspawn_action action = ASPAWN_ONLY_BELOW(3);
	struct self self;
	struct aspawn_command command = private_command(&self, "exit_7", NULL);
	struct thread thread;

	command.actions = &action;
	command.action_count = 1;
	hold_until_signal(PSYS_NR_getppid, &thread);
	struct aspawn_child child = start_command(NULL, &command);
	check_ends(&child, 7 << 8);
	thread_join(&thread);
}
