/* SPDX-License-Identifier: MIT */
/* Private children of aspawn_with(): only the library sees how they end. */
#include "filter.h"
#include "private.h"

/* --- what the host sees ------------------------------------------------------------- */

TEST(no_wait_and_no_handler_sees_a_private_child)
{
	struct Stack_t stack = { 0 };
	int gate = 0;

	set_handler(PSYS_SIGCHLD, on_sigchld);
	unblock_sigchld();
	int pid = spawn_private(&stack, child_waits, &gate);
	check_unseen(pid);
	CHECK_EQUAL(psys_kill(pid, PSYS_SIGSTOP), 0);
	sleep_ms(20);
	check_unseen(pid);
	CHECK_EQUAL(psys_kill(pid, PSYS_SIGCONT), 0);
	sleep_ms(20);
	check_unseen(pid);
	CHECK_EQUAL(aspawn_private_wait(&stack, NULL, NULL, &at_once), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(aspawn_stack_busy(&stack), 1);
	gate_open(&gate);
	CHECK_EQUAL(end_of(&stack), 0);
	check_unseen(pid);
	CHECK_EQUAL(psys_kill(pid, 0), -PSYS_ESRCH);
	check_nothing_is_left();
	CHECK_EQUAL(sigchlds, 0);
	CHECK_EQUAL(end_of(&stack), 0); /* once more */
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
}

TEST(a_host_that_ignores_sigchld_gets_the_status)
{
	need_shared_memory();
	set_disposition(PSYS_SIGCHLD, PSYS_SIG_IGN);
	unblock_sigchld();
	check_status_arrives(1);
	CHECK_EQUAL(get_disposition(PSYS_SIGCHLD), PSYS_SIG_IGN);
}

TEST(a_host_with_sa_nocldwait_gets_the_status)
{
	struct psys_sigaction action[2] = { { .handler = PSYS_SIG_DFL, .flags = 2 } };

	CHECK_EQUAL(psys_rt_sigaction(PSYS_SIGCHLD, action, NULL, PSYS_SIGSET_SIZE), 0);
	unblock_sigchld();
	check_status_arrives(0);
}

static int wait_stop, waits_seen;

static int waits_for_any(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&wait_stop, __ATOMIC_ACQUIRE))
		if (psys_wait4(-1, NULL, PSYS_WUNTRACED | PSYS_WCONTINUED, NULL) != -PSYS_ECHILD)
			__atomic_add_fetch(&waits_seen, 1, __ATOMIC_RELAXED);
	return 0;
}

TEST(a_thread_in_wait_takes_no_private_child)
{
	struct Stack_t stack = { 0 };
	struct thread thread;
	const int count = scaled(400);

	spawn_private(&stack, child_returns, NULL);
	CHECK_EQUAL(end_of(&stack), 0);
	set_handler(PSYS_SIGCHLD, on_sigchld);
	unblock_sigchld();
	thread_start(&thread, waits_for_any, NULL);
	for (int i = 0; i < count; i++) {
		spawn_private(&stack, child_returns, (void *)(intptr_t)(i & 127));
		CHECK_EQUAL(end_of(&stack), (i & 127) << 8);
	}
	__atomic_store_n(&wait_stop, 1, __ATOMIC_RELEASE);
	thread_join(&thread);
	CHECK_EQUAL(waits_seen, 0);
	CHECK_EQUAL(sigchlds, 0);
	check_nothing_is_left();
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
}

/* An ordinary child of the same host is still its own. */
TEST(a_private_child_leaves_ordinary_children_alone)
{
	struct Stack_t stack = { 0 }, other = { 0 };
	int gate = 0;

	spawn_private(&stack, child_waits, &gate);
	CHECK_EQUAL(reap(spawn_without_pipe(&other, child_returns, (void *)3)), 3);
	CHECK_EQUAL(aspawn_privacy(&other), ASPAWN_NOT_PRIVATE);
	CHECK_EQUAL(aspawn_private_wait(&other, NULL, NULL, NULL), -PSYS_ECHILD);
	gate_open(&gate);
	CHECK_EQUAL(end_of(&stack), 0);
	CHECK_EQUAL(reap(spawn_without_pipe(&stack, child_returns, (void *)4)), 4);
	CHECK_EQUAL(aspawn_privacy(&stack), ASPAWN_NOT_PRIVATE);
	CHECK_EQUAL(aspawn_private_wait(&stack, NULL, NULL, NULL), -PSYS_ECHILD);
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
	CHECK_EQUAL(aspawn_stack_release(&other), 0);
}

