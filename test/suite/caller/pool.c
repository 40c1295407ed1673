/* SPDX-License-Identifier: MIT */
/* Tests of pools, whose memory of ended children is kept, reused, given back, and shared by
 * threads */
#include "filter.h"
#include "observe.h"

static ASPAWN_CHILD int waits_at_gate(void *gate)
{
	gate_wait(gate);
	return 0;
}

/* Stores the address of the child's stack in the caller's memory, if memory is shared. */
static ASPAWN_CHILD int records_its_stack(void *where)
{
	char here = 0;

	*(uintptr_t *)where = address_of(&here);
	return 0;
}

static void run_once(const struct aspawn_command *command)
{
	struct aspawn_child child = start_command(NULL, command);

	check_ends(&child, 7 << 8);
}

TEST(a_pool_reuses_its_stack)
{
	static struct aspawn_pool pool;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	uintptr_t first = 0, next = 0;
	const struct aspawn_action action = ASPAWN_CALL(records_its_stack, &next);
	int before = count_mappings(), with_one;

	command.pool = &pool;
	command.actions = &action;
	command.action_count = 1;
	run_once(&command);
	first = next;
	with_one = count_mappings();
	for (int i = 0; i < scaled(200); i++) {
		next = 0;
		/* Each way to wait gives the stack back. */
		struct aspawn_child child = start_command(NULL, &command);
		if (i % 3 == 1)
			CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
		if (i % 3 == 2) {
			CHECK_EQUAL(aspawn_release(&child), 0);
			CHECK_EQUAL(reap(aspawn_pid(&child)), 7);
		} else {
			check_ends(&child, 7 << 8);
		}
		CHECK_EQUAL(next, first);
		CHECK_EQUAL(count_mappings(), with_one);
	}
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	CHECK_EQUAL(count_mappings(), before);
}

TEST(a_pool_grows_a_stack_that_is_too_small)
{
	static struct aspawn_pool pool;
	static char longest[100 * 1024];
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int before = count_mappings();

	psys_memset(longest, 'x', sizeof longest - 1);
	command.pool = &pool;
	run_once(&command);
	int with_one = count_mappings();
	struct self large;
	struct aspawn_command larger = command_in_role(&large, "exit_7", longest);
	larger.pool = &pool;
	run_once(&larger);
	run_once(&command);
	CHECK_EQUAL(count_mappings(), with_one); /* the stack has grown, alone */
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	CHECK_EQUAL(count_mappings(), before);
}

