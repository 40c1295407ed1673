/* SPDX-License-Identifier: MIT */
/* See private.h. */
#include "private.h"

void need_shared_memory(void)
{
	if (!memory_is_shared())
		skip("this emulator copies the memory");
}

struct aspawn_child start_private(const char *role, int (*fn)(void *), void *arg)
{
	const struct aspawn_action call = ASPAWN_CALL(fn, arg);
	struct self self;
	struct aspawn_command command = command_in_role(&self, role ? role : "exit_7", NULL);
	struct aspawn_child child;

	command.owner = ASPAWN_OWNER_PRIVATE;
	command.flags = ASPAWN_COMMAND_INHERIT_SIGNALS;
	command.actions = &call;
	command.action_count = fn != NULL;
	int r = aspawn_start(&child, &command);
	if (r == -PSYS_EOPNOTSUPP && !memory_is_shared())
		skip("this emulator copies the memory");
	CHECK_EQUAL(r, 0);
	pid_of(&child);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_OWNER), ASPAWN_OWNER_PRIVATE);
	return child;
}

ASPAWN_CHILD int exits(void *status)
{
	psys_exit_group((int)(intptr_t)status);
}

ASPAWN_CHILD int waits(void *gate)
{
	gate_wait(gate);
	psys_exit_group(0);
}

ASPAWN_CHILD int raises(void *signal)
{
	struct psys_sigset none;

	psys_sigemptyset(&none);
	psys_rt_sigprocmask(PSYS_SIG_SETMASK, &none, NULL, PSYS_SIGSET_SIZE);
	psys_kill(psys_getpid(), (int)(intptr_t)signal);
	psys_exit_group(99);
}

int end_of(struct aspawn_child *child)
{
	int status = -1, r = aspawn_wait(child, &status, NULL, LONG);

	CHECK(r == 0 || r == -PSYS_ECANCELED);
	return status;
}

void check_nothing_is_left(void)
{
	struct psys_siginfo info;
	int r = 0;

	while (r == 0) {
		info.u.child.pid = 0;
		r = psys_waitid(PSYS_P_ALL, 0, &info,
				PSYS_WEXITED | PSYS_WNOHANG | PSYS_WNOWAIT | PSYS___WALL, NULL);
		CHECK_EQUAL(info.u.child.pid, 0);
		if (r == 0)
			sleep_ms(1);
	}
	CHECK_EQUAL(r, -PSYS_ECHILD);
}

void check_wait_at_once(struct aspawn_child *child, int expected)
{
	const int64_t second = 1000000000;
	int status = -1, r;

	do {
		const int64_t begin = monotonic_ns();
		r = aspawn_wait(child, &status, NULL, 0);
		CHECK(r == 0 || (r == -PSYS_ETIMEDOUT && monotonic_ns() - begin >= second));
	} while (r);
	CHECK_EQUAL(status, expected);
}

volatile int sigchlds;

void on_sigchld(int signal)
{
	(void)signal;
	sigchlds++;
}

void unblock_sigchld(void)
{
	struct psys_sigset chld;

	psys_sigemptyset(&chld);
	psys_sigaddset(&chld, PSYS_SIGCHLD);
	psys_rt_sigprocmask(PSYS_SIG_UNBLOCK, &chld, NULL, PSYS_SIGSET_SIZE);
}

void check_unseen(int pid)
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

/* Returns 1 if SIGCHLD is ignored in the program. */
ROLE(reports_sigchld)
{
	(void)argc, (void)argv;
	return get_disposition(PSYS_SIGCHLD) == PSYS_SIG_IGN;
}

void check_status_arrives(int expected_disposition)
{
	for (int i = 0; i < 5; i++) {
		struct aspawn_child child = start_private(NULL, exits, (void *)(intptr_t)(40 + i));
		CHECK_EQUAL(end_of(&child), (40 + i) << 8);
	}
	struct aspawn_child child = start_private("reports_sigchld", NULL, NULL);
	CHECK_EQUAL(end_of(&child), expected_disposition << 8);
	check_nothing_is_left();
}

void sleep_until_gone(int pid)
{
	while (psys_kill(pid, 0) == 0)
		sleep_ms(1);
	CHECK_EQUAL(psys_kill(pid, 0), -PSYS_ESRCH);
}

void run_under_reaper(void (*host)(const void *), const void *arg)
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

struct aspawn_command private_command(struct self *self, const char *role, const char *argument)
{
	struct aspawn_command command = command_in_role(self, role, argument);

	if (get_disposition(PSYS_SIGCHLD) == PSYS_SIG_DFL)
		need_shared_memory();
	command.owner = ASPAWN_OWNER_PRIVATE;
	return command;
}

static ASPAWN_CHILD int stores_parent(void *to)
{
	__atomic_store_n((int *)to, psys_getppid(), __ATOMIC_RELEASE);
	return 0;
}

int start_helped(struct aspawn_child *child, uint64_t flags, const struct aspawn_action *more)
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

bool keeps_status(void)
{
	struct psys_pidfd_info info;
	int pid = fork_child();

	if (pid == 0)
		psys_exit_group(0);
	int pidfd = psys_pidfd_open(pid, 0);
	CHECK_EQUAL(reap(pid), 0);
	psys_memset(&info, 0, sizeof info);
	info.mask = PSYS_PIDFD_INFO_EXIT;
	const bool keeps = pidfd >= 0 &&
			   psys_ioctl(pidfd, PSYS_PIDFD_GET_INFO, (uintptr_t)&info) >= 0 &&
			   info.mask & PSYS_PIDFD_INFO_EXIT;
	psys_close(pidfd);
	return keeps;
}

bool pidfd_knows_groups(void)
{
	const int pidfd = psys_pidfd_open(psys_getpid(), 0);
	const int r = psys_pidfd_send_signal(pidfd, 0, NULL, PSYS_PIDFD_SIGNAL_PROCESS_GROUP);

	psys_close(pidfd);
	return r == 0;
}

void may_not_kill(void)
{
	struct psys_cap_user_header header = { PSYS_LINUX_CAPABILITY_VERSION_3, 0 };
	struct psys_cap_user_data sets[2];

	CHECK_EQUAL(psys_capget(&header, sets), 0);
	sets[0].effective &= ~(UINT32_C(1) << PSYS_CAP_KILL);
	sets[0].permitted &= ~(UINT32_C(1) << PSYS_CAP_KILL);
	CHECK_EQUAL(psys_capset(&header, sets), 0);
}
