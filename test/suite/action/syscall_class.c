/* SPDX-License-Identifier: MIT */
/* These tests make any system call as an action, and show the effect of the call, the memory where
 * the call acts, and an unchanged caller. */
#include "../observe.h"

enum {
	PR_GET_TIMERSLACK = 30,
	PR_GET_THP_DISABLE = 42,
	SCHED_BATCH = 3,
	MPOL_PREFERRED = 1,
	SECCOMP_GET_ACTION_AVAIL = 2,
};

#define CALL(number, a, b, c) ASPAWN_SYSCALL(number, a, b, c, 0, 0, 0, 0U, ASPAWN_EXPECTED_SUCCESS)

/* --- the caller ----------------------------------------------------------------- */

/* What a call in the child could change here, if it were not the child's. */
struct callers {
	int umask, personality, prctls[7], scheduler, nice, session, policy;
	long keyring;
	unsigned uid, euid, suid;
	struct psys_rlimit64 files;
	char locked[64];
};

static void read_locked(char *to, size_t size)
{
	char status[2048] = "";
	int fd = psys_open("/proc/self/status", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	const char *at = status;

	psys_read(fd, status, sizeof status - 1);
	psys_close(fd);
	while (*at && psys_strncmp(at, "VmLck", 5)) {
		at = psys_strchrnul(at, '\n');
		at += *at == '\n';
	}
	const size_t line = (size_t)(psys_strchrnul(at, '\n') - at);
	psys_memcpy(to, at, line < size ? line : size);
}

static void look(struct callers *callers)
{
	static const int prctls[] = { PSYS_PR_GET_DUMPABLE, PSYS_PR_GET_NO_NEW_PRIVS,
				      PR_GET_TIMERSLACK,    PR_GET_THP_DISABLE,
				      PSYS_PR_GET_SECCOMP,  PSYS_PR_GET_SECUREBITS,
				      PSYS_PR_GET_NAME };
	char name[16] = "";

	psys_memset(callers, 0, sizeof *callers);
	callers->umask = psys_umask(0);
	psys_umask((unsigned)callers->umask);
	callers->personality = psys_personality(0xffffffff);
	for (size_t i = 0; i < sizeof prctls / sizeof *prctls; i++)
		callers->prctls[i] = psys_prctl(prctls[i], (uintptr_t)name, 0, 0, 0);
	callers->prctls[6] = name[0];
	callers->scheduler = psys_sched_getscheduler(0);
	callers->nice = psys_getpriority(PSYS_PRIO_PROCESS, 0);
	callers->session = psys_getsid(0);
	psys_get_mempolicy(&callers->policy, NULL, 0, NULL, 0);
	callers->keyring = psys_keyctl(PSYS_KEYCTL_GET_KEYRING_ID,
				       (unsigned long)PSYS_KEY_SPEC_SESSION_KEYRING, 0, 0, 0);
	psys_getresuid(&callers->uid, &callers->euid, &callers->suid);
	psys_prlimit64(0, PSYS_RLIMIT_NOFILE, NULL, &callers->files);
	read_locked(callers->locked, sizeof callers->locked);
}

/* Performs an action, checks whose memory the child had, and compares the caller with its state
 * before. Skips the rest if the kernel or a filter refuses the call. */
static bool does(bool shared, const char *text, const char *what, struct aspawn_action action)
{
	struct callers before, after;
	struct aspawn_action actions[] = { ASPAWN_UMASK(022), ASPAWN_UMASK(022) };

	actions[1] = action;
	look(&before);
	struct observation seen = observe(actions, 2, what);
	look(&after);
	CHECK_EQUAL(psys_memcmp(&before, &after, sizeof before), 0);
	if (seen.failure.error == -PSYS_ENOSYS || seen.failure.error == -PSYS_EPERM) {
		note("refused here:", action.u.syscall.number);
		return false;
	}
	note(what, seen.failure.error);
	note(seen.text, seen.mode);
	CHECK_EQUAL(seen.result, 0);
	if (text)
		CHECK_EQUAL(psys_strcmp(seen.text, text), 0);
	if (shared)
		CHECK(seen.mode != ASPAWN_MODE_IMAGE &&
		      (seen.mode != ASPAWN_MODE_FORK || is_emulated()));
	else
		CHECK(seen.mode == ASPAWN_MODE_IMAGE || seen.mode == ASPAWN_MODE_FORK);
	return true;
}

#define SHARED(text, what, ...) does(true, text, what, (struct aspawn_action)__VA_ARGS__)
#define NOT_SHARED(text, what, ...) does(false, text, what, (struct aspawn_action)__VA_ARGS__)

/* --- what calls do --------------------------------------------------------------- */

TEST(shared_calls_change_the_child_alone)
{
	const struct psys_sched_attr batch = { .size = 48, .sched_policy = SCHED_BATCH };
	const unsigned long first_node[] = { 1 };
	int fd = psys_open("/dev/null", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);

	SHARED("1", "no_new_privs", ASPAWN_PRCTL(PSYS_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	SHARED("77777", "prctl:30", ASPAWN_PRCTL(PSYS_PR_SET_TIMERSLACK, 77777, 0, 0, 0));
	SHARED("", "",
	       ASPAWN_SYSCALL(PSYS_NR_prctl, PSYS_PR_SET_NAME, "lost", 0, 0, 0, 0,
			      ASPAWN_ARG_STRING(1), ASPAWN_EXPECTED_SUCCESS));
	SHARED("leader", "session", CALL(PSYS_NR_setsid, 0, 0, 0));
	SHARED("39", "umask", ASPAWN_SYSCALL(PSYS_NR_umask, 047, 0, 0, 0, 0, 0, 0U, 022));
	SHARED("/dev", "directory",
	       ASPAWN_SYSCALL(PSYS_NR_chdir, "/dev", 0, 0, 0, 0, 0, ASPAWN_ARG_STRING(0), 0));
	CHECK_EQUAL(psys_dup3(fd, 40, PSYS_O_CLOEXEC), 40);
	SHARED("open", "descriptor:40", ASPAWN_FCNTL(40, PSYS_F_SETFD, 0));
	if (is_emulated())
		return;
	SHARED("19", "nice", CALL(PSYS_NR_setpriority, PSYS_PRIO_PROCESS, 0, 19));
	SHARED("262144", "personality", CALL(PSYS_NR_personality, 0x0040000, 0, 0));
	SHARED("3", "scheduler", ASPAWN_SCHED_SETATTR(&batch, 48));
	SHARED("1", "memory policy", ASPAWN_SET_MEMPOLICY(MPOL_PREFERRED, first_node, sizeof(long)));
	SHARED("0", "memory policy", ASPAWN_SET_MEMPOLICY(0, first_node, 0));
}

TEST(a_session_keyring_is_the_childs_alone)
{
	char callers[PSYS_DECIMAL_SIZE];
	struct aspawn_action join = ASPAWN_KEYCTL(PSYS_KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0);
	long keyring = psys_keyctl(PSYS_KEYCTL_GET_KEYRING_ID,
				   (unsigned long)PSYS_KEY_SPEC_SESSION_KEYRING, 0, 0, 0);

	if (keyring < 0 || is_emulated())
		skip("no session keyring");
	psys_i64_to_decimal(callers, keyring);
	if (!SHARED(NULL, "", ASPAWN_KEYCTL(PSYS_KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)))
		skip("keyctl is refused");
	struct observation seen = observe(&join, 1, "session keyring");
	CHECK(seen.text[0] > '0' && psys_strcmp(seen.text, callers));
	SHARED(NULL, "session keyring",
	       ASPAWN_SYSCALL(PSYS_NR_keyctl, PSYS_KEYCTL_JOIN_SESSION_KEYRING, "of a test", 0, 0,
			      0, 0, ASPAWN_ARG_STRING(1), ASPAWN_EXPECTED_SUCCESS));
}

TEST(a_terminal_is_controlled_by_ioctl)
{
	char name[32] = "/dev/pts/";
	int number = 0, unlocked = 0, zero = 0;
	int ptmx = psys_open("/dev/ptmx", PSYS_O_RDWR | PSYS_O_NOCTTY | PSYS_O_CLOEXEC, 0);

	if (ptmx < 0 || psys_ioctl(ptmx, 0x80045430, (uintptr_t)&number) < 0 || /* TIOCGPTN */
	    psys_ioctl(ptmx, 0x40045431, (uintptr_t)&unlocked) < 0)             /* TIOCSPTLCK */
		skip("no pseudo-terminals");
	psys_i64_to_decimal(name + psys_strlen(name), number);
	CHECK_SHOWS("foreground", "terminal", ASPAWN_SETSID(),
		    ASPAWN_OPEN(0, name, PSYS_O_RDWR | PSYS_O_NOCTTY, 0),
		    ASPAWN_IOCTL(0, PSYS_TIOCSCTTY, 0, 0));
	CHECK_FAILS(2, PSYS_ENOTTY, ASPAWN_SETSID(), ASPAWN_DEV_NULL(0),
		    ASPAWN_IOCTL(0, PSYS_TIOCSPGRP, &zero, sizeof zero));
}

TEST(other_calls_are_made_in_memory_of_their_own)
{
	const uint32_t kill = 0;
	const struct psys_rlimit64 limit = { 11, 12 };
	const bool is_root = psys_geteuid() == 0;

	if (is_emulated())
		skip("an emulator has calls of its own");
	NOT_SHARED("", "", CALL(PSYS_NR_mlockall, PSYS_MCL_FUTURE, 0, 0));
	NOT_SHARED("1", "prctl:42", ASPAWN_PRCTL(PSYS_PR_SET_THP_DISABLE, 1, 0, 0, 0));
	NOT_SHARED("", "", ASPAWN_PRCTL(PSYS_PR_SET_DUMPABLE, 0, 0, 0, 0));
	NOT_SHARED("", "",
		   ASPAWN_SYSCALL(PSYS_NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &kill, 0, 0, 0,
				  ASPAWN_ARG_BYTES(2, 4), 0));
	NOT_SHARED("11 12", "limit:0",
		   ASPAWN_SYSCALL(PSYS_NR_prlimit64, 0, PSYS_RLIMIT_CPU, &limit, 0, 0, 0,
				  ASPAWN_ARG_BYTES(2, sizeof limit), 0));
	NOT_SHARED("", "", CALL(PSYS_NR_unshare, 0, 0, 0));
	if (is_root)
		NOT_SHARED("0 0", "ids", ASPAWN_SYSCALL(PSYS_NR_setgroups, 0, 0, 0, 0, 0, 0, 0U, 0));
}

/* The image unmaps itself; strict seccomp kills it. */
TEST(a_call_that_destroys_its_memory_harms_no_other)
{
	struct callers before, after;
	const struct aspawn_action unmap = CALL(PSYS_NR_munmap, 0, 1 << 28, 0);
	const struct aspawn_action strict = ASPAWN_PRCTL(PSYS_PR_SET_SECCOMP, 1, 0, 0, 0);

	if (is_emulated())
		skip("an emulator is in the memory");
	look(&before);
	struct observation seen = observe(&unmap, 1, "");
	if (seen.mode == ASPAWN_MODE_IMAGE) {
		CHECK_EQUAL(seen.result, -PSYS_ECANCELED);
		CHECK_EQUAL(seen.failure.error, -PSYS_ECHILD);
	}
	seen = observe(&strict, 1, "");
	CHECK(seen.status == PSYS_SIGKILL || seen.failure.error == -PSYS_EINVAL);
	look(&after);
	CHECK_EQUAL(psys_memcmp(&before, &after, sizeof before), 0);
}

TEST(a_traced_child_stops_at_its_exec)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_action traced = CALL(PSYS_NR_ptrace, 0, 0, 0);
	int status = 0;

	if (is_emulated())
		skip("no ptrace in an emulator");
	command.actions = &traced;
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	if (why_not_started(&child))
		skip("no ptrace");
	const int pid = aspawn_pid(&child);
	CHECK_EQUAL(psys_wait4(pid, &status, PSYS_WUNTRACED, NULL), pid);
	CHECK_EQUAL(status, PSYS_SIGTRAP << 8 | 0x7f);
	CHECK_EQUAL(psys_ptrace(17 /* PTRACE_DETACH */, pid, NULL, NULL), 0);
	check_ends(&child, 7 << 8);
}

/* --- arguments and results -------------------------------------------------------- */

static int count_links(const char *path)
{
	char target[64] = "";

	return psys_readlinkat(PSYS_AT_FDCWD, path, target, sizeof target - 1) > 0 &&
	       !psys_strcmp(target, "the target");
}

TEST(strings_and_bytes_are_copied_with_the_command)
{
	static struct aspawn_pool pool;
	char path[64] = "/tmp/link of ", target[] = "the target";
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	append_own_name(path);
	for (int in_image = 0; in_image < 2; in_image++) {
		struct aspawn_action actions[] = {
			ASPAWN_SYSCALL(PSYS_NR_symlinkat, target, PSYS_AT_FDCWD, path, 0, 0, 0,
				       ASPAWN_ARG_STRING(0) | ASPAWN_ARG_STRING(2), 0),
			in_image ? (struct aspawn_action)CALL(PSYS_NR_munlockall, 0, 0, 0) :
				   (struct aspawn_action)ASPAWN_UMASK(0),
		};
		char changed[] = "the target";
		actions[0].u.syscall.words[0] = (uintptr_t)changed;
		command.actions = actions;
		command.action_count = 2;
		struct aspawn_child child = start_command(&pool, &command);
		psys_memset(changed, 'x', sizeof changed - 1);
		psys_memset(actions, 0xff, sizeof actions);
		CHECK_EQUAL(why_not_started(&child), 0);
		check_ends(&child, 7 << 8);
		CHECK(count_links(path));
		CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, path, 0), 0);
	}
	aspawn_pool_release(&pool);
}