/* --- status and usage --------------------------------------------------------------- */

static ASPAWN_CHILD int child_raises(void *signal, int fd, void *mask, void *data, size_t length)
{
	struct psys_sigset none;

	(void)fd, (void)mask, (void)data, (void)length;
	psys_sigemptyset(&none);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &none, NULL, PSYS_SIGSET_SIZE);
	psys_kill(psys_getpid(), (int)(intptr_t)signal);
	return 99;
}

ROLE(aborts)
{
	const struct psys_rlimit64 all = { PSYS_RLIM64_INFINITY, PSYS_RLIM64_INFINITY };

	(void)argc, (void)argv;
	psys_prlimit64(0, PSYS_RLIMIT_CORE, &all, NULL);
	psys_kill(psys_getpid(), PSYS_SIGABRT);
	sleep_ms(1000);
	return 99;
}

TEST(private_wait_gives_exit_signal_and_core_dump)
{
	struct Stack_t stack = { 0 };
	int ordinary;

	enter_own_directory(); /* for the core */
	spawn_private(&stack, child_returns, (void *)255);
	CHECK_EQUAL(end_of(&stack), 255 << 8);
	spawn_private(&stack, child_execs_role, "exit_7");
	CHECK_EQUAL(end_of(&stack), 7 << 8);
	spawn_private(&stack, child_raises, (void *)PSYS_SIGTERM);
	CHECK_EQUAL(end_of(&stack), PSYS_SIGTERM);
	spawn_private(&stack, child_raises, (void *)PSYS_SIGKILL);
	CHECK_EQUAL(end_of(&stack), PSYS_SIGKILL);
	/* With a core dump, where this host allows one. */
	int pid = spawn_without_pipe(&stack, child_execs_role, "aborts");
	CHECK_EQUAL(psys_wait4(pid, &ordinary, 0, NULL), pid);
	CHECK_EQUAL(PSYS_WTERMSIG(ordinary), PSYS_SIGABRT);
	note("core dump:", ordinary >> 7);
	spawn_private(&stack, child_execs_role, "aborts");
	CHECK_EQUAL(end_of(&stack), ordinary);
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
}

/* Touches 16 MiB. */
ROLE(grows)
{
	const size_t size = 16 << 20;
	volatile char *memory = psys_mmap(NULL, size, PSYS_PROT_READ | PSYS_PROT_WRITE,
					  PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);

	(void)argc, (void)argv;
	if (PSYS_IS_ERROR((void *)(uintptr_t)memory))
		return 1;
	for (size_t i = 0; i < size; i += 4096)
		memory[i] = 1;
	return 0;
}

TEST(private_wait_gives_the_usage_of_the_child)
{
	struct Stack_t stack = { 0 };
	struct psys_rusage usage;
	int status;

	spawn_private(&stack, child_execs_role, "grows");
	psys_memset(&usage, 0, sizeof usage);
	CHECK_EQUAL(aspawn_private_wait(&stack, &status, &usage, NULL), 0);
	CHECK_EQUAL(status, 0);
	CHECK(usage.ru_maxrss >= 16 * 1024 && usage.ru_minflt > 0);
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
}

/* --- what the helper holds ---------------------------------------------------------- */

static long read_link(int pid, const char *name, char *to, size_t size)
{
	char path[64] = "/proc/";
	size_t length = 6 + psys_i64_to_decimal(path + 6, pid);

	psys_strlcpy(path + length, name, sizeof path - length);
	long r = psys_readlinkat(PSYS_AT_FDCWD, path, to, size - 1);
	to[r > 0 ? r : 0] = '\0';
	return r;
}

