/* SPDX-License-Identifier: MIT */
/* Tests of each action of a command: how the program sees its effect, and how it fails */
#include "filter.h"
#include "observe.h"

static bool is_root(void)
{
	return psys_geteuid() == 0;
}

/* Returns the descriptor of a new file with this text. */
static int text_file(const char *text)
{
	int fd = psys_memfd_create("text", PSYS_MFD_CLOEXEC);

	if (fd == -PSYS_ENOSYS)
		skip("no memfd_create");
	CHECK(fd >= 0);
	CHECK_EQUAL(psys_write(fd, text, psys_strlen(text)), psys_strlen(text));
	CHECK_EQUAL(psys_lseek(fd, 0, PSYS_SEEK_SET), 0);
	return fd;
}

TEST(descriptor_actions_duplicate_open_and_close)
{
	int a = text_file("a"), b = text_file("b");

	CHECK_SHOWS("a", "reads:0", ASPAWN_DUP2(a, 0));
	psys_lseek(a, 0, PSYS_SEEK_SET);
	CHECK_SHOWS("b", "reads:9", ASPAWN_DUP2(a, 9), ASPAWN_DUP2(b, 9));
	CHECK_SHOWS("closed", "descriptor:9", ASPAWN_DUP2(a, 9), ASPAWN_CLOSE(9));
	CHECK_SHOWS("open", "descriptor:1", ASPAWN_CLOSE(9), ASPAWN_CLOSE(9));
	CHECK_SHOWS("", "reads:8", ASPAWN_DEV_NULL(8));
	CHECK_SHOWS("open", "descriptor:8",
		    ASPAWN_OPEN(8, "/", PSYS_O_RDONLY | PSYS_O_DIRECTORY, 0));
	CHECK_SHOWS("closed", "descriptor:8",
		    ASPAWN_OPEN(8, "/", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0));
	if (!have_proc())
		return;
	CHECK_SHOWS("", "reads:8", ASPAWN_OPEN(7, "/dev", PSYS_O_RDONLY | PSYS_O_DIRECTORY, 0),
		    ASPAWN_OPENAT(8, 7, "null", PSYS_O_RDONLY, 0));
}

TEST(dup2_to_itself_keeps_a_descriptor_across_the_exec)
{
	int a = text_file("a");

	CHECK_EQUAL(psys_fcntl(a, PSYS_F_GETFD, 0), PSYS_FD_CLOEXEC);
	CHECK_EQUAL(psys_dup3(a, 40, PSYS_O_CLOEXEC), 40);
	CHECK_SHOWS("a", "reads:40", ASPAWN_DUP2(40, 40));
	CHECK_SHOWS("closed", "descriptor:40", ASPAWN_SETSID());
}

TEST(openat2_opens_beneath_its_directory)
{
	struct observation seen;
	const struct aspawn_action actions[] = {
		ASPAWN_OPEN(7, "/dev", PSYS_O_RDONLY | PSYS_O_DIRECTORY, 0),
		ASPAWN_OPENAT2(8, 7, "null", PSYS_O_RDONLY, 0, PSYS_RESOLVE_BENEATH),
	};

	seen = observe(actions, 2, "reads:8");
	if (seen.failure.error == -PSYS_ENOSYS)
		skip("no openat2");
	CHECK_EQUAL(seen.result, 0);
	CHECK_FAILS(1, PSYS_EXDEV, ASPAWN_OPEN(7, "/dev", PSYS_O_RDONLY | PSYS_O_DIRECTORY, 0),
		    ASPAWN_OPENAT2(8, 7, "/dev/null", PSYS_O_RDONLY, 0, PSYS_RESOLVE_BENEATH));
}

TEST(closefrom_and_only_below_keep_lower_descriptors)
{
	for (int fd = 3; fd < 64; fd++) /* inherited by the test itself */
		psys_close(fd);

	int a = text_file("a");

	CHECK(psys_dup3(a, 20, 0) == 20 && psys_dup3(a, 21, 0) == 21 && psys_dup3(a, 50, 0) == 50);
	if (!is_emulated()) { /* an emulator has descriptors of its own */
		CHECK_SHOWS("0 1 2", "descriptors", ASPAWN_CLOSEFROM(3));
		CHECK_SHOWS("0 1 2 20", "descriptors", ASPAWN_CLOSEFROM(21));
		CHECK_SHOWS("0 1 2 3", "descriptors", ASPAWN_DUP2(50, 3), ASPAWN_CLOSEFROM(4));
		CHECK_SHOWS("0 1 2 5", "descriptors", ASPAWN_CLOSEFROM(3), ASPAWN_DUP2(1, 5));
		CHECK_SHOWS("0 1 2", "descriptors", ASPAWN_ONLY_BELOW(3));
		CHECK_SHOWS("0 1 2 20", "descriptors", ASPAWN_ONLY_BELOW(21));
		CHECK_SHOWS("0 1 2 3", "descriptors", ASPAWN_DUP2(50, 3), ASPAWN_ONLY_BELOW(4));
		CHECK_SHOWS("0 1 2 5", "descriptors", ASPAWN_ONLY_BELOW(3), ASPAWN_DUP2(1, 5));
		CHECK_SHOWS("0 1 2", "descriptors", ASPAWN_CLOSEFROM(21), ASPAWN_ONLY_BELOW(3));
		CHECK_SHOWS("0 1 2", "descriptors", ASPAWN_CLOEXEC_FROM(3));
	}
	CHECK_SHOWS("closed", "descriptor:50", ASPAWN_CLOSEFROM(50));
	CHECK_SHOWS("open", "descriptor:21", ASPAWN_CLOSEFROM(50));
	CHECK_SHOWS("closed", "descriptor:50", ASPAWN_ONLY_BELOW(50));
	CHECK_SHOWS("open", "descriptor:21", ASPAWN_ONLY_BELOW(50));
	CHECK_SHOWS("closed", "descriptor:20", ASPAWN_CLOEXEC_FROM(20), ASPAWN_DUP2(1, 30));
	CHECK_SHOWS("open", "descriptor:30", ASPAWN_CLOEXEC_FROM(20), ASPAWN_DUP2(1, 30));
}

/* Starts a command that keeps a descriptor, opens the path, and then closes from first. */
static struct aspawn_child open_before_only_below(int kept, const char *directory, const char *path,
						  int first)
{
	static struct aspawn_pool pool;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_action actions[] = {
		ASPAWN_DUP2(kept, kept),
		ASPAWN_CHDIR(directory),
		ASPAWN_OPEN(0, path, PSYS_O_RDONLY, 0),
		ASPAWN_ONLY_BELOW(first),
	};

	command.actions = actions;
	command.action_count = 4;
	return start_command(&pool, &command);
}

TEST(only_below_copies_descriptors_that_paths_name)
{
	static const char *const paths[][2] = {
		{ "/", "/proc/self/fd/70" },      { "/", "//proc/self/fd/70" },
		{ "/", "/./proc/./self//fd/70" }, { "/", "/dev/fd/70" },
		{ "/", "/dev/./fd/70" },          { "/", "//./dev/fd/70" },
		{ "/", "/tmp/../dev/fd/70" },     { "/", "proc/self/fd/70" },
		{ "/proc", "self/fd/70" },        { "/proc/self", "fd/70" },
		{ "/proc/self/fd", "70" },        { "/dev", "fd/70" },
		{ "/tmp", "../proc/self/fd/70" }, { "/dev", "stderr" },
		{ "/", "/dev/stderr" },
	};

	CHECK_EQUAL(psys_dup2(0, 70), 70);
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		psys_chdir(paths[i][0]);
		if (psys_faccessat(PSYS_AT_FDCWD, paths[i][1], PSYS_F_OK) < 0)
			continue; /* no such directory here */
		struct aspawn_child child = open_before_only_below(0, paths[i][0], paths[i][1], 1);
		CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
		check_ends(&child, 7 << 8);
	}
}

/* The library cannot know where a symbolic link leads. */
static void check_link_to(int fd)
{
	char link[64] = "/tmp/aspawn-link-", path[64] = "/proc/self/fd/";

	if (!memory_is_shared() || !have_proc())
		skip("the table is a copy here, or there is no /proc");
	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	append_own_name(link);
	psys_i64_to_decimal(path + psys_strlen(path), fd);
	CHECK_EQUAL(psys_dup2(0, fd), fd);
	CHECK_EQUAL(psys_symlinkat(path, PSYS_AT_FDCWD, link), 0);
	struct aspawn_child child = open_before_only_below(0, "/", link, 3);
	struct aspawn_failure failure;
	int without = aspawn_wait_started(&child, &failure, -1);
	check_ends(&child, without ? 127 << 8 : 7 << 8);
	child = open_before_only_below(fd, "/", link, 3);
	int with = aspawn_wait_started(&child, NULL, -1);
	check_ends(&child, 7 << 8);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, link, 0), 0);
	CHECK_EQUAL(without, -PSYS_ECANCELED);
	CHECK_EQUAL(failure.error, -PSYS_ENOENT);
	CHECK_EQUAL(psys_strcmp(failure.subject, link), 0);
	CHECK_EQUAL(with, 0);
}

TEST(a_symbolic_link_to_a_descriptor_needs_a_dup2_of_that)
{
	check_link_to(70);
	check_link_to(200);
}

static ASPAWN_CHILD int is_not_copied(void *fd)
{
	return psys_fcntl((int)(intptr_t)fd, PSYS_F_GETFD, 0) == -PSYS_EBADF ? 0 : -PSYS_EEXIST;
}