TEST(a_call_fails_unless_its_result_is_the_expected_one)
{
#define GETS(number, expected) ASPAWN_SYSCALL(number, 0, 0, 0, 0, 0, 0, 0U, expected)
#define FAILS(expected) ASPAWN_SYSCALL(PSYS_NR_fchdir, 333, 0, 0, 0, 0, 0, 0U, expected)
	CHECK_SHOWS("", "", ASPAWN_UMASK(022), GETS(PSYS_NR_umask, 022));
	CHECK_SHOWS("", "", ASPAWN_UMASK(022), GETS(PSYS_NR_umask, ASPAWN_EXPECTED_SUCCESS));
	CHECK_SHOWS("", "", ASPAWN_UMASK(022), GETS(PSYS_NR_umask, ASPAWN_EXPECTED_ANY));
	CHECK_FAILS(1, PSYS_EIO, ASPAWN_UMASK(022), GETS(PSYS_NR_umask, 023));
	CHECK_FAILS(1, PSYS_EIO, ASPAWN_UMASK(022), GETS(PSYS_NR_umask, -PSYS_EBADF));
	CHECK_SHOWS("", "", FAILS(ASPAWN_EXPECTED_ANY), FAILS(-PSYS_EBADF));
	CHECK_FAILS(1, PSYS_EBADF, ASPAWN_UMASK(0), FAILS(ASPAWN_EXPECTED_SUCCESS));
	CHECK_FAILS(1, PSYS_EBADF, ASPAWN_UMASK(0), FAILS(0));
	CHECK_FAILS(1, PSYS_EBADF, ASPAWN_UMASK(0), FAILS(-PSYS_ENOENT));
}

