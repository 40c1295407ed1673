/* SPDX-License-Identifier: MIT */
/* Private children: the library sees how they end, and nobody else sees them at all. */
#include "filter.h"
#include "observe.h"

static const struct psys_timespec at_once = { 0, 0 }, ten_seconds = { 10, 0 };

/* 0, or why there is none. The test is skipped where no process can share memory. */
static int try_private(struct Stack_t *stack, aspawn_fn fn, void *arg, int *pid, int *pidfd)
{
	struct aspawn_options options = { .size = sizeof options,
					  .flags = ASPAWN_PRIVATE | ASPAWN_NO_PIPE |
						   (pidfd ? ASPAWN_PIDFD : 0),
					  .pidfd = pidfd };

	return aspawn_with(&options, pid, stack, 16384, fn, arg, NULL, 0);
}

static void need_shared_memory(void)
{
	if (!memory_is_shared())
		skip("this emulator copies the memory");
}

static int spawn_private(struct Stack_t *stack, aspawn_fn fn, void *arg)
{
	int pid = -1;
	int r = try_private(stack, fn, arg, &pid, NULL);

	if (r == -PSYS_EOPNOTSUPP && !memory_is_shared())
		skip("this emulator copies the memory");
	CHECK_EQUAL(r, 0);
	CHECK(pid > 0);
	CHECK(aspawn_privacy(stack) != ASPAWN_NOT_PRIVATE);
	return pid;
}

static int end_of(struct Stack_t *stack)
{
	int status = -1;

	CHECK_EQUAL(aspawn_private_wait(stack, &status, NULL, &ten_seconds), 0);
	return status;
}

/* Not even for the wait that would see the helper. One that the kernel reaps takes a moment. */
static void check_nothing_is_left(void)
{
	struct psys_siginfo info;
	int r = 0;

	for (int i = 0; i < 1000 && r == 0; i++) {
		info.u.child.pid = 0;
		r = psys_waitid(PSYS_P_ALL, 0, &info,
				PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT | PSYS___WALL, NULL);
		CHECK_EQUAL(info.u.child.pid, 0);
		if (r == 0)
			sleep_ms(1);
	}
	CHECK_EQUAL(r, -PSYS_ECHILD);
}

/* --- what the host sees ------------------------------------------------------------- */

static volatile int signals;

static void on_sigchld(int signal)
{
	(void)signal;
	signals++;
}

static void unblock_sigchld(void)
{
	struct psys_sigset chld;

	psys_sigemptyset(&chld);
	psys_sigaddset(&chld, PSYS_SIGCHLD);
	psys_rt_sigprocmask(PSYS_SIG_UNBLOCK, &chld, NULL, PSYS_SIGSET_SIZE);
}

/* No kind of wait finds anything, blocking or not, whatever the child is at. */
static void check_unseen(int pid)
{
	enum { ANY = PSYS_WEXITED | PSYS_WSTOPPED | PSYS_WCONTINUED };
	struct psys_siginfo info;

	CHECK_EQUAL(psys_wait4(-1, NULL, 0, NULL), -PSYS_ECHILD);
	CHECK_EQUAL(psys_wait4(0, NULL, 0, NULL), -PSYS_ECHILD);
	CHECK_EQUAL(psys_wait4(-1, NULL, PSYS_WUNTRACED | PSYS_WCONTINUED, NULL), -PSYS_ECHILD);
	CHECK_EQUAL(psys_wait4(pid, NULL, PSYS_WNOHANG, NULL), -PSYS_ECHILD);
	CHECK_EQUAL(psys_wait4(pid, NULL, PSYS___WALL, NULL), -PSYS_ECHILD);
	CHECK_EQUAL(psys_waitid(PSYS_P_ALL, 0, &info, ANY, NULL), -PSYS_ECHILD);
	CHECK_EQUAL(psys_waitid(PSYS_P_ALL, 0, &info, ANY | PSYS_WNOHANG | PSYS_WNOWAIT, NULL),
		    -PSYS_ECHILD);
	CHECK_EQUAL(psys_waitid(PSYS_P_PID, pid, &info, ANY, NULL), -PSYS_ECHILD);
}

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
	CHECK_EQUAL(signals, 0);
	CHECK_EQUAL(end_of(&stack), 0); /* once more */
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

