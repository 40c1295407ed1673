/* SPDX-License-Identifier: MIT */
/* Tests of signals: the parent's mask, the child's mask and handlers, storms */
#include "filter.h"

static volatile int delivered;

static void on_signal(int signal)
{
	(void)signal;
	delivered++;
}

static ASPAWN_CHILD int child_reports_signals(void *page, int fd, void *mask, void *data,
					      size_t length)
{
	struct seen {
		struct psys_sigset now, old;
		uintptr_t dispositions[PSYS_NSIG + 1];
	} *seen = page;
	struct psys_sigset *old = mask;

	(void)fd, (void)data, (void)length;
	seen->now = get_mask();
	seen->old = *old;
	for (int signal = 1; signal <= PSYS_NSIG; signal++)
		seen->dispositions[signal] = get_disposition(signal);
	return 0;
}

static void check_child_signals(void)
{
	struct seen {
		struct psys_sigset now, old;
		uintptr_t dispositions[PSYS_NSIG + 1];
	} *seen = shared_page();
	struct Stack_t stack = { 0 };

	set_handler(PSYS_SIGUSR1, on_signal);
	set_handler(PSYS_SIGTERM, on_signal);
	set_handler(PSYS_NSIG, on_signal); /* the last one */
	set_disposition(PSYS_SIGPIPE, PSYS_SIG_IGN);
	set_disposition(PSYS_SIGINT, PSYS_SIG_IGN);
	set_disposition(PSYS_NSIG - 1, PSYS_SIG_IGN);

	struct psys_sigset before, some;
	psys_sigemptyset(&some);
	psys_sigaddset(&some, PSYS_SIGUSR2);
	psys_sigaddset(&some, PSYS_NSIG);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &some, NULL, PSYS_SIGSET_SIZE);
	before = get_mask();
	int pid = spawn_without_pipe(&stack, child_reports_signals, seen);
	CHECK(same_mask(get_mask(), before));
	CHECK_EQUAL(reap(pid), 0);

	CHECK(same_mask(seen->old, before));
	struct psys_sigset full;
	psys_sigfillset(&full);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &full, NULL, PSYS_SIGSET_SIZE);
	full = get_mask(); /* emulators reserve some signals */
	for (int signal = 1; signal <= PSYS_NSIG; signal++) {
		bool ignored = get_disposition(signal) == PSYS_SIG_IGN;
		CHECK_EQUAL(psys_sigismember(&seen->now, signal), psys_sigismember(&full, signal));
		CHECK_EQUAL(seen->dispositions[signal], ignored ? PSYS_SIG_IGN : PSYS_SIG_DFL);
	}
	/* The parent's dispositions are unchanged. */
	CHECK_EQUAL(get_disposition(PSYS_SIGPIPE), PSYS_SIG_IGN);
	CHECK_EQUAL(get_disposition(PSYS_NSIG - 1), PSYS_SIG_IGN);
	CHECK_EQUAL(get_disposition(PSYS_SIGUSR1), (uintptr_t)on_signal);
	CHECK_EQUAL(get_disposition(PSYS_NSIG), (uintptr_t)on_signal);
}

TEST(handlers_are_reset_and_ignored_signals_stay_ignored)
{
	check_child_signals();
}

TEST(handlers_are_reset_without_clone3)
{
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	check_child_signals();
}

TEST(handlers_are_reset_without_clear_sighand)
{
	filter_refuse_clone3_flags(PSYS_CLONE_CLEAR_SIGHAND, PSYS_EINVAL);
	check_child_signals();
}

TEST(the_program_has_the_callers_mask)
{
	struct Stack_t stack = { 0 };
	struct psys_sigset set;

	if (!have_proc())
		skip("needs /proc");
	psys_sigemptyset(&set);
	psys_sigaddset(&set, PSYS_SIGHUP);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &set, NULL, PSYS_SIGSET_SIZE);
	int pid = spawn_without_pipe(&stack, child_execs_role, "reports_mask");
	CHECK_EQUAL(reap(pid), 0);
}

ROLE(reports_mask)
{
	(void)argc, (void)argv;
	return status_hex(0, "SigBlk") == 1 ? 0 : 1;
}

/* DaanDeMeyer/reproc: a failed fork left every signal blocked. */
TEST(the_mask_is_restored_when_clone_fails)
{
	struct Stack_t stack = { 0 };
	struct psys_sigset before = get_mask();
	int pid = -5;

	filter_refuse(PSYS_NR_clone3, PSYS_EAGAIN);
	CHECK_EQUAL(aspawn(&pid, &stack, 4096, child_returns, NULL, NULL, 0), -PSYS_EAGAIN);
	CHECK(same_mask(get_mask(), before));
	CHECK_EQUAL(pid, -5);
}