/* The number is far above the child's copies, and an exec of the image closes the descriptor. */
TEST(a_marked_descriptor_is_the_callers)
{
	int fd = psys_open("/dev/null", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0), end;
	const struct psys_rlimit64 many = { 4096, 4096 };

	psys_prlimit64(0, PSYS_RLIMIT_NOFILE, &many, NULL);
	if (psys_dup3(fd, 3000, PSYS_O_CLOEXEC) != 3000)
		skip("too few descriptors");
	if (!is_emulated()) /* an emulator has descriptors of its own */
		CHECK_SHOWS("open", "descriptor:4", ASPAWN_CLOSE(4), ASPAWN_CLOSE(3),
			    ASPAWN_DUP2(1, 3), ASPAWN_FCNTL(3000, PSYS_F_DUPFD, 4),
			    ASPAWN_CLOSEFROM(5));
	CHECK_SHOWS("", "", ASPAWN_FCNTL(3000, PSYS_F_SETFD, 0), ASPAWN_ONLY_BELOW(3));
	CHECK_SHOWS("", "", ASPAWN_FCNTL(3000, PSYS_F_GETFL, 0),
		    ASPAWN_SYSCALL(PSYS_NR_ioctl, 3000, 0, 0, 0, 0, 0, ASPAWN_ARG_FD(0),
				   is_emulated() ? ASPAWN_EXPECTED_ANY : -PSYS_ENOTTY),
		    ASPAWN_ONLY_BELOW(3));
	CHECK_FAILS(1, PSYS_EBADF, ASPAWN_OUTPUT_PIPE(30, &end),
		    ASPAWN_FCNTL(3001, PSYS_F_GETFD, 0));
	psys_close(end);
}