TEST(a_pool_does_not_keep_the_stack_of_long_arguments)
{
	static struct aspawn_pool pool;
	static char longest[100 * 1024], *argv[16];
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int at = 0, before = count_mappings();

	psys_memset(longest, 'x', sizeof longest - 1);
	while (command.argv[at])
		argv[at] = command.argv[at], at++;
	for (int i = 0; i < 11; i++)
		argv[at + i] = longest;
	command.argv = argv;
	command.pool = &pool;
	run_once(&command);
	CHECK_EQUAL(count_mappings(), before);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

/* --- many at once -------------------------------------------------------------- */

enum { MANY = 200 };

/* All children are before their exec at the same time; the waits come in any order. */
static void check_many(struct aspawn_pool *pool)
{
	static struct aspawn_child children[MANY];
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int *gate = shared_page(), descriptors = count_descriptors();
	const struct aspawn_action action = ASPAWN_CALL(waits_at_gate, gate);
	const int many = is_emulated() ? MANY / 5 : MANY;

	command.pool = pool;
	command.actions = &action;
	command.action_count = 1;
	for (int i = 0; i < many; i++) {
		command.flags = i % 2 ? ASPAWN_COMMAND_NO_PIDFD : 0;
		children[i] = start_command(NULL, &command);
	}
	CHECK_EQUAL(aspawn_wait_started(&children[many / 2], NULL, 0), -PSYS_ETIMEDOUT);
	gate_open(gate);
	for (int i = 0; i < many; i += 2)
		check_ends(&children[i], 7 << 8);
	for (int i = many - 1; i >= 0; i -= 2) {
		CHECK_EQUAL(aspawn_wait_started(&children[i], NULL, -1), 0);
		check_ends(&children[i], 7 << 8);
	}
	CHECK_EQUAL(count_descriptors(), descriptors);
	psys_munmap(gate, 65536);
}

TEST(two_hundred_commands_run_at_once_on_one_pool)
{
	static struct aspawn_pool pool;
	int before = count_mappings();

	check_many(&pool);
	int after = count_mappings();
	note("mappings that are kept:", after - before);
	CHECK(after - before < 3 * 70); /* not two hundred stacks of three */
	for (int i = 0; i < 2; i++) {
		check_many(&pool);
		CHECK(count_mappings() - before < 3 * 70);
	}
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	CHECK_EQUAL(count_mappings(), before);
}

TEST(two_hundred_commands_run_at_once_without_pool_or_stack)
{
	int before = count_mappings();

	check_many(NULL);
	CHECK_EQUAL(count_mappings(), before);
}

/* --- release --------------------------------------------------------------------- */

TEST(release_of_a_pool_in_use_is_busy_and_unmaps_the_rest)
{
	static struct aspawn_pool pool;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int gate = 0, before = count_mappings();
	const struct aspawn_action action = ASPAWN_CALL(waits_at_gate, &gate);
	struct aspawn_child children[4];

	if (!memory_is_shared())
		skip("memory is a copy, and the gate does not open there");
	CHECK_EQUAL(aspawn_pool_release(NULL), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	command.pool = &pool;
	command.actions = &action;
	command.action_count = 1;
	for (int i = 0; i < 4; i++)
		children[i] = start_command(NULL, &command);
	int with_four = count_mappings();
	CHECK_EQUAL(aspawn_pool_release(&pool), -PSYS_EBUSY);
	CHECK_EQUAL(count_mappings(), with_four);
	gate_open(&gate);
	for (int i = 0; i < 3; i++)
		check_ends(&children[i], 7 << 8);
	CHECK_EQUAL(aspawn_pool_release(&pool), -PSYS_EBUSY); /* the fourth handle has its stack */
	int with_one = count_mappings();
	CHECK(before < 0 || (with_one < with_four && with_one > before));
	CHECK_EQUAL(aspawn_wait_started(&children[3], NULL, -1), 0);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	CHECK_EQUAL(count_mappings(), before);
	check_ends(&children[3], 7 << 8); /* gives the stack back */
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	run_once(&command); /* the pool may be used again */
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	CHECK_EQUAL(count_mappings(), before);
}

TEST(a_start_that_fails_gives_its_stack_back_to_the_pool)
{
	static struct aspawn_pool pool, unused;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct psys_rlimit64 limit;
	struct aspawn_child child;
	int before = count_mappings(), descriptors = count_descriptors(), with_one = 0;
	const struct psys_sigset mask = get_mask();

	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, NULL, &limit), 0);
	const struct psys_rlimit64 few = { 3, limit.rlim_max };
	command.std_out = ASPAWN_STREAM_PIPE;
	for (int alone = 0; alone < 2; alone++) {
		command.pool = alone ? NULL : &pool;
		CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &few, NULL), 0);
		for (int i = 0; i < 5; i++) {
			psys_memset(&child, 0x55, sizeof child);
			CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EMFILE);
			CHECK(aspawn_pid(&child) == -PSYS_EINVAL && child.ended_fd == -1 &&
			      child.started_fd == -1);
			CHECK(child.in_fd == -1 && child.out_fd == -1 && child.err_fd == -1);
			CHECK_EQUAL(aspawn_release(&child), 0);
			CHECK(same_mask(get_mask(), mask));
		}
		CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &limit, NULL), 0);
		if (!alone)
			with_one = count_mappings();
		CHECK_EQUAL(count_mappings(), with_one);
	}
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	CHECK_EQUAL(count_mappings(), before);
	/* An invalid command takes no stack. */
	command.pool = &unused;
	command.std_out = -100;
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_pool_release(&unused), 0);
	CHECK(!have_children());
}