/* Returns 1 if SIGCHLD is ignored in the program. */
ROLE(reports_sigchld)
{
	(void)argc, (void)argv;
	return get_disposition(PSYS_SIGCHLD) == PSYS_SIG_IGN;
}

static void check_status_arrives(int expected_disposition)
{
	struct Stack_t stack = { 0 };

	for (int i = 0; i < 5; i++) {
		spawn_private(&stack, child_returns, (void *)(intptr_t)(40 + i));
		CHECK_EQUAL(end_of(&stack), (40 + i) << 8);
	}
	spawn_private(&stack, child_execs_role, "reports_sigchld");
	CHECK_EQUAL(end_of(&stack), expected_disposition << 8);
	check_nothing_is_left();
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
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

TEST_SECONDS(a_thread_in_wait_takes_no_private_child, 60)
{
	struct Stack_t stack = { 0 };
	struct thread thread;
	const int count = scaled(1000);

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
	CHECK_EQUAL(signals, 0);
	check_nothing_is_left();
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

/* An ordinary child of the same host is still its own. */
TEST(ordinary_children_beside_a_private_one)
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
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
	CHECK_EQUAL(aspawn_stack_free(&other), 0);
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

TEST(status_of_private_children)
{
	struct Stack_t stack = { 0 };
	int ordinary;

	psys_chdir("/tmp"); /* for the core */
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
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
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

TEST(usage_of_private_children)
{
	struct Stack_t stack = { 0 };
	struct psys_rusage usage;
	int status;

	spawn_private(&stack, child_execs_role, "grows");
	psys_memset(&usage, 0, sizeof usage);
	CHECK_EQUAL(aspawn_private_wait(&stack, &status, &usage, NULL), 0);
	CHECK_EQUAL(status, 0);
	CHECK(usage.ru_maxrss >= 16 * 1024 && usage.ru_minflt > 0);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

/* --- what the helper holds ---------------------------------------------------------- */

static ASPAWN_CHILD int child_tells_parent(void *to, int fd, void *mask, void *data, size_t length)
{
	int *parent = to;

	(void)fd, (void)mask, (void)data, (void)length;
	__atomic_store_n(&parent[1], psys_getppid(), __ATOMIC_RELEASE);
	gate_open(&parent[2]);
	gate_wait(&parent[0]);
	return 5;
}

/* The helper of a child that waits until numbers[0] is opened. */
static int spawn_helped(struct Stack_t *stack, int *numbers, int *pid, int *pidfd)
{
	int r = try_private(stack, child_tells_parent, numbers, pid, pidfd);

	if (r == -PSYS_EOPNOTSUPP && !memory_is_shared())
		skip("this emulator copies the memory");
	CHECK_EQUAL(r, 0);
	gate_wait(&numbers[2]);
	CHECK(numbers[1] != psys_getpid());
	return numbers[1];
}

static void sleep_until_gone(int pid)
{
	for (int i = 0; i < 1000 && psys_kill(pid, 0) == 0; i++)
		sleep_ms(10);
	CHECK_EQUAL(psys_kill(pid, 0), -PSYS_ESRCH);
}

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
		for (int i = 0; i < 500; i++) { /* it is on its way */
			CHECK(read_link(helper, "/cwd", directory, sizeof directory) > 0);
			if (!psys_strcmp(directory, "/"))
				break;
			sleep_ms(10);
		}
		CHECK_EQUAL(psys_strcmp(directory, "/"), 0);
		for (int i = 0; i < 500; i++) {
			char link[64], name[16] = "/fd/";

			psys_i64_to_decimal(name + 4, ends[1]);
			if (read_link(helper, name, link, sizeof link) < 0 || link[0] != 'p')
				break;
			sleep_ms(10);
			CHECK(i < 499);
		}
	}
	psys_kill(pid, PSYS_SIGKILL);
	CHECK_EQUAL(end_of(&stack), PSYS_SIGKILL);
	psys_close(ends[0]);
	psys_close(ends[1]);
	CHECK_EQUAL(count_descriptors(), descriptors);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

TEST(the_helper_holds_neither_descriptors_nor_directory)
{
	check_helper_lets_go();
}

TEST(the_helper_lets_go_without_close_range)
{
	filter_refuse(PSYS_NR_close_range, PSYS_ENOSYS);
	check_helper_lets_go();
}

/* --- who dies when ------------------------------------------------------------------ */

/* A host of its own, which is killed while its private child runs. */
static void check_host_dies(void)
{
	int *shared = shared_page(), status;
	struct Stack_t probe = { 0 };

	spawn_private(&probe, child_returns, NULL); /* or the test is skipped */
	const bool reaped_by_kernel = aspawn_privacy(&probe) == ASPAWN_PRIVATE_AUTOREAPED;
	CHECK_EQUAL(end_of(&probe), 0);
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	int host = fork_child();
	if (host == 0) {
		struct Stack_t stack = { 0 };
		int pid;

		shared[4] = spawn_helped(&stack, shared, &pid, NULL);
		shared[5] = pid;
		gate_open(&shared[6]);
		sleep_ms(60000);
	}
	gate_wait(&shared[6]);
	CHECK_EQUAL(psys_kill(host, PSYS_SIGKILL), 0);
	CHECK_EQUAL(psys_wait4(host, &status, 0, NULL), host);
	/* The helper is this process's, an ordinary child, and then the private one. */
	if (reaped_by_kernel) {
		sleep_until_gone(shared[4]);
	} else {
		CHECK_EQUAL(psys_wait4(-1, &status, 0, NULL), shared[4]);
		CHECK_EQUAL(status, 0);
	}
	CHECK_EQUAL(psys_wait4(-1, &status, PSYS_WNOHANG, NULL), 0);
	gate_open(&shared[0]);
	CHECK_EQUAL(psys_wait4(-1, &status, 0, NULL), shared[5]);
	CHECK_EQUAL(status, 5 << 8);
}

TEST(a_host_that_is_killed_takes_the_helper_along)
{
	struct Stack_t probe = { 0 };
	int pid, pidfd = -1;

	if (try_private(&probe, child_returns, NULL, &pid, &pidfd) == 0 && pidfd < 0)
		skip("no pidfd");
	check_host_dies();
}

/* Runs host in a process whose orphans are this one's, and reaps them at once. */
static void run_under_reaper(void (*host)(const void *), const void *arg)
{
	int status = -1, ended = -1, r;

	need_shared_memory();
	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	int pid = fork_child();
	if (pid == 0) {
		host(arg);
		psys_exit_group(0);
	}
	while ((r = psys_wait4(-1, &status, 0, NULL)) > 0)
		if (r == pid)
			ended = status;
	CHECK_EQUAL(ended, 0);
}

static void kills_the_helper(const void *arg)
{
	struct Stack_t stack = { 0 };
	int numbers[3] = { 0 }, pid, status = -7;
	int helper = spawn_helped(&stack, numbers, &pid, NULL);

	(void)arg;
	CHECK_EQUAL(psys_kill(helper, PSYS_SIGTERM), 0); /* blocked */
	sleep_ms(20);
	CHECK_EQUAL(aspawn_private_wait(&stack, NULL, NULL, &at_once), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(psys_kill(helper, PSYS_SIGKILL), 0);
	CHECK_EQUAL(aspawn_private_wait(&stack, &status, NULL, &ten_seconds), -PSYS_ECHILD);
	CHECK_EQUAL(status, -7);
	CHECK_EQUAL(aspawn_stack_busy(&stack), 1); /* by the child */
	gate_open(&numbers[0]);
	sleep_until_gone(pid);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
	check_nothing_is_left();
}

TEST(a_helper_that_is_killed_is_noticed)
{
	run_under_reaper(kills_the_helper, NULL);
}

/* What aspawn_privacy() says of the helper is true. */
TEST(who_reaps_the_helper)
{
	struct Stack_t stack = { 0 };
	struct psys_siginfo info = { 0 };
	int r = 0;

	spawn_private(&stack, child_returns, NULL);
	note("privacy:", aspawn_privacy(&stack));
	CHECK_EQUAL(aspawn_stack_wait(&stack, NULL), 0);
	for (int i = 0; i < 1000 && r == 0 && !info.u.child.pid; i++) {
		r = psys_waitid(PSYS_P_ALL, 0, &info,
				PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT | PSYS___WALL, NULL);
		sleep_ms(1);
	}
	CHECK_EQUAL(r, aspawn_privacy(&stack) == ASPAWN_PRIVATE_HELPED ? 0 : -PSYS_ECHILD);
	CHECK(r < 0 || info.u.child.pid > 0);
	CHECK_EQUAL(end_of(&stack), 0);
	check_nothing_is_left();
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

/* A helper that nobody has waited for is reaped when its stack is used again, or freed. */
TEST(a_stack_is_used_again_after_a_private_child)
{
	struct Stack_t stack = { 0 };

	for (int i = 0; i < 20; i++) {
		int pid = spawn_private(&stack, child_execs_role, "lingers");
		sleep_ms(i ? 0 : 100); /* once, until the exec */
		CHECK_EQUAL(aspawn_stack_busy(&stack), 1);
		CHECK_EQUAL(try_private(&stack, child_returns, NULL, &pid, NULL), -PSYS_EBUSY);
		CHECK_EQUAL(aspawn_stack_free(&stack), -PSYS_EBUSY);
		CHECK_EQUAL(psys_kill(pid, PSYS_SIGKILL), 0);
		CHECK_EQUAL(aspawn_stack_wait(&stack, &ten_seconds), 0);
	}
	CHECK_EQUAL(reap(spawn_without_pipe(&stack, child_returns, (void *)8)), 8);
	check_nothing_is_left();
	spawn_private(&stack, child_returns, NULL);
	CHECK_EQUAL(aspawn_stack_wait(&stack, NULL), 0);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
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
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
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
	CHECK_EQUAL(aspawn_stack_free(&probe), 0);
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_SIGCHLD, PSYS_EAGAIN);
	check_refused(-PSYS_EAGAIN);
}

TEST(a_private_child_without_clone3)
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

TEST(a_private_child_without_pidfds)
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
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

/* --- commands ----------------------------------------------------------------------- */

static struct aspawn_command private_command(struct self *self, const char *role,
					     const char *argument)
{
	struct aspawn_command command = command_in_role(self, role, argument);

	if (get_disposition(PSYS_SIGCHLD) == PSYS_SIG_DFL)
		need_shared_memory();
	command.flags = ASPAWN_COMMAND_PRIVATE;
	return command;
}

/* Each way to begin, in each kind of memory. */
TEST_SECONDS(private_commands_of_every_kind, 60)
{
	static const uint64_t flags[] = { 0,
					  ASPAWN_COMMAND_STARTED_FD,
					  ASPAWN_COMMAND_FORK,
					  ASPAWN_COMMAND_FORK | ASPAWN_COMMAND_STARTED_FD,
					  ASPAWN_COMMAND_NO_PIDFD,
					  ASPAWN_COMMAND_DESCRIPTORS_UNCHANGED };
	static const struct aspawn_action closes[] = { ASPAWN_CLOSEFROM(3) };
	static struct aspawn_pool pool;
	struct Stack_t stack = { 0 };
	struct self self;
	struct aspawn_command command = private_command(&self, "exit_7", NULL);
	struct aspawn_failure failure;
	int descriptors, mappings = -1;

	set_handler(PSYS_SIGCHLD, on_sigchld);
	unblock_sigchld();
	descriptors = count_descriptors();
	for (int i = 0; i < 2 * 3 * (int)(sizeof flags / sizeof *flags); i++) {
		const int memory = i % 3;

		command.flags = ASPAWN_COMMAND_PRIVATE | flags[i / 6];
		command.pool = memory == 1 ? &pool : NULL;
		command.stack = memory == 2 ? &stack : NULL;
		command.actions = i / 3 % 2 ? closes : NULL;
		command.action_count = i / 3 % 2;
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(psys_wait4(-1, NULL, 0, NULL), -PSYS_ECHILD);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), 0);
		check_ends(&child, 7 << 8);
		CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), -PSYS_EINVAL);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, 0), 0);
		check_nothing_is_left();
		CHECK_EQUAL(signals, 0);
		CHECK_EQUAL(count_descriptors(), descriptors);
		if (i == 2)
			mappings = count_mappings();
		else if (i > 2)
			CHECK_EQUAL(count_mappings(), mappings);
	}
	CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