/* For paths such as log files the cost must not depend on the number of descriptors. */
TEST(other_paths_do_not_copy_all_descriptors)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	static const char *const paths[][2] = {
		{ "/", "/dev/null" }, { "/", "//dev/./null" }, { "/", "/tmp/" },
		{ "/tmp", "." },      { "/tmp", ".." },
	};

	if (!memory_is_shared() || psys_close_range(500, ~0U, 0) < 0)
		skip("all descriptors are copied here");
	CHECK_EQUAL(psys_dup2(0, 400), 400); /* beyond the first word of 64, which is copied */
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		const struct aspawn_action actions[] = {
			ASPAWN_CHDIR(paths[i][0]),
			ASPAWN_OPEN(0, paths[i][1], PSYS_O_RDONLY, 0),
			ASPAWN_CALL(is_not_copied, (void *)400),
			ASPAWN_ONLY_BELOW(3),
		};
		struct aspawn_failure failure;

		psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
		command.actions = actions;
		command.action_count = 4;
		struct aspawn_child child = start_command(&pool, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), 0);
		check_ends(&child, 7 << 8);
	}
}

/* The source of a mount is a path too. */
TEST(only_below_copies_descriptors_that_a_mount_names)
{
	char path[64] = "/tmp/aspawn-mount-"; /* not /tmp, which may hold this program */
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	const struct aspawn_action actions[] = {
		ASPAWN_MOUNT("/proc/self/fd/70", path, NULL, PSYS_MS_BIND, NULL),
		ASPAWN_ONLY_BELOW(3),
	};

	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	append_own_name(path);
	if (!may_mount() || !have_proc() || psys_unshare(PSYS_CLONE_NEWNS) < 0 ||
	    psys_mount(NULL, "/", NULL, PSYS_MS_REC | PSYS_MS_PRIVATE, NULL) < 0)
		skip("no mounts here");
	CHECK_EQUAL(psys_dup2(psys_open("/dev", PSYS_O_RDONLY | PSYS_O_DIRECTORY, 0), 70), 70);
	command.actions = actions;
	command.action_count = 2;
	CHECK_EQUAL(psys_mkdirat(PSYS_AT_FDCWD, path, 0700), 0);
	struct aspawn_child child = start_command(&pool, &command);
	int started = aspawn_wait_started(&child, NULL, -1);
	int mounted = psys_umount2(path, PSYS_MNT_DETACH);
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, path, PSYS_AT_REMOVEDIR), 0);
	CHECK_EQUAL(started, 0);
	CHECK_EQUAL(mounted, 0);
	check_ends(&child, 7 << 8);
}

TEST(directory_and_umask_actions)
{
	int root = psys_open("/", PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);

	CHECK_SHOWS("/dev", "directory", ASPAWN_CHDIR("/dev"));
	CHECK_SHOWS("/", "directory", ASPAWN_CHDIR("/dev"), ASPAWN_FCHDIR(root));
	CHECK_SHOWS("23", "umask", ASPAWN_UMASK(027));
}

TEST(session_and_process_group_actions)
{
	CHECK_SHOWS("leader", "session", ASPAWN_SETSID());
	CHECK_SHOWS("member", "session", ASPAWN_SETPGID(0));
	CHECK_SHOWS("leader", "group", ASPAWN_SETPGID(0));
}

TEST(signal_actions_set_mask_and_dispositions)
{
	struct psys_sigset set;

	psys_sigemptyset(&set);
	psys_sigaddset(&set, PSYS_SIGTERM);
	CHECK_SHOWS("open", "blocked:15", ASPAWN_UMASK(0));
	psys_sigaddset(&set, PSYS_SIGKILL);
	CHECK_SHOWS("blocked", "blocked:15", ASPAWN_SIGMASK(&set));
	CHECK_SHOWS("ignored", "ignored:15", ASPAWN_SIGNALS_IGNORE(&set));
	CHECK_SHOWS("ignored", "ignored:2", ASPAWN_SIGNAL_IGNORE(PSYS_SIGINT));
	psys_sigaddset(&set, PSYS_SIGHUP);
	set_disposition(PSYS_SIGHUP, PSYS_SIG_IGN);
	CHECK_SHOWS("ignored", "ignored:1", ASPAWN_UMASK(0));
	CHECK_SHOWS("default", "ignored:1", ASPAWN_SIGNALS_DEFAULT(&set));
	CHECK_SHOWS("default", "ignored:1", ASPAWN_SIGNAL_DEFAULT(PSYS_SIGHUP));
	CHECK_EQUAL(get_disposition(PSYS_SIGHUP), PSYS_SIG_IGN);
}

/* Blocks and ignores signals as a server under nohup(1). Returns true if there are private
 * children. */
static bool disturb_signals(void)
{
	const bool is_shared = memory_is_shared();
	struct psys_sigset mask;

	for (size_t i = 0; i < sizeof of_servers / sizeof *of_servers; i++)
		set_disposition(of_servers[i], PSYS_SIG_IGN);
	set_disposition(PSYS_SIGHUP, PSYS_SIG_IGN);
	psys_sigemptyset(&mask);
	psys_sigaddset(&mask, PSYS_SIGTERM);
	psys_sigaddset(&mask, PSYS_NSIG);
	CHECK_EQUAL(psys_rt_sigprocmask(PSYS_SIG_SETMASK, &mask, NULL, PSYS_SIGSET_SIZE), 0);
	return is_shared;
}

/* Checks each way to begin, and the image. As SIGCHLD is ignored, there may be no status. */
static void check_signals_in_each_way(bool is_shared, uint64_t flags, const char *expected)
{
	static const uint64_t ways[] = { 0, WAY_PRIVATE, WAY_SUSPENDED, WAY_COPIED, 0 };
	const struct aspawn_action for_image = ASPAWN_RESUID(-1U, -1U, -1U);
	char text[8];
	struct aspawn_io io = { .size = sizeof io, .out = text, .out_size = sizeof text };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "shows", "inherited signals");

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		if (ways[i] == WAY_PRIVATE && !is_shared)
			continue;
		set_way(&command, ways[i] | flags);
		command.actions = &for_image;
		command.action_count = i == 4;
		const int r = aspawn_run(&command, &io);
		CHECK(r == 0 || r == -PSYS_ECHILD);
		CHECK_EQUAL(psys_strcmp(text, expected), 0);
	}
}

TEST(a_program_does_not_inherit_what_a_server_blocks_and_ignores)
{
	const bool is_shared = disturb_signals();

	check_signals_in_each_way(is_shared, 0, "100");
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	check_signals_in_each_way(is_shared, 0, "100");
}

TEST(a_program_inherits_signals_if_asked)
{
	check_signals_in_each_way(disturb_signals(), ASPAWN_COMMAND_INHERIT_SIGNALS, "127");
	CHECK_EQUAL(get_disposition(PSYS_SIGPIPE), PSYS_SIG_IGN);
}

TEST(signal_actions_hold_after_the_usual_signals)
{
	struct psys_sigset set;

	psys_sigemptyset(&set);
	psys_sigaddset(&set, PSYS_SIGPIPE);
	disturb_signals();
	set_disposition(PSYS_SIGCHLD,
			PSYS_SIG_DFL); /* before Linux 6.15 there is no status otherwise */
	CHECK_SHOWS("ignored", "ignored:13", ASPAWN_SIGNALS_IGNORE(&set));
	CHECK_SHOWS("blocked", "blocked:13", ASPAWN_SIGMASK(&set));
	CHECK_SHOWS("open", "blocked:15", ASPAWN_SIGMASK(&set));
	CHECK_SHOWS("default", "ignored:1", ASPAWN_RESET_SIGNALS());
}

static void handle(int signal)
{
	(void)signal;
}

static void check_signal(const char *text, const char *what, int signal,
			 const struct aspawn_action *actions, size_t count)
{
	char asked[24];

	psys_strlcpy(asked, what, sizeof asked);
	psys_i64_to_decimal(asked + psys_strlen(asked), signal);
	check_shows(__FILE__, __LINE__, text, asked, actions, count);
}

TEST(reset_signals_resets_ignored_and_blocked_ones)
{
	const struct aspawn_action nothing = ASPAWN_UMASK(0), reset = ASPAWN_RESET_SIGNALS();
	struct psys_sigset usr2, mask;

	psys_sigemptyset(&usr2);
	psys_sigaddset(&usr2, PSYS_SIGUSR2);
	const struct aspawn_action then_others[] = { ASPAWN_RESET_SIGNALS(),
						     ASPAWN_SIGNALS_IGNORE(&usr2),
						     ASPAWN_SIGMASK(&usr2) },
				   others_before[] = { ASPAWN_SIGNALS_IGNORE(&usr2),
						       ASPAWN_SIGMASK(&usr2),
						       ASPAWN_RESET_SIGNALS() };
	set_disposition(PSYS_SIGUSR1, PSYS_SIG_IGN);
	set_handler(PSYS_SIGHUP, handle);
	psys_sigemptyset(&mask);
	psys_sigaddset(&mask, PSYS_SIGTERM);
	psys_sigaddset(&mask, PSYS_SIGUSR1);
	CHECK_EQUAL(psys_rt_sigprocmask(PSYS_SIG_SETMASK, &mask, NULL, PSYS_SIGSET_SIZE), 0);
	set_disposition(PSYS_SIGHUP, PSYS_SIG_IGN);
	check_signal("ignored", "ignored:", PSYS_SIGHUP, &nothing, 1);
	set_handler(PSYS_SIGHUP, handle);
	for (int signal = 1; signal <= 31; signal++) {
		if (is_emulated() && signal % 5)
			continue; /* a start takes long under an emulator */
		check_signal("open", "blocked:", signal, &reset, 1);
		check_signal("default", "ignored:", signal, &reset, 1);
	}
	check_signal("default", "ignored:", PSYS_SIGUSR1, &reset, 1);
	check_signal("ignored", "ignored:", PSYS_SIGUSR2, then_others, 3);
	check_signal("blocked", "blocked:", PSYS_SIGUSR2, then_others, 3);
	check_signal("open", "blocked:", PSYS_SIGTERM, then_others, 3);
	check_signal("default", "ignored:", PSYS_SIGUSR2, others_before, 3);
	check_signal("open", "blocked:", PSYS_SIGUSR2, others_before, 3);
	/* The caller's dispositions have not changed. */
	CHECK_EQUAL(get_disposition(PSYS_SIGUSR1), PSYS_SIG_IGN);
	CHECK_EQUAL(get_disposition(PSYS_SIGHUP), (uintptr_t)handle);
	CHECK(same_mask(get_mask(), mask));
}

