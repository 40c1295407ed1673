/* SPDX-License-Identifier: MIT */
/* Private children: only the library sees how they end. */
#include "filter.h"
#include "private.h"

/* --- what the host sees ------------------------------------------------------------- */

TEST(no_wait_and_no_handler_sees_a_private_child)
{
	int gate = 0;

	set_handler(PSYS_SIGCHLD, on_sigchld);
	unblock_sigchld();
	struct aspawn_child child = start_private(NULL, waits, &gate);
	const int pid = aspawn_pid(&child);
	check_unseen(pid);
	CHECK_EQUAL(psys_kill(pid, PSYS_SIGSTOP), 0);
	sleep_ms(20);
	check_unseen(pid);
	CHECK_EQUAL(psys_kill(pid, PSYS_SIGCONT), 0);
	sleep_ms(20);
	check_unseen(pid);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, 0), -PSYS_ETIMEDOUT);
	gate_open(&gate);
	CHECK_EQUAL(end_of(&child), 0);
	check_unseen(pid);
	CHECK_EQUAL(psys_kill(pid, 0), -PSYS_ESRCH);
	check_nothing_is_left();
	CHECK_EQUAL(sigchlds, 0);
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

	need_shared_memory();
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
	struct thread thread;
	const int count = scaled(400);

	need_shared_memory();
	set_handler(PSYS_SIGCHLD, on_sigchld);
	unblock_sigchld();
	thread_start(&thread, waits_for_any, NULL);
	for (int i = 0; i < count; i++) {
		struct aspawn_child child = start_private(NULL, exits, (void *)(intptr_t)(i & 127));
		CHECK_EQUAL(end_of(&child), (i & 127) << 8);
	}
	__atomic_store_n(&wait_stop, 1, __ATOMIC_RELEASE);
	thread_join(&thread);
	CHECK_EQUAL(waits_seen, 0);
	CHECK_EQUAL(sigchlds, 0);
	check_nothing_is_left();
}

/* An ordinary child of the same host is still its own. */
TEST(a_private_child_leaves_ordinary_children_alone)
{
	struct Stack_t stack = { 0 };
	int gate = 0;

	struct aspawn_child child = start_private(NULL, waits, &gate);
	CHECK_EQUAL(reap(spawn_without_pipe(&stack, child_returns, (void *)3)), 3);
	gate_open(&gate);
	CHECK_EQUAL(end_of(&child), 0);
	CHECK_EQUAL(reap(spawn_without_pipe(&stack, child_returns, (void *)4)), 4);
	CHECK_EQUAL(aspawn_stack_release(&stack), 0);
}

/* --- status and usage --------------------------------------------------------------- */

ROLE(aborts)
{
	const struct psys_rlimit64 all = { PSYS_RLIM64_INFINITY, PSYS_RLIM64_INFINITY };

	(void)argc, (void)argv;
	psys_prlimit64(0, PSYS_RLIMIT_CORE, &all, NULL);
	psys_kill(psys_getpid(), PSYS_SIGABRT);
	sleep_ms(1000);
	return 99;
}

TEST(a_wait_gives_exit_signal_and_core_dump_of_a_private_child)
{
	static const struct {
		const char *role;
		int (*fn)(void *);
		int number, status;
	} ends[] = {
		{ NULL, exits, 255, 255 << 8 },
		{ "exit_7", NULL, 0, 7 << 8 },
		{ NULL, raises, PSYS_SIGTERM, PSYS_SIGTERM },
		{ NULL, raises, PSYS_SIGKILL, PSYS_SIGKILL },
	};
	struct Stack_t stack = { 0 };
	struct aspawn_child child;
	int ordinary;

	enter_own_directory(); /* for the core */
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		child = start_private(ends[i].role, ends[i].fn, (void *)(intptr_t)ends[i].number);
		CHECK_EQUAL(end_of(&child), ends[i].status);
	}
	/* The child dumps core, where the host allows core dumps. */
	int pid = spawn_without_pipe(&stack, child_execs_role, "aborts");
	CHECK_EQUAL(psys_wait4(pid, &ordinary, 0, NULL), pid);
	CHECK_EQUAL(PSYS_WTERMSIG(ordinary), PSYS_SIGABRT);
	note("core dump:", ordinary >> 7);
	child = start_private("aborts", NULL, NULL);
	CHECK_EQUAL(end_of(&child), ordinary);
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

