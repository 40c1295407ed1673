/* SPDX-License-Identifier: MIT */
/* A fork, a handler, a sibling or a stopped child interferes. */
#include "held.h"
#include "observe.h"

/* --- a fork ------------------------------------------------------------------ */

/* Without MADV_WIPEONFORK the copy was busy as long as the parent's child lived. */
TEST(a_forked_copy_of_a_busy_stack_is_free_at_once)
{
	struct Stack_t stack = { 0 };
	int *gate = shared_page();

	if (!memory_is_shared())
		skip("memory is not shared here");
	int pid = spawn_without_pipe(&stack, child_waits, gate);
	int copy = fork_child();
	if (!copy) {
		CHECK_EQUAL(aspawn_stack_busy(&stack), 0);
		CHECK_EQUAL(reap(spawn_without_pipe(&stack, child_returns, (void *)3)), 3);
		CHECK_EQUAL(aspawn_stack_release(&stack), 0);
		psys_exit_group(0);
	}
	CHECK_EQUAL(reap(copy), 0);
	CHECK_EQUAL(aspawn_stack_busy(&stack), 1);
	gate_open(gate);
	CHECK_EQUAL(reap(pid), 0);
}

static ASPAWN_CHILD int child_asks(void *stack, int fd, void *mask, void *data, size_t length)
{
	(void)fd, (void)mask, (void)data, (void)length;
	return aspawn_stack_busy(stack);
}

/* A vfork child is not the parent of the stack's child, but its stack is no copy. */
TEST(a_process_that_shares_memory_sees_a_busy_stack)
{
	struct Stack_t stack = { 0 }, other = { 0 };
	int gate = 0;

	if (!memory_is_shared())
		skip("memory is not shared here");
	int pid = spawn_without_pipe(&stack, child_waits, &gate);
	CHECK_EQUAL(reap(spawn_without_pipe(&other, child_asks, &stack)), 1);
	gate_open(&gate);
	CHECK_EQUAL(reap(pid), 0);
}

static struct {
	struct Stack_t stack;
	int stop, rounds;
} busy_thread;

static int spawns_and_frees(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&busy_thread.stop, __ATOMIC_RELAXED)) {
		int pid = -1;
		size_t size = busy_thread.rounds % 2 ? 200000 : 4096; /* makes the stack grow */

		if (aspawn_with(ASPAWN_WITH_NO_PIPE, NULL, &pid, &busy_thread.stack, size,
				child_returns, NULL, NULL, 0) == 0)
			psys_wait4(pid, NULL, 0, NULL);
		if (__atomic_fetch_add(&busy_thread.rounds, 1, __ATOMIC_RELAXED) % 4 == 3)
			aspawn_stack_release(&busy_thread.stack);
	}
	return 0;
}

/* Forks at any instruction of a reservation, a spawn, a growth and a free. Before, the copy crashed
 * (2 of 4000), or was busy or invalid for ever (18 of 3000). */
TEST(a_fork_beside_a_spawning_thread_gets_usable_stacks)
{
	struct thread thread;

	if (!memory_is_shared())
		skip("memory is not shared here");
	thread_start(&thread, spawns_and_frees, NULL);
	while (!__atomic_load_n(&busy_thread.rounds,
				__ATOMIC_RELAXED)) /* it may have no turn for long */
		psys_sched_yield();
	for (int i = scaled(3000); i; i--) {
		int copy = fork_child();
		if (!copy) {
			struct Stack_t *stack = &busy_thread.stack;
			CHECK_EQUAL(aspawn_stack_busy(stack), 0);
			if (i % 8 == 0)
				CHECK_EQUAL(
					reap(spawn_without_pipe(stack, child_returns, (void *)3)),
					3);
			CHECK_EQUAL(aspawn_stack_release(stack), 0);
			psys_exit_group(0);
		}
		CHECK_EQUAL(reap(copy), 0);
	}
	__atomic_store_n(&busy_thread.stop, 1, __ATOMIC_RELAXED);
	thread_join(&thread);
}

static struct Stack_t unmapped_stack;
static bool was_forgotten;

static void look_at_it(int signal)
{
	(void)signal;
	was_forgotten = !unmapped_stack.addr;
}

/* A fork right after munmap() must find no address. */
TEST(a_stacks_address_is_cleared_before_munmap)
{
	CHECK_EQUAL(reap(spawn_without_pipe(&unmapped_stack, child_returns, NULL)), 0);
	set_handler(PSYS_SIGSYS, look_at_it);
	filter_trap(PSYS_NR_munmap);
	CHECK_EQUAL(aspawn_stack_release(&unmapped_stack), 0);
	CHECK(was_forgotten);
}

/* --- a sibling that inherited the pipe ----------------------------------------- */

/* Runs in the child: forks a sibling that holds the pipe. */
static ASPAWN_CHILD int leave_a_sibling(void *pid)
{
	int sibling = psys_clone(PSYS_SIGCHLD, NULL, NULL, NULL, NULL);

	if (sibling == 0) {
		sleep_ms(600000);
		psys_exit_group(0);
	}
	*(int *)pid = sibling;
	return 0;
}