TEST(limit_and_scheduling_actions)
{
	const unsigned long first[16] = { 1 };

	CHECK_SHOWS("10 20", "limit:0", ASPAWN_RLIMIT(PSYS_RLIMIT_CPU, 10, 20));
	CHECK_SHOWS("19", "nice", ASPAWN_NICE(19));
	CHECK_SHOWS("3", "scheduler", ASPAWN_SCHEDULER(3 /* SCHED_BATCH */, 0));
	if (!is_emulated())
		CHECK_SHOWS("first", "affinity", ASPAWN_AFFINITY(first, sizeof first));
	struct observation seen =
		observe((const struct aspawn_action[]){ ASPAWN_IOPRIO(
				PSYS_IOPRIO_CLASS_BE << PSYS_IOPRIO_CLASS_SHIFT | 6) },
			1, "ioprio");
	if (seen.failure.error != -PSYS_ENOSYS)
		CHECK_EQUAL(psys_strcmp(seen.text, "16390"), 0);
	seen = observe((const struct aspawn_action[]){ ASPAWN_PERSONALITY(
			       0x0040000 /* ADDR_NO_RANDOMIZE */) },
		       1, "personality");
	if (seen.failure.error != -PSYS_ENOSYS &&
	    seen.failure.error != -PSYS_EPERM) /* containers' filters */
		CHECK_EQUAL(psys_strcmp(seen.text, "262144"), 0);
	CHECK_SHOWS("9", "pdeathsig", ASPAWN_PDEATHSIG(PSYS_SIGKILL));
}

TEST(no_new_privs_and_seccomp_actions)
{
	static const struct psys_sock_filter no_getppid[] = {
		{ 0x20, 0, 0, 0 },               /* the number of the call */
		{ 0x15, 0, 1, PSYS_NR_getppid }, /* if it is this one */
		{ 0x06, 0, 0, 0x00050000 | PSYS_EDOM },
		{ 0x06, 0, 0, 0x7fff0000 },
	};
	static const struct psys_sock_filter nonsense[] = { { 0xffff, 0, 0, 0 } };

	if (is_emulated())
		skip("no seccomp in an emulator");
	CHECK_SHOWS("1", "no_new_privs", ASPAWN_NO_NEW_PRIVS());
	struct observation seen =
		observe((const struct aspawn_action[]){ ASPAWN_NO_NEW_PRIVS(),
							ASPAWN_SECCOMP(no_getppid, 4) },
			2, "getppid");
	if (seen.failure.error == -PSYS_EINVAL)
		skip("no seccomp");
	CHECK_EQUAL(seen.result, 0);
	CHECK_EQUAL(psys_strcmp(seen.text, "EDOM"), 0);
	CHECK_FAILS(1, PSYS_EINVAL, ASPAWN_NO_NEW_PRIVS(), ASPAWN_SECCOMP(nonsense, 1));

	/* The filter forbids a call of the library's. */
	struct psys_sock_filter no_mask[4];
	psys_memcpy(no_mask, no_getppid, sizeof no_mask);
	no_mask[1].k = PSYS_NR_rt_sigprocmask;
	CHECK_FAILS(ASPAWN_STEP_EXEC, PSYS_EDOM, ASPAWN_NO_NEW_PRIVS(), ASPAWN_SECCOMP(no_mask, 4));
}

TEST(landlock_restricts_the_program)
{
	struct psys_landlock_ruleset_attr attr = { .handled_access_fs =
							   PSYS_LANDLOCK_ACCESS_FS_WRITE_FILE };
	int ruleset = psys_landlock_create_ruleset(&attr, sizeof(uint64_t), 0);

	if (ruleset < 0)
		skip("no landlock");
	CHECK_SHOWS("EACCES", "writes:/dev/null", ASPAWN_NO_NEW_PRIVS(),
		    ASPAWN_LANDLOCK(ruleset, 0));
	CHECK_FAILS(1, PSYS_EBADFD, ASPAWN_NO_NEW_PRIVS(), ASPAWN_LANDLOCK(1, 0));
}

TEST(landlock_passes_its_flags_to_the_kernel)
{
	const unsigned logs = PSYS_LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF |
			      PSYS_LANDLOCK_RESTRICT_SELF_LOG_NEW_EXEC_ON;
	const int abi = psys_landlock_create_ruleset(NULL, 0, PSYS_LANDLOCK_CREATE_RULESET_VERSION);
	struct psys_landlock_ruleset_attr attr = { .handled_access_fs =
							   PSYS_LANDLOCK_ACCESS_FS_WRITE_FILE };
	int ruleset = psys_landlock_create_ruleset(&attr, sizeof(uint64_t), 0);

	if (ruleset < 0)
		skip("no landlock");
	CHECK_FAILS(1, PSYS_EINVAL, ASPAWN_NO_NEW_PRIVS(), ASPAWN_LANDLOCK(ruleset, 1U << 31));
	if (abi >= 7)
		CHECK_SHOWS("EACCES", "writes:/dev/null", ASPAWN_NO_NEW_PRIVS(),
			    ASPAWN_LANDLOCK(ruleset, logs));
	else
		CHECK_FAILS(1, PSYS_EINVAL, ASPAWN_NO_NEW_PRIVS(), ASPAWN_LANDLOCK(ruleset, logs));
}

static ASPAWN_CHILD int sets_umask(void *arg)
{
	psys_umask((unsigned)(intptr_t)arg);
	return 0;
}

static ASPAWN_CHILD int fails(void *arg)
{
	return -(int)(intptr_t)arg;
}

TEST(call_actions_run_in_their_order)
{
	CHECK_SHOWS("18", "umask", ASPAWN_UMASK(077), ASPAWN_CALL(sets_umask, (void *)022));
	CHECK_FAILS(1, PSYS_EDOM, ASPAWN_UMASK(077), ASPAWN_CALL(fails, (void *)PSYS_EDOM));
}

static ASPAWN_CHILD int uses_its_stack(void *arg)
{
	volatile char all[16 * 1024 - 256];

	(void)arg;
	for (size_t i = 0; i < sizeof all; i += 256)
		all[i] = 1;
	return 0;
}