TEST(a_private_command_that_cannot_be_executed)
{
	struct self self;
	struct aspawn_command command = private_command(&self, "exit_7", NULL);
	struct aspawn_action action = ASPAWN_CHDIR("/no such directory");
	struct aspawn_failure failure;

	for (int i = 0; i < 4; i++) {
		command.flags = ASPAWN_COMMAND_PRIVATE | (i & 1 ? ASPAWN_COMMAND_FORK : 0);
		command.actions = i & 2 ? &action : NULL;
		command.action_count = i / 2;
		command.file = i & 2 ? self.file : "/no such file";
		struct aspawn_child child = start_command(NULL, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
		CHECK_EQUAL(failure.error, -PSYS_ENOENT);
		CHECK_EQUAL(failure.step, i & 2 ? 0 : ASPAWN_STEP_EXEC);
		CHECK_EQUAL(psys_strcmp(failure.subject,
					i & 2 ? "/no such directory" : "/no such file"),
			    0);
		check_ends(&child, 127 << 8);
		check_nothing_is_left();
	}
}

TEST(rejects_a_private_command_with_vfork)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_child child;

	command.flags = ASPAWN_COMMAND_PRIVATE | ASPAWN_COMMAND_VFORK;
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EINVAL);
	command.flags = ASPAWN_COMMAND_PRIVATE;
	if (!memory_is_shared()) {
		CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EOPNOTSUPP);
		CHECK_EQUAL(child.pid, 0);
		check_nothing_is_left();
	}
}