/* The clone fails after the pipes have been made. */
TEST(a_clone_that_fails_gives_its_stack_back)
{
	static struct aspawn_pool pool;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_child child;
	int descriptors = count_descriptors(), before = count_mappings();

	command.std_in = command.std_out = ASPAWN_STREAM_PIPE;
	filter_refuse(PSYS_NR_clone3, PSYS_EAGAIN);
	filter_refuse(PSYS_NR_clone, PSYS_EAGAIN);
#ifdef PSYS_NR_vfork
	filter_refuse(PSYS_NR_vfork, PSYS_EAGAIN);
#endif
#ifdef PSYS_NR_fork
	filter_refuse(PSYS_NR_fork, PSYS_EAGAIN);
#endif
	for (int i = 0; i < 6; i++) {
		command.pool = i % 2 ? &pool : NULL;
		CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EAGAIN);
		CHECK_EQUAL(aspawn_pid(&child), -PSYS_EINVAL);
		CHECK_EQUAL(count_descriptors(), descriptors);
	}
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	CHECK_EQUAL(count_mappings(), before);
}

/* --- release before the exec --------------------------------------------------------- */

static int hold_reached, hold_go;

TEST(a_released_child_keeps_its_stack_of_the_pool_until_its_exec)
{
	static struct aspawn_pool pool;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	if (!memory_is_shared())
		skip("memory is not shared here");
	filter_hold(PSYS_NR_execve, &hold_reached, &hold_go);
	int before = count_mappings();
	command.pool = &pool;
	struct aspawn_child held = start_command(NULL, &command);
	gate_wait(&hold_reached);
	CHECK_EQUAL(aspawn_release(&held), 0); /* at once */
	CHECK_EQUAL(aspawn_wait_started(&held, NULL, -1), -PSYS_ESTALE);
	CHECK_EQUAL(aspawn_pool_release(&pool), -PSYS_EBUSY);
	/* No other child gets the stack. */
	uintptr_t where = 0;
	const struct aspawn_action action = ASPAWN_CALL(records_its_stack, &where);
	command.actions = &action;
	command.action_count = 1;
	struct aspawn_child next = start_command(NULL, &command);
	while (!__atomic_load_n(&where, __ATOMIC_ACQUIRE))
		sleep_ms(1);
	CHECK_EQUAL(aspawn_ended(&held), 0);
	gate_open(&hold_go);
	check_ends(&next, 7 << 8);
	CHECK_EQUAL(reap(aspawn_pid(&held)), 7);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	CHECK_EQUAL(count_mappings(), before);
}

static int opens_later(void *gate)
{
	sleep_ms(100);
	gate_open(gate);
	return 0;
}

/* Without a pool the memory is unmapped after the child has left the memory. */
TEST(a_release_without_pool_or_stack_waits_for_the_exec)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	int gate = 0, before = count_mappings();
	const struct aspawn_action action = ASPAWN_CALL(waits_at_gate, &gate);
	struct thread thread;

	if (!memory_is_shared())
		skip("memory is not shared here");
	command.actions = &action;
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	thread_start(&thread, opens_later, &gate);
	CHECK_EQUAL(aspawn_release(&child), 0);
	CHECK_EQUAL(__atomic_load_n(&gate, __ATOMIC_ACQUIRE), 1);
	thread_join(&thread);
	CHECK_EQUAL(count_mappings(), before);
	kill_lingering(aspawn_pid(&child));
}

/* --- threads, handlers, forks -------------------------------------------------------- */

struct user {
	struct thread thread;
	struct aspawn_pool *pool;
	int rounds, failures, *stop;
};

/* Starts two at a time: commands that succeed, fail or are released;
 * sometimes releases the pool. */