/* Each size of the copied arguments is tried, as the stack's size is a multiple of 64 KiB. */
TEST(call_actions_have_16_kib_of_stack)
{
	static const struct aspawn_action action = ASPAWN_CALL(uses_its_stack, NULL);
	enum { unit = 65536, step = 2048 };
	static char text[unit];
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", text);

	command.actions = &action;
	command.action_count = 1;
	for (size_t length = 0; length < sizeof text; length += step) {
		struct aspawn_pool pool = { { 0 } };
		text[length] = '\0';
		struct aspawn_child child = start_command(&pool, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
		check_ends(&child, 7 << 8);
		CHECK_EQUAL(aspawn_pool_release(&pool), 0);
		psys_memset(text, 'x', length + step);
		text[sizeof text - 1] = '\0';
	}
}

TEST(a_change_of_user_keeps_the_parent_dumpable)
{
	static const unsigned groups[] = { 5, 6 };

	if (!is_root())
		skip("not root");
	if (is_emulated())
		skip("an emulator may translate groups wrongly"); /* QEMU 7.2 of sparc64 */
	CHECK_EQUAL(psys_prctl(PSYS_PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
	/* The test program may be in a directory that only root can reach. */
	struct observation seen = observe(
		(const struct aspawn_action[]){ ASPAWN_USER(65534, 65533, groups, 2) }, 1, "ids");
	CHECK_EQUAL(psys_prctl(PSYS_PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
	if (seen.failure.error == -PSYS_EACCES)
		CHECK_EQUAL(seen.failure.step, ASPAWN_STEP_EXEC);
	else
		CHECK_EQUAL(psys_strcmp(seen.text, "65534 65533 5 6"), 0);
	CHECK_SHOWS("0 0 5 6", "ids", ASPAWN_GROUPS(groups, 2));
	CHECK_SHOWS("0 0", "ids", ASPAWN_GROUPS(NULL, 0));
	CHECK_SHOWS("0 77", "ids", ASPAWN_GROUPS(NULL, 0), ASPAWN_RESGID(77, -1, -1));
	CHECK_SHOWS("77 0", "ids", ASPAWN_GROUPS(NULL, 0), ASPAWN_RESUID(77, 0, 0));
	CHECK_EQUAL(psys_prctl(PSYS_PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
}

/* Reads the first bytes of a file of /proc. */
static void read_start(const char *path, char text[16])
{
	const int fd = psys_open(path, PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);

	if (fd < 0)
		skip("not there");
	psys_memset(text, 0, 16);
	CHECK(psys_read(fd, text, 15) > 0);
	psys_close(fd);
}

#define CHECK_CHANGES_CHILD_ALONE(expected, path, ...)            \
	do {                                                      \
		char before_[16], after_[16];                     \
		read_start(path, before_);                        \
		CHECK_SHOWS(expected, "path:" path, __VA_ARGS__); \
		read_start(path, after_);                         \
		CHECK_EQUAL(psys_strcmp(before_, after_), 0);     \
	} while (0)

TEST(oom_score_adj_does_not_change_the_parent)
{
	CHECK_CHANGES_CHILD_ALONE("321", "/proc/self/oom_score_adj", ASPAWN_OOM_SCORE_ADJ(321));
}

TEST(a_written_oom_score_adj_does_not_change_the_parent)
{
	CHECK_CHANGES_CHILD_ALONE("321", "/proc/self/oom_score_adj",
				  ASPAWN_WRITE("/proc/self//oom_score_adj", "321"));
	CHECK_CHANGES_CHILD_ALONE("321", "/proc/self/oom_score_adj", ASPAWN_CHDIR("/proc/self"),
				  ASPAWN_WRITE("oom_score_adj", "321"));
	CHECK_CHANGES_CHILD_ALONE(
		"321", "/proc/self/oom_score_adj",
		ASPAWN_OPEN(40, "/proc/self/oom_score_adj", PSYS_O_WRONLY, 0),
		ASPAWN_SYSCALL(PSYS_NR_write, 40, "321", 3, 0, 0, 0, ASPAWN_ARG_STRING(1), 3));
	if (psys_faccessat(PSYS_AT_FDCWD, "/proc/self/oom_adj", PSYS_F_OK) ==
	    0) /* the old file, of 17 steps */
		CHECK_CHANGES_CHILD_ALONE("470", "/proc/self/oom_score_adj",
					  ASPAWN_WRITE("/proc/self/oom_adj", "8"));
}

TEST(a_written_coredump_filter_does_not_change_the_parent)
{
	CHECK_CHANGES_CHILD_ALONE("0000007f", "/proc/self/coredump_filter",
				  ASPAWN_WRITE("/proc/self/coredump_filter", "0x7f"));
}

/* Links, descriptors and directories lead to the file under names that do not tell. */
TEST(a_file_of_the_memory_that_is_written_under_another_name_does_not_change_the_parent)
{
	enum { FILE = 40 };
	const struct aspawn_action opens =
		ASPAWN_OPEN(FILE, "/proc/self/oom_score_adj", PSYS_O_WRONLY, 0);
	char link[64], before[16], after[16];

	if (!have_proc())
		skip("no /proc");
	enter_own_directory();
	CHECK_EQUAL(psys_symlinkat("/proc/self/oom_score_adj", PSYS_AT_FDCWD, "link"), 0);
	CHECK(psys_getcwd(link, sizeof link - 8) > 0);
	psys_strlcpy(link + psys_strlen(link), "/link", 8);
	const struct aspawn_action writes_to_link = ASPAWN_WRITE(link, "321");
#define CHECK_ADJ(...) CHECK_CHANGES_CHILD_ALONE("321", "/proc/self/oom_score_adj", __VA_ARGS__)
	CHECK_ADJ(ASPAWN_WRITE("link", "321"));
	CHECK_ADJ(opens, ASPAWN_WRITE("/proc/self/fd/40", "321"));
	CHECK_ADJ(opens, ASPAWN_WRITE("/proc/thread-self/fd/40", "321"));
	if (psys_faccessat(PSYS_AT_FDCWD, "/dev/fd", PSYS_F_OK) == 0)
		CHECK_ADJ(opens, ASPAWN_WRITE("/dev/fd/40", "321"));
	if (psys_faccessat(PSYS_AT_FDCWD, "/dev/stderr", PSYS_F_OK) == 0) /* not in a bare kernel */
		CHECK_ADJ(ASPAWN_OPEN(2, "/proc/self/oom_score_adj", PSYS_O_WRONLY, 0),
			  ASPAWN_WRITE("/dev/stderr", "321"));
	CHECK_ADJ(opens, ASPAWN_CHDIR("/proc/self/fd"), ASPAWN_WRITE("40", "321"));
	CHECK_ADJ(ASPAWN_CHDIR("/proc"), ASPAWN_WRITE("thread-self/oom_score_adj", "321"));
	CHECK_ADJ(ASPAWN_CHDIR("/dev"), ASPAWN_WRITE("../proc/./self//oom_score_adj", "321"));
	CHECK_ADJ(ASPAWN_WRITE("/proc/sys/../self/oom_score_adj", "321"));
	/* The path does not show its target. */
	read_start("/proc/self/oom_score_adj", before);
	CHECK_FAILS(0, PSYS_EXDEV, writes_to_link);
	read_start("/proc/self/oom_score_adj", after);
	CHECK_EQUAL(psys_strcmp(before, after), 0);
	/* With memory of its own the child may. */
	CHECK_ADJ(ASPAWN_RESUID(-1, -1, -1), writes_to_link);
#undef CHECK_ADJ
}

TEST(written_clear_refs_do_not_change_the_parents_peak_of_memory)
{
	enum { SIZE = 1 << 24 };

	if (psys_faccessat(PSYS_AT_FDCWD, "/proc/self/clear_refs", PSYS_F_OK) < 0)
		skip("no clear_refs");
	char *memory = psys_mmap(NULL, SIZE, PSYS_PROT_READ | PSYS_PROT_WRITE,
				 PSYS_MAP_PRIVATE | PSYS_MAP_ANONYMOUS, -1, 0);
	CHECK(!PSYS_IS_ERROR(memory));
	psys_memset(memory, 1, SIZE);
	CHECK_EQUAL(psys_munmap(memory, SIZE), 0);
	const uint64_t peak = status_hex(0, "VmHWM");
	CHECK_SHOWS("", "", ASPAWN_WRITE("/proc/self/clear_refs", "5"));
	CHECK(status_hex(0, "VmHWM") >= peak);
}

/* Returns 0 if the program reads nothing from the descriptor at this address, otherwise 1. */
ROLE(reads_opened_memory)
{
	const char *digits = argc == 2 ? argv[1] : "";
	int64_t address = 0;
	char byte;

	for (; *digits; digits++)
		address = address * 10 + (*digits - '0');
	return psys_pread64(40, &byte, 1, address) == 1;
}

TEST(an_opened_file_of_memory_is_the_callers_unless_memory_is_copied)
{
	static const char *const paths[] = { "/proc/self/mem", "/proc/self/maps" };
	char address[PSYS_DECIMAL_SIZE];
	struct self self;

	if (!have_proc() || !memory_is_shared())
		skip("no /proc, or no shared memory");
	for (int i = 0; i < 4; i++) {
		const struct aspawn_action opens = ASPAWN_OPEN(40, paths[i % 2], PSYS_O_RDONLY, 0);
		psys_u64_to_decimal(address, i % 2 ? 0 : address_of(address));
		struct aspawn_command command =
			command_in_role(&self, "reads_opened_memory", address);
		command.memory = i / 2 ? ASPAWN_MEMORY_COPIED : ASPAWN_MEMORY_SHARED;
		command.actions = &opens;
		command.action_count = 1;
		struct aspawn_child child = start_command(NULL, &command);
		check_ends(&child, i / 2 ? 0 : 1 << 8);
	}
}

static bool has_capability(int capability)
{
	struct psys_cap_user_header header = { PSYS_LINUX_CAPABILITY_VERSION_3, 0 };
	struct psys_cap_user_data data[2];

	CHECK_EQUAL(psys_capget(&header, data), 0);
	return data[capability / 32].permitted & 1U << capability % 32;
}

TEST(capability_actions)
{
	if (!is_root())
		skip("not root");
	if (is_emulated())
		skip("no capabilities in an emulator");
	if (!has_capability(PSYS_CAP_SYS_CHROOT) || !has_capability(PSYS_CAP_CHOWN) ||
	    !has_capability(PSYS_CAP_SETPCAP))
		skip("a root that lacks some");
	CHECK_SHOWS("0", "bounding:18", ASPAWN_CAP_DROP(PSYS_CAP_SYS_CHROOT));
	CHECK_SHOWS("1", "bounding:18", ASPAWN_CAP_DROP(PSYS_CAP_SYS_NICE));
	CHECK_SHOWS("1", "ambient:18", ASPAWN_CAP_AMBIENT(PSYS_CAP_SYS_CHROOT));
	CHECK_SHOWS("0", "ambient:18", ASPAWN_CAP_AMBIENT(PSYS_CAP_CHOWN));
	CHECK_SHOWS("1", "securebits", ASPAWN_SECUREBITS(PSYS_SECBIT_NOROOT));
	CHECK_FAILS(0, PSYS_EINVAL, ASPAWN_CAP_DROP(9999));
	CHECK_FAILS(0, PSYS_EINVAL, ASPAWN_CAP_DROP(-2));
	CHECK_FAILS(0, PSYS_EINVAL, ASPAWN_CAP_AMBIENT(64));
	CHECK_FAILS(0, PSYS_EINVAL, ASPAWN_CAP_AMBIENT(-2));
}

/* With ASPAWN_CAP_AMBIENT first the other user would have no capability, in silence. */
TEST(another_user_keeps_an_added_capability_or_fails)
{
	enum { OTHER = 65534 };

	if (!is_root())
		skip("not root");
	if (is_emulated())
		skip("no capabilities in an emulator");
	if (!has_capability(PSYS_CAP_SYS_CHROOT) || !has_capability(PSYS_CAP_SETPCAP))
		skip("a root that lacks some");
	need_others_to_reach_program();
	CHECK_FAILS(1, PSYS_EPERM, ASPAWN_CAP_AMBIENT(PSYS_CAP_SYS_CHROOT),
		    ASPAWN_USER(OTHER, OTHER, NULL, 0));
	CHECK_FAILS(2, PSYS_EPERM, ASPAWN_CAP_AMBIENT(PSYS_CAP_SYS_CHROOT), ASPAWN_UMASK(022),
		    ASPAWN_RESUID(OTHER, OTHER, OTHER));
	CHECK_FAILS(1, PSYS_EPERM, ASPAWN_USER(OTHER, OTHER, NULL, 0),
		    ASPAWN_CAP_AMBIENT(PSYS_CAP_SYS_CHROOT));
	CHECK_SHOWS("1", "ambient:18", ASPAWN_PRCTL(PSYS_PR_SET_KEEPCAPS, 1, 0, 0, 0),
		    ASPAWN_USER(OTHER, OTHER, NULL, 0), ASPAWN_CAP_AMBIENT(PSYS_CAP_SYS_CHROOT));
	/* The capability stays, or an action before the change has taken it away. */
	CHECK_SHOWS("1", "ambient:18", ASPAWN_SECUREBITS(PSYS_SECBIT_NO_SETUID_FIXUP),
		    ASPAWN_CAP_AMBIENT(PSYS_CAP_SYS_CHROOT), ASPAWN_USER(OTHER, OTHER, NULL, 0));
	CHECK_SHOWS("1", "ambient:18", ASPAWN_CAP_AMBIENT(PSYS_CAP_SYS_CHROOT),
		    ASPAWN_USER(0, 0, NULL, 0));
	CHECK_SHOWS("0", "ambient:18", ASPAWN_CAP_AMBIENT(PSYS_CAP_SYS_CHROOT),
		    ASPAWN_CAP_DROP(ASPAWN_CAP_ALL), ASPAWN_USER(OTHER, OTHER, NULL, 0));
	/* A capability of the caller's is lost, as always. */
	struct psys_cap_user_header header = { PSYS_LINUX_CAPABILITY_VERSION_3, 0 };
	struct psys_cap_user_data sets[2];
	CHECK_EQUAL(psys_capget(&header, sets), 0);
	sets[0].inheritable |= 1U << PSYS_CAP_SYS_CHROOT;
	CHECK_EQUAL(psys_capset(&header, sets), 0);
	CHECK_EQUAL(psys_prctl(PSYS_PR_CAP_AMBIENT, PSYS_PR_CAP_AMBIENT_RAISE, PSYS_CAP_SYS_CHROOT,
			       0, 0),
		    0);
	CHECK_SHOWS("0", "ambient:18", ASPAWN_USER(OTHER, OTHER, NULL, 0));
}

TEST(a_root_that_drops_all_capabilities_has_none)
{
	if (!is_root())
		skip("not root");
	if (is_emulated())
		skip("no capabilities in an emulator");
	if (!has_capability(PSYS_CAP_SYS_CHROOT) || !has_capability(PSYS_CAP_SETPCAP))
		skip("a root that lacks some");
	CHECK_SHOWS("some", "capabilities", ASPAWN_CAP_DROP(PSYS_CAP_CHOWN));
	CHECK_SHOWS("none", "capabilities", ASPAWN_CAP_DROP(ASPAWN_CAP_ALL));
	/* Otherwise the inheritable set would give the capability back at the exec. */
	CHECK_SHOWS("none", "capabilities", ASPAWN_CAP_AMBIENT(PSYS_CAP_SYS_CHROOT),
		    ASPAWN_CAP_DROP(ASPAWN_CAP_ALL));
	/* Later actions still have the caller's capabilities. */
	CHECK_SHOWS("none", "capabilities", ASPAWN_CAP_DROP(ASPAWN_CAP_ALL), ASPAWN_CHROOT("/"));
}

TEST(namespace_and_mount_actions)
{
	struct observation seen;
	const struct aspawn_action name[] = { ASPAWN_UNSHARE(PSYS_CLONE_NEWUTS),
					      ASPAWN_HOSTNAME("elsewhere") };

	if (!is_root())
		skip("not root");
	seen = observe(name, 2, "hostname");
	if (seen.failure.error == -PSYS_EPERM || seen.failure.error == -PSYS_EINVAL ||
	    seen.failure.error == -PSYS_ENOSYS)
		skip("no namespaces here");
	CHECK_EQUAL(psys_strcmp(seen.text, "elsewhere"), 0);
	if (have_proc()) {
		int uts = psys_open("/proc/self/ns/uts", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
		CHECK(uts >= 0);
		struct psys_utsname here;
		CHECK_EQUAL(psys_uname(&here), 0);
		CHECK_EQUAL(psys_unshare(PSYS_CLONE_NEWUTS), 0);
		CHECK_EQUAL(psys_sethostname("inside", 6), 0);
		CHECK_SHOWS("inside", "hostname", ASPAWN_UMASK(0));
		CHECK_SHOWS(here.nodename, "hostname", ASPAWN_SETNS(uts, PSYS_CLONE_NEWUTS));
		CHECK_SHOWS(here.nodename, "hostname", ASPAWN_SETNS(uts, 0));
	}
	if (!may_mount())
		skip("may not mount");
	char place[64] = "/tmp/aspawn-mount-";
	append_own_name(place);
	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	CHECK_EQUAL(psys_mkdirat(PSYS_AT_FDCWD, place, 0700), 0);
	CHECK_SHOWS("open", "descriptor:8", ASPAWN_UNSHARE(PSYS_CLONE_NEWNS),
		    ASPAWN_MOUNT(NULL, "/", NULL, PSYS_MS_REC | PSYS_MS_PRIVATE, NULL),
		    ASPAWN_MOUNT("none", place, "tmpfs", 0, "size=64k"), ASPAWN_CHDIR(place),
		    ASPAWN_OPEN(8, "new", PSYS_O_RDWR | PSYS_O_CREAT | PSYS_O_EXCL, 0600));
	/* This process's namespace has not changed. */
	CHECK_EQUAL(psys_unlinkat(PSYS_AT_FDCWD, place, PSYS_AT_REMOVEDIR), 0);
}

ROLE(reports_cgroup)
{
	char text[256];
	int fd = psys_open("/proc/self/cgroup", PSYS_O_RDONLY, 0);
	long length = psys_read(fd, text, sizeof text - 1);

	(void)argc, (void)argv;
	for (long i = 0; i + 11 <= length; i++)
		if (!psys_strncmp(text + i, "aspawn-test", 11))
			return 0;
	return 1;
}

TEST(chroot_changes_the_root)
{
	if (!is_root())
		skip("not root");
	/* The program is not below the new root: ENOENT of the exec shows the change. */
	CHECK_FAILS(ASPAWN_STEP_EXEC, PSYS_ENOENT, ASPAWN_CHROOT("/dev"));
	CHECK_FAILS(0, PSYS_ENOENT, ASPAWN_CHROOT("/no such directory"));
}

/* Returns the mode of commands that need memory of their own. */
static int image_mode(void)
{
	const struct aspawn_action user = ASPAWN_RESUID(-1U, -1U, -1U);

	return observe(&user, 1, "").mode;
}

static void check_control_group(int mode, int written_mode)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "reports_cgroup", NULL);
	struct aspawn_failure failure;
	struct cgroup group;

	make_cgroup(&group);
	const int other = psys_open(group.root, PSYS_O_PATH | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	const struct aspawn_action actions[][2] = {
		{ ASPAWN_UMASK(0), ASPAWN_JOIN_CGROUP(group.fd) },
		/* The second is joined by a write, for which no memory may be shared. */
		{ ASPAWN_JOIN_CGROUP(other), ASPAWN_JOIN_CGROUP(group.fd) },
		/* If an action replaces the descriptor, the clone must not use it. */
		{ ASPAWN_OPEN(group.fd, "/", PSYS_O_RDONLY, 0), ASPAWN_JOIN_CGROUP(group.fd) },
	};
	command.action_count = 2;
	for (int i = 0; i < 3; i++) {
		command.actions = actions[i];
		struct aspawn_child child = start_command(&pool, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), i == 2 ? -PSYS_ECANCELED : 0);
		CHECK_EQUAL(failure.error, i == 2 ? -PSYS_ENOENT : 0);
		CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_MODE), i ? written_mode : mode);
		check_ends(&child, i == 2 ? 127 << 8 : 0);
	}
	psys_close(other);
	remove_cgroup(&group);
}

TEST(join_cgroup_begins_in_the_cgroup)
{
	const bool clones = observe(NULL, 0, "").mode == ASPAWN_MODE_CLONE3;

	check_control_group(clones ? ASPAWN_MODE_VFORK : image_mode(), image_mode());
}

/* The kernel may move all memory of a joining process, and the OOM killer may kill all processes
 * that share the memory. */
TEST(a_write_to_cgroup_procs_shares_no_memory)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "reports_cgroup", NULL);
	struct cgroup group;
	char path[sizeof group.path + 16];

	make_cgroup(&group);
	psys_strlcpy(path, group.path, sizeof path);
	psys_strlcpy(path + psys_strlen(path), "/cgroup.procs", 16);
	const struct aspawn_action writes = ASPAWN_WRITE(path, "0");
	command.actions = &writes;
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(why_not_started(&child), 0);
	CHECK_EQUAL(aspawn_describe(&child, ASPAWN_FACT_MODE), image_mode());
	check_ends(&child, 0);
	remove_cgroup(&group);
}

/* The name decides, as a thread's move may move that memory too. */
TEST(a_write_to_cgroup_threads_shares_no_memory)
{
	char path[80] = "/tmp/aspawn-suite-";

	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	append_own_name(path);
	CHECK_EQUAL(psys_mkdirat(PSYS_AT_FDCWD, path, 0755), 0);
	CHECK_EQUAL(psys_chdir(path), 0);
	const int fd = psys_open("cgroup.threads", PSYS_O_WRONLY | PSYS_O_CREAT, 0600);
	CHECK(fd >= 0);
	const struct aspawn_action writes = ASPAWN_WRITE("cgroup.threads", "0");
	const int mode = observe(&writes, 1, "").mode;
	psys_close(fd);
	psys_unlinkat(PSYS_AT_FDCWD, "cgroup.threads", 0);
	CHECK_EQUAL(psys_chdir("/"), 0);
	psys_unlinkat(PSYS_AT_FDCWD, path, PSYS_AT_REMOVEDIR);
	CHECK_EQUAL(mode, image_mode());
}

/* The new user may not write to cgroup.procs, and perhaps not execute the program. */
TEST(join_cgroup_needs_no_privilege_of_another_user)
{
	struct cgroup group;

	make_cgroup(&group);
	if (image_mode() == ASPAWN_MODE_FORK || observe(NULL, 0, "").mode != ASPAWN_MODE_CLONE3) {
		remove_cgroup(&group);
		skip("the clone does not join the cgroup");
	}
	const struct aspawn_action actions[] = { ASPAWN_RESUID(65534, 65534, 65534),
						 ASPAWN_JOIN_CGROUP(group.fd) };
	const struct observation seen = observe(actions, 2, "");
	CHECK(seen.result == 0 || seen.failure.step == ASPAWN_STEP_EXEC);
	CHECK(seen.mode == ASPAWN_MODE_IMAGE);
	remove_cgroup(&group);
}

TEST(join_cgroup_without_clone3_writes_cgroup_procs)
{
	filter_refuse(PSYS_NR_clone3, PSYS_ENOSYS);
	check_control_group(image_mode(), image_mode());
}

/* A write to cgroup.procs would ignore the limit. */
TEST(join_cgroup_fails_in_a_full_cgroup)
{
	struct aspawn_failure failure;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct cgroup group;

	make_cgroup(&group);
	const int root = psys_open(group.root, PSYS_O_PATH | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);
	const int r = write_to_cgroup(root, "cgroup.subtree_control", "+pids");
	psys_close(root);
	if (r < 0 || write_to_cgroup(group.fd, "pids.max", "0") < 0) {
		remove_cgroup(&group);
		skip("no pids controller of version 2");
	}
	const struct aspawn_action join = ASPAWN_JOIN_CGROUP(group.fd);
	command.actions = &join;
	command.action_count = 1;
	struct aspawn_child child = start_command(NULL, &command);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(failure.step, ASPAWN_STEP_CLONE);
	CHECK_EQUAL(failure.error, -PSYS_EAGAIN);
	check_ends(&child, 127 << 8);
	remove_cgroup(&group);
}

/* ksh93/ksh#79: the child takes the terminal itself. */
TEST(a_session_gets_its_controlling_terminal)
{
	char name[32] = "/dev/pts/";
	int number = 0, unlocked = 0;
	int ptmx = psys_open("/dev/ptmx", PSYS_O_RDWR | PSYS_O_NOCTTY | PSYS_O_CLOEXEC, 0);

	if (ptmx < 0 || psys_ioctl(ptmx, 0x80045430, (uintptr_t)&number) < 0 || /* TIOCGPTN */
	    psys_ioctl(ptmx, PSYS_TIOCSPTLCK, (uintptr_t)&unlocked) < 0)
		skip("no pseudo-terminals");
	psys_i64_to_decimal(name + psys_strlen(name), number);
	CHECK_SHOWS("none", "terminal", ASPAWN_SETSID());
	CHECK_SHOWS("foreground", "terminal", ASPAWN_SETSID(),
		    ASPAWN_OPEN(0, name, PSYS_O_RDWR | PSYS_O_NOCTTY, 0),
		    ASPAWN_CONTROLLING_TERMINAL(0), ASPAWN_FOREGROUND(0));
	CHECK_FAILS(2, PSYS_ENOTTY, ASPAWN_SETSID(), ASPAWN_DEV_NULL(0),
		    ASPAWN_CONTROLLING_TERMINAL(0));
	CHECK_FAILS(2, PSYS_ENOTTY, ASPAWN_OPEN(0, name, PSYS_O_RDWR | PSYS_O_NOCTTY, 0),
		    ASPAWN_SETSID(), ASPAWN_FOREGROUND(0));
}

TEST(pivot_root_changes_the_root)
{
	const struct aspawn_action actions[] = {
		ASPAWN_UNSHARE(PSYS_CLONE_NEWNS),
		ASPAWN_MOUNT(NULL, "/", NULL, PSYS_MS_REC | PSYS_MS_PRIVATE, NULL),
		ASPAWN_MOUNT("none", "/tmp", "tmpfs", 0, "size=64k"),
		ASPAWN_CHDIR("/tmp"),
		ASPAWN_PIVOT_ROOT(".", "."),
	};

	if (!may_mount())
		skip("may not mount");
	psys_mkdirat(PSYS_AT_FDCWD, "/tmp", 01777);
	struct observation seen = observe(actions, 5, "directory");
	if (seen.failure.step == 4)
		skip("the root cannot be exchanged"); /* the kernel's initial rootfs */
	/* The program is not below the new root. */
	CHECK_EQUAL(seen.result, -PSYS_ECANCELED);
	CHECK_EQUAL(seen.failure.error, -PSYS_ENOENT);
	CHECK_EQUAL(seen.failure.step, ASPAWN_STEP_EXEC);
}

TEST(join_cgroup_reports_an_invalid_descriptor)
{
	int none = psys_open("/", PSYS_O_RDONLY | PSYS_O_DIRECTORY | PSYS_O_CLOEXEC, 0);

	/* The clone ignores an invalid cgroup; the action reports it. */
	CHECK_FAILS(1, PSYS_ENOENT, ASPAWN_UMASK(0), ASPAWN_JOIN_CGROUP(none));
	CHECK_FAILS(1, PSYS_EBADF, ASPAWN_UMASK(0), ASPAWN_JOIN_CGROUP(333));
}

TEST(a_failing_action_is_reported_by_its_index)
{
	const unsigned group = 1;
	const unsigned long no_cpu[1] = { 0 };

	CHECK_FAILS(1, PSYS_EBADF, ASPAWN_UMASK(0), ASPAWN_DUP2(333, 0));
	CHECK_FAILS(1, PSYS_EBADF, ASPAWN_UMASK(0), ASPAWN_DUP2(333, 333));
	CHECK_FAILS(1, PSYS_ENOENT, ASPAWN_UMASK(0),
		    ASPAWN_OPEN(0, "/no such file", PSYS_O_RDONLY, 0));
	CHECK_FAILS(1, PSYS_EBADF, ASPAWN_UMASK(0), ASPAWN_OPENAT(0, 333, "file", PSYS_O_RDONLY, 0));
	CHECK_FAILS(1, PSYS_ENOENT, ASPAWN_UMASK(0), ASPAWN_CHDIR("/no such directory"));
	CHECK_FAILS(1, PSYS_ENOTDIR, ASPAWN_UMASK(0), ASPAWN_CHDIR("/dev/null"));
	CHECK_FAILS(1, PSYS_EBADF, ASPAWN_UMASK(0), ASPAWN_FCHDIR(333));
	CHECK_FAILS(1, PSYS_EPERM, ASPAWN_SETPGID(0), ASPAWN_SETSID());
	CHECK_FAILS(1, PSYS_EPERM, ASPAWN_SETSID(), ASPAWN_SETPGID(0));
	CHECK_FAILS(1, PSYS_EINVAL, ASPAWN_UMASK(0), ASPAWN_SETPGID(-1));
	CHECK_FAILS(1, PSYS_EBADF, ASPAWN_UMASK(0), ASPAWN_CONTROLLING_TERMINAL(333));
	CHECK_FAILS(1, PSYS_EBADF, ASPAWN_UMASK(0), ASPAWN_FOREGROUND(333));
	CHECK_FAILS(1, PSYS_EINVAL, ASPAWN_UMASK(0), ASPAWN_RLIMIT(PSYS_RLIMIT_CPU, 20, 10));
	CHECK_FAILS(1, PSYS_ENOENT, ASPAWN_UMASK(0), ASPAWN_WRITE("/no such file", "text"));
	CHECK_FAILS(0, PSYS_EDOM, ASPAWN_CALL(fails, (void *)PSYS_EDOM),
		    ASPAWN_CALL(fails, (void *)PSYS_ERANGE));
	if (is_emulated())
		return;
	CHECK_FAILS(1, PSYS_EINVAL, ASPAWN_UMASK(0), ASPAWN_SCHEDULER(99, 0));
	CHECK_FAILS(1, PSYS_EINVAL, ASPAWN_UMASK(0), ASPAWN_AFFINITY(no_cpu, sizeof no_cpu));
	if (psys_unshare(0) == 0) { /* no filter refuses these */
		CHECK_FAILS(1, PSYS_EINVAL, ASPAWN_UMASK(0), ASPAWN_UNSHARE(1UL << 31));
		CHECK_FAILS(1, PSYS_EBADF, ASPAWN_UMASK(0), ASPAWN_SETNS(333, 0));
	}
	if (!is_root())
		skip("not root");
	CHECK_EQUAL(psys_setresuid(65534, 65534, 65534), 0);
	CHECK_FAILS(1, PSYS_EPERM, ASPAWN_UMASK(0), ASPAWN_CHROOT("/"));
	CHECK_FAILS(1, PSYS_EPERM, ASPAWN_UMASK(0), ASPAWN_PIVOT_ROOT("/", "/"));
	CHECK_FAILS(1, PSYS_EPERM, ASPAWN_UMASK(0), ASPAWN_GROUPS(&group, 1));
	CHECK_FAILS(1, PSYS_EPERM, ASPAWN_UMASK(0), ASPAWN_USER(0, 0, &group, 1));
	CHECK_FAILS(1, PSYS_EPERM, ASPAWN_UMASK(0), ASPAWN_RESUID(0, 0, 0));
	CHECK_FAILS(1, PSYS_EPERM, ASPAWN_UMASK(0), ASPAWN_RESGID(7, 7, 7));
	CHECK_FAILS(1, PSYS_EPERM, ASPAWN_UMASK(0), ASPAWN_CAP_DROP(PSYS_CAP_SYS_CHROOT));
	CHECK_FAILS(1, PSYS_EPERM, ASPAWN_UMASK(0), ASPAWN_CAP_AMBIENT(PSYS_CAP_SYS_CHROOT));
	CHECK_FAILS(1, PSYS_EPERM, ASPAWN_UMASK(0), ASPAWN_SECUREBITS(1));
	CHECK_FAILS(1, PSYS_EPERM, ASPAWN_UMASK(0), ASPAWN_HOSTNAME("elsewhere"));
	CHECK_FAILS(1, PSYS_EPERM, ASPAWN_UMASK(0), ASPAWN_MOUNT("none", "/dev", "tmpfs", 0, NULL));
	CHECK_FAILS(1, PSYS_EACCES, ASPAWN_UMASK(0), ASPAWN_NICE(-20));
	CHECK_FAILS(1, PSYS_EPERM, ASPAWN_UMASK(0),
		    ASPAWN_RLIMIT(PSYS_RLIMIT_NOFILE, 1U << 30, 1U << 30));
}

/* In the parent the number belongs to a pipe's end; the child's descriptor is another. */
TEST(an_action_may_use_the_number_of_a_later_pipe)
{
	struct aspawn_pool pool = { { 0 } };
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int next = psys_dup(0), out;

	psys_close(next);
	for (int fd = next; fd < next + 2; fd++) {
		const struct aspawn_action actions[] = {
			ASPAWN_OPEN(fd, "/", PSYS_O_RDONLY | PSYS_O_DIRECTORY, 0),
			ASPAWN_FCHDIR(fd),
			ASPAWN_OUTPUT_PIPE(1, &out),
		};
		command.actions = actions;
		command.action_count = 3;
		struct aspawn_child child = start_command(&pool, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, NULL, -1), 0);
		check_ends(&child, 7 << 8);
		psys_close(out);
	}
}

/* The numbers of an earlier pipe are not open for the command either, until an action or a function
 * opens the number itself. */
static ASPAWN_CHILD int takes_number(void *fd)
{
	return psys_dup3(0, (int)(intptr_t)fd, 0) < 0 ? -PSYS_EMFILE : 0;
}

TEST(an_action_may_not_use_the_number_of_an_earlier_pipe)
{
	struct aspawn_failure failure;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	int next = psys_dup(0), out;

	psys_close(next);
	for (int fd = next; fd < next + 2; fd++) {
		const struct aspawn_action actions[][3] = {
			{ ASPAWN_OUTPUT_PIPE(1, &out), ASPAWN_UMASK(0), ASPAWN_DUP2(fd, 77) },
			{ ASPAWN_OUTPUT_PIPE(1, &out), ASPAWN_DUP2(0, fd), ASPAWN_DUP2(fd, 77) },
			{ ASPAWN_OUTPUT_PIPE(1, &out),
			  ASPAWN_CALL(takes_number, (void *)(intptr_t)fd), ASPAWN_DUP2(fd, 77) },
			{ ASPAWN_OUTPUT_PIPE(fd, &out), ASPAWN_UMASK(0), ASPAWN_DUP2(fd, 77) },
		};
		for (int i = 0; i < 4; i++) {
			command.actions = actions[i];
			command.action_count = 3;
			struct aspawn_child child = start_command(NULL, &command);
			const int r = aspawn_wait_started(&child, &failure, -1);
			CHECK_EQUAL(r, i ? 0 : -PSYS_ECANCELED);
			CHECK_EQUAL(failure.error, i ? 0 : -PSYS_EBADF);
			CHECK(i || failure.step == 2);
			check_ends(&child, (i ? 7 : 127) << 8);
			psys_close(out);
		}
	}
}

/* Ends of pipes, and pidfds of the child and its helper. */
static void check_finds_nothing(struct aspawn_command *command, int fd, uint64_t flags,
				bool may_look)
{
	char out[8];
	struct aspawn_io io = {
		.size = sizeof io, .flags = flags, .out = out, .out_size = sizeof out, .input = out
	};
	const struct aspawn_action actions[][2] = {
		{ ASPAWN_DUP2(fd, 77), ASPAWN_RESUID(-1, -1, -1) },
		/* An argument that is not marked as a descriptor reaches no number either. */
		{ ASPAWN_SYSCALL(PSYS_NR_fcntl, fd, PSYS_F_GETFD, 0, 0, 0, 0, 0,
				 ASPAWN_EXPECTED_SUCCESS),
		  ASPAWN_RESUID(-1, -1, -1) },
	};

	for (int i = 0; i < 2; i++) {
		if (psys_fcntl(fd, PSYS_F_GETFD, 0) >= 0 || (i && !may_look))
			continue;
		command->actions = actions[i];
		CHECK_EQUAL(aspawn_run(command, &io), -PSYS_ECANCELED);
		CHECK_EQUAL(io.failure.step, 0);
		CHECK_EQUAL(io.failure.error, -PSYS_EBADF);
	}
}

TEST(no_action_finds_a_descriptor_that_the_library_has_made)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);

	const struct aspawn_action user = ASPAWN_RESUID(-1U, -1U, -1U);
	/* A copy of the memory has the report's pipe. */
	const bool has_image = observe(&user, 1, "").mode == ASPAWN_MODE_IMAGE;

	for (int way = 0; way < 3 * 2 * 2; way++) {
		command.owner = memory_is_shared() ? way % 3 : ASPAWN_OWNER_CALLER;
		command.flags =
			command.owner == ASPAWN_OWNER_TREE ? ASPAWN_COMMAND_TREE_OR_GROUP : 0;
		command.action_count = 1 + (size_t)way / 3 % 2; /* with [copy] */
		for (int fd = 3; fd < 20; fd++)
			check_finds_nothing(&command, fd, way / 6 ? ASPAWN_IO_KILL_GROUP : 0,
					    memory_is_shared() && has_image);
	}
}