/* Polled, asked and killed as an ordinary child is. */
static void check_handle(uint64_t flags)
{
	struct self self;
	struct aspawn_command command = private_command(&self, "lingers", NULL);

	command.flags |= flags;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	CHECK_EQUAL(aspawn_ended(&child), 0);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 0), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 20), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(aspawn_kill(&child, 0), 0);
	CHECK_EQUAL(aspawn_kill_group(&child, 0), 0);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGSTOP), 0);
	sleep_ms(20);
	CHECK_EQUAL(aspawn_ended(&child), 0);
	CHECK_EQUAL(psys_wait4(-1, NULL, PSYS_WUNTRACED, NULL), -PSYS_ECHILD);
	CHECK_EQUAL(aspawn_kill_group(&child, PSYS_SIGKILL), 0);
	if (child.pidfd >= 0) {
		struct psys_pollfd poll = { child.pidfd, PSYS_POLLIN, 0 };
		CHECK_EQUAL(psys_ppoll(&poll, 1, NULL, NULL, 0), 1);
	} else {
		while (aspawn_ended(&child) == 0)
			sleep_ms(1);
	}
	/* At once: it is known that it has ended. */
	CHECK_EQUAL(aspawn_ended(&child), 1);
	int status = -1;
	CHECK_EQUAL(aspawn_wait(&child, &status, NULL, 0), 0);
	CHECK_EQUAL(status, PSYS_SIGKILL);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), -PSYS_EINVAL);
	check_nothing_is_left();
}