static ASPAWN_CHILD int leave_a_sibling_and_die(void *pid)
{
	leave_a_sibling(pid);
	psys_kill(psys_getpid(), PSYS_SIGKILL);
	return 0;
}

/* Checks that the answer comes while the sibling lives. */
static void check_sibling(uint64_t flags, const struct aspawn_action *action, aspawn_call leave,
			  int result)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command =
		command_in_role(&self, result ? "no such role" : "exit_7", NULL);
	int *sibling = shared_page();
	const struct aspawn_action actions[] = { ASPAWN_CALL(leave, sibling), *action };
	int descriptors = count_descriptors(), mappings = count_mappings();

	set_way(&command, flags);
	command.actions = actions;
	command.action_count = 2;
	if (result == -PSYS_ENOENT)
		command.file = "/no/such/file";
	struct aspawn_child child = start_command(&pool, &command);
	CHECK_EQUAL(why_not_started(&child), result);
	CHECK_EQUAL(psys_kill(*sibling, 0), 0);
	CHECK_EQUAL(psys_kill(*sibling, PSYS_SIGKILL), 0);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), result ? -PSYS_ECANCELED : 0);
	release_pool(&pool);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK_EQUAL(count_mappings(), mappings);
}

TEST(a_sibling_that_holds_the_pipe_does_not_delay_the_answer)
{
	const struct aspawn_action nothing = ASPAWN_UMASK(022), user = ASPAWN_RESUID(-1, -1, -1);

	if (is_emulated())
		skip("an emulator tells of the exec by the pipe alone");
	for (int result = 0; result >= -PSYS_ENOENT; result -= PSYS_ENOENT) {
		check_sibling(0, &nothing, leave_a_sibling, result);
		check_sibling(ASPAWN_COMMAND_STARTED_FD, &nothing, leave_a_sibling, result);
		check_sibling(WAY_COPIED, &nothing, leave_a_sibling, result);
		check_sibling(WAY_SUSPENDED | ASPAWN_COMMAND_STARTED_FD, &nothing, leave_a_sibling,
			      result);
		check_sibling(0, &user, leave_a_sibling, result);
		check_sibling(ASPAWN_COMMAND_STARTED_FD, &user, leave_a_sibling, result);
	}
}

TEST(a_sibling_that_holds_the_pipe_does_not_hide_a_killed_child)
{
	const struct aspawn_action nothing = ASPAWN_UMASK(022);

	if (is_emulated())
		skip("an emulator tells of the exec by the pipe alone");
	check_sibling(0, &nothing, leave_a_sibling_and_die, -PSYS_ECHILD);
	check_sibling(ASPAWN_COMMAND_STARTED_FD, &nothing, leave_a_sibling_and_die, -PSYS_ECHILD);
	check_sibling(WAY_COPIED, &nothing, leave_a_sibling_and_die, -PSYS_ECHILD);
}

/* --- a child that is stopped before its exec -------------------------------------- */

/* A frozen cgroup or SIGSTOP may stop the child. The parent waits until the child has its own
 * descriptor table, and once blocked all signals meanwhile. Here only the handler lets the child
 * continue. */
TEST(signals_are_handled_while_a_child_with_only_below_is_stopped)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_action action = ASPAWN_ONLY_BELOW(3);
	struct psys_sigset mask = get_mask();
	struct thread thread;

	if (!memory_is_shared())
		skip("memory is not shared here");
	hold_until_signal(PSYS_NR_close_range, &thread);
	command.actions = &action;
	command.action_count = 1;
	struct aspawn_child child = start_command(&pool, &command);
	CHECK(same_mask(get_mask(), mask));
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
	check_ends(&child, 7 << 8);
	thread_join(&thread);
}

/* --- calls that fail ------------------------------------------------------------- */

static struct aspawn_child waited_for;

static int waits_and_is_refused(void *arg)
{
	(void)arg;
	filter_refuse_flags_without(PSYS_NR_waitid, 3, 0, PSYS_WNOWAIT, PSYS_EPERM);
	return aspawn_wait(&waited_for, NULL, NULL, -1) == -PSYS_EPERM ? 0 : 1;
}

/* The handle was once released, and the zombie stayed. */
TEST(a_wait_that_fails_keeps_the_child)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct thread thread;

	if (!memory_is_shared())
		skip("memory is not shared here");
	waited_for = start_command(&pool, &command);
	thread_start(&thread, waits_and_is_refused, NULL);
	thread_join(&thread);
	check_ends(&waited_for, 7 << 8);
	CHECK(!have_children());
}

/* --- a tracer -------------------------------------------------------------------------- */

enum { PTRACE_SEIZE = 0x4206 }; /* ptrace(2) */

/* Traces the process, writes whether this worked, and ends when nobody can write to until. */
static _Noreturn void trace(int pid, int answer, int until)
{
	const char traces = psys_ptrace(PTRACE_SEIZE, pid, NULL, NULL) >= 0;
	char nothing;

	psys_write(answer, &traces, 1);
	psys_read(until, &nothing, 1);
	psys_exit_group(0);
}