/* --------------------------------------------------------------- a storm */

static volatile int child_pid_of_handler;
static int parent_pid;

static void on_storm(int signal)
{
	(void)signal;
	delivered++;
	if (psys_getpid() != parent_pid) /* the parent's handler in a child */
		child_pid_of_handler = psys_getpid();
}

/* The thrower of signals sees this */
struct storm {
	int spawns; /* begun; a futex */
	int stop;
};

/* The thrower must not throw at itself, nor, if this test fails, at another group of the same
 * number. */
static void begin_to_throw(void)
{
	psys_setpgid(0, 0);
	psys_prctl(PSYS_PR_SET_PDEATHSIG, PSYS_SIGKILL, 0, 0, 0);
	if (psys_getppid() != parent_pid)
		psys_exit_group(1);
}

/*
 * Throws two signals for each spawn, each time a little later. Without a limit the parent may do
 * nothing but handle signals.
 */
static void throw_at_each_spawn(struct storm *storm)
{
	begin_to_throw();
	for (int seen = 0; !__atomic_load_n(&storm->stop, __ATOMIC_ACQUIRE);) {
		psys_futex(&storm->spawns, PSYS_FUTEX_WAIT, seen, NULL, NULL, 0);
		seen = __atomic_load_n(&storm->spawns, __ATOMIC_ACQUIRE);
		for (volatile int delay = seen % 400 * 40; delay > 0; delay--)
			continue;
		psys_kill(-parent_pid, PSYS_SIGUSR1);
		psys_kill(-parent_pid, PSYS_SIGUSR2);
	}
}