TEST(the_handle_of_a_private_child)
{
	for (int i = 0; i < 20; i++)
		check_handle(0);
}

TEST(the_handle_of_a_private_child_without_a_pidfd)
{
	for (int i = 0; i < 20; i++)
		check_handle(ASPAWN_COMMAND_NO_PIDFD);
}

TEST(private_commands_run)
{
	static const uint64_t flags[] = { 0, ASPAWN_COMMAND_NO_PIDFD, ASPAWN_COMMAND_FORK };
	struct self self;
	struct aspawn_command command = private_command(&self, "copies", NULL);

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		char text[16];
		struct aspawn_io io = { .size = sizeof io,
					.input = "private",
					.input_size = 7,
					.out = { .data = text, .size = sizeof text } };

		command.flags = ASPAWN_COMMAND_PRIVATE | flags[i];
		set_disposition(PSYS_SIGCHLD, PSYS_SIG_IGN);
		unblock_sigchld();
		CHECK_EQUAL(aspawn_run(&command, &io), 0);
		CHECK_EQUAL(io.end, ASPAWN_END_RAN);
		CHECK_EQUAL(io.status, 0);
		CHECK(io.usage.ru_minflt > 0);
		CHECK_EQUAL(psys_strcmp(text, "private"), 0);
	}
	command = private_command(&self, "lingers", NULL);
	struct aspawn_io io = { .size = sizeof io, .flags = ASPAWN_IO_KILL_GROUP, .timeout_ms = 50 };
	CHECK_EQUAL(aspawn_run(&command, &io), -PSYS_ETIMEDOUT);
	CHECK_EQUAL(io.status, PSYS_SIGTERM);
	check_nothing_is_left();
}