static int use_pool(void *arg)
{
	struct user *user = arg;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL), missing;

	command.pool = user->pool;
	missing = command;
	missing.file = "/no/such/file";
	for (int i = 0; i < user->rounds && !__atomic_load_n(user->stop, __ATOMIC_RELAXED); i++) {
		struct aspawn_child good, bad;
		int status = -1, failed = aspawn_start(&good, &command) != 0;

		if (failed) {
			user->failures++;
			continue;
		}
		failed |= aspawn_start(&bad, &missing) != 0;
		if (i % 4 == 3) {
			failed |= aspawn_release(&good) != 0;
			failed |= psys_wait4(aspawn_pid(&good), &status, 0, NULL) !=
				  aspawn_pid(&good);
		} else {
			failed |= aspawn_wait(&good, &status, NULL, -1) != 0;
		}
		failed |= status != 7 << 8;
		failed |= aspawn_wait(&bad, &status, NULL, -1) != -PSYS_ECANCELED ||
			  status != 127 << 8;
		if (i % 16 == 0) {
			int r = aspawn_pool_release(user->pool);
			failed |= r != 0 && r != -PSYS_EBUSY;
		}
		user->failures += failed;
	}
	return 0;
}

static void start_users(struct user *users, int count, struct aspawn_pool *pool, int rounds,
			int *stop)
{
	for (int i = 0; i < count; i++) {
		users[i] = (struct user){ .pool = pool, .rounds = rounds, .stop = stop };
		thread_start(&users[i].thread, use_pool, &users[i]);
	}
}

static void stop_users(struct user *users, int count)
{
	for (int i = 0; i < count; i++) {
		thread_join(&users[i].thread);
		CHECK_EQUAL(users[i].failures, 0);
	}
}

TEST(a_pool_serves_eight_threads)
{
	static struct aspawn_pool pool;
	struct user users[8];
	int stop = 0, before = count_mappings(), descriptors = count_descriptors();

	start_users(users, 8, &pool, scaled(200), &stop);
	stop_users(users, 8);
	CHECK(!have_children());
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	CHECK_EQUAL(count_mappings(), before);
	CHECK_EQUAL(count_descriptors(), descriptors);
}

static struct aspawn_pool interrupted_pool;
static struct aspawn_command interrupted_command;
static volatile int handler_failures, handler_runs, alarms_left;

/* The alarm is not periodic: a handler that takes longer than the interval would starve the
 * rest. */
static void set_alarm(int microseconds)
{
	const struct psys_itimerval alarm = { { 0, 0 }, { 0, microseconds } };

	psys_setitimer(PSYS_ITIMER_REAL, &alarm, NULL);
}

static __attribute__((noinline)) void run_in_handler(void)
{
	struct aspawn_child child;
	int status = -1;

	handler_failures += aspawn_start(&child, &interrupted_command) != 0 ||
			    aspawn_wait(&child, &status, NULL, -1) != 0 || status != 7 << 8;
	if (handler_runs++ % 8 == 0)
		aspawn_pool_release(&interrupted_pool);
	if (alarms_left-- > 0)
		set_alarm(handler_runs % 20 + 1);
}

static void on_alarm(int signal)
{
	const size_t two = 2 * sizeof(void *), most = __BIGGEST_ALIGNMENT__;

	(void)signal;
	if ((uintptr_t)__builtin_frame_address(0) % (two < most ? two : most))
		skip("this emulator misaligns the stack of a handler"); /* QEMU before 8.1 */
	run_in_handler();
}

TEST(a_signal_handler_may_use_the_pool_of_an_interrupted_start)
{
	const int enough = scaled(400);
	struct self self;
	int before = count_mappings(), runs = 0;

	interrupted_command = command_in_role(&self, "exit_7", NULL);
	interrupted_command.pool = &interrupted_pool;
	set_handler(PSYS_SIGALRM, on_alarm);
	for (; handler_runs < enough || runs < enough; runs++) {
		struct aspawn_child child;
		alarms_left = 2;
		set_alarm(1 + runs * 7 % 200); /* interrupts another instruction each time */
		CHECK_EQUAL(aspawn_start(&child, &interrupted_command), 0);
		if (runs % 2)
			CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
		check_ends(&child, 7 << 8);
	}
	alarms_left = 0;
	set_alarm(0);
	note("in the handler:", handler_runs);
	CHECK_EQUAL(handler_failures, 0);
	CHECK(!have_children());
	CHECK_EQUAL(aspawn_pool_release(&interrupted_pool), 0);
	CHECK_EQUAL(count_mappings(), before);
}