static void check_helper_lets_go(void)
{
	struct Stack_t stack = { 0 };
	int numbers[3] = { 0 }, pid, ends[2];
	const int descriptors = count_descriptors();
	char directory[64], end;

	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	CHECK_EQUAL(psys_chdir("/tmp"), 0);
	CHECK_EQUAL(psys_pipe2(ends, PSYS_O_CLOEXEC), 0);
	int helper = spawn_helped(&stack, numbers, &pid, NULL);
	CHECK_EQUAL(count_descriptors(), descriptors < 0 ? -1 : descriptors + 2);
	psys_kill(pid, PSYS_SIGKILL); /* which holds the pipe, too */
	CHECK_EQUAL(end_of(&stack), PSYS_SIGKILL);

	numbers[2] = 0;
	psys_close(ends[1]);
	CHECK_EQUAL(psys_read(ends[0], &end, 1), 0);
	psys_close(ends[0]);
	CHECK_EQUAL(psys_pipe2(ends, PSYS_O_CLOEXEC), 0);
	helper = spawn_helped(&stack, numbers, &pid, NULL);
	psys_kill(pid, PSYS_SIGSTOP);
	if (have_proc()) {
		char link[64], name[16] = "/fd/";

		do { /* it is on its way */
			sleep_ms(1);
			CHECK(read_link(helper, "/cwd", directory, sizeof directory) > 0);
		} while (psys_strcmp(directory, "/"));
		psys_i64_to_decimal(name + 4, ends[1]);
		while (read_link(helper, name, link, sizeof link) >= 0 && link[0] == 'p')
			sleep_ms(1);
	}
	psys_kill(pid, PSYS_SIGKILL);
	CHECK_EQUAL(end_of(&stack), PSYS_SIGKILL);
	psys_close(ends[0]);
	psys_close(ends[1]);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
}

TEST(the_helper_holds_neither_descriptors_nor_directory)
{
	check_helper_lets_go();
}

TEST(the_helper_lets_go_without_close_range)
{
	need_call(psys_unshare(0), "no unshare");
	filter_refuse(PSYS_NR_close_range, PSYS_ENOSYS);
	check_helper_lets_go();
}

/* What aspawn_privacy() says of the helper is true. */
TEST(privacy_tells_who_reaps_the_helper)
{
	struct Stack_t stack = { 0 };
	struct psys_siginfo info = { 0 };
	int r = 0;

	spawn_private(&stack, child_returns, NULL);
	note("kernel reaps helpers:", aspawn_privacy(&stack) == ASPAWN_PRIVATE_AUTOREAPED);
	CHECK_EQUAL(aspawn_stack_wait(&stack, NULL), 0);
	while (r == 0 && !info.u.child.pid) {
		r = psys_waitid(PSYS_P_ALL, 0, &info,
				PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT | PSYS___WALL, NULL);
		sleep_ms(1);
	}
	CHECK_EQUAL(r, aspawn_privacy(&stack) == ASPAWN_PRIVATE_HELPED ? 0 : -PSYS_ECHILD);
	CHECK(r < 0 || info.u.child.pid > 0);
	CHECK_EQUAL(end_of(&stack), 0);
	check_nothing_is_left();
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
}

/* A helper that nobody has waited for is reaped when its stack is used again, or freed. */
TEST(the_stack_of_a_private_child_is_busy_until_its_end)
{
	struct Stack_t stack = { 0 };

	for (int i = 0; i < 20; i++) {
		int pid = spawn_private(&stack, child_execs_role, "lingers");
		sleep_ms(i ? 0 : 100); /* once, until the exec */
		CHECK_EQUAL(aspawn_stack_busy(&stack), 1);
		CHECK_EQUAL(try_private(&stack, child_returns, NULL, &pid, NULL), -PSYS_EBUSY);
		CHECK_EQUAL(aspawn_stack_release(&stack), -PSYS_EBUSY);
		CHECK_EQUAL(psys_kill(pid, PSYS_SIGKILL), 0);
		CHECK_EQUAL(aspawn_stack_wait(&stack, &long_enough), 0);
	}
	CHECK_EQUAL(reap(spawn_without_pipe(&stack, child_returns, (void *)8)), 8);
	check_nothing_is_left();
	spawn_private(&stack, child_returns, NULL);
	CHECK_EQUAL(aspawn_stack_wait(&stack, NULL), 0);
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
	check_nothing_is_left();
}

/* --- errors ------------------------------------------------------------------------- */