/* Released, it is nobody's at all: the pool's memory is used again after its end. */
TEST(private_children_that_are_released)
{
	static struct aspawn_pool pool;
	struct self self;
	struct aspawn_command command = private_command(&self, "lingers", NULL);
	int mappings = count_mappings(), status = -1;

	for (int memory = 0; memory < 2; memory++) {
		command.pool = memory ? &pool : NULL;
		struct aspawn_child child = start_command(NULL, &command);
		const int pid = child.pid;

		CHECK_EQUAL(why_not_started(&child), 0);
		CHECK_EQUAL(aspawn_release(&child), 0);
		CHECK_EQUAL(child.pidfd, -1);
		CHECK_EQUAL(aspawn_release(&child), 0);
		if (memory) {
			CHECK_EQUAL(aspawn_pool_trim(&pool), -PSYS_EBUSY);
			CHECK_EQUAL(aspawn_kill(&child, 0), -PSYS_ESRCH);
			CHECK_EQUAL(aspawn_wait(&child, &status, NULL, -1), -PSYS_ECHILD);
			CHECK_EQUAL(child.pid, 0);
		} else { /* there is nowhere to put it */
			CHECK_EQUAL(aspawn_kill(&child, 0), 0);
			CHECK_EQUAL(aspawn_ended(&child), 0);
		}
		CHECK_EQUAL(psys_kill(pid, PSYS_SIGKILL), 0);
		if (!memory) {
			CHECK_EQUAL(aspawn_wait(&child, &status, NULL, -1), 0);
			CHECK_EQUAL(status, PSYS_SIGKILL);
		}
		sleep_until_gone(pid);
	}
	for (int i = 0; i < 500 && aspawn_pool_trim(&pool) == -PSYS_EBUSY; i++)
		sleep_ms(10);
	CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
	CHECK_EQUAL(count_mappings(), mappings);
	check_nothing_is_left();
}

/* --- commands and the helper -------------------------------------------------------- */

static ASPAWN_CHILD int stores_parent(void *to)
{
	__atomic_store_n((int *)to, psys_getppid(), __ATOMIC_RELEASE);
	return 0;
}

/* Starts a command that lingers, after the action if there is one; its helper. */
static int start_helped(struct aspawn_child *child, uint64_t flags, const struct aspawn_action *more)
{
	static int parent;
	struct self self;
	struct aspawn_command command = private_command(&self, "lingers", NULL);
	struct aspawn_action actions[2] = { ASPAWN_CALL(stores_parent, &parent) };

	if (more)
		actions[1] = *more;
	command.flags |= flags;
	command.actions = actions;
	command.action_count = more ? 2 : 1;
	*child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(child), 0);
	CHECK(parent != psys_getpid());
	return parent;
}

static void kills_the_helper_of_one_with_pdeathsig(const void *arg)
{
	const struct aspawn_action action = ASPAWN_PDEATHSIG(PSYS_SIGUSR1);
	struct aspawn_child child;
	int helper = start_helped(&child, 0, &action);

	(void)arg;
	CHECK_EQUAL(psys_kill(helper, PSYS_SIGKILL), 0);
	sleep_until_gone(child.pid);
	int r = aspawn_wait(&child, NULL, NULL, -1);
	CHECK(r == 0 || r == -PSYS_ECHILD);
}

TEST(pdeathsig_of_a_private_child_follows_the_helper)
{
	run_under_reaper(kills_the_helper_of_one_with_pdeathsig, NULL);
}

/* Whether the kernel keeps the status of a child that another has reaped. */
static bool keeps_status(void)
{
	struct Stack_t stack = { 0 };
	int pid, pidfd = -1;

	CHECK_EQUAL(try_private(&stack, child_returns, NULL, &pid, &pidfd), 0);
	CHECK_EQUAL(end_of(&stack), 0);
	struct psys_pidfd_info info;

	psys_memset(&info, 0, sizeof info);
	info.mask = PSYS_PIDFD_INFO_EXIT;
	return psys_ioctl(pidfd, PSYS_PIDFD_GET_INFO, (uintptr_t)&info) == 0 &&
	       info.mask & PSYS_PIDFD_INFO_EXIT;
}