static void begin_spawn(struct storm *storm)
{
	__atomic_add_fetch(&storm->spawns, 1, __ATOMIC_RELEASE);
	psys_futex(&storm->spawns, PSYS_FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* The children block all signals, so that no signal kills them. */
static void spawn_in_a_storm(void)
{
	const int spawns = scaled(4000);
	struct Stack_t stack = { 0 };
	struct storm *storm = shared_page();

	parent_pid = psys_getpid();
	set_handler(PSYS_SIGUSR1, on_storm);
	set_handler(PSYS_SIGUSR2, on_storm);
	int thrower = fork_child();
	if (!thrower) {
		throw_at_each_spawn(storm);
		psys_exit_group(0);
	}
	/* On a busy machine the thrower's first turn may come late. */
	for (int i = 0; i < spawns || !delivered; i++) {
		begin_spawn(storm);
		int pid = spawn_without_pipe(&stack, child_returns, (void *)(intptr_t)(i & 63));
		CHECK_EQUAL(reap(pid), i & 63);
		CHECK_EQUAL(aspawn_stack_wait(&stack, -1), 0);
	}
	__atomic_store_n(&storm->stop, 1, __ATOMIC_RELEASE);
	begin_spawn(storm);
	CHECK_EQUAL(reap(thrower), 0);
	CHECK_EQUAL(child_pid_of_handler, 0);
	note("signals handled:", delivered);
}

TEST(no_handler_runs_in_a_child_during_a_signal_storm)
{
	spawn_in_a_storm();
}

TEST(no_handler_runs_in_a_child_during_a_signal_storm_without_clear_sighand)
{
	filter_refuse_clone3_flags(PSYS_CLONE_CLEAR_SIGHAND, PSYS_EINVAL);
	spawn_in_a_storm();
}

/* The storm hits the whole process group, children before their exec included. */
TEST(no_handler_runs_in_a_child_when_its_group_is_signalled)
{
	const int spawns = scaled(1000);
	struct Stack_t stack = { 0 };
	int *stop = shared_page();

	parent_pid = psys_getpid();
	set_handler(PSYS_SIGUSR1, on_storm);
	int storm = fork_child();
	if (!storm) {
		begin_to_throw();
		for (int i = 0; !__atomic_load_n(stop, __ATOMIC_ACQUIRE); i++) {
			psys_kill(-parent_pid, PSYS_SIGUSR1);
			if (i % 8 == 0)
				sleep_ms(1);
		}
		psys_exit_group(0);
	}
	for (int i = 0; i < spawns; i++) {
		int pid = spawn_without_pipe(&stack, child_execs_role, "exit_7");
		int status = reap(pid);
		CHECK(status == 7 || status == 128 + PSYS_SIGUSR1);
		CHECK_EQUAL(aspawn_stack_wait(&stack, -1), 0);
	}
	gate_open(stop);
	CHECK_EQUAL(reap(storm), 0);
	CHECK_EQUAL(child_pid_of_handler, 0);
}

/* ------------------------------------------------------ from a handler */

static struct Stack_t main_stack, handler_stack;
static int handler_spawned, handler_refused;

static __attribute__((noinline)) void spawn_in_handler(void)
{
	int pid;

	if (!aspawn_with(ASPAWN_WITH_NO_PIPE, NULL, &pid, &handler_stack, 4096, child_returns,
			 (void *)1, NULL, 0) &&
	    psys_wait4(pid, NULL, 0, NULL) == pid)
		handler_spawned++;
	/* Uses the stack of the interrupted code: the spawn succeeds, or the stack is busy. */
	int r = aspawn_with(ASPAWN_WITH_NO_PIPE, NULL, &pid, &main_stack, 4096, child_returns,
			    (void *)1, NULL, 0);
	if (!r)
		psys_wait4(pid, NULL, 0, NULL);
	else if (r == -PSYS_EBUSY)
		handler_refused++;
	else
		psys_exit_group(99);
}

static void on_alarm(int signal)
{
	const size_t two = 2 * sizeof(void *), most = __BIGGEST_ALIGNMENT__;

	(void)signal;
	if ((uintptr_t)__builtin_frame_address(0) % (two < most ? two : most))
		skip("this emulator misaligns the stack of a handler"); /* QEMU before 8.1 */
	spawn_in_handler();
}

TEST(a_signal_handler_may_spawn)
{
	const int enough = scaled(100);
	int main_spawned = 0;

	parent_pid = psys_getpid();
	set_handler(PSYS_SIGALRM, on_alarm);
	int thrower_pid = fork_child();
	if (!thrower_pid)
		for (int i = 0;; i++) {
			psys_kill(parent_pid, PSYS_SIGALRM);
			/* or a slow machine would do nothing but handle them */
			sleep_ms(1 + i / 32);
		}
	for (int i = 0; i < 100000 && (handler_spawned < enough || main_spawned < enough); i++) {
		int pid = -1, status;
		int r = aspawn_with(ASPAWN_WITH_NO_PIPE, NULL, &pid, &main_stack, 4096,
				    child_returns, (void *)2, NULL, 0);
		CHECK(r == 0 || r == -PSYS_EBUSY);
		if (r)
			continue;
		while (psys_wait4(pid, &status, 0, NULL) == -PSYS_EINTR)
			continue;
		CHECK_EQUAL(status, 2 << 8);
		main_spawned++;
	}
	psys_kill(thrower_pid, PSYS_SIGKILL);
	CHECK_EQUAL(reap(thrower_pid), 128 + PSYS_SIGKILL);
	CHECK(handler_spawned >= enough && main_spawned >= enough);
}

/* ------------------------------------- the child is killed, at any instruction */

static ASPAWN_CHILD int child_works(void *arg, int fd, void *mask, void *data, size_t length)
{
	(void)arg, (void)fd, (void)mask, (void)data, (void)length;
	for (int i = 0; i < 50; i++)
		psys_getppid();
	return child_execs_role("exit_7", fd, mask, data, length);
}

TEST(a_child_killed_anywhere_frees_its_stack)
{
	const int spawns = scaled(2000);
	struct Stack_t stack = { 0 };
	int killed = 0, before = count_descriptors();

	for (int i = 0; i < spawns; i++) {
		int pid, fd = spawn(&stack, child_works, NULL, &pid);
		for (volatile int delay = i * 20; delay > 0; delay--)
			continue;
		psys_kill(pid, PSYS_SIGKILL);
		int status = reap(pid);
		CHECK(status == 7 || status == 128 + PSYS_SIGKILL);
		killed += status != 7;
		psys_close(fd);
		CHECK_EQUAL(aspawn_stack_busy(&stack), 0);
	}
	CHECK_EQUAL(count_descriptors(), before);
	CHECK(killed > 0);
	note("children killed:", killed);
}

/* moby#42680: PDEATHSIG follows the spawning thread; clone does not add one. */
TEST(a_child_that_faults_dies_alone)
{
	struct Stack_t stack = { 0 };
	struct psys_rlimit64 none = { 0, 0 };

	/* Before Linux 5.16 a core dump kills every process sharing the memory. */
	CHECK_EQUAL(psys_prlimit64(0, PSYS_RLIMIT_CORE, &none, NULL), 0);
	psys_prctl(PSYS_PR_SET_DUMPABLE, 0, 0, 0, 0);
	int pid = spawn_without_pipe(&stack, (aspawn_fn)(uintptr_t)16, NULL);
	CHECK_EQUAL(reap(pid), 128 + PSYS_SIGSEGV);
	CHECK_EQUAL(aspawn_stack_busy(&stack), 0);
}