TEST(rejects_a_private_child_with_vfork)
{
	struct Stack_t stack = { 0 };
	int pid = -5;
	struct aspawn_options options = { .size = sizeof options,
					  .flags = ASPAWN_PRIVATE | ASPAWN_VFORK };

	CHECK_EQUAL(aspawn_with(&options, &pid, &stack, 4096, child_returns, NULL, NULL, 0),
		    -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_private_wait(NULL, NULL, NULL, NULL), -PSYS_ECHILD);
	CHECK_EQUAL(aspawn_private_wait(&stack, NULL, NULL, NULL), -PSYS_ECHILD);
	CHECK_EQUAL(aspawn_private_wait(&stack, NULL, NULL, &(struct psys_timespec){ -1, 0 }),
		    -PSYS_EINVAL);
	CHECK_EQUAL(aspawn_privacy(&stack), ASPAWN_NOT_PRIVATE);
}

/* Nothing is left of a private child that could not be. */
static void check_refused(int error)
{
	struct Stack_t stack = { 0 };
	const int descriptors = count_descriptors();
	const struct psys_sigset mask = get_mask();
	int pid = -5, pidfd = -5;

	CHECK_EQUAL(try_private(&stack, child_returns, NULL, &pid, &pidfd), error);
	CHECK(pid == -5 && pidfd == -5);
	CHECK(same_mask(mask, get_mask()));
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK_EQUAL(aspawn_stack_busy(&stack), 0);
	CHECK_EQUAL(aspawn_privacy(&stack), ASPAWN_NOT_PRIVATE);
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
	check_nothing_is_left();
}

TEST(a_private_child_is_refused_where_no_process_shares_memory)
{
	if (memory_is_shared()) {
		filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
		filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_VM, PSYS_EINVAL);
	}
	check_refused(-PSYS_EOPNOTSUPP);
}

/* The helper can be made, and the child cannot. */
TEST(a_helper_that_cannot_clone_reports_why)
{
	struct Stack_t probe = { 0 };

	spawn_private(&probe, child_returns, NULL);
	CHECK_EQUAL(end_of(&probe), 0);
	CHECK_EQUAL(aspawn_stack_release(&probe), 0);
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_SIGCHLD, PSYS_EAGAIN);
	check_refused(-PSYS_EAGAIN);
}

TEST(a_private_child_is_helped_without_clone3)
{
	struct Stack_t probe = { 0 };

	spawn_private(&probe, child_returns, NULL);
	CHECK_EQUAL(end_of(&probe), 0);
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	check_status_arrives(0);
	spawn_private(&probe, child_returns, NULL);
	CHECK_EQUAL(aspawn_mode(&probe), ASPAWN_MODE_CLONE);
	CHECK_EQUAL(aspawn_privacy(&probe), ASPAWN_PRIVATE_HELPED);
	CHECK_EQUAL(end_of(&probe), 0);
}

TEST(a_private_child_runs_without_pidfds)
{
	struct Stack_t stack = { 0 };
	int pid, pidfd = -2;

	spawn_private(&stack, child_returns, NULL);
	CHECK_EQUAL(end_of(&stack), 0);
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_PIDFD, PSYS_EINVAL);
	filter_refuse(PSYS_NR_pidfd_open, PSYS_ENOSYS);
	check_status_arrives(0);
	/* A method without CLONE_PIDFD is the only one left: it copies. */
	CHECK_EQUAL(try_private(&stack, child_returns, (void *)9, &pid, &pidfd), 0);
	CHECK_EQUAL(pidfd, -1);
	CHECK_EQUAL(end_of(&stack), 9 << 8);
}

TEST(the_pidfd_of_a_private_child_is_the_hosts)
{
	struct Stack_t stack = { 0 };
	int numbers[3] = { 0 }, pid, pidfd = -2;
	const int descriptors = count_descriptors();

	spawn_helped(&stack, numbers, &pid, &pidfd);
	if (pidfd < 0)
		skip("no pidfd");
	CHECK_EQUAL(psys_fcntl(pidfd, PSYS_F_GETFD, 0), PSYS_FD_CLOEXEC);
	CHECK_EQUAL(count_descriptors(), descriptors < 0 ? -1 : descriptors + 1);
	struct psys_pollfd poll = { pidfd, PSYS_POLLIN, 0 };
	struct psys_timespec time = at_once;
	CHECK_EQUAL(psys_ppoll(&poll, 1, &time, NULL, 0), 0);
	gate_open(&numbers[0]);
	CHECK_EQUAL(psys_ppoll(&poll, 1, NULL, NULL, 0), 1);
	CHECK_EQUAL(end_of(&stack), 5 << 8);
	psys_close(pidfd);
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
}