/* Actions replace the number of the report pipe, and the child can still report. */
TEST(reserved_descriptors_are_relocated)
{
	struct aspawn_pool pool = { { 0 } };
	struct aspawn_failure failure;
	struct self self;
	struct aspawn_command command = command_in_role(&self, "shows", "reads:3");
	struct aspawn_action actions[64];
	size_t count = 0;

	for (int fd = 3; fd < 60; fd++)
		actions[count++] = (struct aspawn_action)ASPAWN_DUP2(0, fd);
	actions[count++] = (struct aspawn_action)ASPAWN_CLOSEFROM(3);
	actions[count++] = (struct aspawn_action)ASPAWN_CHDIR("/no such directory");
	command.flags = ASPAWN_COMMAND_STARTED_FD;
	command.actions = actions;
	command.action_count = count;
	struct aspawn_child child = start_command(&pool, &command);
	CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
	CHECK_EQUAL(failure.error, -PSYS_ENOENT);
	CHECK_EQUAL(failure.step, (int)count - 1);
	CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), -PSYS_ECANCELED);

	/* A command cannot use the report pipe's numbers, even if the pipe is relocated to such a
	 * number. */
	int next = psys_dup(0); /* the pipe will have this number and the next */
	psys_close(next);
	const struct aspawn_action using_it[] = { ASPAWN_DUP2(next, 0), ASPAWN_DUP2(next + 1, 0),
						  ASPAWN_DUP2(next, next + 1) };
	for (int i = 0; i < 3; i++) {
		command.actions = &using_it[i];
		command.action_count = 1;
		child = start_command(&pool, &command);
		CHECK_EQUAL(aspawn_wait_started(&child, &failure, -1), -PSYS_ECANCELED);
		CHECK_EQUAL(failure.error, -PSYS_EBADF);
		CHECK_EQUAL(failure.step, 0);
		CHECK_EQUAL(aspawn_wait(&child, NULL, NULL, -1), -PSYS_ECANCELED);
	}
}