/* The forked copy's list is consistent, and no stack is busy: the children are the parent's. */
TEST(a_forked_process_may_use_its_copy_of_a_pool)
{
	static struct aspawn_pool pool;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct user users[4];
	int stop = 0;

	if (!memory_is_shared() || is_emulated())
		skip("an emulator does not fork beside threads");
	command.pool = &pool;
	start_users(users, 4, &pool, 1 << 30, &stop);
	for (int i = 0; i < scaled(100); i++) {
		int pid = psys_fork();
		if (pid == 0) {
			/* The loop ends long before the parent's children leave their stacks. */
			for (int j = 0; j < 3; j++) {
				struct aspawn_child child;
				int status;
				if (aspawn_start(&child, &command) ||
				    aspawn_wait(&child, &status, NULL, LONG) || status != 7 << 8)
					psys_exit_group(1);
			}
			psys_exit_group(0);
		}
		CHECK_EQUAL(reap(pid), 0);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	stop_users(users, 4);
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}

/* The release must not affect the parent. */
TEST(a_forked_process_may_release_its_parents_handles)
{
	static struct aspawn_pool pool;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int *gate = shared_page(), before = count_mappings(), descriptors = count_descriptors();
	const struct aspawn_action action = ASPAWN_CALL(waits_at_gate, gate);
	static const uint64_t flags[] = { 0, ASPAWN_COMMAND_STARTED_FD, WAY_COPIED };
	struct aspawn_child children[9];

	if (!memory_is_shared())
		skip("memory is not shared here");
	command.actions = &action;
	command.action_count = 1;
	for (int i = 0; i < 9; i++) {
		set_way(&command, flags[i / 3]);
		command.pool = i % 3 == 1 ? &pool : NULL;
		children[i] = start_command(NULL, &command);
	}
	int pid = fork_child();
	if (pid == 0) {
		set_way(&command, 0);
		command.pool = &pool;
		command.actions = NULL;
		command.action_count = 0;
		run_once(&command); /* at once */
		for (int i = 0; i < 9; i++)
			CHECK_EQUAL(aspawn_release(&children[i]), 0);
		CHECK_EQUAL(aspawn_pool_release(&pool), 0);
		CHECK_EQUAL(count_mappings(), before);
		CHECK_EQUAL(count_descriptors(), descriptors);
		psys_exit_group(0);
	}
	CHECK_EQUAL(reap(pid), 0);
	gate_open(gate);
	for (int i = 0; i < 9; i++) {
		CHECK_EQUAL(aspawn_wait_started(&children[i], NULL, -1), 0);
		check_ends(&children[i], 7 << 8);
	}
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
	CHECK_EQUAL(count_mappings(), before);
	CHECK_EQUAL(count_descriptors(), descriptors);
}

/* The pool does not reuse a stack before its child's answer has been read. */
TEST(a_pool_does_not_overwrite_an_unread_answer)
{
	static struct aspawn_pool pool;
	struct self self, other;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_command missing = command_in_role(&other, "exit_7", NULL);
	struct aspawn_child children[20];

	missing.file = "/no/such/file";
	command.pool = missing.pool = &pool;
	for (int i = 0; i < 20; i++) {
		children[i] = start_command(NULL, i % 2 ? &missing : &command);
		while (aspawn_ended(&children[i]) == 0)
			sleep_ms(1);
	}
	for (int i = 0; i < 20; i++) {
		CHECK_EQUAL(why_not_started(&children[i]), i % 2 ? -PSYS_ENOENT : 0);
		check_ends(&children[i], i % 2 ? 127 << 8 : 7 << 8);
	}
	CHECK_EQUAL(aspawn_pool_release(&pool), 0);
}