TEST(rejects_invalid_marks_of_arguments)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_child child;
	static const unsigned marks[] = {
		ASPAWN_ARG_FD(6),
		ASPAWN_ARG_BYTES(6, 8),
		ASPAWN_ARG_BYTES(1, 1U << 20),
		ASPAWN_ARG_FD(2) | ASPAWN_ARG_STRING(2),
		ASPAWN_ARG_FD(2) | ASPAWN_ARG_BYTES(2, 8),
		ASPAWN_ARG_STRING(2) | ASPAWN_ARG_BYTES(2, 8),
		ASPAWN_ARG_STRING(0), /* NULL */
		ASPAWN_ARG_BYTES(0, 8),
		ASPAWN_ARG_FD(1), /* negative */
		8U << 12,         /* bytes of no argument */
	};

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		struct aspawn_action action =
			ASPAWN_SYSCALL(PSYS_NR_umask, 0, -1, "text", 0, 0, 0, marks[i], 0);
		command.actions = &action;
		command.action_count = 1;
		note("marks:", marks[i]);
		CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EINVAL);
	}
}

/* --- failures ------------------------------------------------------------------------ */

static void check_text(const char *expected, struct aspawn_action action)
{
	struct aspawn_action actions[] = { ASPAWN_UMASK(0), ASPAWN_UMASK(0) };
	char text[100];

	actions[1] = action;
	struct observation seen = observe(actions, 2, "");
	aspawn_failure_text(text, sizeof text, &seen.failure);
	note(text, seen.failure.error);
	CHECK_EQUAL(psys_strcmp(text, expected), 0);
}