/* The pidfd is readable, but no wait finds the child before the tracer detaches. */
TEST(a_wait_does_not_block_for_a_tracer)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	struct psys_timespec long_enough = { LONG / 1000, 0 };
	int answers[2], until[2];
	char traces = 0;

	struct aspawn_child child = start_command(&pool, &command);
	CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
	CHECK_EQUAL(psys_pipe2(answers, 0), 0);
	CHECK_EQUAL(psys_pipe2(until, 0), 0);
	const int pid = aspawn_pid(&child), tracer = fork_child();
	CHECK(pid > 0 && tracer >= 0);
	if (tracer == 0) {
		psys_close(until[1]);
		trace(pid, answers[1], until[0]);
	}
	psys_close(until[0]);
	CHECK_EQUAL(psys_read(answers[0], &traces, 1), 1);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
	if (traces && child.ended_fd >= 0) {
		struct psys_pollfd end = { child.ended_fd, PSYS_POLLIN, 0 };
		CHECK_EQUAL(psys_ppoll(&end, 1, &long_enough, NULL, 0), 1);
		CHECK_EQUAL(aspawn_ended(&child), 0);
		CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 1), -PSYS_ETIMEDOUT);
	}
	psys_close(until[1]);
	CHECK_EQUAL(reap(tracer), 0);
	check_ends(&child, PSYS_SIGKILL);
	release_pool(&pool);
	if (!traces)
		skip("no ptrace");
}

/* --- leaks --------------------------------------------------------------------------- */

/* Once a pipe of commands in a copy of the memory stayed open in the caller. */
TEST(a_caller_that_waits_by_pid_leaks_no_descriptor)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int descriptors = count_descriptors(), mappings = -1;

	for (int i = 0; i < 10; i++) {
		static const uint64_t flags[] = { WAY_COPIED, 0, ASPAWN_COMMAND_STARTED_FD,
						  WAY_COPIED | ASPAWN_COMMAND_STARTED_FD,
						  WAY_SUSPENDED };
		set_way(&command, flags[i % 5] | (i < 5 ? ASPAWN_COMMAND_NO_PIDFD : 0));
		struct aspawn_child child = start_command(&pool, &command);
		if (i % 2)
			CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
		CHECK_EQUAL(aspawn_release(&child), 0);
		CHECK_EQUAL(aspawn_release(&child), 0);
		CHECK_EQUAL(reap(aspawn_pid(&child)), 7);
		CHECK_EQUAL(count_descriptors(), descriptors);
		if (mappings < 0)
			mappings = count_mappings();
		CHECK_EQUAL(count_mappings(), mappings);
	}
	set_way(&command, WAY_COPIED | ASPAWN_COMMAND_NO_PIDFD);
	for (int i = 0; i < 5; i++) {
		struct aspawn_child child = start_command(&pool, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
		CHECK_EQUAL(reap(aspawn_pid(&child)), 7);
	}
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK_EQUAL(count_mappings(), mappings);
}

/* The exec fails after the pipe's reader is gone, when SIGPIPE is not blocked. */
TEST(a_released_child_whose_program_is_missing_exits_127)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	command.file = "/no/such/file";
	command.memory = ASPAWN_MEMORY_COPIED;
	for (int i = 0; i < 20; i++) {
		struct aspawn_child child = start_command(&pool, &command);
		CHECK_EQUAL(aspawn_release(&child), 0);
		check_ends(&child, 127 << 8);
	}
}

TEST(a_released_child_is_waited_for_and_killed)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "lingers", NULL);
	struct aspawn_child none = { 0 }, child = start_command(&pool, &command);

	CHECK_EQUAL(aspawn_release(NULL), -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_release(&none), 0);
	CHECK(psys_fcntl(0, PSYS_F_GETFD, 0) >= 0); /* release of {0} does not close 0 */
	CHECK_EQUAL(aspawn_release(&child), 0);
	CHECK_EQUAL(aspawn_kill(&child, 0), 0);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
	check_ends(&child, PSYS_SIGKILL);
	CHECK_EQUAL(aspawn_release(&child), 0);
}

static ASPAWN_CHILD int child_looks_behind_the_mask(void *arg, int fd, void *mask, void *data,
						    size_t length)
{
	const unsigned char *bytes = mask;
	int others = 0;

	(void)fd, (void)data, (void)length;
	for (size_t i = sizeof(struct psys_sigset); i < 128; i++)
		others += bytes[i] != 0;
	psys_memset(mask, 0xff, 128); /* for the next child */
	*(int *)arg += others;
	return 0;
}

/* A libc's sigset_t is larger than the kernel's. */
TEST(the_mask_is_followed_by_zeros_on_a_used_stack)
{
	struct Stack_t stack = { 0 };
	int *others = shared_page();

	for (int i = 0; i < 3; i++)
		CHECK_EQUAL(reap(spawn_without_pipe(&stack, child_looks_behind_the_mask, others)),
			    0);
	CHECK_EQUAL(*others, 0);
}