/* The child goes to init, or to this process if that is a subreaper. */
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
	const int pid = child.pid;
	const bool known = is_subreaper || (child.pidfd >= 0 && keeps_status());
	note("the status is known:", known);
	CHECK_EQUAL(psys_kill(helper, PSYS_SIGKILL), 0);
	sleep_ms(50);
	if (child.pidfd >= 0 || is_subreaper) {
		CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 20), -PSYS_ETIMEDOUT);
		CHECK_EQUAL(aspawn_ended(&child), 0);
		CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGTERM), 0);
	} else {
		CHECK_EQUAL(psys_kill(pid, PSYS_SIGTERM), 0);
	}
	int r = aspawn_wait(&child, &status, NULL, 10000);
	CHECK_EQUAL(r, known ? 0 : -PSYS_ECHILD);
	CHECK_EQUAL(status, known ? PSYS_SIGTERM : -7);
	CHECK_EQUAL(child.pid, 0);
	sleep_until_gone(pid);
	check_nothing_is_left();
}

TEST(a_private_command_whose_helper_is_killed)
{
	run_under_reaper(loses_the_helper, &(struct killed){ 0, false });
}

TEST(a_private_command_without_a_pidfd_whose_helper_is_killed)
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

/* The leader of the group has been reaped, and its number may be another's. */
static void check_group(uint64_t flags)
{
	const struct aspawn_action group = ASPAWN_SETPGID(0);
	struct self self;
	struct aspawn_command command = private_command(&self, "leaves_a_grandchild", NULL);
	int status;
	char byte;

	CHECK_EQUAL(psys_prctl(PSYS_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	command.flags |= flags;
	command.actions = &group;
	command.action_count = 1;
	command.std_out = ASPAWN_PIPE;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(psys_read(child.out_fd, &byte, 1), 1);
	while (aspawn_ended(&child) == 0)
		sleep_ms(1);
	sleep_until_gone(child.pid);
	const bool known =
		child.pidfd >= 0 &&
		psys_pidfd_send_signal(child.pidfd, 0, NULL, PSYS_PIDFD_SIGNAL_PROCESS_GROUP) == 0;
	note("the group is known:", known);
	CHECK_EQUAL(aspawn_kill_group(&child, PSYS_SIGKILL), known ? 0 : -PSYS_ESRCH);
	if (!known)
		CHECK_EQUAL(psys_kill(-child.pid, PSYS_SIGKILL), 0);
	CHECK(psys_wait4(-1, &status, 0, NULL) > 0);
	CHECK_EQUAL(status, PSYS_SIGKILL);
	psys_close(child.out_fd);
	check_ends(&child, 3 << 8);
	check_nothing_is_left();
}

TEST(the_group_of_a_private_child_that_has_ended)
{
	check_group(0);
}

TEST(the_group_of_a_private_child_without_a_pidfd)
{
	check_group(ASPAWN_COMMAND_NO_PIDFD);
}

/* --- hosts of other kinds ----------------------------------------------------------- */

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
	struct Stack_t stack = { 0 };
	int numbers[3] = { 0 }, pid;

	CHECK_EQUAL(psys_getpid(), 1);
	check_status_arrives(0);
	spawn_helped(&stack, numbers, &pid, NULL);
	check_unseen(pid);
	gate_open(&numbers[0]);
	CHECK_EQUAL(end_of(&stack), 5 << 8);
}

TEST(a_private_child_of_pid_1)
{
	need_shared_memory();
	CHECK_EQUAL(run_as_pid_1(as_pid_1), 0);
}

TEST(children_in_another_pid_namespace_are_not_private)
{
	struct Stack_t stack = { 0 };
	int pid;

	need_shared_memory();
	if (psys_unshare(PSYS_CLONE_NEWPID) < 0)
		skip("may not make a pid namespace");
	CHECK_EQUAL(try_private(&stack, child_returns, NULL, &pid, NULL), -PSYS_EOPNOTSUPP);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
	check_nothing_is_left();
}

/* A copy of the host knows nothing of the child, and does not touch it. */
TEST(a_host_forks_beside_a_private_child)
{
	static struct aspawn_pool pool;
	struct self self;
	struct aspawn_command command = private_command(&self, "lingers", NULL);

	for (int memory = 0; memory < 2; memory++) {
		command.pool = memory ? &pool : NULL;
		struct aspawn_child child = start_command(NULL, &command);
		int copy = fork_child();

		if (copy == 0) {
			CHECK_EQUAL(aspawn_release(&child), 0);
			struct aspawn_child own = start_command(NULL, &command);
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
	CHECK_EQUAL(aspawn_pool_trim(&pool), 0);
}

/* The thread that has spawned ends; the helper is the process's. */
static int spawns_and_ends(void *child)
{
	start_helped(child, 0, NULL);
	sleep_ms(50); /* until the helper waits */
	return 0;
}

TEST(the_thread_that_spawned_a_private_child_ends)
{
	struct aspawn_child child;
	struct psys_rusage usage;
	struct thread thread;

	need_shared_memory();
	thread_start(&thread, spawns_and_ends, &child);
	thread_join(&thread);
	sleep_ms(50);
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
	CHECK_EQUAL(aspawn_wait(&child, NULL, &usage, 10000), 0);
	CHECK(usage.ru_minflt > 0); /* which the helper alone can know */
	check_nothing_is_left();
}

/* --- held up before it has told --------------------------------------------------------- */

static int held, go, caller;

static void on_usr1(int signal)
{
	(void)signal;
	gate_open(&go);
}

static int interrupts(void *arg)
{
	(void)arg;
	gate_wait(&held);
	psys_tgkill(psys_getpid(), caller, PSYS_SIGUSR1);
	return 0;
}

TEST(signals_are_handled_while_a_helper_is_held_up)
{
	struct Stack_t stack = { 0 };
	struct thread thread;

	spawn_private(&stack, child_returns, NULL);
	CHECK_EQUAL(end_of(&stack), 0);
	set_handler(PSYS_SIGUSR1, on_usr1);
	caller = psys_gettid();
	thread_start(&thread, interrupts, NULL);
	filter_hold(PSYS_NR_getppid, &held, &go);
	spawn_private(&stack, child_returns, (void *)6);
	CHECK_EQUAL(end_of(&stack), 6 << 8);
	thread_join(&thread);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
}

/* The first child of this process; 0: not known. */
static int first_child(void)
{
	char path[64] = "/proc/self/task/", text[16] = "";
	size_t length = psys_strlen(path);
	int pid = 0;

	length += psys_i64_to_decimal(path + length, caller);
	psys_strlcpy(path + length, "/children", sizeof path - length);
	int fd = psys_open(path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	psys_read(fd, text, sizeof text - 1);
	psys_close(fd);
	for (const char *at = text; *at >= '0' && *at <= '9'; at++)
		pid = pid * 10 + (*at - '0');
	return pid;
}

static int kills_the_held(void *killed)
{
	gate_wait(&held);
	*(int *)killed = first_child();
	if (*(int *)killed)
		psys_kill(*(int *)killed, PSYS_SIGKILL);
	gate_open(&go);
	return 0;
}

TEST(a_helper_that_is_killed_before_it_has_told)
{
	struct Stack_t stack = { 0 };
	struct thread thread;
	int killed = 0, pid;

	spawn_private(&stack, child_returns, NULL);
	CHECK_EQUAL(end_of(&stack), 0);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
	caller = psys_gettid();
	while (first_child()) /* the first helper, until the kernel has reaped it */
		sleep_ms(1);
	thread_start(&thread, kills_the_held, &killed);
	filter_hold(PSYS_NR_getppid, &held, &go);
	int r = try_private(&stack, child_returns, NULL, &pid, NULL);
	thread_join(&thread);
	if (!killed)
		skip("no list of children in /proc");
	CHECK_EQUAL(r, -PSYS_EAGAIN);
	CHECK_EQUAL(aspawn_privacy(&stack), ASPAWN_NOT_PRIVATE);
	CHECK_EQUAL(aspawn_stack_free(&stack), 0);
	check_nothing_is_left();
}