TEST(a_failure_names_the_call)
{
	char text[64] = "action 1, syscall ";

	check_text("action 1, prctl: EINVAL",
		   (struct aspawn_action)ASPAWN_PRCTL(PSYS_PR_SET_NO_NEW_PRIVS, 7, 0, 0, 0));
	check_text("action 1, fcntl: EBADF",
		   (struct aspawn_action)ASPAWN_FCNTL(333, PSYS_F_GETFD, 0));
	psys_i64_to_decimal(text + psys_strlen(text), PSYS_NR_fchdir);
	psys_memcpy(text + psys_strlen(text), ": EBADF", 8);
	check_text(text, (struct aspawn_action)CALL(PSYS_NR_fchdir, 333, 0, 0));
}

TEST(calls_that_make_no_sense_are_refused)
{
	static const int numbers[] = {
		PSYS_NR_execve,         PSYS_NR_execveat,        PSYS_NR_exit,
		PSYS_NR_exit_group,     PSYS_NR_clone,           PSYS_NR_clone3,
		PSYS_NR_dup3,           PSYS_NR_close,           PSYS_NR_close_range,
		PSYS_NR_rt_sigprocmask, PSYS_NR_set_robust_list, PSYS_NR_rseq,
		PSYS_NR_exit ^ 1 << 30 /* of x32 on x86_64, and the other way round */
	};
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_failure failure;
	struct aspawn_child child;
	struct aspawn_action actions[] = { ASPAWN_UMASK(0), CALL(0, 0, 0, 0) };
	char text[64], expected[64];

	command.actions = actions;
	command.action_count = 2;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		actions[1].u.syscall.number = numbers[i];
		CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EOPNOTSUPP);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, 0), -PSYS_ECANCELED);
		aspawn_failure_text(text, sizeof text, &failure);
		psys_memcpy(expected, "action 1, syscall ", 19);
		psys_i64_to_decimal(expected + 18, numbers[i]);
		psys_memcpy(expected + psys_strlen(expected), ": EOPNOTSUPP", 13);
		CHECK_EQUAL(psys_strcmp(text, expected), 0);
	}
	actions[1] = (struct aspawn_action)ASPAWN_KEYCTL(PSYS_KEYCTL_SESSION_TO_PARENT, 0, 0, 0, 0);
	CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EOPNOTSUPP);
}

/* A later kernel, or another architecture, may have this call. */
TEST(a_call_that_is_not_known_is_not_made_in_shared_memory)
{
	const struct aspawn_action unknown = CALL(PSYS_NUMBER_BASE + 4000, 0, 0, 0);
	struct observation seen = observe(&unknown, 1, "");

	CHECK_EQUAL(seen.failure.error, -PSYS_ENOSYS);
	CHECK(seen.mode == ASPAWN_MODE_IMAGE || seen.mode == ASPAWN_MODE_FORK);
}