TEST(a_wait_gives_the_usage_of_a_private_child)
{
	struct aspawn_child child = start_private("grows", NULL, NULL);
	struct psys_rusage usage;
	int status;

	psys_memset(&usage, 0, sizeof usage);
	CHECK_EQUAL(aspawn_wait(&child, &status, &usage, -1), 0);
	CHECK_EQUAL(status, 0);
	CHECK(usage.ru_maxrss >= 16 * 1024 && usage.ru_minflt > 0);
}

/* --- the helper --------------------------------------------------------------------- */

TEST(the_handle_says_who_reaps_the_helper)
{
	struct aspawn_child child = start_private(NULL, exits, NULL);
	const int helper = aspawn_describe(&child, ASPAWN_FACT_HELPER);
	struct psys_siginfo info = { 0 };
	int r = 0;

	note("kernel reaps helpers:", helper == ASPAWN_HELPER_AUTOREAPED);
	while (r == 0 && !info.u.child.pid) {
		r = psys_waitid(PSYS_P_ALL, 0, &info,
				PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT | PSYS___WALL, NULL);
		sleep_ms(1);
	}
	CHECK_EQUAL(r, helper == ASPAWN_HELPER_WAITED_FOR ? 0 : -PSYS_ECHILD);
	CHECK(r < 0 || info.u.child.pid > 0);
	CHECK_EQUAL(end_of(&child), 0);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_HELPER), helper);
	check_nothing_is_left();
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

TEST(the_helper_holds_no_directory)
{
	struct aspawn_child child;
	char directory[64] = "";

	if (!have_proc())
		skip("no /proc");
	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	CHECK_EQUAL(psys_chdir("/tmp"), 0);
	const int helper = start_helped(&child, 0, NULL);
	do { /* it is on its way */
		sleep_ms(1);
		CHECK(read_link(helper, "/cwd", directory, sizeof directory) > 0);
	} while (psys_strcmp(directory, "/"));
	CHECK_EQUAL(aspawn_kill(&child, PSYS_SIGKILL), 0);
	check_ends(&child, PSYS_SIGKILL);
}

/* --- what a filter refuses ---------------------------------------------------------- */

TEST(a_private_child_is_refused_where_no_process_shares_memory)
{
	const int descriptors = count_descriptors();
	const struct psys_sigset mask = get_mask();
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_child child;

	if (memory_is_shared()) {
		filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
		filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_VM, PSYS_EINVAL);
	}
	command.owner = ASPAWN_OWNER_PRIVATE;
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EOPNOTSUPP);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_OWNER), -PSYS_EINVAL);
	CHECK(same_mask(mask, get_mask()));
	CHECK_EQUAL(count_descriptors(), descriptors);
	check_nothing_is_left();
}

TEST(a_private_child_is_helped_without_clone3)
{
	need_shared_memory();
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	check_status_arrives(0);
	struct aspawn_child child = start_private(NULL, exits, NULL);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_MODE), ASPAWN_MODE_CLONE);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_HELPER), ASPAWN_HELPER_WAITED_FOR);
	CHECK_EQUAL(end_of(&child), 0);
}

TEST(a_private_child_runs_without_pidfds)
{
	need_shared_memory();
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	filter_refuse_flags(PSYS_NR_clone, clone_flags, PSYS_CLONE_PIDFD, PSYS_EINVAL);
	filter_refuse(PSYS_NR_pidfd_open, PSYS_ENOSYS);
	check_status_arrives(0);
	struct aspawn_child child = start_private(NULL, exits, (void *)9);
	CHECK_EQUAL(child.ended_fd, -1);
	CHECK_EQUAL(end_of(&child), 9 << 8);
}