/* --- functions and macros ------------------------------------------------------- */

/* The function makes the same bytes as the macro, whatever the action was before. */
#define CHECK_SAME(function, ...)                                             \
	do {                                                                  \
		static const struct aspawn_action macro_ = __VA_ARGS__;       \
		struct aspawn_action made_;                                   \
		psys_memset(&made_, 0xa5, sizeof made_);                      \
		aspawn_action_##function;                                     \
		CHECK_EQUAL(psys_memcmp(&made_, &macro_, sizeof made_), 0);   \
		CHECK(macro_.kind >= 1 && macro_.kind <= LAST_ACTION);        \
		CHECK(!macro_.flags || macro_.kind == ASPAWN_ACTION_SYSCALL); \
		made_kinds[macro_.kind] = true;                               \
	} while (0)

static int nowhere;
static const unsigned some_groups[] = { 1, 2 };
static const struct psys_sigset some_set;
static const char one[] = "one", two[] = "two", three[] = "three", four[] = "four";

TEST(action_functions_equal_their_macros)
{
	static bool made_kinds[LAST_ACTION + 1];

#define made (&made_)
	CHECK_SAME(dup2(made, 3, 4), ASPAWN_DUP2(3, 4));
	CHECK_SAME(open(made, 3, one, PSYS_O_RDWR, 0600), ASPAWN_OPEN(3, one, PSYS_O_RDWR, 0600));
	CHECK_SAME(openat(made, 3, 4, one, PSYS_O_RDWR, 0600),
		   ASPAWN_OPENAT(3, 4, one, PSYS_O_RDWR, 0600));
	CHECK_SAME(openat2(made, 3, 4, one, PSYS_O_RDWR, 0600, UINT64_MAX - 1),
		   ASPAWN_OPENAT2(3, 4, one, PSYS_O_RDWR, 0600, UINT64_MAX - 1));
	CHECK_SAME(output_pipe(made, 3, &nowhere), ASPAWN_OUTPUT_PIPE(3, &nowhere));
	CHECK_SAME(input_pipe(made, 3, &nowhere), ASPAWN_INPUT_PIPE(3, &nowhere));
	CHECK_SAME(close(made, 3), ASPAWN_CLOSE(3));
	CHECK_SAME(closefrom(made, 3), ASPAWN_CLOSEFROM(3));
	CHECK_SAME(only_below(made, 3), ASPAWN_ONLY_BELOW(3));
	CHECK_SAME(cloexec_from(made, 3), ASPAWN_CLOEXEC_FROM(3));
	CHECK_SAME(setenv(made, one, two), ASPAWN_SETENV(one, two));
	CHECK_SAME(unsetenv(made, one), ASPAWN_UNSETENV(one));
	CHECK_SAME(clearenv(made), ASPAWN_CLEARENV());
	CHECK_SAME(chdir(made, one), ASPAWN_CHDIR(one));
	CHECK_SAME(fchdir(made, 3), ASPAWN_FCHDIR(3));
	CHECK_SAME(umask(made, 077), ASPAWN_UMASK(077));
	CHECK_SAME(setsid(made), ASPAWN_SETSID());
	CHECK_SAME(setpgid(made, 7), ASPAWN_SETPGID(7));
	CHECK_SAME(controlling_terminal(made, 3), ASPAWN_CONTROLLING_TERMINAL(3));
	CHECK_SAME(foreground(made, 3), ASPAWN_FOREGROUND(3));
	CHECK_SAME(reset_signals(made), ASPAWN_RESET_SIGNALS());
	CHECK_SAME(sigmask(made, &some_set), ASPAWN_SIGMASK(&some_set));
	CHECK_SAME(signals_default(made, &some_set), ASPAWN_SIGNALS_DEFAULT(&some_set));
	CHECK_SAME(signals_ignore(made, &some_set), ASPAWN_SIGNALS_IGNORE(&some_set));
	CHECK_SAME(signal_default(made, 15), ASPAWN_SIGNAL_DEFAULT(15));
	CHECK_SAME(signal_ignore(made, 15), ASPAWN_SIGNAL_IGNORE(15));
	CHECK_SAME(pdeathsig(made, 9), ASPAWN_PDEATHSIG(9));
	CHECK_SAME(rlimit(made, 1, 2, UINT64_MAX - 1), ASPAWN_RLIMIT(1, 2, UINT64_MAX - 1));
	CHECK_SAME(nice(made, -5), ASPAWN_NICE(-5));
	CHECK_SAME(scheduler(made, 1, 2), ASPAWN_SCHEDULER(1, 2));
	CHECK_SAME(affinity(made, &some_groups, 8), ASPAWN_AFFINITY(&some_groups, 8));
	CHECK_SAME(ioprio(made, 1), ASPAWN_IOPRIO(1));
	CHECK_SAME(oom_score_adj(made, -1), ASPAWN_OOM_SCORE_ADJ(-1));
	CHECK_SAME(personality(made, 1), ASPAWN_PERSONALITY(1));
	CHECK_SAME(join_cgroup(made, 3), ASPAWN_JOIN_CGROUP(3));
	CHECK_SAME(new_cgroup(made, 3, 1, 2, 4), ASPAWN_NEW_CGROUP(3, 1, 2, 4));
	CHECK_SAME(user(made, 1, 2, some_groups, 2), ASPAWN_USER(1, 2, some_groups, 2));
	CHECK_SAME(resuid(made, 1, 2, 3), ASPAWN_RESUID(1, 2, 3));
	CHECK_SAME(resgid(made, 1, 2, 3), ASPAWN_RESGID(1, 2, 3));
	CHECK_SAME(groups(made, some_groups, 2), ASPAWN_GROUPS(some_groups, 2));
	CHECK_SAME(cap_drop(made, 1), ASPAWN_CAP_DROP(1));
	CHECK_SAME(cap_ambient(made, 1), ASPAWN_CAP_AMBIENT(1));
	CHECK_SAME(securebits(made, 1), ASPAWN_SECUREBITS(1));
	CHECK_SAME(no_new_privs(made), ASPAWN_NO_NEW_PRIVS());
	CHECK_SAME(seccomp(made, &some_groups, 2), ASPAWN_SECCOMP(&some_groups, 2));
	CHECK_SAME(landlock(made, 3, 8), ASPAWN_LANDLOCK(3, 8));
	CHECK_SAME(chroot(made, one), ASPAWN_CHROOT(one));
	CHECK_SAME(pivot_root(made, one, two), ASPAWN_PIVOT_ROOT(one, two));
	CHECK_SAME(unshare(made, UINT64_MAX), ASPAWN_UNSHARE(UINT64_MAX));
	CHECK_SAME(setns(made, 3, 4), ASPAWN_SETNS(3, 4));
	CHECK_SAME(mount(made, one, two, three, UINT64_MAX, four),
		   ASPAWN_MOUNT(one, two, three, UINT64_MAX, four));
	CHECK_SAME(hostname(made, one), ASPAWN_HOSTNAME(one));
	CHECK_SAME(write(made, one, two), ASPAWN_WRITE(one, two));
	CHECK_SAME(call(made, fails, &nowhere), ASPAWN_CALL(fails, &nowhere));
	CHECK_SAME(syscall(made, 1, 2, -3, (intptr_t)one, 5, 6, 7, ASPAWN_ARG_STRING(2), 8),
		   ASPAWN_SYSCALL(1, 2, -3, one, 5, 6, 7, ASPAWN_ARG_STRING(2), 8));
	CHECK_SAME(prctl(made, 1, 2, 3, 4, -5), ASPAWN_PRCTL(1, 2, 3, 4, -5));
	CHECK_SAME(ioctl(made, 3, 0x80005413, &nowhere, 8),
		   ASPAWN_IOCTL(3, 0x80005413, &nowhere, 8));
	CHECK_SAME(ioctl(made, 3, 4, (void *)5, 0), ASPAWN_IOCTL(3, 4, 5, 0));
	CHECK_SAME(fcntl(made, 3, 4, -1), ASPAWN_FCNTL(3, 4, -1));
	CHECK_SAME(sched_setattr(made, &nowhere, 56), ASPAWN_SCHED_SETATTR(&nowhere, 56));
	CHECK_SAME(sched_setattr(made, &nowhere, SIZE_MAX),
		   ASPAWN_SCHED_SETATTR(&nowhere, SIZE_MAX));
	CHECK_SAME(set_mempolicy(made, 3, &nowhere, 8), ASPAWN_SET_MEMPOLICY(3, &nowhere, 8));
	CHECK_SAME(set_mempolicy(made, 0, &nowhere, 0), ASPAWN_SET_MEMPOLICY(0, &nowhere, 0));
	CHECK_SAME(keyctl(made, 1, -3, 3, 4, 5), ASPAWN_KEYCTL(1, -3, 3, 4, 5));
#undef made
	for (int kind = 1; kind <= LAST_ACTION; kind++)
		CHECK(made_kinds[kind]);
	/* The path of ASPAWN_DEV_NULL is a string of the library. */
	struct aspawn_action null, open = ASPAWN_OPEN(3, NULL, PSYS_O_RDWR, 0);
	aspawn_action_dev_null(&null, 3);
	CHECK_EQUAL(psys_strcmp(null.u.openat.path, "/dev/null"), 0);
	null.u.openat.path = NULL;
	CHECK(null.kind == open.kind && !null.flags &&
	      !psys_memcmp(&null.u.openat, &open.u.openat, sizeof open.u.openat));
}

/* The rejected actions are an unfilled element, and kinds and flags of later versions. */
TEST(rejects_unknown_kinds_and_flags_of_actions)
{
	struct self self;
	struct aspawn_command command = command_in_role(&self, "exit_7", NULL);
	struct aspawn_child child;
	struct aspawn_action actions[2] = { ASPAWN_UMASK(0), ASPAWN_UMASK(0) };

	command.actions = actions;
	command.action_count = 2;
	static const uint32_t kinds[] = { 0, LAST_ACTION + 1, 255, UINT32_MAX };
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		actions[1].kind = kinds[i];
		CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EINVAL);
	}
	actions[1].kind = ASPAWN_ACTION_UMASK;
	for (uint32_t flag = 1; flag; flag <<= 1) {
		actions[1].flags = flag;
		CHECK_EQUAL(aspawn_start(&child, &command), -PSYS_EINVAL);
	}
	actions[1].flags = 0;
	child = start_command(NULL, &command);
	check_ends(&child, 7 << 8);
}
